import sqlite3

import pytest

from flows.recovery import RecoveryStoreBroken, held, prepare


def rows(folder):
    with sqlite3.connect(next(folder.glob("part-*.sqlite3"))) as connection:
        return connection.execute(
            "SELECT state_key, snap_epoch, ser_change IS NULL FROM snaps ORDER BY 1, 2"
        ).fetchall()


def insert(folder, *snaps):
    with sqlite3.connect(next(folder.glob("part-*.sqlite3"))) as connection:
        connection.executemany(
            "INSERT INTO snaps (step_id, state_key, snap_epoch, ser_change) VALUES ('s', ?, ?, ?)", snaps
        )


def test_missing_store_is_made_and_can_be_prepared_again(tmp_path):
    folder = tmp_path / "deep" / "recovery"
    prepare(folder)
    prepare(folder)
    assert rows(folder) == []


def test_only_tombstones_without_an_older_row_go(tmp_path):
    """The tombstone of `b` hides an older snapshot, without it the key would rise from the dead."""
    prepare(tmp_path)
    insert(tmp_path, ("a", 5, None), ("b", 4, b"state"), ("b", 5, None), ("c", 5, b"state"))
    prepare(tmp_path)
    assert rows(tmp_path) == [("b", 4, 0), ("b", 5, 1), ("c", 5, 0)]


def test_snapshots_of_epochs_that_a_crash_left_open_go(tmp_path):
    """Else they would pass for those of the next execution, which begins that epoch anew."""
    prepare(tmp_path)
    with sqlite3.connect(next(tmp_path.glob("part-*.sqlite3"))) as connection:
        connection.executemany(
            "INSERT INTO exs (ex_num, worker_count, resume_epoch) VALUES (?, 1, ?)", [(0, 1), (1, 5)]
        )
        connection.execute("INSERT INTO fronts (ex_num, worker_index, worker_frontier) VALUES (0, 0, 5)")
    insert(tmp_path, ("a", 4, b"state"), ("a", 5, b"left over"), ("b", 3, b"state"), ("b", 6, None))
    prepare(tmp_path)
    assert rows(tmp_path) == [("a", 4, 0), ("b", 3, 0)]
    with sqlite3.connect(next(tmp_path.glob("part-*.sqlite3"))) as connection:
        connection.execute("INSERT INTO fronts (ex_num, worker_index, worker_frontier) VALUES (1, 0, 7)")
    insert(tmp_path, ("a", 6, b"state"), ("b", 7, None))
    prepare(tmp_path)
    assert rows(tmp_path) == [("a", 4, 0), ("a", 6, 0), ("b", 3, 0)]


def test_a_store_in_use_is_not_cleaned_under_the_one_that_uses_it(tmp_path):
    with held(tmp_path), pytest.raises(RecoveryStoreBroken, match="in use by another process"), held(tmp_path):
        pass
    with held(tmp_path):
        prepare(tmp_path)


def test_what_is_no_recovery_store_is_told_with_the_remedy(tmp_path):
    (tmp_path / "part-0.sqlite3").write_text("this is a text")
    with pytest.raises(RecoveryStoreBroken, match=r"run\.recovery_dir"):
        prepare(tmp_path)

import sqlite3

import pytest

from flows.recovery import RecoveryStoreBroken, prepare


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


def test_what_is_no_recovery_store_is_told_with_the_remedy(tmp_path):
    (tmp_path / "part-0.sqlite3").write_text("this is a text")
    with pytest.raises(RecoveryStoreBroken, match=r"run\.recovery_dir"):
        prepare(tmp_path)

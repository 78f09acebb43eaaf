import gzip
import io
import os
import threading
from pathlib import Path

import pytest

from operators.file_source import FileSource, InputBroken, InputNotFound


def values(source):
    return [(message.topic.rsplit("/", 1)[-1], message.offset, message.value) for message in source.messages()]


def read(path):
    return values(FileSource(str(path), threading.Event()))


def test_lines_of_a_file_plain_and_zipped_are_the_same(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"one\r\n\ntwo")
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b"one\r\n\ntwo"))
    expected = [(0, b"one"), (1, b""), (2, b"two")]
    assert [pair[1:] for pair in read(tmp_path / "a.jsonl")] == expected
    assert [pair[1:] for pair in read(tmp_path / "a.jsonl.gz")] == expected


def test_a_json_document_is_one_message(tmp_path):
    (tmp_path / "s.json").write_bytes(b'{\n "id": 1\n}')
    assert read(tmp_path / "s.json") == [("s.json", 0, b'{\n "id": 1\n}')]


def test_a_folder_is_read_in_the_order_of_names_and_other_files_are_left(tmp_path):
    for name in ("b.jsonl", "a.jsonl", "readme.md"):
        (tmp_path / name).write_bytes(name.encode())
    assert [name for name, _, _ in read(tmp_path)] == ["a.jsonl", "b.jsonl"]


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", type("Stdin", (), {"buffer": io.BytesIO(b"x\ny\n")}))
    assert values(FileSource("-", threading.Event())) == [("-", 0, b"x"), ("-", 1, b"y")]


def test_what_is_not_there_is_told(tmp_path):
    with pytest.raises(InputNotFound, match="no file or folder"):
        FileSource(str(tmp_path / "nothing"), threading.Event())
    with pytest.raises(InputNotFound, match="holds no"):
        FileSource(str(tmp_path), threading.Event())


def test_a_damaged_archive_gives_every_line_that_can_be_read_and_the_next_file_is_read_too(tmp_path):
    whole = gzip.compress(b"".join(b"line %d\n" % n for n in range(50_000)))
    (tmp_path / "a.jsonl.gz").write_bytes(whole[:-4_000])
    (tmp_path / "b.jsonl").write_bytes(b"other\n")
    source = FileSource(str(tmp_path), threading.Event())
    partition = source.build_part("s", "p", None)
    read = []
    with pytest.raises(StopIteration):
        while True:
            read += partition.next_batch()
    assert len(read) > 10_000
    assert read[-1].value == b"other"
    assert isinstance(source.fault, InputBroken)
    assert "a.jsonl.gz cannot be read to its end" in str(source.fault)


def test_an_unreadable_file_of_a_folder_is_named_and_the_others_are_read(tmp_path, monkeypatch):
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(name.encode())
    real = Path.open

    def refused(path, *arguments, **options):
        if path.name == "a.jsonl":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", refused)
    source = FileSource(str(tmp_path), threading.Event())
    assert [message.value for message in source.messages()] == [b"b.jsonl"]
    assert "a.jsonl cannot be read to its end: Permission denied" in str(source.fault)


def test_a_pipe_is_read_like_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(b"one\ntwo\n"), daemon=True).start()
    assert [value for _, _, value in read(tmp_path / "pipe")] == [b"one", b"two"]


def test_a_resumed_partition_goes_on_behind_its_snapshot(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(b"%d" % n for n in range(1200)))
    partition = FileSource(str(tmp_path / "a.jsonl"), threading.Event()).build_part("s", "input", None)
    first = partition.next_batch()
    resumed = FileSource(str(tmp_path / "a.jsonl"), threading.Event()).build_part("s", "input", partition.snapshot())
    assert resumed.next_batch()[0].offset == len(first)


def test_inputs_have_partitions_of_their_own(tmp_path):
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(b"x\n")
    names = [FileSource(str(tmp_path / name), threading.Event()).list_parts() for name in ("a.jsonl", "b.jsonl")]
    assert names[0] != names[1]


def test_stop_ends_the_partition_and_share_read_grows(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"line\n" * 5000)
    stop = threading.Event()
    source = FileSource(str(tmp_path / "a.jsonl"), stop)
    partition = source.build_part("s", "input", None)
    assert source.share_read == 0.0
    partition.next_batch()
    assert 0.0 < source.share_read <= 1.0
    stop.set()
    with pytest.raises(StopIteration):
        partition.next_batch()


def test_nothing_is_handed_out_and_nothing_ends_while_there_is_no_room(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"line\n")
    room = [False]
    source = FileSource(str(tmp_path / "a.jsonl"), threading.Event(), ready=lambda: room[0])
    partition = source.build_part("s", "input", None)
    assert (partition.next_batch(), partition.snapshot()) == ([], 0)
    assert partition.next_awake() is not None
    room[0] = True
    assert [message.value for message in partition.next_batch()] == [b"line"]
    assert partition.next_awake() is None

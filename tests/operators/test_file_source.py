import gzip
import io
import threading

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


def test_a_damaged_archive_gives_what_stood_before_and_then_says_so(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"line\n" * 200_000)[:-200])
    seen = []
    with pytest.raises(InputBroken, match="cannot be read to its end"):
        for message in FileSource(str(path), threading.Event()).messages():
            seen.append(message)
    assert len(seen) > 1000


def test_a_resumed_partition_goes_on_behind_its_snapshot(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(b"%d" % n for n in range(1200)))
    partition = FileSource(str(tmp_path / "a.jsonl"), threading.Event()).build_part("s", "input", None)
    first = partition.next_batch()
    resumed = FileSource(str(tmp_path / "a.jsonl"), threading.Event()).build_part("s", "input", partition.snapshot())
    assert resumed.next_batch()[0].offset == len(first)


def test_a_damaged_archive_gives_every_line_that_can_be_read(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(b"line %d\n" % n for n in range(50_000)))[:-4_000])
    whole = []
    with pytest.raises(InputBroken):
        for message in FileSource(str(path), threading.Event()).messages():
            whole.append(message)
    partition = FileSource(str(path), threading.Event()).build_part("s", "p", None)
    batches = []
    with pytest.raises(InputBroken):
        while True:
            batches += partition.next_batch()
    assert batches == whole
    assert len(whole) % 500 != 0


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

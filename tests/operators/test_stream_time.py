from operators.stream_time import StreamTime


def test_time_of_a_partition_never_goes_back():
    time = StreamTime()
    assert [time.advance(0, ts) for ts in (5, 3, 9)] == [5, 5, 9]
    assert time.now(1) == 0


def test_keys_are_due_once_and_only_on_their_partition():
    time = StreamTime()
    time.arm(0, "a", 10)
    time.arm(0, "b", 20)
    time.arm(1, "c", 10)
    time.advance(0, 15)
    assert time.due(0) == ["a"]
    assert time.due(0) == []
    assert time.due(1) == []


def test_an_earlier_timer_of_a_key_replaces_a_later_one():
    time = StreamTime()
    time.arm(0, "a", 20)
    time.arm(0, "a", 10)
    time.arm(0, "a", 30)
    time.advance(0, 10)
    assert time.due(0) == ["a"]
    time.advance(0, 100)
    assert time.due(0) == []

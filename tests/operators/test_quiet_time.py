from operators.quiet_time import QuietTime


def test_only_drained_polls_make_quiet_and_a_pause_counts_for_a_second_at_most():
    now = [0.0]
    quiet = QuietTime(lambda: now[0])
    for at, drained in ((0.0, True), (0.5, True), (1.0, True), (600.0, True), (601.0, False), (602.0, True)):
        now[0] = at
        quiet.polled(0, drained=drained)
    assert quiet.now(0) == 500 + 500 + 1_000 + 1_000
    assert quiet.now(1) == 0

"""What can go wrong with Kafka and a user can mend: each error says value, place and remedy in one sentence."""

from collections.abc import Iterable


class KafkaProblem(Exception):
    """Something about Kafka that a user can mend."""


class KafkaUnavailable(KafkaProblem):
    """No broker can be used with these settings."""


class TopicMissing(KafkaProblem):
    """A topic is not there (or may not be seen). `alike` are existing topics whose names come close."""

    def __init__(self, topic: str, bootstrap: str, alike: Iterable[str] = ()) -> None:
        """Say which topic is missing at `bootstrap` and which ones come close."""
        self.topic = topic
        self.alike = tuple(alike)
        near = f"; there are: {', '.join(self.alike)}" if self.alike else ""
        super().__init__(
            f"there is no topic {topic!r} at {bootstrap}, or it may not be seen by this user; create it or check its "
            f"name{near}"
        )


class TopicReplaced(KafkaProblem):
    """The topic was deleted and made again, so that offsets kept from the old one mean nothing in the new one."""

    def __init__(self, topic: str, was: str, now: str) -> None:
        """Say which topic it is and the ids of the old and the new one."""
        self.topic = topic
        super().__init__(
            f"topic {topic!r} was deleted and made again (id {was}, now {now}), so the kept offsets do not fit; start "
            "with a new run.recovery_dir to read the new topic from its start"
        )


class OffsetGap(KafkaProblem):
    """Messages were deleted, by retention or by hand, before they were read. `expected` and `earliest` are offsets."""

    def __init__(self, topic: str, partition: int, expected: int, earliest: int) -> None:
        """Say where reading should have gone on and where the partition begins now."""
        self.topic = topic
        self.partition = partition
        self.expected = expected
        self.earliest = earliest
        super().__init__(
            f"topic {topic!r} partition {partition}: the next message to read is at offset {expected}, but the "
            f"partition begins at {earliest}: {earliest - expected} offsets are lost; raise the topic's retention (a "
            "backfill of old events needs retention.ms=-1), and set kafka.on_gap=earliest to go on behind the gap"
        )


class OffsetPastEnd(KafkaProblem):
    """The next message to read lies beyond the end: the topic was cut short or made anew."""

    def __init__(self, topic: str, partition: int, expected: int, end: int) -> None:
        """Say where reading should have gone on and where the partition ends."""
        self.topic = topic
        self.partition = partition
        self.expected = expected
        self.end = end
        super().__init__(
            f"topic {topic!r} partition {partition}: the next message to read is at offset {expected}, but the "
            f"partition ends at {end}: it was cut short or made anew; start with a new run.recovery_dir to read "
            "it from its start"
        )


class CodecMissing(KafkaProblem):
    """A message is compressed with something that is not installed here."""


class MessageTooLarge(KafkaProblem):
    """The broker refuses a message for its size, and its head alone would be of no use."""

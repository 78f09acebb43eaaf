"""What the server is told of a slice that its transcript does not show, and what it tells of what it planted."""

from typing import Literal

import msgspec

from schemas.extraction import ClaimKind, ExtractedClaim

Where = Literal["claim", "digest", "answer", "wire"]
"""What the fault is in: one claim, the digest, the answer as a whole, or the call that was to bring it."""


class Told(msgspec.Struct, frozen=True):
    """A statement about a transcript, made by whoever wrote it: what a faulty model would claim, and from which line.

    `quote` is a span of line `line`, or of an event that is not shown; `line` 0 is none.
    """

    text: str
    quote: str
    line: int = 0
    kind: ClaimKind = "fact"
    key: str = "other.note"
    about: str = "user"

    def claim(self, sources: list[int] | None = None, quote: str | None = None) -> ExtractedClaim:
        """Return it as a model states it; `sources` and `quote` replace its own."""
        return ExtractedClaim(
            kind=self.kind,
            key=self.key,
            about=self.about,
            text=self.text,
            sources=[self.line] if sources is None else sources,
            quote=self.quote if quote is None else quote,
            confidence=0.9,
        )


class Outside(msgspec.Struct, frozen=True):
    """What the server is told out of band of one slice.

    `bait`, by name: what a faulty model would state of this slice, which was written for the fault classes `meant_for`.
    `elsewhere` are claims that are true of another session, `of_others` those that are true of another user: neither
    is said here.
    """

    bait: dict[str, list[Told]] = {}
    meant_for: tuple[str, ...] = ()
    elsewhere: list[Told] = []
    of_others: list[Told] = []


class Planted(msgspec.Struct, frozen=True):
    """One fault as it was put into an answer: answer number `ask` (1 or 2) to slice `key`.

    The texts are those of the faulty claim, or of the digest; they are empty when the fault is in neither.
    """

    key: str
    ask: int
    fault: str
    where: Where
    kind: str = ""
    claim_key: str = ""
    about: str = ""
    text: str = ""
    quote: str = ""
    when: str | None = None
    answer: str = ""


class Report(msgspec.Struct, frozen=True):
    """What the server did.

    `base` has kind, key and text of the claims of the faultless answer, by slice. `calls` counts requests, `cpu_s` is
    the CPU of the server's process in seconds. `too_soon` are the slices asked for again before Retry-After had passed.
    """

    planted: list[Planted]
    base: dict[str, list[tuple[ClaimKind, str, str]]]
    calls: int
    cpu_s: float
    too_soon: list[str]

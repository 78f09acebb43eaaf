"""A session's record as Markdown: what a support lead reads when taking a conversation over. Pure."""

import re
from collections.abc import Iterator

from cli.output import visible
from schemas.answers import utc
from schemas.claim import Claim, ClaimStatus
from schemas.record import Record

_ACTIVE_IN_MARKDOWN = re.compile(r"([\\`*\[\]<>])")
_HEADINGS = (
    ("Goal", "goal"),
    ("Facts", "facts"),
    ("Preferences", "preferences"),
    ("Decisions", "decisions"),
    ("Commitments", "commitments"),
    ("Open questions", "open_questions"),
)


def markdown(record: Record) -> str:
    """Return `record` as a Markdown document that ends with an end of line; headings without an entry are left out."""
    return "\n".join(_lines(record)) + "\n"


def _lines(record: Record) -> Iterator[str]:
    yield f"# Session {_text(record.session_id)}"
    yield ""
    yield f"User {_text(record.scope.user)} of {_text(record.scope.app)}"
    for heading, name in _HEADINGS:
        claims: tuple[Claim, ...] = getattr(record, name)
        if claims:
            yield from ("", f"## {heading}", "")
            yield from (_claim(claim) for claim in claims)
    if record.digest:
        yield from ("", "## What happened", "")
        yield from (f"- {utc(one.last_ts_ms):%Y-%m-%d %H:%M} {_text(one.text)}" for one in record.digest)


def _claim(claim: Claim) -> str:
    condition = f", if {_text(claim.condition)}" if claim.condition else ""
    status = "" if claim.status is ClaimStatus.ACTIVE else f" **{claim.status.value}**"
    evidence = f"“{_text(claim.quote)}”, {claim.authority}, {utc(claim.observed_at_ms):%Y-%m-%d}"
    return f"- {_text(claim.text)}{condition}{status} ({evidence})"


def _text(text: str) -> str:
    """Return what somebody said so that it stays text: on one line, nothing in it a link, a tag or an emphasis."""
    return _ACTIVE_IN_MARKDOWN.sub(r"\\\1", visible(text))

"""How memories are shown: the JSON of the command line and the API (a contract), and a record as Markdown."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from memory.bank import Hit
from memory.clock import iso_day, iso_time
from memory.privacy import Receipt
from memory.rank import expires_at_ms
from schemas.claim import Claim, ClaimStatus, Episode
from schemas.record import Record
from schemas.vocabulary import Vocabulary

Json = dict[str, Any]
Link = Callable[[str], str]

_STATUS_NOTE = {
    ClaimStatus.SUPERSEDED: "superseded",
    ClaimStatus.CONFLICTING: "in conflict",
    ClaimStatus.CLOSED: "answered",
    ClaimStatus.MERGED: "said again later",
}


def _memory_json(claim: Claim) -> Json:
    return {
        "id": claim.id,
        "kind": claim.kind,
        "key": claim.key,
        "about": claim.about,
        "text": claim.text,
        "quote": claim.quote,
        "sources": list(claim.sources),
        "authority": claim.authority,
        "confidence": claim.confidence,
        "status": claim.status.value,
        "observed_at": iso_time(claim.observed_at_ms),
        "session_id": claim.session_id,
    }


def claim_json(claim: Claim, vocabulary: Vocabulary) -> Json:
    """Return a claim as `audit` shows it: what a search shows, and its history."""
    expires = expires_at_ms(claim, vocabulary)
    return {
        **_memory_json(claim),
        "superseded_by": claim.superseded_by,
        "conflicts_with": list(claim.conflicts_with),
        "merged_into": claim.merged_into,
        "expires_at": iso_time(expires) if expires is not None else None,
        "slice": claim.slice_id,
        "mentions": claim.mentions,
        "durable": claim.durable,
        "change": claim.change,
        "condition": claim.condition,
        "when": claim.when,
        "closes": claim.closes,
        "model": claim.model,
        "prompt_version": claim.prompt_version,
    }


def _episode_json(episode: Episode) -> Json:
    return {
        "id": episode.id,
        "kind": "episode",
        "key": "",
        "about": "",
        "text": episode.text,
        "quote": "",
        "sources": list(episode.sources),
        "authority": "",
        "confidence": None,
        "status": ClaimStatus.ACTIVE.value,
        "observed_at": iso_time(episode.last_ts_ms),
        "session_id": episode.session_id,
    }


def hit_json(hit: Hit) -> Json:
    """Return one result of a search; an episode has kind `episode`, and no key, quote, authority or confidence."""
    row = _memory_json(hit.claim) if hit.claim is not None else _episode_json(hit.row)  # type: ignore[arg-type]
    return {**row, "score": round(hit.score, 6)}


def search_json(query: str, hits: Iterable[Hit]) -> Json:
    """Return what `search --json` prints."""
    return {"query": query, "memories": [hit_json(hit) for hit in hits]}


def audit_json(claims: Iterable[Claim], vocabulary: Vocabulary) -> Json:
    """Return what `audit --json` prints."""
    return {"claims": [claim_json(claim, vocabulary) for claim in claims]}


def receipt_json(receipt: Receipt) -> Json:
    """Return what `forget --json` prints."""
    return {
        "scope_hash": receipt.scope_hash,
        "session_hash": receipt.session_hash,
        "forgotten_until": iso_time(receipt.forgotten_until_ms),
        "at": iso_time(receipt.at_ms),
        "erased": {"claims": receipt.claims, "episodes": receipt.episodes},
        "method": receipt.method,
        "proof": {
            "search": receipt.proof.search,
            "scroll": receipt.proof.scroll,
            "leftovers": receipt.proof.leftovers,
        },
    }


def _headings(record: Record) -> list[tuple[str, str, tuple[Claim, ...]]]:
    asked = record.open_questions
    return [
        ("goal", "Goal", record.goal),
        ("facts", "Facts", record.facts),
        ("preferences", "Preferences", record.preferences),
        ("decisions", "Decisions", record.decisions),
        ("commitments", "Commitments", record.commitments),
        ("open_questions", "Open questions", tuple(c for c in asked if c.status is not ClaimStatus.CLOSED)),
        ("answered_questions", "Answered questions", tuple(c for c in asked if c.status is ClaimStatus.CLOSED)),
    ]


def record_json(record: Record, opening: str) -> Json:
    """Return what `record --format json` prints: each heading a list of memories, the digest lines, the first message.

    A question that was answered stands under `answered_questions`, not under `open_questions`. `opening` is what
    `first_message` makes of the record.
    """
    lines = [
        {
            "text": line.text,
            "sources": list(line.sources),
            "from": iso_time(line.first_ts_ms),
            "to": iso_time(line.last_ts_ms),
        }
        for line in record.digest
    ]
    return {
        "app": record.scope.app,
        "user": record.scope.user,
        "session_id": record.session_id,
        **{name: [_memory_json(claim) for claim in claims] for name, _, claims in _headings(record)},
        "digest": lines,
        "first_message": opening,
    }


def record_markdown(record: Record, opening: str, link: Link | None = None) -> str:
    """Return the record as Markdown for a handoff: headings with something under them, each line with its evidence.

    `opening` is what `first_message` makes of the record. `link` gives the address of an event by its id; without it
    sources are ids.
    """
    parts = [f"# Session {_inline(record.session_id)}"]
    if record.digest:
        lines = [
            f"- {iso_day(line.last_ts_ms)}: {_inline(line.text)}  \n  {_sources(line.sources, link)}"
            for line in record.digest
        ]
        parts.append("\n".join(["## What happened", "", *lines]))
    headings = _headings(record)
    own = {claim.id: claim for _, _, claims in headings for claim in claims}
    for _, title, claims in headings:
        if claims:
            parts.append("\n".join([f"## {title}", "", *(_claim_markdown(claim, own, link) for claim in claims)]))
    if len(parts) == 1:
        parts.append("Nothing is remembered of this session.")
    if opening:
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", opening)), 0)
        parts.append(f"## First message for the next agent\n\n{fence}text\n{opening}\n{fence}")
    return "\n\n".join(parts) + "\n"


def _claim_markdown(claim: Claim, own: Mapping[str, Claim], link: Link | None) -> str:
    note = _STATUS_NOTE.get(claim.status)
    by = own.get(claim.superseded_by or "")
    instead = f", see: {_inline(by.text)}" if by else ""
    about = "" if claim.about == "user" else f" (about {_inline(claim.about)})"
    condition = f" (when: {_inline(claim.condition)})" if claim.condition else ""
    mark = f" **[{note}{instead}]**" if note else ""
    said = f'{claim.authority.replace("_", " ")}, {iso_day(claim.observed_at_ms)}: "{_inline(claim.quote)}"'
    return f"- {_inline(claim.text)}{about}{condition}{mark}  \n  {said} {_sources(claim.sources, link)}"


def _sources(sources: Iterable[str], link: Link | None) -> str:
    """Return the events that prove a line, each as a link when there is an address for it."""
    shown = (f"[{_inline(event)}](<{link(event)}>)" if link else _inline(event) for event in sources)
    return f"({', '.join(shown)})"


def _inline(text: str) -> str:
    """Return `text` on one line with the characters that mean something in Markdown or HTML escaped."""
    flat = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|" else char for char in flat)

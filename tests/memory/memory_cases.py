"""Claims, episodes and outcomes for the tests of `memory`, with ids made as the contract says: from the content."""

import uuid

from memory.store import Store
from schemas.claim import Claim, Episode
from schemas.outcome import ExtractionOutcome, Outcome
from schemas.scope import Scope
from schemas.settings import Settings, StoreSettings

ADA = Scope("shop", "ada")
DAY = 86_400_000
T0 = 1_714_550_400_000
"""2024-05-01T08:00:00Z."""


def settings_for(url, **sections):
    store = {"url": str(url)} | sections.pop("store", {})
    return Settings(store=StoreSettings(**store), **sections)


def _id(*parts):
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "\x1f".join(map(repr, parts))))


def claim(
    text,
    key="likes",
    *,
    kind="preference",
    at=T0,
    session="s1",
    source="e1",
    scope=ADA,
    about="user",
    quote=None,
    **rest,
):
    sources = (source,) if isinstance(source, str) else tuple(source)
    condition = rest.get("condition")
    return Claim(
        id=_id(scope, session, kind, key, about, condition, text, sources),
        scope=scope,
        session_id=session,
        slice_id=f"slice-{session}",
        kind=kind,
        key=key,
        about=about,
        text=text,
        sources=sources,
        quote=text if quote is None else quote,
        observed_at_ms=at,
        **{"confidence": 0.9, "authority": "user_claim"} | rest,
    )


def episode(text, events, *, session="s1", at=T0, scope=ADA, mark=""):
    return Episode(
        id=_id(scope, session, "episode", tuple(events)),
        scope=scope,
        session_id=session,
        slice_id=f"slice-{session}",
        text=text,
        sources=tuple(events[:1]),
        events=tuple(events),
        first_ts_ms=at,
        last_ts_ms=at,
        fingerprint=mark,
    )


def outcome(claims=(), *, events=("e1",), session="s1", digest=None, status="first_pass", scope=ADA, at=T0, mark=""):
    return Outcome(
        scope=scope,
        session_id=session,
        slice_id=f"slice-{session}",
        event_ids=tuple(events),
        first_ts_ms=at,
        last_ts_ms=at,
        status=ExtractionOutcome(status),
        model="m",
        prompt_version="p1",
        claims=tuple(claims),
        episode=episode(digest, tuple(events), session=session, at=at, scope=scope, mark=mark) if digest else None,
        fingerprint=mark,
    )


def say(bank, text, key="likes", *, at=T0, session="s1", event=None, digest=None, **rest):
    """Apply one outcome of one event with one claim; return the claim."""
    event = event or f"{session}-{at}-{text}"
    made = claim(text, key, at=at, session=session, source=event, scope=bank.scope, **rest)
    bank.apply([outcome([made], events=[event], session=session, digest=digest, scope=bank.scope, at=at)])
    return made


def texts(hits):
    return [hit.row.text for hit in hits]


def status_of(bank):
    return {c.text: c.status.value for c in bank.claims()}


def reopened(url, **sections):
    return Store.open(settings_for(url, **sections))

"""The bank of one scope: write outcomes, read memories, forget. Every call is bound to that scope."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

import msgspec
import structlog

from memory import rank
from memory.errors import CollectionMissing, EmbeddingUnavailable, EraseIncomplete, StoreUnavailable
from memory.grounding import grounding_block
from memory.ledger import Forgotten
from memory.plan import Change, passed, plan
from memory.privacy import Receipt, erase, prove
from memory.record import record_of
from memory.resolve import order, resolved
from memory.rows import Contents, Row, row_of, row_time_ms
from memory.schema import Meta
from memory.words import query_vector
from schemas.claim import Claim, ClaimStatus, Episode
from schemas.outcome import Outcome
from schemas.record import Record
from schemas.scope import Scope

if TYPE_CHECKING:
    from memory.store import Store

_log = structlog.get_logger(__name__)

R = TypeVar("R", Claim, Episode, Row)

BATCH = 64
"""Outcomes that one write takes at most, which bounds its body; more are several writes with the same end."""
TRIES = 5
"""How often a write starts again because the bank was erased or rewritten under it."""


class Hit(msgspec.Struct, frozen=True):
    """One result of a search: exactly one of `claim` and `episode`, and the score it was ranked by."""

    claim: Claim | None
    episode: Episode | None
    score: float

    @property
    def row(self) -> Row:
        """The claim or the episode."""
        found = self.claim or self.episode
        if found is None:
            msg = "a hit holds a claim or an episode"
            raise ValueError(msg)
        return found


class WriteReport(msgspec.Struct, frozen=True, kw_only=True):
    """What an apply did to claims, by action, and what stands afterwards.

    `actions`: insert, replace (taken away or rewritten), supersede, merge, conflict, close. `refused`: claims and
    episodes that a deletion on record covers. `statuses`: all claims of the bank, by status. `active`: claims that
    stand, by kind.
    """

    actions: dict[str, int]
    refused: int
    statuses: dict[str, int]
    active: dict[str, int]


class Bank:
    """All memories of one scope. Made by `Store.bank`; holds nothing, so it may be made for each call.

    Every method may raise StoreUnavailable or StoreBroken, and those that use vectors EmbeddingMismatch and
    EmbeddingUnavailable.
    """

    def __init__(self, store: "Store", scope: Scope) -> None:
        """Bind `store` to `scope`."""
        self._store = store
        self._scope = scope

    @property
    def scope(self) -> Scope:
        """The scope that every call of this bank is bound to."""
        return self._scope

    def apply(self, outcomes: Sequence[Outcome]) -> WriteReport:
        """Replace what the outcomes' sessions contributed from the same events, resolve, and write what changed.

        Only passed extractions change anything. Applied again, or the outcomes of different slices in another order,
        the bank is the same. It is durable when this returns.

        Raises:
            ScopeViolation: an outcome belongs to another scope; nothing was written.
            TooManyScopes: the bank would be one too many.
        """
        good = passed(outcomes, self._scope)
        actions: Counter[str] = Counter()
        refused = 0
        with self._store.lock:
            for start in range(0, len(good), BATCH):
                change = self._apply(good[start : start + BATCH], actions)
                refused += change.refused
            after = self._store.contents(self._scope)
        return _report(after, actions, refused)

    def _apply(self, outcomes: list[Outcome], actions: Counter[str]) -> Change:
        """Apply one batch.

        Step 1: read the bank's generation, its rows and the ledger; erase first what a deletion should have caught.
        Step 2: write.
        Step 3: read generation and ledger again; if either moved, a deletion ran meanwhile, so begin again.
        """
        store, scope = self._store, self._scope
        sessions = {outcome.session_id for outcome in outcomes}
        for _ in range(TRIES):
            meta = store.meta(scope)
            before = store.contents(scope)
            sessions |= {row.session_id for row in before.rows()}
            forgotten = store.ledger.read(scope, sessions)
            if any(forgotten.covers(row) for row in before.rows()):
                erase(store, scope, forgotten)
                continue
            change = plan(before, outcomes, forgotten, store.rules)
            if not change.upserts and not change.deletes:
                return change
            if meta is None:
                meta = store.create(scope)
            store.check_embedding(meta)
            try:
                store.write(scope, change)
            except CollectionMissing:
                continue
            actions.update(change.actions)
            now = store.meta(scope)
            if (
                now is not None
                and now.generation == meta.generation
                and store.ledger.read(scope, sessions) == forgotten
            ):
                return change
            store.invalidate(scope)
        msg = f"the bank was erased or rewritten under {TRIES} writes in a row; apply the outcomes again"
        raise StoreUnavailable(msg)

    def claims(self) -> list[Claim]:
        """Return every claim of any status, in order of observation."""
        return sorted(self._contents().claims.values(), key=order)

    def episodes(self) -> list[Episode]:
        """Return every digest line, in order of time."""
        return sorted(self._contents().episodes.values(), key=lambda e: (e.first_ts_ms, e.last_ts_ms, e.id))

    def record(self, session_id: str) -> Record:
        """Return what `session_id` amounts to; one that is not there has an empty record."""
        contents = self._contents()
        return record_of(self._scope, session_id, contents.claims.values(), contents.episodes.values())

    def fingerprint_of(self, episode_id: str) -> str | None:
        """Return the fingerprint of the slice whose digest line has this id, by one read of one row.

        None when there is no such line: no bank (none is made), never extracted, replaced by a slice that was cut
        otherwise, or covered by a deletion. Whatever takes a slice's claims away takes its line too.
        """
        try:
            found = self._by_id([episode_id])
        except CollectionMissing:
            return None
        return next((row.fingerprint for row in found if isinstance(row, Episode)), None)

    def search(self, query: str, limit: int | None = None, *, now_ms: int, episodes: bool = False) -> list[Hit]:
        """Return the claims that stand, are not expired and have to do with `query`, best first.

        `limit` is by default that of the settings; `now_ms` is the moment that age and expiry are reckoned from. With
        `episodes`, digest lines are found too.
        """
        store, scope = self._store, self._scope
        try:
            request = self._request(query, limit or store.settings.read.limit, now_ms, episodes)
            if request is None:
                return []
            points = store.qdrant.query(store.alias(scope), request)
        except CollectionMissing:
            return []
        rows = [(row_of(point.payload, scope), point.score) for point in points]
        forgotten = store.ledger.read(scope, {row.session_id for row, _ in rows})
        rows = [(row, score) for row, score in rows if not forgotten.covers(row)]
        rows.sort(key=lambda found: (-found[1], -row_time_ms(found[0]), found[0].id))
        return [Hit(row, None, score) if isinstance(row, Claim) else Hit(None, row, score) for row, score in rows]

    def context(self, query: str, now_ms: int) -> str:
        """Return the grounding block for `query`, as an agent is given it; empty when there is nothing to say."""
        claims = [hit.claim for hit in self.search(query, now_ms=now_ms) if hit.claim is not None]
        sides = {side for claim in claims for side in claim.conflicts_with}
        bank = {row.id: row for row in self._by_id(sides) if isinstance(row, Claim)}
        return grounding_block(claims, bank, now_ms, self._store.settings.read.context_chars)

    def forget(self, now_ms: int, session_id: str | None = None, before_ms: int | None = None) -> Receipt:
        """Delete everything of the user, or of one session, and return the receipt with its proof.

        With `before_ms` only what was observed up to then, without it all that is there and all that happened up to
        `now_ms`. What is deleted stays refused when the topic is replayed; what happens later is remembered again.

        Raises:
            EraseIncomplete: something was still found afterwards; the deletion is on record, so run it again.
        """
        store, scope = self._store, self._scope
        with store.lock:
            rows = [row for row in store.contents(scope).rows() if session_id in {None, row.session_id}]
            newest = max((row_time_ms(row) for row in rows), default=now_ms)
            until_ms = before_ms if before_ms is not None else max(now_ms, newest)
            store.ledger.write(scope, session_id, until_ms, now_ms)
            sessions = {row.session_id for row in store.contents(scope).rows()} | (
                {session_id} if session_id else set()
            )
            forgotten = store.ledger.read(scope, sessions)
            erased = erase(store, scope, forgotten)
            proof = prove(store, scope, forgotten, erased.rows)
        if not proof.holds:
            msg = f"after a deletion something was still found ({proof}); it is on record: forget again"
            raise EraseIncomplete(msg)
        return Receipt(
            scope_hash=store.ledger.hash(scope),
            session_hash=store.ledger.hash(scope, session_id) if session_id is not None else None,
            forgotten_until_ms=until_ms,
            at_ms=now_ms,
            claims=sum(isinstance(row, Claim) for row in erased.rows),
            episodes=sum(isinstance(row, Episode) for row in erased.rows),
            method=erased.method,
            proof=proof,
        )

    def _request(self, query: str, limit: int, now_ms: int, episodes: bool) -> dict[str, object] | None:
        store = self._store
        meta = store.meta(self._scope)
        if meta is None or not query.strip():
            return None
        return rank.request(
            query_vector(query),
            self._meaning(query, meta),
            read=store.settings.read,
            vocabulary=store.rules.vocabulary,
            now_ms=now_ms,
            limit=limit,
            n_points=store.qdrant.count(store.alias(self._scope)),
            episodes=episodes,
        )

    def _meaning(self, query: str, meta: Meta) -> list[float] | None:
        """Return the dense vector of `query`; None, and a warning, when the endpoint is down: words still find."""
        store = self._store
        try:
            store.check_embedding(meta)
            return store.embedder.query(query) if store.embedder else None
        except EmbeddingUnavailable as error:
            _log.warning("embeddings are down, searching by words alone", error=str(error))
            return None

    def _contents(self) -> Contents:
        """Return the rows of the bank, resolved, less what a deletion on record covers: a late write may follow it."""
        with self._store.lock:
            allowed = self.allowed(self._store.contents(self._scope).rows())
        return resolved(Contents.of(allowed), self._store.rules)

    def _by_id(self, ids: Iterable[str]) -> list[Row]:
        wanted = list(ids)
        if not wanted:
            return []
        points = self._store.qdrant.retrieve(self._store.alias(self._scope), wanted)
        return self.allowed(row_of(point.payload, self._scope) for point in points)

    def allowed(self, rows: Iterable[R]) -> list[R]:
        """Return those of `rows` that no deletion on record covers."""
        found = list(rows)
        forgotten: Forgotten = self._store.ledger.read(self._scope, {row.session_id for row in found})
        return [row for row in found if not forgotten.covers(row)]


def _report(after: Contents, actions: Counter[str], refused: int) -> WriteReport:
    standing = [c for c in after.claims.values() if c.status in {ClaimStatus.ACTIVE, ClaimStatus.CONFLICTING}]
    return WriteReport(
        actions=dict(actions),
        refused=refused,
        statuses=dict(Counter(str(claim.status) for claim in after.claims.values())),
        active=dict(Counter(claim.kind for claim in standing)),
    )

"""A slice -> an outcome: the one way from events to claims."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from openai.types.chat import ChatCompletionMessageParam

from extraction.admission import Admission, Budget, admission_for
from extraction.client import ModelClient, Reply, prompt_tokens
from extraction.cost import price_attempt
from extraction.entities import compile_patterns
from extraction.errors import ProviderFault, ProviderRefusal
from extraction.evidence import Case
from extraction.fingerprint import fingerprint, way_of
from extraction.folding import fold
from extraction.ids import derived_id, episode_id, place_of
from extraction.prompt import PROMPT_VERSION, context_text, retry_text, system_text, user_text
from extraction.rules import Verdict, judge
from extraction.rules.citation import parse_closes
from extraction.transcript import Transcript, build_transcript, estimate_tokens
from schemas.claim import Claim, Episode
from schemas.events import EventAuthority, authority_of
from schemas.extraction import Digest, ExtractedClaim
from schemas.outcome import Attempt, ExtractionOutcome, Outcome, Problem
from schemas.settings import Settings
from schemas.slice import Slice

ANSWERS: Final = 2
"""An answer that breaks a rule is sent back once; one that breaks rules again is rejected (design: extract)."""


@dataclass(slots=True)
class _Progress:
    """What has come of a slice so far."""

    budget: Budget
    attempts: list[Attempt] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    verdict: Verdict | None = None
    digest: Digest | None = None


class Extractor:
    """Extracts slices with the model of `settings`. Safe to share among tasks of one event loop."""

    def __init__(self, settings: Settings, *, http: Any = None, admission: Admission | None = None) -> None:
        """Take the settings, and `http`, a client of openai's HTTP library, when the caller has its own.

        `admission` is what all calls go through; without one it is made, and refuses slices once the daily budget is
        spent.

        Raises:
            ModelConfigurationError: There is a daily budget and the model has no price.
        """
        self._settings = settings
        self._http = http
        self._admission = admission or admission_for(settings)
        self._vocabulary = settings.keys()
        self._patterns = compile_patterns(settings.extraction.patterns)
        self._system = system_text(self._vocabulary, settings.extraction.instructions)
        self._system_tokens = estimate_tokens(self._system)
        self._way = way_of(settings.model.name, self._system, settings.extraction)
        self._price = settings.price(settings.model.name)

    @cached_property
    def _client(self) -> ModelClient:
        """Made at the first call, on the loop that uses it."""
        return ModelClient(self._settings.model, self._admission, self._http)

    async def aclose(self) -> None:
        """Close the connections; an extractor that never called has none."""
        if "_client" in self.__dict__:
            await self._client.aclose()

    def fingerprint(self, piece: Slice) -> str:
        """Return what stands for the words of `piece` and the way this extractor would extract them (32 hex digits)."""
        return fingerprint(piece, self._way)

    def unchanged(self, piece: Slice) -> Outcome:
        """Return the outcome of a slice whose fingerprint the bank holds: nothing is asked, nothing to be written."""
        return self._outcome(piece, _Progress(Budget(0.0)), ExtractionOutcome.UNCHANGED)

    async def extract(self, piece: Slice, context: Sequence[Claim] = ()) -> Outcome:
        """Return what became of `piece`; `context` is the record so far, of which the newest lines are shown.

        A bad answer is a `REJECTED` outcome, a provider that does not serve is `TO_RETRY`: neither raises. A slice
        with nothing to show costs no call and passes with no claims.

        Raises:
            ModelConfigurationError: the provider would refuse any slice as things are set.
        """
        shown = self._settings.extraction.context_lines
        record = tuple(context[-shown:]) if shown else ()
        transcript = build_transcript(
            piece, self._settings.extraction.memory_tools, timezone=self._settings.extraction.timezone
        )
        rules = self._settings.extraction
        case = Case(transcript, self._vocabulary, record, rules.required_entities, self._patterns, rules.max_claims)
        now = asyncio.get_running_loop().time()
        progress = _Progress(Budget(now + self._settings.model.slice_budget_s))
        if not transcript.lines:
            return self._outcome(piece, progress, ExtractionOutcome.FIRST_PASS)
        prompt_context = context_text(record)
        tokens = transcript.tokens | {
            "instruction": self._system_tokens,
            "context": estimate_tokens(prompt_context),
        }
        put = user_text(prompt_context, transcript.text)
        progress.budget.said = fold(put)
        messages: list[ChatCompletionMessageParam] = [
            {"role": "system", "content": self._system},
            {"role": "user", "content": put},
        ]
        error = ""
        try:
            status = await self._answer(messages, case, progress)
        except ProviderFault as fault:
            status, error = ExtractionOutcome.TO_RETRY, str(fault)
        except ProviderRefusal as refusal:
            progress.problems.append(Problem("provider_refused", str(refusal)))
            status = ExtractionOutcome.REJECTED
        return self._outcome(piece, progress, status, case=case, prompt_tokens=tokens, error=error)

    async def _answer(
        self, messages: list[ChatCompletionMessageParam], case: Case, progress: _Progress
    ) -> ExtractionOutcome:
        """Ask until an answer passes every rule or `ANSWERS` have failed."""
        for number in range(1, ANSWERS + 1):
            reply = await self._client.ask(messages, progress.budget)
            progress.attempts.append(self._attempt(reply, messages))
            problems = reply.problems
            if reply.answer is not None:
                progress.verdict, progress.digest = judge(reply.answer, case), reply.answer.digest
                problems = progress.verdict.problems
            if not problems:
                return ExtractionOutcome.FIRST_PASS if number == 1 else ExtractionOutcome.RETRY_PASS
            progress.problems += problems
            messages = [
                *messages,
                {"role": "assistant", "content": reply.raw or "(nothing)"},
                {"role": "user", "content": retry_text(problems)},
            ]
        return ExtractionOutcome.REJECTED

    def _attempt(self, reply: Reply, messages: list[ChatCompletionMessageParam]) -> Attempt:
        attempt = price_attempt(
            self._price,
            input_tokens=reply.input_tokens,
            cached_tokens=reply.cached_tokens,
            output_tokens=reply.output_tokens,
            seconds=reply.seconds,
        )
        if (spend := self._admission.spend) is not None:
            # Where the provider does not say what it used, the budget must hold all the same.
            spend.add(attempt.cost_usd or self._estimated_usd(reply, messages))
        return attempt

    def _estimated_usd(self, reply: Reply, messages: list[ChatCompletionMessageParam]) -> float:
        used = {"input_tokens": prompt_tokens(messages), "output_tokens": estimate_tokens(reply.raw)}
        return price_attempt(self._price, **used, cached_tokens=0, seconds=0).cost_usd

    def _outcome(
        self,
        piece: Slice,
        progress: _Progress,
        status: ExtractionOutcome,
        *,
        case: Case | None = None,
        prompt_tokens: dict[str, int] | None = None,
        error: str = "",
    ) -> Outcome:
        passed = status in (ExtractionOutcome.FIRST_PASS, ExtractionOutcome.RETRY_PASS)
        verdict = progress.verdict if status != ExtractionOutcome.TO_RETRY else None
        digest = progress.digest
        claims: tuple[Claim, ...] = ()
        episode = None
        mark = self.fingerprint(piece) if passed or status is ExtractionOutcome.UNCHANGED else ""
        if passed and case and verdict and digest:
            claims = self._claims(piece, verdict.claims, case)
            episode = _episode(piece, digest, case.transcript, mark)
        return Outcome(
            scope=piece.scope,
            session_id=piece.session_id,
            slice_id=piece.id,
            event_ids=tuple(event.id for event in piece.events),
            first_ts_ms=piece.first_ts_ms,
            last_ts_ms=piece.last_ts_ms,
            status=status,
            model=self._settings.model.name,
            prompt_version=PROMPT_VERSION,
            claims=claims,
            episode=episode,
            problems=tuple(progress.problems),
            dropped=verdict.dropped if verdict else (),
            attempts=tuple(progress.attempts),
            transport_retries=progress.budget.retries,
            entity_recall=verdict.recall if verdict else None,
            prompt_tokens=prompt_tokens or {},
            error=error,
            fingerprint=mark,
            asked=progress.budget.calls > 0,
        )

    def _claims(self, piece: Slice, extracted: Iterable[ExtractedClaim], case: Case) -> tuple[Claim, ...]:
        """Return the claims in order of evidence; the same claim twice in one answer is one."""
        made = [self._claim(piece, one, case) for one in extracted]
        made.sort(key=lambda claim: (claim.observed_at_ms, claim.kind, claim.key, claim.text, claim.id))
        return tuple({claim.id: claim for claim in made}.values())

    def _claim(self, piece: Slice, one: ExtractedClaim, case: Case) -> Claim:
        events = [line.line.event for line in case.cited(one.sources)]
        sources = tuple(event.id for event in events)
        about, text, condition = fold(one.about), fold(one.text), fold(one.condition or "") or None
        if about.casefold() == "user":
            about = "user"
        authorities = {authority_of(event) for event in events}
        return Claim(
            id=derived_id("claim", *place_of(piece), one.kind, one.key, about, condition or "", text, *sources),
            scope=piece.scope,
            session_id=piece.session_id,
            slice_id=piece.id,
            kind=one.kind,
            key=one.key,
            about=about,
            text=text,
            sources=sources,
            quote=one.quote,
            confidence=one.confidence,
            observed_at_ms=max(event.ts_ms for event in events),
            evidence_from_ms=min(event.ts_ms for event in events) if len(events) > 1 else None,
            authority=authorities.pop() if len(authorities) == 1 else EventAuthority.MIXED,
            durable=one.durable,
            change=one.change,
            condition=condition,
            when=one.when,
            closes=_closed_event(one.closes, case),
            model=self._settings.model.name,
            prompt_version=PROMPT_VERSION,
        )


def _closed_event(closes: str | None, case: Case) -> str | None:
    """Return the id of the event that asked: the cited line's, or the first source of a line of the record."""
    label = parse_closes(closes) if closes is not None else None
    if label is None:
        return None
    in_record, number = label
    return case.context[number - 1].sources[0] if in_record else case.lines[number - 1].line.event.id


def _episode(piece: Slice, digest: Digest, transcript: Transcript, mark: str) -> Episode:
    cited = (transcript.event(ordinal) for ordinal in sorted(set(digest.sources)))
    return Episode(
        id=episode_id(piece),
        scope=piece.scope,
        session_id=piece.session_id,
        slice_id=piece.id,
        text=fold(digest.text),
        sources=tuple(event.id for event in cited if event is not None),
        events=tuple(event.id for event in piece.events),
        first_ts_ms=piece.first_ts_ms,
        last_ts_ms=piece.last_ts_ms,
        fingerprint=mark,
    )

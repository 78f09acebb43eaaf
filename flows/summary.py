"""What a run did, as the one object that `ingest --json` or `replay --json` prints."""

from collections.abc import Mapping

from flows.replay import ReplayJob
from flows.replay_tally import Tally
from flows.replay_window import Window
from operators.metrics import Metrics
from schemas.outcome import ExtractionOutcome
from schemas.summary import ClaimCounts, ExtractionCounts, IngestSummary, ReplaySummary, SliceCounts, TokenCounts


def summarize(metrics: Metrics, statuses: Mapping[str, int], elapsed_s: float) -> IngestSummary:
    """Return the counts of the run so far; `statuses` are the claims of the banks it wrote to, by status."""
    events = _counts(metrics, "strandline_events_total", "outcome")
    slices = _counts(metrics, "strandline_slices_total", "reason")
    extractions = _counts(metrics, "strandline_extractions_total", "outcome")
    accepted = events.get("event", 0)
    return IngestSummary(
        events=accepted,
        controls=events.get("control", 0),
        invalid=events.get("invalid", 0),
        partials=events.get("partial", 0),
        duplicates=events.get("duplicate", 0),
        late=events.get("late", 0),
        sessions=int(metrics.total("strandline_sessions_total")),
        slices=SliceCounts(
            closed=slices.get("closed", 0),
            idle=slices.get("idle", 0),
            checkpoint=slices.get("checkpoint", 0),
            end_of_input=slices.get("end_of_input", 0),
        ),
        skipped=_counts(metrics, "strandline_skipped_total", "reason"),
        extractions=ExtractionCounts(
            first_pass=extractions.get("first_pass", 0),
            retry_pass=extractions.get("retry_pass", 0),
            rejected=extractions.get("rejected", 0),
            transport_retries=int(metrics.total("strandline_transport_retries_total")),
            to_retry=extractions.get("to_retry", 0),
        ),
        problems=_counts(metrics, "strandline_validation_problems_total", "rule"),
        claims=ClaimCounts(
            stored=sum(statuses.values()),
            dropped=_counts(metrics, "strandline_claims_dropped_total", "rule"),
            superseded=statuses.get("superseded", 0),
            merged=statuses.get("merged", 0),
            conflicting=statuses.get("conflicting", 0),
        ),
        tokens=_tokens(metrics),
        cost_usd=round(metrics.total("strandline_cost_usd_total"), 6),
        elapsed_s=round(elapsed_s, 3),
        events_per_s=round(accepted / elapsed_s, 1) if elapsed_s > 0 else 0.0,
    )


def summarize_replay(job: ReplayJob, window: Window, tally: Tally, elapsed_s: float) -> ReplaySummary:
    """Return the counts of a replay of `window`."""
    outcomes = tally.outcomes
    return ReplaySummary(
        kind=job.kind,
        letters=window.letters,
        damaged=len(window.faults),
        older=window.older,
        others=window.others,
        given_up=len(window.given_up),
        left=window.left,
        slices=len(window.slices),
        replayed=tally.served + outcomes[ExtractionOutcome.TO_RETRY],
        first_pass=outcomes[ExtractionOutcome.FIRST_PASS],
        retry_pass=outcomes[ExtractionOutcome.RETRY_PASS],
        rejected=outcomes[ExtractionOutcome.REJECTED],
        to_retry=outcomes[ExtractionOutcome.TO_RETRY],
        unchanged=outcomes[ExtractionOutcome.UNCHANGED],
        forgotten=tally.forgotten,
        problems=_counts(job.metrics, "strandline_validation_problems_total", "rule"),
        tokens=_tokens(job.metrics),
        cost_usd=round(job.metrics.total("strandline_cost_usd_total"), 6),
        elapsed_s=round(elapsed_s, 3),
    )


def _tokens(metrics: Metrics) -> TokenCounts:
    tokens = _counts(metrics, "gen_ai_client_token_usage_sum", "gen_ai_token_type")
    return TokenCounts(
        input=tokens.get("input", 0) + tokens.get("cached", 0),
        cached=tokens.get("cached", 0),
        output=tokens.get("output", 0),
    )


def _counts(metrics: Metrics, name: str, label: str) -> dict[str, int]:
    return {key: int(value) for key, value in metrics.by_label(name, label).items() if value}

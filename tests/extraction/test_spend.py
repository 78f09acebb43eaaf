"""A day's budget: reached, calls stop; a new day, they go on; a crash forgets nothing."""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest
import structlog
from virtual_time import now, run_virtually

from extraction.admission import admission_for
from extraction.errors import ModelConfigurationError, ProviderFault
from extraction.extractor import Extractor
from extraction.signals import Signals
from extraction.spend import LOOK_EVERY_S, DailySpend
from schemas.outcome import ExtractionOutcome
from schemas.settings import ModelSettings, Price, Settings

EVENING = datetime(2026, 3, 14, 22, 0, tzinfo=UTC)
CALL_USD = (600 * 1.0 + 400 * 0.5 + 100 * 2.0) / 1e6
"""One answer of the scripted endpoint at its prices."""


class Day:
    """A clock that is set by hand."""

    def __init__(self, at: datetime = EVENING) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at


def test_calls_wait_for_midnight_and_show_that_they_are_alive():
    paused, spent, beats = [], [], []

    async def story():
        signals = Signals(budget_paused=paused.append, budget_spent_usd=spent.append, alive=lambda: beats.append(now()))
        clock = lambda: EVENING + timedelta(seconds=now())  # noqa: E731
        spend = DailySpend(1.0, waits=True, signals=signals, now=clock)
        spend.add(0.6)
        await spend.wait()
        assert now() == 0.0
        spend.add(0.6)
        with structlog.testing.capture_logs() as logs:
            await asyncio.gather(*(spend.wait() for _ in range(10)))
        return now(), logs

    ended, logs = run_virtually(story())
    assert 2 * 3600.0 <= ended < 2 * 3600.0 + 1.0
    assert paused == [True, False]
    assert spent == [0.0, 0.6, 1.2, 0.0]
    assert max(later - earlier for earlier, later in zip(beats, beats[1:], strict=False)) <= LOOK_EVERY_S + 1e-6
    assert [row["event"] for row in logs] == [
        "the daily budget is spent, the model is called no more today",
        "a new day, the model is called again",
    ]


def test_a_run_that_ends_by_itself_does_not_wait():
    spend = DailySpend(0.5, waits=False, now=Day())
    spend.add(0.5)
    with pytest.raises(ProviderFault, match=r"the daily budget of \$0\.5 is spent; .* `strandline replay retry`"):
        asyncio.run(spend.wait())


def test_a_crash_does_not_begin_the_budget_anew_and_a_new_day_does(tmp_path):
    file, day = tmp_path / "recovery" / "spend.json", Day()
    for _ in range(3):
        DailySpend(1.0, waits=False, file=file, now=day).add(0.4)
    again = DailySpend(1.0, waits=False, file=file, now=day)
    assert again.is_spent()
    assert json.loads(file.read_bytes())["spent_usd"] == pytest.approx(1.2)
    assert [path.name for path in file.parent.iterdir()] == ["spend.json"]
    day.at += timedelta(hours=3)
    assert not again.is_spent()
    again.add(0.3)
    assert json.loads(file.read_bytes()) == {"day": "2026-03-15", "spent_usd": 0.3}


def test_a_file_of_a_day_that_a_wrong_clock_wrote_does_not_end_the_work_for_good(tmp_path):
    file = tmp_path / "spend.json"
    file.write_text('{"day": "2099-01-01", "spent_usd": 9}')
    assert not DailySpend(1.0, waits=True, file=file, now=Day()).is_spent()


def test_a_file_that_is_none_names_itself_and_the_remedy(tmp_path):
    file = tmp_path / "spend.json"
    file.write_text("half a fi")
    with pytest.raises(ModelConfigurationError, match=r"spend\.json .* Remedy: mend it, or remove it"):
        DailySpend(1.0, waits=True, file=file)


def test_a_budget_for_a_model_without_a_price_names_the_remedy():
    settings = Settings(model=ModelSettings(name="llama", daily_budget_usd=5.0))
    with pytest.raises(
        ModelConfigurationError, match=r"daily_budget_usd is 5 .* 'llama'.* Remedy: state prices\.llama"
    ):
        Extractor(settings)
    assert admission_for(settings.model_copy(update={"prices": {"llama": Price(input=1.0)}})).spend is not None


def test_extract_stops_between_calls_once_the_budget_is_spent(
    endpoint, make_event, make_slice, make_answer, make_claim
):
    endpoint.answer(make_answer(make_claim()))
    piece = make_slice(make_event(1, "Hi, my order A-1001 is late."))

    async def go():
        extractor = Extractor(endpoint.settings(daily_budget_usd=1.5 * CALL_USD))
        outcomes = [await extractor.extract(piece) for _ in range(4)]
        await extractor.aclose()
        return outcomes

    outcomes = asyncio.run(go())
    assert [one.status for one in outcomes] == [ExtractionOutcome.FIRST_PASS] * 2 + [ExtractionOutcome.TO_RETRY] * 2
    assert [one.asked for one in outcomes] == [True, True, False, False]
    assert len(endpoint.requests) == 2
    assert outcomes[3].error.startswith("the daily budget of $0.0015 is spent")


def test_extract_counts_an_answer_whose_usage_the_provider_does_not_tell(
    endpoint, make_event, make_slice, make_answer, make_claim, step
):
    zero = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    endpoint.answer(step(json.dumps(make_answer(make_claim())), usage=zero))
    piece = make_slice(make_event(1, "Hi, my order A-1001 is late."))

    async def go():
        extractor = Extractor(endpoint.settings(daily_budget_usd=1e-6))
        outcomes = [await extractor.extract(piece) for _ in range(2)]
        await extractor.aclose()
        return outcomes

    first, second = asyncio.run(go())
    assert first.attempts[0].cost_usd == 0.0
    assert second.status == ExtractionOutcome.TO_RETRY


def test_a_spend_that_cannot_be_kept_is_told_before_the_first_call(tmp_path):
    """Else each start would pay for one answer, end, and count nothing."""
    (tmp_path / "model-spend.json.new").mkdir()
    with pytest.raises(ModelConfigurationError, match=r"cannot be kept in .*model-spend\.json.*run\.recovery_dir"):
        DailySpend(1.0, waits=True, file=tmp_path / "model-spend.json")

"""The daily budget through the whole flow: a run that ends sets slices aside, one that goes on waits."""

import json
from pathlib import Path

import pytest
from kafka_runs import Watched, command_of, produce

SAMPLE = Path(__file__).parents[2] / "cli" / "demo_data" / "sessions.jsonl"
PRICES = {"strandline-offline": {"input": 1.0, "cached": 1.0, "output": 1.0}}


def test_a_bounded_run_ends_and_sets_aside_what_there_is_no_budget_for(bench):
    whole = bench.ingest(SAMPLE, prices=PRICES)
    slices = whole.extractions.first_pass + whole.extractions.retry_pass
    assert whole.extractions.to_retry == 0
    other = type(bench)(bench.folder / "other")
    model = {"daily_budget_usd": whole.cost_usd / 2, "max_in_flight": 1}
    halved = other.ingest(SAMPLE, prices=PRICES, model=model)
    assert 0 < halved.extractions.to_retry < slices
    assert halved.extractions.first_pass + halved.extractions.retry_pass + halved.extractions.to_retry == slices
    assert whole.cost_usd / 2 <= halved.cost_usd < whole.cost_usd
    letters = "".join(path.read_text() for path in (other.folder / "letters").iterdir()).splitlines()
    assert sum("the daily budget of $" in letter for letter in letters) == halved.extractions.to_retry


@pytest.mark.slow
def test_a_run_from_kafka_waits_and_goes_on_where_it_stopped(
    bench, embedded_kafka, lines, scopes, tmp_path, monkeypatch
):
    whole = bench.ingest(SAMPLE, prices=PRICES)
    expected = bench.bank(*scopes)
    kafka = produce(embedded_kafka, lines)
    monkeypatch.setenv("STRANDLINE_PRICES", json.dumps(PRICES))
    monkeypatch.setenv("STRANDLINE_MODEL__MAX_IN_FLIGHT", "2")
    monkeypatch.setenv("STRANDLINE_MODEL__DAILY_BUDGET_USD", f"{whole.cost_usd / 2:.9f}")
    monkeypatch.setenv("STRANDLINE_RUN__SNAPSHOT_INTERVAL_S", "0.2")
    monkeypatch.setenv("STRANDLINE_RUN__RECOVERY_DIR", str(tmp_path / "recovery"))
    other = type(bench)(tmp_path / "other")
    other.folder.mkdir()
    watched = Watched(other, monkeypatch, *command_of(other, kafka))
    watched.wait_for("strandline_budget_paused", 1)
    watched.wait_for("strandline_in_flight", 2)
    code, _, err = watched.stop()
    assert code == 0, err
    assert err.count("the daily budget is spent") == 1
    spent = json.loads((tmp_path / "recovery" / "model-spend.json").read_bytes())["spent_usd"]
    assert whole.cost_usd / 2 <= spent < whole.cost_usd
    rest = other.ingest("kafka", kafka=kafka.model_dump(), run={"recovery_dir": str(tmp_path / "recovery")})
    assert (rest.extractions.to_retry, rest.extractions.rejected) == (0, 0)
    assert other.bank(*scopes) == expected

"""The extractor against a model that plants faults: none that a rule covers is stored, little that is valid is lost."""

import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from bench.fault_model import FaultModel
from bench.fault_model.answers import Answers, Rates
from bench.fault_model.classes import CLASSES, WIRE
from bench.fault_model.reckoning import reckon
from bench.fault_model.run import make_slices, run, settings_for
from bench.fault_model.scenes import write_scenes
from bench.fault_model.server import SLICE_HEADER
from extraction import extractor
from extraction.prompt import user_text
from extraction.rules import CLAIM_RULES, Verdict
from extraction.transcript import build_transcript

TIMEOUT_S = 1.5


@pytest.fixture
def outcome_of(shared, monkeypatch):
    """Run `count` slices against the fault model, and return the reckoning."""
    monkeypatch.setenv("STRANDLINE_SHARED", str(shared))

    def go(count, seed, rates):
        slices, outside = make_slices(count, seed)
        with FaultModel(seed, rates, hang_s=1.5 * TIMEOUT_S) as model:
            settings = settings_for(model.base_url, TIMEOUT_S)
            ran = run(slices, outside, model, settings, in_flight=48)
        return reckon(slices, ran.outcomes, ran.report, settings)

    return go


def test_no_covered_fault_is_stored(outcome_of):
    done = outcome_of(300, 7, Rates(first=1.0, again=0.01))
    assert {name for name, row in done.rows.items() if not row.planted} == set()
    assert {name: done.rows[name].escapes[:1] for name in done.escaped} == {}
    assert done.kept_share >= 0.98


def test_without_rules_every_faulty_claim_is_found_in_what_is_stored(outcome_of, monkeypatch):
    needed = [CLAIM_RULES["unknown_source"], CLAIM_RULES["unknown_closes"]]

    def judge(answer, case):
        """Let pass all that can be stored at all: with these two broken there is no event to point to."""
        passed = (one for one in answer.claims if not any(list(rule(one, case)) for rule in needed))
        return Verdict(tuple(passed), (), (), None)

    monkeypatch.setattr(extractor, "judge", judge)
    done = outcome_of(150, 3, Rates(first=1.0, wire=0.0))
    unread = {"malformed_json", "truncated_json", "empty_answer", "refusal", "german_keys"}
    nowhere = {"invented_source", "invented_closes", "source_of_other_slice"}
    found = {name for name, row in done.rows.items() if row.planted and row.stored == row.planted}
    assert len(found) > len(CLASSES) / 2
    assert {name for name, row in done.rows.items() if row.planted} - found <= unread | nowhere


def test_the_same_slice_always_meets_the_same_faults():
    def planted(seed):
        answers = Answers(seed, Rates(first=1.0))
        slices, outside = _scenes()
        answers.outside = outside
        for piece in slices:
            answers.completion(piece.session_id, _request(piece), 0)
        return [(one.key, one.fault, one.answer) for one in answers.planted.values()]

    assert planted(1) == planted(1)
    assert planted(1) != planted(2)


def test_a_call_before_retry_after_has_passed_is_told():
    piece = _scenes()[0][0]
    with FaultModel(1, Rates(wire=1 / WIRE["http_429"]), hang_s=1.0) as model:
        for _ in range(2):
            with pytest.raises(HTTPError) as refused:
                urlopen(
                    Request(f"{model.base_url}/chat/completions", _request(piece), {SLICE_HEADER: piece.session_id}),
                    timeout=10,
                )
            assert refused.value.headers["Retry-After"] == "1"
            refused.value.close()
        report = model.report()
    assert report.too_soon == [piece.session_id]
    assert [one.fault for one in report.planted] == ["http_429", "http_429"]


def _scenes():
    made = write_scenes(24, seed=1)
    return [piece for piece, _ in made], {piece.session_id: told for piece, told in made}


def _request(piece):
    messages = [
        {"role": "system", "content": "x"},
        {"role": "user", "content": user_text("", build_transcript(piece, nonce="n").text)},
    ]
    return json.dumps({"model": "faults", "messages": messages}).encode()

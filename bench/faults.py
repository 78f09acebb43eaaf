"""Plants faults in a model's answers and counts what of them is stored: `python -m bench.faults [--slices N]`."""

import argparse
import json
import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import msgspec
import structlog

from bench.fault_model.answers import Rates
from bench.fault_model.classes import WIRE
from bench.fault_model.process import FaultModel
from bench.fault_model.reckoning import Reckoning, reckon
from bench.fault_model.run import Ran, make_slices, run, settings_for
from bench.fault_model.table import lines
from bench.star_topic import DataMissing
from extraction.rules import ANSWER_RULES, CLAIM_RULES, DROP_RULES
from schemas.slice import Slice

MIN_KEPT = 0.98
"""The share of valid claims that must be stored, as long as second answers are nearly all sound."""


def main() -> int:
    """Run the benchmark; return 1 when something that a rule covers was stored, or too little that is valid."""
    asked = _arguments()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    rates = Rates(asked.first, asked.again, asked.wire)
    try:
        slices, outside = make_slices(asked.slices, asked.seed)
    except DataMissing as error:
        sys.stderr.write(f"{error}\n")
        return 2
    with FaultModel(asked.seed, rates, hang_s=1.5 * asked.timeout) as model:
        settings = settings_for(model.base_url, asked.timeout, asked.mode)
        ran = run(slices, outside, model, settings, in_flight=asked.in_flight, done=_progress(len(slices)))
    done = reckon(slices, ran.outcomes, ran.report, settings)
    sys.stdout.write("\n".join((_caption(asked, rates), *lines(done), *_rest(done, ran))) + "\n")
    for line in _escapes(done, {piece.session_id: piece for piece in slices}, asked.escapes):
        sys.stdout.write(line + "\n")
    too_few = rates.again <= Rates.again and done.kept_share < MIN_KEPT
    return 1 if done.escaped or too_few else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.faults", description=__doc__)
    parser.add_argument("--slices", type=int, default=10_000)
    parser.add_argument("--in-flight", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=float, default=Rates.first, help="share of first answers that hold a fault")
    parser.add_argument("--again", type=float, default=Rates.again, help="share of second answers that hold it again")
    parser.add_argument("--wire", type=float, default=Rates.wire, help="factor on the faults of the wire")
    parser.add_argument("--timeout", type=float, default=4.0, help="seconds a call may take; a hang takes half more")
    parser.add_argument("--mode", default="json_schema", choices=("json_schema", "json", "tools"))
    parser.add_argument("--escapes", type=int, default=0, help="print so many escapes of each class, as JSON")
    return parser.parse_args()


def _caption(asked: argparse.Namespace, rates: Rates) -> str:
    wire = ", ".join(f"{name} {share * rates.wire:.1%}" for name, share in WIRE.items())
    return (
        f"{asked.slices:,} slices, {asked.in_flight} in flight, seed {asked.seed}: one fault in {rates.first:.0%} of "
        f"first answers and {rates.again:.1%} of second ones; of all calls {wire}"
    )


def _escapes(done: Reckoning, slices: Mapping[str, Slice], count: int) -> Iterator[str]:
    """Give up to `count` faults of each class that escaped, and sound answers that were refused, with their slices."""
    for name in done.escaped:
        for one in done.rows[name].escapes[:count]:
            yield json.dumps({"fault": msgspec.to_builtins(one), "slice": msgspec.to_builtins(slices[one.key])})
    for key, problem in done.unsound[: count * 4]:
        yield json.dumps({"refused": msgspec.to_builtins(problem), "slice": msgspec.to_builtins(slices[key])})


def _rest(done: Reckoning, ran: Ran) -> list[str]:
    status = Counter(outcome.status for outcome in ran.outcomes.values())
    calls = ran.report.calls
    fired = {problem.rule for outcome in ran.outcomes.values() for problem in (*outcome.problems, *outcome.dropped)}
    silent = [rule for rule in (*DROP_RULES, *CLAIM_RULES, *ANSWER_RULES) if rule not in fired]
    refused = Counter(problem.rule for _, problem in done.unsound)
    unsound = ", ".join(f"{rule} {count}" for rule, count in refused.most_common()) or "none"
    return [
        f"valid claims of the faultless answers: {done.valid:,}, stored {done.kept:,} ({done.kept_share:.2%}); "
        f"faultless answers that break a rule: {unsound}",
        f"outcomes: {', '.join(f'{name} {count:,}' for name, count in sorted(status.items()))}",
        f"calls: {calls:,}, {1e3 * ran.cpu_s / max(calls, 1):.1f} ms CPU each in the client and "
        f"{1e3 * ran.report.cpu_s / max(calls, 1):.1f} ms in the server; {ran.wall_s:.0f} s in all; retries that no "
        f"planted fault asked for: {done.unplanned_retries}",
        f"rules that never fired: {', '.join(silent) or 'none'}",
        f"ESCAPED: {', '.join(done.escaped)}" if done.escaped else "nothing that a rule covers was stored",
    ]


def _progress(total: int) -> Callable[[int], None]:
    def show(count: int) -> None:
        if sys.stderr.isatty() and (count % 100 == 0 or count == total):
            sys.stderr.write(f"\r{count:,} of {total:,}" + ("\n" if count == total else ""))

    return show


if __name__ == "__main__":
    sys.exit(main())

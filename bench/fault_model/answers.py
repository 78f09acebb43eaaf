"""Which fault a call meets, and the body of its answer. The same slice, ask and call always meet the same."""

import json
import random
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from bench.fault_model.asked import Asked, body_of, first_prompt, rows_of
from bench.fault_model.classes import CLASSES, WIRE
from bench.fault_model.fault import Fault
from bench.fault_model.record import Outside, Planted
from extraction.offline.protocol import complete
from schemas.extraction import Extraction


@dataclass(frozen=True)
class Rates:
    """How often faults are planted: shares of first answers, of second ones, and a factor on the faults of the wire."""

    first: float = 0.95
    again: float = 0.005
    wire: float = 1.0


@dataclass
class Answers:
    """All that was planted, and the faultless answers by slice."""

    seed: int
    rates: Rates
    outside: dict[str, Outside] = field(default_factory=dict)
    planted: dict[tuple[str, int, int], Planted] = field(default_factory=dict)
    base: dict[str, Extraction] = field(default_factory=dict)
    _completions: dict[str, dict[str, Any]] = field(default_factory=dict)

    def wire_fault(self, key: str, ask: int, call: int) -> str:
        """Return the fault of the wire that this call meets, or nothing."""
        drawn = self._rng(key, ask, call).random()
        for name, share in WIRE.items():
            drawn -= share * self.rates.wire
            if drawn < 0:
                self.planted[key, ask, call] = Planted(key, ask, name, "wire")
                return name
        return ""

    def completion(self, key: str, raw: bytes, created_s: int) -> dict[str, Any]:
        """Return the chat completion for the request `raw` of slice `key`, faulty or not."""
        messages = json.loads(raw)["messages"]
        ask, prompt = ask_of(messages), first_prompt(messages)
        whole = self._faultless(prompt, raw, created_s)
        base = Extraction.model_validate_json(_text(whole))
        self.base[key] = base
        fault = self._fault(key, ask, prompt, base)
        return _with(whole, fault) if fault else whole

    def _faultless(self, prompt: str, raw: bytes, created_s: int) -> dict[str, Any]:
        """Return the offline model's completion for the first two messages; the same events are read once."""
        body = body_of(prompt)
        if body not in self._completions:
            request = json.loads(raw)
            request["messages"] = request["messages"][:2]
            self._completions[body] = complete(json.dumps(request).encode(), created_s)
        return self._completions[body]

    def _fault(self, key: str, ask: int, prompt: str, base: Extraction) -> Fault | None:
        share = self.rates.first if ask == 1 else self.rates.again
        if self._rng(key, ask, 0).random() >= share:
            return None
        outside = self.outside.get(key, Outside())
        rows = rows_of(prompt)
        for name in self._order(key, ask, outside):
            fault = CLASSES[name].plant(Asked(rows, base, outside, self._rng(key, ask, name)))
            if fault is not None:
                self.planted[key, ask, 0] = _planted(key, ask, name, fault)
                return fault
        return None

    def _order(self, key: str, ask: int, outside: Outside) -> Iterator[str]:
        """Give the classes in the order in which they are tried, by lot and weight.

        A second answer repeats the first's. A slice that was written for some classes has these before all others.
        """
        if ask > 1 and (first := self.planted.get((key, 1, 0))):
            yield first.fault
            return
        rng = self._rng(key, ask, "order")
        ranks = {name: rng.random() ** (1 / one.weight) for name, one in CLASSES.items()}
        yield from sorted(ranks, key=lambda name: (name in outside.meant_for, ranks[name]), reverse=True)

    def _rng(self, *parts: object) -> random.Random:
        return random.Random("|".join(map(str, (self.seed, *parts))))


def ask_of(messages: list[Mapping[str, object]]) -> int:
    """Return which answer of its slice is asked for, from 1: one more than those that stand in the messages."""
    return 1 + sum(one.get("role") == "assistant" for one in messages)


def _planted(key: str, ask: int, name: str, fault: Fault) -> Planted:
    claim = fault.claim
    if claim is None:
        return Planted(key, ask, name, fault.where, text=fault.digest, answer=fault.text or "")
    return Planted(
        key,
        ask,
        name,
        fault.where,
        claim.kind,
        claim.key,
        claim.about,
        claim.text,
        claim.quote,
        claim.when,
        fault.text or "",
    )


def _text(completion: dict[str, Any]) -> str:
    message = completion["choices"][0]["message"]
    calls = message.get("tool_calls")
    return str(calls[0]["function"]["arguments"] if calls else message["content"])


def _with(completion: dict[str, Any], fault: Fault) -> dict[str, Any]:
    """Return a copy of `completion` with the fault's text, wherever the protocol puts it."""
    changed = deepcopy(completion)
    choice = changed["choices"][0]
    choice["finish_reason"] = fault.finish_reason
    if fault.refusal is not None:
        choice["message"] = {"role": "assistant", "content": None, "refusal": fault.refusal}
    elif calls := choice["message"].get("tool_calls"):
        calls[0]["function"]["arguments"] = fault.text
    else:
        choice["message"]["content"] = fault.text
    return changed

"""Faults that need something said for them: a careless model claims what the slice's writer tells the server."""

from bench.fault_model.asked import Asked
from bench.fault_model.fault import Fault, Plant, with_claim, with_digest


def baited(name: str) -> Plant:
    """Return the plant that takes the bait of class `name` as it stands."""

    def take(asked: Asked) -> Fault | None:
        told = asked.outside.bait.get(name)
        return with_claim(asked, asked.rng.choice(told).claim()) if told else None

    return take


def behind_own_line(name: str) -> Plant:
    """Return the plant that cites a line of the user's beside the bait's, and quotes that: it proves something else."""

    def take(asked: Asked) -> Fault | None:
        told, said = asked.outside.bait.get(name), asked.sentence(own=True)
        if not told or said is None:
            return None
        one = asked.rng.choice(told)
        row, quote = said
        return with_claim(asked, one.claim([n for n in (one.line, row.n) if n], quote))

    return take


def in_digest(name: str) -> Plant:
    """Return the plant that puts the bait's text into the digest."""

    def take(asked: Asked) -> Fault | None:
        told = asked.outside.bait.get(name)
        return with_digest(asked, asked.rng.choice(told).text) if told else None

    return take

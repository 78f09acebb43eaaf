"""Latencies as a language model has them: log-normal, most below a second, some of ten."""

import math
import random
from collections.abc import Iterator

SIGMA = 1.151
"""With a mean of 1 s, one latency in two hundred is 10 s or more."""

MOST_MEANS = 10.0
"""A latency is cut off at so many times the mean: nobody waits for ever."""


def latencies_s(mean_s: float, seed: int) -> Iterator[float]:
    """Give latencies in seconds for ever, the same ones for the same seed; their mean is 3 % below, for the cut-off."""
    drawn = random.Random(seed)
    mu = math.log(mean_s) - SIGMA**2 / 2
    while True:
        yield min(MOST_MEANS * mean_s, drawn.lognormvariate(mu, SIGMA))

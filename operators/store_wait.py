"""Waiting for a store that is away: every read and every write of the flow may be repeated."""

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

import structlog

from memory.errors import EmbeddingUnavailable, StoreUnavailable

T = TypeVar("T")

log = structlog.get_logger(__name__)


def repeated(
    work: Callable[[], T],
    waits_s: Sequence[float],
    beat: Callable[[], None] = lambda: None,
    stop: threading.Event | None = None,
) -> T:
    """Return what `work` returns; while the store or the embeddings are away, wait and do it again.

    :arg waits_s: Seconds between tries; after the last one `work` is done once more.
    :arg beat: Called before each wait, as a sign of life.
    :arg stop: Once set, nobody waits any more: a process that was asked to end must not hang on a store that is away.
    :raises StoreUnavailable: It stayed away. (Or EmbeddingUnavailable.)
    """
    stop = stop or threading.Event()
    for wait_s in waits_s:
        try:
            return work()
        except (StoreUnavailable, EmbeddingUnavailable) as exc:
            log.warning("store unavailable, trying again", wait_s=wait_s, error=str(exc))
            beat()
            if stop.wait(wait_s):
                break
    return work()

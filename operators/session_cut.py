"""Where a checkpoint may cut a session: a pure function of its pending events.

What is younger than the allowed lateness stays, for its neighbours may still come; a tool call stays with its response,
and what the user said with the answer to it.
"""

from collections.abc import Sequence
from operator import attrgetter

from schemas.events import USER_AUTHOR, Event


def in_order(events: Sequence[Event]) -> list[Event]:
    """Return `events` by time, then id: the one order that does not depend on arrival."""
    return sorted(events, key=attrgetter("ts_ms", "id"))


def checkpoint_length(events: Sequence[Event], lateness_ms: int, *, force: bool) -> int:
    """Return how many of the ordered `events`, at least one, a checkpoint takes; 0 when it must wait.

    `force` ignores calls and turns and, if need be, the lateness: the pending events have grown to twice their ceiling,
    and memory is bounded.
    """
    horizon = events[-1].ts_ms - lateness_ms
    length = sum(event.ts_ms <= horizon for event in events)
    if force:
        return length or len(events)
    return _before_unanswered_turn(events, _before_open_call(events, length))


def _before_unanswered_turn(events: Sequence[Event], length: int) -> int:
    """Move a cut between what the user said and an answer that is there already in front of what was said."""
    if length < len(events) and events[length].author != USER_AUTHOR:
        while length and events[length - 1].author == USER_AUTHOR:
            length -= 1
    return length


def _before_open_call(events: Sequence[Event], length: int) -> int:
    """Move a cut back in front of the first call whose response does not stand in front of the cut as well."""
    ids = {result.id for event in events[:length] for result in event.results if result.id}
    names = [result.name for event in events[:length] for result in event.results if not result.id]
    for index in range(length):
        for call in events[index].calls:
            if call.id in ids:
                continue
            if call.name not in names:
                return index
            names.remove(call.name)
    return length

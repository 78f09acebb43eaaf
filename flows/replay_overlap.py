"""Which events of a slice a replay may put to the model without taking away what others tell of its session.

Storing a slice takes away whatever its session contributed from the same events (`memory.plan`). That is right when the
slice is as new as what it replaces. A letter is older: its session may have come again since, whole or cut otherwise.
"""

from collections.abc import Sequence
from itertools import chain

from schemas.events import Event


def untold(events: tuple[Event, ...], others: Sequence[frozenset[str]]) -> tuple[Event, ...]:
    """Return those of `events` that are still to be told; `others` are the event ids of each other slice.

    None, when the others tell all. Else all but those of a slice that tells more than these events do, for it would
    lose the rest. One that tells of these events alone is replaced by the whole that they make.
    """
    own = frozenset(event.id for event in events)
    if own <= frozenset(chain.from_iterable(others)):
        return ()
    beyond = frozenset(chain.from_iterable(other for other in others if not other <= own))
    return tuple(event for event in events if event.id not in beyond)

"""One thing that happened in a session, whatever framework sent it."""

import msgspec

USER_AUTHOR = "user"
"""The author that ADK gives to the events of the person the agent talks to."""


class ToolCall(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A call of a tool by the agent; `args` is JSON text, trimmed at the source."""

    id: str
    name: str
    args: str


class ToolResult(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What a tool answered; `text` is JSON text, trimmed at the source. `id` may be empty: then the name decides."""

    id: str
    name: str
    text: str


class Event(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One event of a session, trimmed to what extraction may need.

    `author` decides who speaks, never the role of the content: a tool result has role "user" but the agent as author.
    `speaker` names the person who spoke when that is somebody else than the scope's user; it is empty otherwise.
    `withheld` events must not be sent to a model nor cited. `late` marks an event that arrived after its session's
    watermark had passed it. `derived_id` says that the sender gave no id and that it was worked out from the content.
    `timezone` is the IANA name of the time zone that the user was in, empty when nobody says.
    """

    id: str
    author: str
    ts_ms: int
    text: str = ""
    speaker: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    error: str = ""
    withheld: bool = False
    late: bool = False
    derived_id: bool = False
    timezone: str = ""

    @property
    def is_users_own(self) -> bool:
        """Whether the scope's user wrote it: only such an event proves a preference."""
        return self.author == USER_AUTHOR and not self.speaker

    @property
    def n_chars(self) -> int:
        """Characters of text, arguments and results: the size that checkpoints and budgets reckon with."""
        length = len(self.text) + len(self.error)
        if self.calls:
            length += sum(len(call.name) + len(call.args) for call in self.calls)
        if self.results:
            length += sum(len(result.name) + len(result.text) for result in self.results)
        return length


class EventAuthority:
    """Who stands behind a statement; stored with every claim (design: extract, "who said it is kept")."""

    USER_CLAIM = "user_claim"
    AGENT_STATEMENT = "agent_statement"
    TOOL_RESULT = "tool_result"
    OTHER_SPEAKER = "other_speaker"
    MIXED = "mixed"


def authority_of(event: Event) -> str:
    """Return who stands behind `event`: one of the single authorities, never `mixed`."""
    if event.author == USER_AUTHOR:
        return EventAuthority.OTHER_SPEAKER if event.speaker else EventAuthority.USER_CLAIM
    if event.results and not event.text:
        return EventAuthority.TOOL_RESULT
    return EventAuthority.AGENT_STATEMENT

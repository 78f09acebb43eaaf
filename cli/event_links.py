"""Addresses of events, in whatever shows a deployment's conversations."""

import re
import string
from collections.abc import Callable
from urllib.parse import quote

from cli.failures import WRONG_USAGE, CommandError
from schemas.scope import Scope

_WEB = re.compile(r"https?://|/|\.", re.IGNORECASE)
"""What a link may begin with: `javascript:` and its like would run where a handoff is read."""

_PARTS = ("app", "user", "session", "event")


def event_links(template: str, scope: Scope, session_id: str) -> Callable[[str], str]:
    """Return what gives the address of an event of a session by its id, each part percent-encoded.

    Raises:
        CommandError: `template` names no event, or a part that there is not.
    """
    try:
        fields = [field for field in string.Formatter().parse(template) if field[1] is not None]
        names = {f"{name}{spec}{conversion or ''}" for _, name, spec, conversion in fields}
    except ValueError as error:
        names = {str(error)}
    if (
        "event" not in names
        or names.difference(_PARTS)
        or any(char in template for char in "<>\n\r")
        or not _WEB.match(template)
    ):
        msg = (
            f"--links {template!r} is no address of an event; write it with {{event}} and, where needed, {{app}}, "
            "{user} and {session}, e.g. https://desk.example/{session}/{event}"
        )
        raise CommandError(msg, WRONG_USAGE)
    fixed = {"app": scope.app, "user": scope.user, "session": session_id}
    encoded = {name: quote(part, safe="") for name, part in fixed.items()}
    return lambda event: template.format(event=quote(event, safe=""), **encoded)

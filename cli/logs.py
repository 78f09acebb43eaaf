"""Sets up logs: one line each on stderr, for people or as JSON; results alone go to stdout."""

import logging
import sys
from collections.abc import Sequence
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor

from schemas.setting_names import without_passwords
from schemas.settings import RunSettings

PACKAGES = ("schemas", "extraction", "memory", "operators", "flows", "cli")
"""The loggers of the project itself."""


def _without_passwords(logger: object, method: str, event: EventDict) -> EventDict:
    """Mask passwords in URLs: at level debug, libraries tell what they call."""
    return {name: without_passwords(value) if isinstance(value, str) else value for name, value in event.items()}


class _Stderr(logging.StreamHandler[TextIO]):
    """Writes to whatever `sys.stderr` is now: a run puts another there while native code writes to the old one."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        return sys.stderr


def configure(run: RunSettings) -> None:
    """Send what the project and its libraries log to stderr, from `run.log_level` on.

    Libraries are heard from warnings on unless the level is debug: at info their lines carry URLs and bodies.
    """
    level = logging.getLevelNamesMapping()[run.log_level.upper()]
    shared: Sequence[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _without_passwords,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.processors.StackInfoRenderer(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    # A traceback must not show the values of variables: they may be what a user said.
    rendering: Sequence[Processor] = (
        [structlog.processors.format_exc_info, _without_passwords, structlog.processors.JSONRenderer()]
        if run.log_json
        else [
            structlog.processors.format_exc_info,
            _without_passwords,
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            ),
        ]
    )
    handler = _Stderr()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level if level == logging.DEBUG else max(level, logging.WARNING))
    for package in PACKAGES:
        logging.getLogger(package).setLevel(level)

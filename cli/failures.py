"""Faults a user can mend: one sentence on stderr and an exit code, no traceback unless debug is on."""

import logging
import sys
import traceback

DONE = 0
FAILED = 1
WRONG_USAGE = 2
REJECTED_INPUT = 3
"""Exit codes, a contract: 3 only when --strict is given and input was rejected or invalid."""

MENDABLE = {
    "schemas.setting_faults.SettingsError": WRONG_USAGE,
    "memory.errors.StoreNotSetError": WRONG_USAGE,
    "memory.errors.StoreError": FAILED,
    "extraction.errors.ModelConfigurationError": WRONG_USAGE,
    "operators.kafka_errors.KafkaProblem": FAILED,
    "operators.file_source.InputNotFound": WRONG_USAGE,
    "operators.file_source.InputBroken": FAILED,
    "operators.health.PortUnusable": WRONG_USAGE,
    "operators.slice_sink.SlicesUnwritable": WRONG_USAGE,
    "operators.dead_letter.LettersUnwritable": FAILED,
    "flows.recovery.RecoveryStoreBroken": FAILED,
    "operators.session_state.SnapshotTooNew": FAILED,
    "operators.embedded_broker.EmbeddedBrokerError": FAILED,
}
"""Errors whose message is written for the user, their subclasses included, and the exit code of each. By name, so that
a command loads none of the packages it does not use."""


class CommandError(Exception):
    """A command cannot go on. The message is one sentence with the value, the place and the remedy."""

    def __init__(self, message: str, exit_code: int = FAILED) -> None:
        self.exit_code = exit_code
        super().__init__(message)


def report(error: Exception) -> int:
    """Tell the user of `error` on stderr and return the exit code it stands for.

    An error that is nobody's to mend is told as such, with its type; the traceback shows at log level debug only,
    because the values in it may be what a user said.
    """
    if logging.getLogger().isEnabledFor(logging.DEBUG):
        traceback.print_exception(error)
    code = _exit_code(error)
    if code is None:
        where = traceback.extract_tb(error.__traceback__)[-1]
        print(
            f"Error: strandline failed in a way it does not know ({type(error).__name__} in {where.name}, line "
            f"{where.lineno} of {where.filename}); run it again with --debug for the whole story.",
            file=sys.stderr,
        )
        return FAILED
    for sentence in str(error).splitlines():
        print(f"Error: {sentence}", file=sys.stderr)
    return code


def _exit_code(error: Exception) -> int | None:
    if isinstance(error, CommandError):
        return error.exit_code
    names = (f"{one.__module__}.{one.__qualname__}" for one in type(error).__mro__)
    return next((MENDABLE[name] for name in names if name in MENDABLE), None)

"""Faults a user can mend: one sentence on stderr and an exit code, no traceback unless debug is on."""

import errno
import logging
import os
import sys
import traceback
from collections.abc import Mapping

from schemas.setting_names import without_passwords

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
        print(without_passwords("".join(traceback.format_exception(error))), end="", file=sys.stderr)
    code = _exit_code(error)
    if code is None and isinstance(error, OSError):
        print(f"Error: {_of_system(error)}", file=sys.stderr)
        return FAILED
    if code is None:
        where = traceback.extract_tb(error.__traceback__)[-1]
        print(
            f"Error: strandline failed in a way it does not know ({type(error).__name__} in {where.name}, line "
            f"{where.lineno} of {where.filename}); run it again with --debug for the whole story.",
            file=sys.stderr,
        )
        return FAILED
    for sentence in without_passwords(str(error)).splitlines():
        print(f"Error: {sentence}", file=sys.stderr)
    return code


CHECKS: Mapping[int, str] = {
    errno.EACCES: "check who may read and write it",
    errno.EPERM: "check who may read and write it",
    errno.EROFS: "it is mounted to be read only: name a place that can be written to",
    errno.ENOSPC: "free space there",
    errno.EDQUOT: "free space there, the quota is used up",
    errno.EFBIG: "raise the limit on the size of files (ulimit -f)",
    errno.EMFILE: "raise the limit on open files (ulimit -n)",
    errno.ENFILE: "close other programs, the system has no file to open left",
    errno.ENOMEM: "give the process more memory",
    errno.ENOENT: "check that it is there and spelt so",
    errno.ENOTDIR: "a part of it is no folder",
    errno.EISDIR: "it is a folder; name a file",
    errno.ENAMETOOLONG: "name a shorter one",
    errno.EIO: "check the disk",
}
"""What a user can do about an error of the system, where its own words do not say so."""


def _of_system(error: OSError) -> str:
    """Return the sentence on what the operating system refused: where, why, and what to check."""
    path = error.filename if error.filename is not None else error.filename2
    what = f"{os.fsdecode(path)!r} cannot be used" if isinstance(path, str | bytes) else "The system refused"
    reason = error.strerror or str(error) or type(error).__name__
    # Errors of ssl and socket are of this family too, with numbers of their own.
    number = error.errno if type(error).__module__ == "builtins" else None
    check = CHECKS.get(number or 0, "run it again with --debug for the whole story")
    return f"{what}: {reason}; {check}."


def _exit_code(error: Exception) -> int | None:
    if isinstance(error, CommandError):
        return error.exit_code
    names = (f"{one.__module__}.{one.__qualname__}" for one in type(error).__mro__)
    return next((MENDABLE[name] for name in names if name in MENDABLE), None)

"""Serve the offline model alone: `python -m extraction.offline [PORT]`."""

import sys
from typing import Final

from extraction.offline import MODEL_NAME, OfflineModel

DEFAULT_PORT: Final = 8099


def main(arguments: list[str]) -> int:
    """Serve until interrupted; return the exit code (2: wrong usage)."""
    if len(arguments) > 1 or not all(one.isdigit() and int(one) < 65536 for one in arguments):
        sys.stderr.write("usage: python -m extraction.offline [PORT]\n")
        return 2
    port = int(arguments[0]) if arguments else DEFAULT_PORT
    try:
        model = OfflineModel(port)
    except OSError as error:
        sys.stderr.write(f"port {port} of 127.0.0.1 cannot be had: {error}; name another\n")
        return 1
    with model:
        sys.stdout.write(f"{MODEL_NAME} at {model.base_url}\n")
        sys.stdout.flush()
        try:
            model.wait()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

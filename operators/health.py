"""/metrics, /healthz and /readyz over HTTP.

Healthy means that the dataflow makes progress, not that the process exists: a pipeline that hangs must be restarted.
Ready means that what it needs, Kafka and the store, can be reached.
"""

import json
import sys
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from operators.metrics import Metrics

log = structlog.get_logger(__name__)

STALE_AFTER_S = 240.0
"""Without a sign of life for so long the dataflow counts as hung. It beats at every poll, and at every model call that
starts or ends; where `on_batch` has to wait for a call, the next beat is at most `model.slice_budget_s` away."""


class Heartbeat:
    """The last sign of life of the dataflow. Beaten by the source and by every wait, read by /healthz."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Count the start as the first sign of life."""
        self._clock = clock
        self._last = clock()

    def beat(self) -> None:
        """Give a sign of life."""
        self._last = self._clock()

    def age_s(self) -> float:
        """Return the seconds since the last sign of life."""
        return self._clock() - self._last


ASK_EVERY_S = 5.0
ANSWER_AGE_S = 20.0
"""An older good answer is believed no more: a check that hangs is as bad as one that fails."""


class PortUnusable(OSError):
    """The port for metrics and health is taken, or may not be bound."""


class _Server(ThreadingHTTPServer):
    """A probe that gave up waiting is no fault of ours, and nothing to write a traceback about."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            log.exception("a request to the health server failed")


class HealthServer:
    """Serves the three paths on a thread of its own; a context manager."""

    def __init__(
        self,
        host: str,
        port: int,
        metrics: Metrics,
        heartbeat: Heartbeat,
        checks: Mapping[str, Callable[[], object]],
    ) -> None:
        """Bind `host`:`port`. Each of `checks` raises when what it names cannot be reached.

        :raises PortUnusable: The port is taken or not allowed, or the host is not one of this machine's.
        """
        self._readiness = Readiness(checks)
        handler = _handler(metrics, heartbeat, self._readiness)
        try:
            self._server = _Server((host, port), handler)
        except OSError as exc:
            msg = f"metrics cannot be served on {host}:{port}: {exc.strerror}; set run.metrics_port (0: none)"
            raise PortUnusable(msg) from exc
        self._thread = threading.Thread(target=self._server.serve_forever, name="health", daemon=True)

    @property
    def port(self) -> int:
        """The port that is served."""
        return int(self._server.server_address[1])

    def __enter__(self) -> "HealthServer":
        """Start to serve."""
        self._readiness.start()
        self._thread.start()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop serving."""
        self._readiness.stop()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Readiness:
    """The newest answer of each check, asked for on a thread of its own.

    A probe waits a second, a check of something that is down takes longer: so a probe is told what the last round
    found, and when that is old, that nothing has been heard since.
    """

    def __init__(self, checks: Mapping[str, Callable[[], object]], clock: Callable[[], float] = time.monotonic) -> None:
        """Ask nothing yet."""
        self._checks = checks
        self._clock = clock
        self._states: dict[str, tuple[float, str]] = {}
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="readiness", daemon=True)

    def start(self) -> None:
        """Begin to ask, every few seconds."""
        self._thread.start()

    def stop(self) -> None:
        """Ask no more; a check under way is not waited for."""
        self._ending.set()

    def ask(self) -> None:
        """Ask every check once."""
        for name, check in self._checks.items():
            self._states[name] = (self._clock(), _state(check))

    def states(self) -> dict[str, str]:
        """Return "ok", or what is wrong, by check."""
        now = self._clock()
        return {name: self._told(name, now) for name in self._checks}

    def _told(self, name: str, now: float) -> str:
        at, state = self._states.get(name, (-ANSWER_AGE_S, "not asked yet"))
        return state if state != "ok" or now - at < ANSWER_AGE_S else f"no answer for {now - at:.0f} s"

    def _run(self) -> None:
        while not self._ending.is_set():
            self.ask()
            self._ending.wait(ASK_EVERY_S)


def _handler(metrics: Metrics, heartbeat: Heartbeat, readiness: Readiness) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.split("?", 1)[0]
            if path == "/metrics":
                self._send(200, CONTENT_TYPE_LATEST, generate_latest(metrics.registry))
            elif path == "/healthz":
                age_s = heartbeat.age_s()
                self._json(200 if age_s < STALE_AFTER_S else 503, {"last_progress_s": round(age_s, 3)})
            elif path == "/readyz":
                states = readiness.states()
                self._json(200 if all(state == "ok" for state in states.values()) else 503, states)
            else:
                self._json(404, {"error": "known paths are /metrics, /healthz and /readyz"})

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
            """Say nothing: a probe every few seconds is no news."""

        def _json(self, status: int, document: Mapping[str, object]) -> None:
            self._send(status, "application/json", json.dumps(document).encode())

        def _send(self, status: int, content_type: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler


def _state(check: Callable[[], object]) -> str:
    try:
        check()
    except Exception as exc:  # noqa: BLE001 - whatever a probe meets means that it is not ready
        return f"{type(exc).__name__}: {exc}"
    return "ok"

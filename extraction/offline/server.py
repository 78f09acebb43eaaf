"""The HTTP edge: a threading server on the loopback interface."""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any, Final, Self

import structlog

from extraction.offline.protocol import RequestError, complete, models

log = structlog.get_logger(__name__)

MAX_BODY_BYTES: Final = 32 * 1024 * 1024
_IDLE_CONNECTION_S: Final = 300.0


class OfflineModel:
    """The offline model, served while the context lasts.

    `base_url` is what an OpenAI client takes as such. Port 0 takes a free one.
    """

    def __init__(self, port: int = 0) -> None:
        """Bind to `port` of the loopback interface; nothing is served before `start`.

        Raises:
            OSError: the port is taken.
        """
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), name="strandline-offline", daemon=True)

    @property
    def base_url(self) -> str:
        """The address, with the protocol's `/v1`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def start(self) -> Self:
        """Serve from a daemon thread, and return at once."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop serving and free the port; calls that are under way are not waited for."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()

    def wait(self) -> None:
        """Block until the server is closed."""
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 256

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that went away, as one does whose run was stopped; a fault of ours is logged."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            log.exception("a request to the offline model failed")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "strandline-offline"
    timeout = _IDLE_CONNECTION_S
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        """Serve the list of models."""
        if self._path() == "/v1/models":
            self._send(200, models(int(time.time())))
        else:
            msg = f"there is no GET {self.path}"
            self._refuse(RequestError(msg, status=404, code="not_found"))

    def do_POST(self) -> None:
        """Serve a chat completion."""
        try:
            raw = self._body()
            if self._path() != "/v1/chat/completions":
                msg = f"there is no POST {self.path}"
                raise RequestError(msg, status=404, code="not_found")
            self._send(200, complete(raw, int(time.time())))
        except RequestError as error:
            self._refuse(error)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is http.server's
        """Say nothing: a line a request on stderr is no use to who runs the pipeline."""

    def _path(self) -> str:
        return self.path.partition("?")[0].rstrip("/")

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit():
            self.close_connection = True
            msg = "a Content-Length is needed"
            raise RequestError(msg, status=411)
        if int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            msg = f"the body has {length} bytes, {MAX_BODY_BYTES} are taken"
            raise RequestError(msg, status=413)
        return self.rfile.read(int(length))

    def _refuse(self, error: RequestError) -> None:
        self._send(error.status, error.body())

    def _send(self, status: int, body: dict[str, Any]) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)
        self.wfile.flush()

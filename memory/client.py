"""The one place that talks to Qdrant, server or embedded: bounded calls, and errors that say what to do."""

import json
import math
import sqlite3
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import structlog
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse
from qdrant_client.local.qdrant_local import QdrantLocal

from memory.embedded import drop_files, one_commit, open_folder
from memory.errors import CollectionMissing, StoreBroken, StoreNotSetError, StoreUnavailable
from schemas.setting_names import without_password
from schemas.settings import StoreSettings

PAGE = 512
"""Points in one call: some 2 MB with a dense vector each, far below the server's limit of 32 MB for a body."""
MEMORY = "memory"
REMEDY = "free space there, or make it writable"

_log = structlog.get_logger(__name__)


def open_qdrant(settings: StoreSettings) -> "Qdrant":
    """Open the store that `settings.url` names: a URL, a folder, or `memory`.

    Raises:
        StoreNotSetError: no store is named.
        StoreLocked: another process has the folder open.
        StoreUnavailable: the folder cannot be used. A server is first called by the first real call.
    """
    url = settings.url
    if not url:
        msg = "no store is set; give --store URL|FOLDER or set STRANDLINE_STORE__URL"
        raise StoreNotSetError(msg)
    # Local mode's advice to use a server is for who writes the code, not for who runs it; the other is logged below.
    warnings.filterwarnings("ignore", message="Local mode is not recommended")
    warnings.filterwarnings("ignore", message="Api key is used with an insecure connection")
    if url.startswith(("http://", "https://")):
        key = settings.api_key.get_secret_value() or None
        if key and url.startswith("http://"):
            _log.warning("store.api_key goes over plain http", remedy="use https:// in store.url")
        timeout = math.ceil(settings.timeout_s)
        try:
            return Qdrant(QdrantClient(url=url, api_key=key, timeout=timeout, check_compatibility=False), url)
        except ValueError:
            # The library's own words quote parts of the URL, where a password may stand.
            msg = (
                f"store.url is {without_password(url)!r}, which is no URL; write http://HOST:PORT or https://HOST:PORT"
            )
            raise StoreUnavailable(msg) from None
    return Qdrant(QdrantLocal(":memory:") if url == MEMORY else open_folder(url), url)


class Qdrant:
    """The calls that the store makes, each with a time-out and with the library's errors turned into our own.

    Every call may raise StoreUnavailable, and those on a collection CollectionMissing. After a write that an embedded
    store could not make, every call raises StoreBroken. Calls on an embedded store are
    serialised, for local mode is not safe for threads.
    """

    def __init__(self, client: QdrantClient | QdrantLocal, url: str) -> None:
        """Take an open client; `url` is named in errors, without its password."""
        self._client = client
        self._local = client if isinstance(client, QdrantLocal) else None
        self._lock: Any = threading.RLock() if self._local else nullcontext()
        self._where = f"{'store folder' if self._local else 'Qdrant at'} {without_password(url)!r}"
        self._broken = ""

    @property
    def is_embedded(self) -> bool:
        """Whether this process alone has the data: nobody else can have changed what it wrote."""
        return self._local is not None

    def close(self) -> None:
        """Release connections, or the lock of the folder."""
        with self._guard(closing=True):
            self._client.close()

    def ping(self) -> None:
        """Make one cheap call."""
        with self._guard():
            self._client.get_collections()

    def names(self) -> list[str]:
        """Return the names of all collections that can be seen; aliases are not among them."""
        with self._guard():
            return [row.name for row in self._client.get_collections().collections]

    def metadata(self, name: str) -> dict[str, Any] | None:
        """Return the metadata of a collection or of what an alias stands for."""
        with self._guard(name):
            return self._client.get_collection(name).config.metadata

    def create(self, name: str, layout: dict[str, Any]) -> bool:
        """Create a collection; False when it is there already."""
        try:
            with self._guard(name):
                self._client.create_collection(name, **layout)
        except _ExistsError:
            return False
        return True

    def point_alias(self, alias: str, name: str, switch: bool = False) -> None:
        """Let `alias` stand for `name`; with `switch` it has stood for another one, and changes in one step."""
        to = models.CreateAlias(collection_name=name, alias_name=alias)
        operations: list[Any] = [models.CreateAliasOperation(create_alias=to)]
        if switch:
            operations.insert(0, models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)))
        with self._guard(name):
            self._client.update_collection_aliases(operations)

    def alias_target(self, alias: str, names: Sequence[str]) -> str | None:
        """Return which of `names` the alias stands for."""
        for name in names:
            with self._guard(name):
                rows = self._client.get_collection_aliases(name).aliases
            if any(row.alias_name == alias for row in rows):
                return name
        return None

    def drop(self, name: str) -> None:
        """Delete a collection with its files; one that is not there is no error."""
        try:
            with self._guard(name):
                if self._local is not None:
                    drop_files(self._local, name)
                else:
                    self._client.delete_collection(name)
        except CollectionMissing:
            return

    def upsert(self, name: str, points: list[models.PointStruct], only_if: models.Filter | None = None) -> None:
        """Write points in one call, all or nothing; with `only_if` only points that match it are replaced."""
        with self._guard(name), self._one_commit(name):
            self._client.upsert(name, points, wait=True, update_filter=only_if)

    def delete(self, name: str, ids: list[str]) -> None:
        """Delete points by id."""
        with self._guard(name), self._one_commit(name):
            self._client.delete(name, points_selector=models.PointIdsList(points=list(ids)), wait=True)

    def retrieve(self, name: str, ids: list[str], vectors: list[str] | bool = False) -> list[models.Record]:
        """Return the points of `ids` that are there."""
        with self._guard(name):
            return self._client.retrieve(name, ids=list(ids), with_payload=True, with_vectors=vectors)

    def scroll(self, name: str, vectors: bool = False) -> Iterator[models.Record]:
        """Yield every point, in pages."""
        offset: Any = None
        while True:
            with self._guard(name):
                # Local mode walks all points for each page, so it is given one page.
                limit = PAGE if self._local is None else 1_000_000
                page, offset = self._client.scroll(name, limit=limit, offset=offset, with_vectors=vectors)
            yield from page
            if offset is None:
                return

    def count(self, name: str) -> int:
        """Return about how many points there are."""
        with self._guard(name):
            return self._client.count(name, exact=False).count

    def query(self, name: str, request: dict[str, Any]) -> list[models.ScoredPoint]:
        """Run one query; `request` holds the arguments of `query_points`."""
        with self._guard(name):
            return self._client.query_points(name, **request).points

    @contextmanager
    def _one_commit(self, name: str) -> Iterator[None]:
        if self._local is None:
            yield
            return
        try:
            with one_commit(self._local, name):
                yield
        except (OSError, sqlite3.Error) as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: Exception) -> StoreBroken:
        # Memory may now hold rows that the disk does not: nothing may be read or built upon it.
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        self._broken = f"{self._where} could not be written ({reason}); {REMEDY}, then start again"
        return StoreBroken(self._broken)

    @contextmanager
    def _guard(self, name: str = "", *, closing: bool = False) -> Iterator[None]:
        if self._broken and not closing:
            raise StoreBroken(self._broken)
        where = self._where
        try:
            with self._lock:
                yield
        except UnexpectedResponse as error:
            raise _of_response(error, where, name) from error
        except ResponseHandlingException as error:
            cause = f"{type(error.source).__name__}: {str(error.source)[:200]}"
            msg = f"{where} did not answer ({cause}); is it running, is store.url right?"
            raise StoreUnavailable(msg) from error
        except (ApiException, QdrantException) as error:
            msg = f"{where}: {type(error).__name__}: {str(error)[:200]}"
            raise StoreUnavailable(msg) from error
        except (OSError, sqlite3.Error) as error:
            if self._local is None:
                raise
            raise self._unwritable(error) from error
        except (ValueError, KeyError) as error:
            if self._local is None:
                raise
            raise _of_local(error, where, name) from error


class _ExistsError(StoreUnavailable):
    """The collection that was to be created is there."""


def _of_response(error: UnexpectedResponse, where: str, name: str) -> Exception:
    """Turn an answer of the server into our error, with the server's own words but no request."""
    code = error.status_code
    if code == 401:
        return StoreUnavailable(f"{where} refused the key (401); set store.api_key (STRANDLINE_STORE__API_KEY)")
    if code == 403:
        return StoreUnavailable(f"{where}: the key has no right to collection {name!r} (403); grant it, or use another")
    if code == 404:
        return CollectionMissing(f"{where} has no collection {name!r}")
    if code == 409:
        return _ExistsError(f"{where} has collection {name!r} already")
    return StoreUnavailable(f"{where} answered {code} for collection {name!r}: {_detail(error.content)}")


def _detail(content: bytes) -> str:
    try:
        status = json.loads(content)["status"]
    except (ValueError, KeyError, TypeError):
        return content[:200].decode(errors="replace")
    return str(status.get("error", status) if isinstance(status, dict) else status)[:200]


def _of_local(error: Exception, where: str, name: str) -> Exception:
    text = str(error)
    if "not found" in text:
        return CollectionMissing(f"{where} has no collection {name!r}")
    if "already exists" in text:
        return _ExistsError(f"{where} has collection {name!r} already")
    return StoreUnavailable(f"{where}, collection {name!r}: {text[:200]}")

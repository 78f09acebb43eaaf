"""What can go wrong with the store, each with the value, the place and the remedy in its message."""


class StoreError(Exception):
    """Any fault of the memory store that a caller may want to tell a user about."""


class StoreNotSetError(StoreError):
    """No store was named in the settings."""


class StoreUnavailable(StoreError):  # noqa: N818 - the name that flows and commands catch
    """The store did not answer, refused the call or answered with a fault; trying again later may help."""


class StoreBroken(StoreError):  # noqa: N818
    """The embedded store could not be written, so this process must not go on with it; trying again does not help."""


class StoreLocked(StoreError):  # noqa: N818
    """Another process has the folder of the embedded store open."""


class CollectionMissing(StoreError):  # noqa: N818
    """The collection is not there; readers take it for an empty bank."""


class SchemaMismatch(StoreError):  # noqa: N818
    """The collection was not written by this version of Strandline, or not for this scope."""


class EmbeddingMismatch(StoreError):  # noqa: N818
    """The bank was made with another embedding model or size than the settings name."""


class EmbeddingUnavailable(StoreError):  # noqa: N818
    """The embeddings endpoint did not answer or answered with a fault."""


class TooManyScopes(StoreError):  # noqa: N818
    """A new bank would be one more than `store.max_collections` allows."""


class ScopeViolation(StoreError):  # noqa: N818
    """A row of another scope came back from a scope's own collection: nothing of the answer is returned."""


class LedgerKeyMismatch(StoreError):  # noqa: N818
    """The deletion ledger was written with another `store.hash_key`, so deletions on record would not be found."""


class EraseIncomplete(StoreError):  # noqa: N818
    """After a deletion something was still found; the deletion is on record and must be run again."""

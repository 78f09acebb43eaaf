"""What can go wrong between here and the model that is not the answer's fault."""


class ModelConfigurationError(Exception):
    """The provider refuses every call as things are set: a wrong key, name, address or parameter.

    Trying again does not help, so a flow stops with it. `status` is the HTTP status, 0 when no request was made.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        """Take the sentence that names the setting and the remedy."""
        super().__init__(message)
        self.status = status


class ProviderFault(Exception):  # noqa: N818 - a fault of the provider is its name everywhere, the metric included
    """The provider did not serve one slice within its retries and its time. `str()` holds its own words, bounded."""


class ProviderRefusal(Exception):  # noqa: N818
    """The provider refuses this one slice, and would again: too long for the model, or caught by its content filter."""

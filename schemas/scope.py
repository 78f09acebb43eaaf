"""The pair (app, user) to which every read and every write is bound."""

import msgspec


class Scope(msgspec.Struct, frozen=True, order=True, gc=False):
    """Whose memory it is: one application and one of its users.

    Both parts are opaque strings, compared code point by code point: two user ids that merely look alike are two
    scopes. A lone surrogate is refused by the decoder before a scope is made, so both parts encode to UTF-8.
    """

    app: str
    user: str

    def key(self) -> str:
        """Return one string for this scope that no other scope has: usable as a dataflow or message key.

        The length of the app's name stands in front, so ("a", "b/c") and ("a/b", "c") differ.
        """
        return f"{len(self.app)}:{self.app}{self.user}"

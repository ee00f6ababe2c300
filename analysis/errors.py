"""The one error that FuseScope raises on purpose."""

from __future__ import annotations


class FuseScopeError(Exception):
    """Something the user can act on: what is wrong, where, and what to do next.

    `what` and `hint` are one sentence each, without trailing newline; `where` is a file,
    row or byte position, or None. `str()` joins them into the text that users see.
    """

    def __init__(self, what: str, *, hint: str, where: str | None = None) -> None:
        self.what = what.rstrip(".")
        self.where = where
        self.hint = hint
        super().__init__(self.text)

    @property
    def text(self) -> str:
        """What, where and the next step on one line."""
        index = f" ({self.where})" if self.where else ""
        return f"{self.what}{index}. {self.hint}"

    def at(self, where: str) -> FuseScopeError:
        """The same error with `where` in front of the position known so far."""
        joined = f"{where}, {self.where}" if self.where else where
        return FuseScopeError(self.what, hint=self.hint, where=joined)

"""The one error that FuseScope raises on purpose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from fusescope.analysis.messages import Message, Said, Shown, paragraph

if TYPE_CHECKING:
    from fusescope.analysis.messages.errors import ErrorCode
    from fusescope.analysis.messages.errors.error_text import ErrorText

_WHERE = Message("{what} ({where:name}).")
_HERE = Message("{what}.")
_INSIDE = Message("{outer:name}, {inner:name}")
_MEANT = Message("Did you mean '{nearest:name}'?")


class FuseScopeError(Exception):
    """Something the user can act on: what is wrong, where, and what to do next.

    `code` names the sentences in analysis/messages/errors, `values` are their placeholders;
    `where` is a file, row or byte position, or None. A value `nearest` is the name that was
    probably meant, or None. `str()` joins them into the text that users see, in the language that
    is spoken where it is shown.
    """

    def __init__(
        self, code: ErrorCode, *, where: str | Said | None = None, **values: Shown
    ) -> None:
        super().__init__(code)
        self.code = code
        self.where = where
        self.values: Mapping[str, Shown] = values

    @property
    def what(self) -> str:
        """What is wrong, without a full stop."""
        return str(self.said).rstrip(".。")

    @property
    def said(self) -> Said:
        """What is wrong, to be told later or inside another message."""
        return _texts(self.code).what.of(**self.values)

    @property
    def hint(self) -> str:
        """What to do next: one or two sentences."""
        nearest = self.values.get("nearest")
        meant = _MEANT.text(nearest=nearest) if nearest else ""
        return paragraph(meant, _texts(self.code).hint.text(**self.values))

    @property
    def text(self) -> str:
        """What, where and the next step on one line."""
        where = self.where
        what = _WHERE.text(what=self.what, where=where) if where else _HERE.text(what=self.what)
        return paragraph(what, self.hint)

    def at(self, where: str | Said) -> FuseScopeError:
        """The same error with `where` in front of the position known so far."""
        joined = _INSIDE.of(outer=where, inner=self.where) if self.where else where
        return FuseScopeError(self.code, where=joined, **self.values)

    def with_texts(self, change: Callable[[str], str]) -> FuseScopeError:
        """The same error with what `change` makes of each text in it."""

        def changed(value: Shown) -> Shown:
            text = str(value)
            made = change(text)
            return value if made == text else made

        where = change(str(self.where)) if self.where else None
        values = {name: changed(value) for name, value in self.values.items()}
        return FuseScopeError(self.code, where=where, **values)

    def __str__(self) -> str:
        return self.text


def _texts(code: ErrorCode) -> ErrorText:
    """Return the sentences of a code; the many modules of them load once an error is shown."""
    from fusescope.analysis.messages.errors import ERRORS

    return ERRORS[code]

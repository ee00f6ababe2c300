"""An error as JSON: what `--json` prints in place of its object (docs/json.md)."""

from __future__ import annotations

from typing import Any

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, Said, Shown, language


def error_json(error: FuseScopeError) -> bytes:
    """UTF-8, indented, in English whatever the language."""
    with language.speaking(language.ENGLISH):
        return msgspec.json.format(msgspec.json.encode(error_values(error)), indent=2)


def error_values(error: FuseScopeError) -> dict[str, Any]:
    """Plain values: `code` and `values` for a program, the sentences for whoever reads them."""
    return {
        "error": {
            "code": error.code,
            "what": error.what,
            "where": None if error.where is None else str(error.where),
            "hint": error.hint,
            "values": {name: _plain(value) for name, value in error.values.items()},
        }
    }


def _plain(value: Shown) -> str | int | float | bool | None:
    if isinstance(value, Message):
        return value.text()
    return str(value) if isinstance(value, Said) else value

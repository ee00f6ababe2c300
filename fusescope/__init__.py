"""FuseScope: which change made a model faster or slower, where, and whether to trust it.

`read`, `compare`, `findings`, `record` and `library` are documented in docs/api.md. Nothing is
imported before it is used: workers of engines run in environments without pandas. `analysis`, `app`
and `collectors` are links to the folders of these names beside this one; in a wheel, folders.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fusescope.analysis.errors import FuseScopeError
    from fusescope.api.comparison import Comparison, Verdict
    from fusescope.api.trace import Trace
    from fusescope.api.verbs import compare, findings, library, read, record

    __version__: str

__all__ = [
    "Comparison",
    "FuseScopeError",
    "Trace",
    "Verdict",
    "compare",
    "findings",
    "library",
    "read",
    "record",
]
_PLACES = {
    "Comparison": "fusescope.api.comparison",
    "FuseScopeError": "fusescope.analysis.errors",
    "Trace": "fusescope.api.trace",
    "Verdict": "fusescope.api.comparison",
    **dict.fromkeys(("compare", "findings", "library", "read", "record"), "fusescope.api.verbs"),
}


def __getattr__(name: str) -> object:
    """Return what the API calls so, imported now; of `__version__` that of what is installed."""
    if name == "__version__":
        return import_module("importlib.metadata").version("fusescope")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

"""State: the only folder that touches the session and the address of the page."""

from fusescope.app.state import (
    files,
    folds,
    groups,
    language,
    pages,
    pair,
    recording,
    table,
    timeline,
)

__all__ = [
    "files", "folds", "groups", "language", "pages", "pair", "recording", "table", "timeline",
]  # fmt: skip

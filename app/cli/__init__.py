"""The command line: one file a verb."""

from __future__ import annotations

import sys
from types import TracebackType


def _say_unless_interrupted(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print what nobody caught, but for a Ctrl-C while modules are still imported: who presses it
    knows why the verb ended."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


sys.excepthook = _say_unless_interrupted

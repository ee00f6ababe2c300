"""The package index that pip is set up with: which releases of ONNX Runtime it has."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Said
from fusescope.collectors.environments.pip_process import (
    AVAILABLE,
    PipProcess,
    network_reason,
    quoted,
)
from fusescope.collectors.errors.engine import clean
from fusescope.collectors.releases.version import ENGINE, Span, ascending, nearest, order

_LINES = 50_000  # pip says a line for each file of the index
_WHEEL = re.compile(rf"/{ENGINE}-([0-9][\w.]*)-[\w.]+-[\w.]+-[\w.]+\.whl")


@dataclass(frozen=True)
class Listing:
    """Releases oldest first: those that pip can install here, and those that the index has for
    another Python or another machine only."""

    usable: tuple[str, ...]
    elsewhere: tuple[str, ...] = ()

    def within(self, span: Span) -> Listing:
        """Those from the first to the last that are asked for. Raises FuseScopeError where one of
        these two is not a release."""
        known = ascending((*self.usable, *self.elsewhere))
        by_order = {order(one): one for one in known}
        for end in dict.fromkeys((span.first, span.last)):
            if order(end) not in by_order:
                raise FuseScopeError("release_unknown", version=end, nearest=nearest(end, known))
        first, last = order(span.first), order(span.last)
        return Listing(
            tuple(one for one in self.usable if first <= order(one) <= last),
            tuple(one for one in self.elsewhere if first <= order(one) <= last),
        )


def listing(folder: Path) -> Listing:
    """What the index has now. `folder` is one that pip may use while it looks.

    Raises FuseScopeError: release_no_network where the index cannot be reached.
    """
    code, text = process(folder, kept_lines=_LINES).run(["index", "versions", "-vv", ENGINE])
    found = AVAILABLE.search(text)
    if found is None:
        raise refusal(text, code)
    usable = ascending(found[1].split(", "))
    others = set(ascending(_WHEEL.findall(text))) - set(usable)
    return Listing(usable, ascending(others))


def process(
    folder: Path,
    on_step: Callable[[Said], None] = lambda said: None,
    kept_lines: int = 200,
) -> PipProcess:
    """pip of the Python that runs FuseScope."""
    return PipProcess(Path(sys.executable), folder, (), on_step, lambda: None, kept_lines)


def refusal(text: str, code: int) -> FuseScopeError:
    """What pip says went wrong, as something that the user can act on."""
    if "No module named pip" in text:
        return FuseScopeError("release_pip_missing", where=sys.executable)
    if (reason := network_reason(text)) is not None:
        return FuseScopeError("release_no_network", said=clean(reason))
    return FuseScopeError("release_pip_failed", said=clean(quoted(text)), status=code)

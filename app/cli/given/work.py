"""The kind of work that `--work` names, of files that hold several."""

from __future__ import annotations

from collections.abc import Iterable

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.work_units import Work
from fusescope.analysis.work_units.kinds import code_of


def work_named(code: str, works: Iterable[Work]) -> Work:
    """Return the kind of work with this code. Raises FuseScopeError for none of these."""
    known = {code_of(work): work for work in works}
    if code in known:
        return known[code]
    if not known:
        raise FuseScopeError("work_not_told")
    raise FuseScopeError("work_unknown", work=code, known=", ".join(known))

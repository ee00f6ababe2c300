"""Shares of the change in the ledger, as they read side by side."""

from __future__ import annotations

import math

from fusescope.analysis.compare.ledger import Ledger
from fusescope.analysis.units import shares_of_whole
from fusescope.analysis.wording.fusion.terms import TERMS, Term


def shown_shares(ledger: Ledger) -> tuple[list[float | None], dict[Term, float]]:
    """Return the part of the whole change of each pattern, in their order, and of each term beside
    the groups: fractions in steps of 0.1 %, which add up to 100 %; None where a gain is not known,
    and no terms where `no_shares` says why."""
    patterns = [None if math.isnan(share) else float(share) for share in ledger.patterns["share"]]
    terms = {
        name: share
        for name in TERMS
        if name != "groups_ns"
        and (share := ledger.share(getattr(ledger.reconciliation, name))) is not None
    }
    exact = [share for share in patterns if share is not None]
    shown = iter(shares_of_whole([*exact, *terms.values()]))
    return (
        [None if share is None else next(shown) for share in patterns],
        {name: next(shown) for name in terms},
    )

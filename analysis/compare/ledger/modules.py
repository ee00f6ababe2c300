"""Modules: the gains of fusion groups by the module of the model that their operators belong to."""

from __future__ import annotations

import pandas as pd

from fusescope.analysis.compare.ledger import Ledger
from fusescope.analysis.compare.timing.verdict import SHOWN_ALPHA

MAX_MODULES = 24  # lines: modules stand at the deepest level that has no more of them
_TIMES = ("before_ns", "after_ns", "gain_ns")
_COLUMNS = ("module", "groups", *_TIMES, "low_ns", "high_ns")


def modules(ledger: Ledger) -> pd.DataFrame:
    """A row a module, largest |gain| first: module ('' where a group has none, or is of several
    that have none in common), groups (count), before_ns, after_ns, gain_ns = before - after (sums
    over its groups, profiled means per run), low_ns, high_ns (95 % interval of the gain, NaN where
    it is not known).

    What an engine calls its operators does not matter: modules are those of the model, so they
    compare across engines. Empty where groups have no times, or fewer than two modules.
    """
    rows = ledger.rows
    if not ledger.has_gains:
        return pd.DataFrame(columns=list(_COLUMNS))
    names = _at_level(rows["scope"].astype(str))
    if names.nunique() < 2:
        return pd.DataFrame(columns=list(_COLUMNS))
    made = rows.assign(module=names).groupby("module", sort=False)
    table = made[list(_TIMES)].sum().assign(groups=made.size())
    bounds = {}
    for module, of in made:
        found = ledger.gain_of(of["group"].tolist(), SHOWN_ALPHA)
        bounds[module] = (float("nan"),) * 2 if found is None else (found[0], found[2])
    table["low_ns"] = [bounds[module][0] for module in table.index]
    table["high_ns"] = [bounds[module][1] for module in table.index]
    order = table["gain_ns"].abs().sort_values(ascending=False, kind="stable").index
    return table.loc[order].reset_index()[list(_COLUMNS)]


def _at_level(scopes: pd.Series) -> pd.Series:
    """The first parts of each, as many as leave no more than MAX_MODULES different ones."""
    between = "/" if scopes.str.contains("/", regex=False).any() else "."
    parts = scopes.str.split(between)
    found = parts.str[:1].str.join(between)
    for level in range(2, max(map(len, parts)) + 1):
        deeper = parts.str[:level].str.join(between)
        if deeper.nunique() > MAX_MODULES:
            break
        found = deeper
    return found

"""The fusion ledger as CSV: one line a group, then the terms, so that the gains add up."""

from __future__ import annotations

import pandas as pd

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Operator
from fusescope.analysis.report.exports.table_csv import table_csv
from fusescope.analysis.wording.fusion.terms import TERMS, term_label

_FACTS = ("kind", "known_by", "pattern", "becomes", "scope")
_TIMES = (
    "before_ns",
    "after_ns",
    "gain_ns",
    "slow_before_ns",
    "slow_after_ns",
    "low_ns",
    "high_ns",
)
_FIGURES = ("share", "bytes_removed", "difference_absolute", "difference_relative", "hurts")


def ledger_csv(comparison: Comparison) -> bytes:
    """`ledger_table` as CSV."""
    return table_csv(ledger_table(comparison))


def ledger_table(comparison: Comparison) -> pd.DataFrame:
    """Groups by |gain|, then the other terms as time saved; `gain_ns` sums to the time saved.

    Times are whole ns per run, shares fractions; cells that do not apply are empty.
    """
    rows = comparison.ledger.rows
    groups = {group.id: group for group in comparison.fusion.groups}
    ids = [groups[int(id)] for id in rows["group"]]
    table = pd.DataFrame(
        {
            "line": pd.Series("group", index=rows.index, dtype="object"),
            "group": rows["group"].astype("Int64"),
            **{name: rows[name] for name in _FACTS},
            "original": pd.Series([_names(group.original) for group in ids], dtype="object"),
            "baseline": pd.Series([_names(group.baseline) for group in ids], dtype="object"),
            "candidate": pd.Series([_names(group.candidate) for group in ids], dtype="object"),
            **{name: rows[name].round().astype("Int64") for name in _TIMES},
            **{name: rows[name] for name in _FIGURES},
        }
    )
    sum_ = comparison.ledger.reconciliation
    terms = [
        {
            "line": term_label(name, has_starts=sum_.has_starts),
            "gain_ns": -getattr(sum_, name),
            "share": comparison.ledger.share(getattr(sum_, name)),
        }
        for name in TERMS
        if name != "groups_ns" and getattr(sum_, name) is not None
    ]
    types = dict.fromkeys(("group", *_TIMES, "bytes_removed"), "Int64")
    numbers = dict.fromkeys(("share", "difference_absolute", "difference_relative"), "Float64")
    closing = pd.DataFrame(terms, columns=list(table.columns))
    whole = pd.concat([table.astype("object"), closing.astype("object")], ignore_index=True)
    return whole.astype({**types, **numbers, "hurts": "boolean"})


def _names(operators: tuple[Operator, ...]) -> str:
    return "; ".join(operator.name for operator in operators)

"""Several sides as CSV tables, by file name; all are English in every language."""

from __future__ import annotations

from typing import Any

import pandas as pd

from fusescope.analysis.compare.multiple.comparison import Entry, MultipleComparison
from fusescope.analysis.compare.multiple.engines import ran
from fusescope.analysis.compare.multiple.pareto import Pareto, pareto
from fusescope.analysis.messages import language
from fusescope.analysis.report.exports.table_csv import table_csv
from fusescope.analysis.wording.multiple import comparison as words


def multiple_csv(multiple: MultipleComparison) -> dict[str, bytes]:
    """The tables, by file name, English in every language."""
    with language.speaking(language.ENGLISH):
        tables = multiple_tables(multiple)
    return {f"{name}.csv": table_csv(table) for name, table in tables.items()}


def multiple_tables(multiple: MultipleComparison) -> dict[str, pd.DataFrame]:
    """`variants`, a line for each side, and `figures`, what its columns of figures are, told in
    the language that is spoken.

    Times are ns, sizes bytes, ratios fractions, as in the JSON (docs/json.md); the interval is
    corrected for the number of candidates. An empty cell is not known.
    """
    return {
        "variants": pd.DataFrame(_variants(multiple)),
        "figures": pd.DataFrame(_figures(multiple)),
    }


def _variants(multiple: MultipleComparison) -> list[dict[str, Any]]:
    entries, found, rows = multiple.entries, pareto(multiple), []
    for at in multiple.order:
        entry = entries[at]
        verdict, side = entry.verdict, entry.side
        corrected = verdict.corrected if verdict else None
        rows.append(
            {
                "name": side.name,
                "file": side.trace.meta.file_name,
                "variant": side.variant.name if side.variant else None,
                **_ran(entry),
                "speedup": verdict.speedup if verdict else None,
                "speedup_low": corrected.low if corrected else None,
                "speedup_high": corrected.high if corrected else None,
                "outcome": verdict.outcome if verdict else "baseline",
                "may_be_fastest": at in multiple.best.members,
                **_front(multiple, found, at),
                **{code: entry.figures[code].value for code in multiple.columns},
            }
        )
    return rows


def _ran(entry: Entry) -> dict[str, Any]:
    found = ran(entry)
    return {
        "engine": found.engine or None,
        "engine_version": found.version or None,
        "provider": found.provider or None,
        "precision": found.precision or None,
        "compile_s": found.compile_s,
        "latency_low": found.time.low if found.time else None,
        "latency_high": found.time.high if found.time else None,
    }


def _front(multiple: MultipleComparison, found: Pareto | None, at: int) -> dict[str, Any]:
    point = next((one for one in found.points if one.side == at), None) if found else None
    beaten = ", ".join(multiple.sides[by].name for by in point.dominated_by) if point else ""
    return {
        "on_pareto_front": None if point is None else not point.dominated_by,
        "dominated_by": beaten or None,
    }


def _figures(multiple: MultipleComparison) -> list[dict[str, Any]]:
    first = multiple.entries[0].figures
    rows = []
    for code in multiple.columns:
        text = words.column_text(multiple, code)
        rows.append(
            {
                "column": code,
                "label": text.label,
                "unit": first[code].unit,
                "basis": words.column_basis(multiple, code),
                "definition": text.definition,
            }
        )
    return rows

"""Small pieces of text that the report's parts share."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pandas as pd

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.experiment import ModelFacts
from fusescope.analysis.messages import Message, Part, say
from fusescope.analysis.text import clean_text
from fusescope.analysis.units import shares_of_whole

LABEL_CHARS = 44
WITH_UNIT = Message("{label}, {unit}")


def known(value: Any) -> float | None:
    """A table's cell as a number; None for NaN and NA."""
    return None if value is None or pd.isna(value) else float(value)


def with_shown_shares(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a table that is all of a whole with their shares in steps of 0.1 %, which
    add up as shown."""
    shown = rows.copy(deep=False)
    for column in {"share", "share_baseline", "share_candidate"} & set(rows.columns):
        has = rows[column].notna()
        shares = shares_of_whole(rows.loc[has, column].astype(float).tolist())
        shown[column] = pd.Series(shares, index=rows.index[has], dtype=float).reindex(rows.index)
    return shown


def plain(value: Any) -> Any:
    """A table's cell for JSON: NaN, NA and None as null, NumPy scalars as Python's."""
    if value is None or pd.isna(value):
        return None
    return value.item() if hasattr(value, "item") else value


def unbroken(text: str) -> str:
    """Return text whose percentages stay on one line."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def unbroken_parts(parts: Iterable[Part]) -> list[Part]:
    """Return the parts of a sentence with percentages that stay on one line; names stay as they
    are."""
    return [
        part if part.role == "name" else replace(part, text=unbroken(part.text)) for part in parts
    ]


def signed_duration(ns: float) -> str:
    """A change of time: '−6.50 ms', '+13.0 µs', '0'."""
    return "0" if ns == 0 else unbroken(units.duration(ns, signed=True))


def with_unit(label: str, unit: str) -> str:
    """Return the head of a column whose numbers share a unit, 'Total, µs'; alone where they have
    none."""
    return WITH_UNIT.text(label=label, unit=unit) if unit else label


def signed_range(low_ns: float, high_ns: float) -> str:
    """Two changes of time in one unit: '+5.33 to +6.14 ms', digits as the larger one needs."""
    largest = max(abs(low_ns), abs(high_ns))
    scale, unit = units.scale_of(largest, units.TIMES)
    digits = 0 if largest >= 99.95 * scale else 1 if largest >= 9.995 * scale else 2
    low, high = (
        units.grouped(round(ns / scale, digits) + 0.0, f"+.{digits}f") for ns in (low_ns, high_ns)
    )
    return unbroken(say("{low} to {high} {unit}", low=low, high=high, unit=unit))


def last_part(path: str) -> str:
    """What stands after the last / or \\ of a path."""
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1]


def model_name(model: ModelFacts) -> str:
    """What a model is called, without the folders of its file."""
    return model.name if model.source == "zoo" else last_part(model.name)


def with_short_labels(comparison: Comparison) -> Comparison:
    """The same comparison with labels that fit a table's head and differ from each other."""
    sides = (comparison.baseline, comparison.candidate)
    labels = [units.middle_cut(clean_text(side.name), LABEL_CHARS) for side in sides]
    if labels[0] == labels[1]:
        labels = [
            say("{side:name} (baseline)", side=labels[0]),
            say("{side:name} (candidate)", side=labels[1]),
        ]
    first, second = (
        replace(s, label=text, short_name=text) for s, text in zip(sides, labels, strict=True)
    )
    relabelled = replace(comparison, baseline=first, candidate=second)
    # Labels change nothing of what is explained, which takes longest to find.
    vars(relabelled)["explanation"] = comparison.explanation
    return relabelled


def slug(text: str, chars: int = 60) -> str:
    """`text` in the letters of a file name, [a-z0-9-]{1,chars}."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:chars].strip("-") or "comparison"

"""What stands beside the tables of a trace; reading it needs no Arrow."""

from __future__ import annotations

from typing import Literal

import msgspec

from fusescope.analysis.readers.packed.context import SCHEMAS
from fusescope.analysis.readers.packed.notes import Note
from fusescope.analysis.readers.packed.tables import Origin

Dtype = Literal["int64", "Int64", "bool", "boolean", "float64", "Float64", "category"]
RUNS, OPERATORS, CALLS, TEXTS = "runs", "operators", "calls", "texts"
MAIN = (RUNS, OPERATORS, CALLS)
NAMES = (*MAIN, *SCHEMAS, TEXTS)  # of all tables that there may be


class Column(msgspec.Struct, frozen=True, omit_defaults=True):
    """What Arrow does not tell of a column. A category has so many `texts`, in an index of the type
    `index`: another than text where it has none."""

    name: str
    dtype: Dtype
    texts: int = 0
    index: str = "str"


class Header(msgspec.Struct, frozen=True, omit_defaults=True):
    """What stands beside the tables: where the trace comes from, what was noticed, and the columns
    of each table."""

    meta: Origin
    notes: list[Note]
    tables: dict[str, list[Column]]

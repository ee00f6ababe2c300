"""ONNX Runtime profiles as a table: what pandas makes of the JSON, as some tools save it.

One row an event: its fields (`cat`, `name`, `ts`, `dur`, `tid`), and one column `args_…` for each
argument. Shapes are lists as Python prints them.
"""

from __future__ import annotations

import msgspec

from fusescope.analysis.readers.input.csv_table import has_columns, read_csv
from fusescope.analysis.readers.input.json_value import decode
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Diagnostic

_FIELDS = ("cat", "name", "ph", "ts", "dur", "pid", "tid")
_NUMBERS = ("ts", "dur")
_ARGUMENTS = (
    "op_name", "provider", "node_index", "graph_index", "activation_size", "parameter_size",
    "output_size", "parent_name", "stream",
)  # fmt: skip
_SHAPES = ("input_type_shape", "output_type_shape")


def is_table(head: bytes) -> bool:
    """True for the head of such a table."""
    return has_columns(head, "cat", "name", "ts", "dur", "args_op_name")


def events_of_table(source: Source) -> tuple[bytes, list[Diagnostic]]:
    """The events as the profile's JSON, one for each row, and what was odd in the table.

    Raises FuseScopeError where the table is damaged.
    """
    table = read_csv(source)
    events: list[dict[str, object]] = [{"args": {}} for _ in range(len(table))]
    for name in _FIELDS:
        for event, text in zip(events, table.texts(name), strict=True):
            if text is not None or name not in _NUMBERS:
                event[name] = text or ""
    for name in (*_ARGUMENTS, *_SHAPES):
        known: dict[str, object] = {}
        for event, text in zip(events, table.texts(f"args_{name}"), strict=True):
            if text is None:
                continue
            if text not in known:
                known[text] = _shapes(text) if name in _SHAPES else text.removesuffix(".0")
            args = event["args"]
            if isinstance(args, dict) and known[text] is not None:
                args[name] = known[text]
    return msgspec.json.encode(events), table.notes


def _shapes(text: str) -> object:
    """[{'float': [2, 2]}] as a list; None where it is not of that form."""
    raw = text.replace("'", '"').encode("utf-8", "replace")
    return decode(raw, list[dict[str, list[int]]], None)

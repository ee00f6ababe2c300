"""Questions: what DuckDB's own parser makes of a text is one SELECT, and nothing in it writes."""

from __future__ import annotations

import json
from typing import Any

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.text import clean_text

# Parts that read. Any other part, such as a COPY or an INSERT behind WITH, may write.
_READING = ("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE")
# Functions that may stand behind FROM. Some others write, or execute a statement that is a text.
_TABLE_FUNCTIONS = (
    "unnest", "range", "generate_series", "repeat", "repeat_row", "json_each", "json_tree",
    "query_table", "pragma_table_info", "histogram", "histogram_values",
)  # fmt: skip
# Those that read files find the files of the library alone.
_READING_FILES = ("read_", "parquet_", "glob", "sniff_csv", "duckdb_")


def check(serialised: str) -> None:
    """Raises FuseScopeError unless a statement, as `json_serialize_sql` writes it, only reads."""
    try:
        tree = json.loads(serialised)
    except RecursionError:
        raise FuseScopeError("sql_deep") from None
    if tree.get("error") or len(tree.get("statements", ())) != 1:
        raise FuseScopeError("sql_not_a_question")
    rest: list[Any] = [tree]
    while rest:
        part = rest.pop()
        if isinstance(part, dict):
            _check_part(part)
            rest += part.values()
        elif isinstance(part, list):
            rest += part


def _check_part(part: dict[str, Any]) -> None:
    kind = part.get("type")
    is_node = "cte_map" in part or (isinstance(kind, str) and kind.endswith("_NODE"))
    if is_node and kind not in _READING:
        raise FuseScopeError("sql_not_a_question")
    if kind == "TABLE_FUNCTION":
        name = str(part["function"]["function_name"]).lower()
        if name not in _TABLE_FUNCTIONS and not name.startswith(_READING_FILES):
            raise FuseScopeError("sql_function", function=clean_text(name, 60))

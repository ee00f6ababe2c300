"""Commands and texts of errors on pages."""

from __future__ import annotations

import ast
from pathlib import Path

APP = Path(__file__).resolve().parents[2] / "app"


def test_long_lines_of_commands_go_on_in_the_next_one() -> None:
    """Else a narrow page cuts them in a box that only a mouse scrolls."""
    cut = [
        f"{path.relative_to(APP)}:{node.lineno}"
        for path in APP.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "st.code"
        and "wrap_lines" not in {keyword.arg for keyword in node.keywords}
    ]
    assert cut == []

"""The model tree in a terminal."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import Side
from fusescope.app.cli.printing.model_tree import print_model_tree
from tests.module_traces import Launch, model, trace_of


def printed(before: Sequence[Launch], after: Sequence[Launch]) -> list[str]:
    """The rows below the title and the heads."""
    text = io.StringIO()
    console = Console(file=text, width=120, highlight=False, markup=False, emoji=False)
    sides = (Side("a", trace_of(before)), Side("b", trace_of(after)))
    print_model_tree(console, compare(*sides))
    title, basis, heads, in_units, *rows = text.getvalue().strip().splitlines()
    assert title == "Modules, operators and shapes"
    assert basis == "Time per step, as profiled; largest change first."
    assert heads.split() == ["baseline", "candidate", "change"]
    assert in_units.split()[-3:] in (["µs"] * 3, ["ms"] * 3)
    return rows


def test_parts_are_printed_below_what_holds_them() -> None:
    """Two layers, wide products 25 -> 700 µs each."""
    rows = printed(
        model(layers=2, narrow_us=600, wide_us=25), model(layers=2, narrow_us=80, wide_us=700)
    )
    assert [len(row) - len(row.lstrip()) for row in rows] == [0, 2, 4, 6, 6, 4, 2]
    assert rows[1].split() == ["Layer", "×2", "1", "256", "1", "566", "+310"]
    assert rows[3].split()[-5:] == ["50", "1", "400", "+1", "350"]


def test_no_more_than_twelve_lines() -> None:
    sides = [
        [
            replace(launch, modules=(f"Part{at}x_0", *launch.modules[1:]))
            for at in range(30)
            for launch in model(layers=layers, narrow_us=600 + at, wide_us=25)
        ]
        for layers in (1, 2)
    ]
    assert 10 <= len(printed(*sides)) <= 12

"""The fusion ledger in the terminal: complete, readable when narrow, and nothing in it can act."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pandas as pd
import pytest
from rich.console import Console

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.app.cli.printing.ledger import TOP_PATTERNS, print_ledger
from tests.factories import experiment_zip
from tests.report.test_fusion import TIMES, group, of_variants, slower, with_groups


def printed(comparison: object, width: int = 120) -> str:
    out = io.StringIO()
    print_ledger(
        Console(file=out, width=width, highlight=False, markup=False, emoji=False),
        comparison,  # type: ignore[arg-type]
    )
    return out.getvalue()


def cells(text: str, label: str) -> list[str]:
    """The cells right of `label` on its line."""
    line = next(line for line in text.splitlines() if line.startswith(label))
    return re.split(r"\s{2,}", line.removeprefix(label).strip())


def test_lines_add_up_to_the_change_of_the_run() -> None:
    text = printed(of_variants())
    assert cells(text, "original operators") == ["groups", *["µs"] * 3, "share"]
    first = cells(text, "Conv + BatchNormalization + Relu → FusedConv")
    assert first == ["1", "150", "110", "−40.0", "0.8 %"]
    assert cells(text, "idle time") == ["−4.0", "0.1 %"]
    assert cells(text, "profiler bias") == ["−4\u202f956.0", "99.1 %"]
    assert cells(text, "= the whole run, un-profiled wall time") == ["−5\u202f000.0", "100.0 %"]
    assert "All original operators are accounted for: 4 of 4" in text


def test_a_narrow_terminal_keeps_the_change() -> None:
    text = printed(of_variants(), width=48)
    assert max(len(line) for line in text.splitlines()) <= 48
    assert "−40.0" in text
    assert "change" in text
    assert not {"baseline", "before"} & {
        word for line in text.splitlines() for word in line.split()
    }


def test_a_group_that_hurts_is_counted() -> None:
    assert "Conv kept (1 slower)" in printed(slower(60))
    assert "slower)" not in printed(slower(0))


def test_more_patterns_are_one_line() -> None:
    shape = [(1, 4, 8, 8)]
    operators = [(f"n{n}", f"Type{n}", 50, shape, shape) for n in range(TOP_PATTERNS + 3)]
    data = experiment_zip(TIMES, {"unfused": operators, "fused": operators})
    groups = [group(n, [(o[0], o[1])], [(o[0], o[1])]) for n, o in enumerate(operators)]
    text = printed(with_groups(compare(*choose_sides(read(Source("e.zip", data)))), *groups))
    assert cells(text, "3 more patterns") == ["3", "150", "150", "0", "0.0 %"]


def test_nothing_known_is_one_sentence() -> None:
    text = printed(with_groups(of_variants()))
    assert "It is not known which operators became which." in text
    assert "the whole run" not in text


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[2J\x1b[31mred", r"\x1b[2J\x1b[31mred"),
        ("a\rb\x07", r"a\x0db\x07"),
        ("\u202eevil", "evil"),
        ("[red]x[/red]", "[red]x[/red]"),
    ],
)
def test_names_cannot_reach_the_terminal(hostile: str, shown: str) -> None:
    before = [(f"m/{hostile}", hostile), (f"n/{hostile}", hostile)]
    text = printed(with_groups(of_variants(), group(1, before, [("x", hostile)])))
    assert not set(text) & set("\x1b\x07\r\u202e")
    assert f"{shown} ×2 → {shown}" in text


def test_patterns_that_nothing_runs_for_have_no_times() -> None:
    """All groups but the first six took nothing on either side: no row of zeros is a sum."""
    pair = of_variants()
    one = pair.ledger.patterns.head(1)
    none = one.assign(before_ns=0.0, after_ns=0.0, gain_ns=0.0, share=0.0)
    for last, label in ((none, "3 more patterns, without a measured time on either side"),
                        (one, "3 more patterns")):  # fmt: skip
        patterns = pd.concat([one] * TOP_PATTERNS + [none, none, last], ignore_index=True)
        text = printed(replace(pair, ledger=replace(pair.ledger, patterns=patterns)))
        times = [] if last is none else ["150", "110", "−40.0", "0.8 %"]
        assert cells(text, label) == ["3", *times]

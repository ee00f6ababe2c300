"""Matrix products of two phases as a table: a row each, both sides, what they rest on."""

from __future__ import annotations

from dataclasses import replace

from fusescope.analysis.compare.explanation.explanation import Explanation, UnitTimes
from fusescope.analysis.compare.explanation.product import Product
from fusescope.analysis.operators.factors import Factors
from fusescope.analysis.report.explanation.product_rows import ProductCells, product_table, texts_of
from fusescope.analysis.report.explanation.product_text import product_lines
from fusescope.analysis.work_units.work import Work

UNIT = UnitTimes(
    "annotation", "step", "named", (1, 1), 10_000, 500_000,
    (Work("decode", 32, 32), Work("prefill", 15, 4096)), (10_000, 500_000), (9, 9), True,
)  # fmt: skip
UP, DOWN = Factors(4096, 1024, 6144, 2), Factors(4096, 3072, 1024, 2)
BEFORE = (Product("gate_up", "", "g", 2, 8_000, Factors(32, 1024, 6144, 2), "named", True),)
AFTER = (
    Product("gate_up", "", "g", 2, 300_000, UP, "named"),
    Product("down", "", "g", 1, 100_000, DOWN, "named"),
    Product(None, "", "<b>tail", 1, 5_000, None, "guessed"),
)
FOUND = Explanation("not_comparable", UNIT, difference="phases", products=(BEFORE, AFTER))


def test_each_product_has_a_row_with_both_sides() -> None:
    """2 · 12.58 MB / 8 us are 3 146 GB/s; 2 · 2 · 4096 · 1024 · 6144 operations / 300 us are 344
    TFLOP/s, half as many once / 100 us 258 TFLOP/s."""
    table = product_table(FOUND)
    assert table is not None
    assert table.sides == (
        "Baseline: a decoding step of 32 sequences",
        "Candidate: a prefill of 4\N{NARROW NO-BREAK SPACE}096 tokens",
    )
    assert table.heads[1] == "Time, µs"
    gate_up, down, whole = table.rows
    assert gate_up.name == "gate/up"
    assert gate_up.sides == (
        ProductCells("2 × 4.00 µs", "8.0", "80.0 %", 80.0,
                     "weights 3\N{NARROW NO-BREAK SPACE}146 GB/s"),
        ProductCells("2 × 150 µs", "300.0", "60.0 %", 60.0, "344 TFLOP/s"),
    )  # fmt: skip
    assert texts_of(down.sides[0]) == ("–", "–", "–", "–")
    assert texts_of(down.sides[1]) == ("1", "100.0", "20.0 %", "258 TFLOP/s"), "one is told once"
    assert texts_of(whole.sides[1]) == ("4", "405.0", "81.0 %", "–"), "also what has no row"


def test_products_of_one_name_stay_apart_and_names_are_those_of_files() -> None:
    twice = tuple(Product(None, "Linear", "g", 1, ns, None, "named") for ns in (300, 200))
    table = product_table(replace(FOUND, products=(twice, (AFTER[2],))))
    assert table is not None
    assert [(row.name, *map(bool, row.sides)) for row in table.rows] == [
        ("<b>tail", False, True), ("Linear", True, False), ("Linear", True, False),
        ("All matrix products", True, True),
    ]  # fmt: skip


def test_the_table_as_text_has_columns_below_each_other() -> None:
    lines = product_lines(FOUND)
    assert lines[1] == "Baseline: a decoding step of 32 sequences"
    table = lines[2:6]
    assert len({len(line) for line in table}) == 1
    names = [line.split("  ")[0] for line in table]
    assert names[1:] == ["gate/up", "down", "All matrix products"]
    assert table[1].split()[1:5] == ["2", "×", "4.00", "µs"]
    assert lines[7] == "Candidate: a prefill of 4\N{NARROW NO-BREAK SPACE}096 tokens"
    assert "258 TFLOP/s" in lines[10] and lines[-1]
    assert product_lines(replace(FOUND, products=((), ()))) == []


def test_only_two_phases_have_the_table() -> None:
    assert product_table(replace(FOUND, difference="sizes")) is None
    assert product_table(replace(FOUND, products=((), ()))) is None


def test_shares_say_what_they_are_of() -> None:
    """8 of the 10 us in which the device runs, in a step of 20 us: findings have shares of that."""
    table = product_table(replace(FOUND, unit=replace(UNIT, before_ns=20_000)))
    assert table is not None and table.heads[2] == "Of busy time"
    assert "their share of the time in which the device is busy" in table.basis
    cells = table.rows[0].sides[0]
    assert cells is not None and cells.share == "80.0 %"

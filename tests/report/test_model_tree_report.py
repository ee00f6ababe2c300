"""The model tree in JSON and in the report."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.model_tree import model_tree
from fusescope.analysis.compare.side import Side
from fusescope.analysis.report.exports.comparison_json import comparison_values
from fusescope.analysis.report.html import report_html
from fusescope.analysis.report.model_tree.rows import tree_rows
from tests.module_traces import Launch, model, trace_of

HOSTILE = "<img src=x onerror=alert(1)>"


def layers() -> Comparison:
    """Two layers whose wide products are 28 times slower, and whose narrow ones hide it."""
    before = trace_of(model(layers=2, narrow_us=600, wide_us=25))
    after = trace_of(model(layers=2, narrow_us=80, wide_us=700))
    return compare(Side("a", before), Side("b", after))


def test_json_has_each_part_with_its_place() -> None:
    parts = comparison_values(layers())["by_module"]
    assert [part["depth"] for part in parts] == [0, 1, 2, 3, 3, 2, 1]
    assert parts[1] == {
        "module": "Net/Layer",
        "operator": None,
        "op_type": None,
        "shapes": None,
        "kind": "module",
        "is_placed": True,
        "depth": 1,
        "is_leaf": False,
        "is_backward": False,
        "parts": None,
        "instances": {"baseline": 2, "candidate": 2},
        "executions": {"baseline": 6.0, "candidate": 6.0},
        "unit": "step",
        "units": {"baseline": 1, "candidate": 1},
        "before_ns": 1_256_000.0,
        "after_ns": 1_566_000.0,
        "gain_ns": -310_000.0,
        "delta_ns": 310_000.0,
        "share": None,  # narrow and wide products cancel
    }
    wide = parts[3]
    assert wide["module"] == "Net/Layer/Attention"
    assert (wide["operator"], wide["shapes"]) == (
        "aten::bmm",
        "float32[8,64,512]; float32[8,512,64]",
    )
    assert (wide["before_ns"], wide["after_ns"], wide["delta_ns"]) == (5e4, 1.4e6, 1.35e6)
    leaves = [part for part in parts if part["is_leaf"]]
    assert sum(part["before_ns"] for part in leaves) == 1_261_000
    assert sum(part["after_ns"] for part in leaves) == 1_571_000


def test_rows_are_open_where_the_largest_change_is() -> None:
    rows = tree_rows(layers())
    assert rows is not None
    assert rows.title == "Modules, operators and shapes"
    net = rows.rows[0]
    layer, embedding = net.rows
    attention, norm = layer.rows
    assert (net.is_open, layer.is_open, attention.is_open) == (True, True, True)
    assert (embedding.is_open, norm.is_open) == (False, False)
    assert (layer.names, layer.instances) == (("Layer",), "×2")
    wide, narrow = attention.rows
    assert rows.heads[2:5] == ("Baseline, µs", "Candidate, µs", "Change, µs")
    # The largest times are 1.571 ms, the least is 5 µs.
    assert (wide.before, wide.after, wide.change) == ("50", "1\u202f400", "+1\u202f350")
    assert (wide.kind, narrow.kind, norm.kind) == ("slower", "faster", "same")


def test_shares_are_left_out_where_parts_cancel_each_other_out() -> None:
    """+100 and −95 µs are 5 µs together, of which they would be 2000 and −1900 %."""
    sides = []
    for first_us, second_us in ((100, 195), (200, 100)):
        launches = [
            Launch(("Net_0",), "aten::bmm", ((2,),), first_us),
            Launch(("Other_0",), "aten::bmm", ((2,),), second_us),
        ]
        sides.append(Side(str(first_us), trace_of(launches)))
    rows = tree_rows(compare(*sides))
    assert rows is not None
    assert rows.heads[-1] == ""
    assert [(row.change, row.share) for row in rows.rows] == [("+100", ""), ("−95", "")]


def test_the_head_of_changes_is_left_out_where_no_row_has_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    comparison = layers()
    rows = tree_rows(comparison)
    assert rows is not None and rows.heads[4] == "Change, µs" and rows.rows[0].change
    tree = model_tree(comparison)
    assert tree is not None
    without = replace(tree, has_changes=False)
    monkeypatch.setattr("fusescope.analysis.report.model_tree.rows.model_tree", lambda _: without)
    rows = tree_rows(comparison)
    assert rows is not None and rows.heads[4] == "" and not rows.rows[0].change


def test_a_change_has_more_digits_than_times_that_would_be_another_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """244 and 130 ms are 114 apart, and the change is 113.4."""
    sides = [
        Side(str(us), trace_of([Launch(("Net_0",), "aten::bmm", ((2,),), us)]))
        for us in (243_600, 130_200)
    ]
    comparison = compare(*sides)
    rows = tree_rows(comparison)
    assert rows is not None
    assert (rows.rows[0].before, rows.rows[0].change) == ("244", "−113.4")
    tree = model_tree(comparison)
    assert tree is not None
    without = replace(tree, has_changes=False)
    monkeypatch.setattr("fusescope.analysis.report.model_tree.rows.model_tree", lambda _: without)
    rows = tree_rows(comparison)
    assert rows is not None and rows.rows[0].before == "244"


def test_report_folds_rows_without_a_script() -> None:
    page = report_html(layers())
    [section] = re.findall(r'<section id="tree">.*?</section>', page, re.DOTALL)
    assert section.count('<details class="part" open>') == 3
    assert "<bdi>float32[8,64,512]; float32[8,512,64]</bdi>" in section
    assert "Change, µs" in section and ">+1\u202f350<" in section
    assert "<script" not in section


def test_names_of_modules_are_not_interpreted() -> None:
    launch = [Launch((f"{HOSTILE}_0",), HOSTILE, ((2,),), 5)]
    comparison = compare(Side("a", trace_of(launch)), Side("b", trace_of(launch)))
    page = report_html(comparison)
    assert "<img" not in page


def test_kernels_of_libraries_have_the_short_name_that_tables_of_types_have() -> None:
    """Types whose codes differ and whose short form is the same stay apart."""
    codes = [f"Cijk_Alik_Bljk_BBS_BH{more}_MT256x192x64_MI16x16x1_SN" for more in ("", "_Bias_HA")]
    launches = [
        *(Launch(("Net_0",), "graph", ((64, 64),), 90 - 10 * at, code)
          for at, code in enumerate(codes)),
        Launch(("Net_0",), "graph", ((64, 64),), 5, "void aiter::fmha_fwd(int)"),
    ]  # fmt: skip
    rows = tree_rows(compare(Side("a", trace_of(launches)), Side("b", trace_of(launches))))
    assert rows is not None
    first, second, third = (row.names[0] for row in rows.rows[0].rows)
    assert first != second and third == "fmha_fwd"
    for name in (first, second):
        assert name.startswith("Tensile GEMM TN") and len(name) <= 40

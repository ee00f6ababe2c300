"""Modules, operators and shapes of one trace, and which takes most, with times checked by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from rich.console import Console

from fusescope.analysis.advice import findings
from fusescope.analysis.advice.explanation import explain_subject
from fusescope.analysis.advice.explanation.model_tree import TracedTree, tree_of_trace
from fusescope.analysis.advice.sides import advised
from fusescope.analysis.compare.runs.units import with_runs
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.messages import language
from fusescope.analysis.readers import read_path
from fusescope.analysis.report.model_tree.model_tree_json import tree_of_trace_values
from fusescope.analysis.report.model_tree.rows import TreeRow, trace_tree_rows
from fusescope.analysis.report.one_trace.advice_json import advice_json
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.explanation.trace import trace_sentence
from fusescope.analysis.wording.trees.model_tree import basis_of_one, costliest_said
from fusescope.app.cli.printing.model_tree import print_trace_tree
from tests import miniatures
from tests.module_traces import Launch, model, trace_of
from tests.step_traces import Kernel, steps_of

# 4 layers: 30 + 90 us of products and 3 us of a norm each, behind 5 us of an embedding: 497 us.
MODEL = model(layers=4, narrow_us=30, wide_us=90)


def tree_of(trace: Trace) -> TracedTree:
    found = tree_of_trace(trace)
    assert found is not None
    return found


def rows_of(trace: Trace) -> dict[str, TreeRow]:
    rows: dict[str, TreeRow] = {}
    waiting = list(trace_tree_rows(tree_of(trace), trace).rows)
    for row in waiting:  # which grows meanwhile
        rows[" › ".join(row.names)] = row
        waiting += row.rows
    return rows


def test_the_tree_of_one_trace_adds_up_and_counts_modules() -> None:
    trace = trace_of(MODEL)
    tree = tree_of(trace).tree
    assert tree.total_ns == (497_000, 0)
    assert sum(leaf.total_ns[0] for leaf in tree.leaves()) == 497_000
    assert "Shares are of the time of all operators together, 497 µs," in basis_of_one(tree)
    rows = rows_of(trace)
    layer = rows["Layer"]
    assert (layer.instances, layer.executions, layer.before, layer.after) == (
        "×4", "12", "492.0", "123.0",
    )  # fmt: skip
    assert layer.change == "99.0 %"  # 492 of 497
    attention = rows["Attention › aten::bmm"]
    assert (attention.before, attention.after) == ("480.0", "60.0")  # of 8 executions


def test_the_tree_says_whether_communication_is_among_its_operators() -> None:
    """A run of the sample: 80 + 50 + 12 + 9 + 1.5 us, and 40 us of a collective."""
    trace = read_path(miniatures.FOLDER / "nsys_db")
    assert isinstance(trace, Trace)
    trace = with_runs(side_of_trace(trace)).trace
    assert "operators together, communication included, 193 µs," in basis_of_one(
        tree_of(trace).tree
    )
    assert "communication" not in basis_of_one(tree_of(trace_of(MODEL)).tree)


def test_the_module_that_takes_most_is_named() -> None:
    most = tree_of(trace_of(MODEL)).costliest
    assert most is not None
    assert (most.names[-2:], most.instances, most.ns) == (("Layer", "Attention"), 4, 480_000)
    assert most.share == pytest.approx(480 / 497)
    assert (most.longest, most.outside) == ((), 0.0)
    told = "".join(map(str, costliest_said(most, "step", "step")))
    assert "Layer › Attention takes most, without modules inside it: 480 µs per step in 4" in told


def test_a_module_that_runs_more_than_one_class_says_what_takes_how_long() -> None:
    """Attention runs products alone, 4 x 120 us; with 4 x 30 us of changes of layout in it, 120 of
    its 600 us are no products."""
    mixed = []
    for launch in MODEL:
        mixed.append(launch)
        if launch.us == 90:
            kernel = "batched_transpose_16x32_half"
            mixed.append(replace(launch, operator="aten::transpose", us=30, kernel=kernel))
    most = tree_of(trace_of(mixed)).costliest
    assert most is not None
    assert (most.ns, most.classes) == (600_000, (("matrix_product", 480_000), ("layout", 120_000)))
    told = " ".join(map(str, costliest_said(most, "step", "step"))).replace("**", "")
    assert "By class: matrix product (480 µs) and layout (120 µs)." in told
    alone = tree_of(trace_of(MODEL)).costliest
    assert alone is not None and alone.classes == ()


def test_one_module_that_takes_longer_than_its_siblings_is_named() -> None:
    """The products of the third layer take 60 + 90 us: 150 instead of 120."""
    slow = [
        replace(launch, us=60) if "Attention_2" in launch.modules and launch.us == 30 else launch
        for launch in MODEL
    ]
    most = tree_of(trace_of([*slow, Launch((), "aten::sum", ((64,),), 200, "sum")])).costliest
    assert most is not None
    assert most.longest[-2:] == ("Layer_2", "Attention_2")
    assert (most.longest_ns, most.others_ns) == (150_000, 120_000)
    assert most.outside == pytest.approx(200 / 727)  # 497 + 30 + 200
    told = " ".join(map(str, costliest_said(most, "step", "step")))
    assert "The longest of them, Layer_2 › Attention_2, takes 150 µs, the others 120 µs" in told
    assert "27.5 % of the time of all operators is in no module that the file names." in told


def test_communication_in_no_module_is_said_as_such() -> None:
    """497 us in modules; 300 us of communication and 203 of another kernel in none."""
    talking = Launch((), "c10d::allreduce_", ((64,),), 300, "ncclDevKernel_AllReduce_Sum_f32")
    other = Launch((), "aten::sum", ((64,),), 203, "sum")
    most = tree_of(trace_of([*MODEL, talking, other])).costliest
    assert most is not None
    assert (most.outside, most.outside_talking) == (pytest.approx(0.503), pytest.approx(0.3))
    told = " ".join(map(str, costliest_said(most, "step", "step")))
    assert "50.3 % of the time of all operators is in no module that the file names, " in told
    assert "59.6 % of it communication." in told


def test_without_modules_the_operator_that_takes_most_is_named() -> None:
    kernels = [
        Kernel("gemm_a", 50, "matrix_product", by="aten::mm", inputs="float32[8,8]"),
        Kernel("gemm_b", 20, "matrix_product", by="aten::mm", inputs="float32[4,4]"),
        Kernel("add", 60, by="aten::add", inputs="float32[8]"),
    ]
    most = tree_of(steps_of([kernels] * 2)).costliest
    assert most is not None
    assert (most.names, most.is_module, most.ns) == (("aten::mm",), False, 70_000)
    assert "Of all operators aten::mm takes most: 70.0 µs per step" in str(
        costliest_said(most, "step", "step")[0]
    )


def test_a_trace_with_neither_modules_nor_shapes_has_no_tree() -> None:
    assert tree_of_trace(steps_of([[Kernel("gemm", 50)]] * 2)) is None


def test_json_and_terminal_have_the_tree() -> None:
    subject = advised(trace_of(MODEL))
    tree = tree_of(subject.trace)
    found = findings(subject)
    values = json.loads(advice_json(subject.side, found, None, explain_subject(subject), (), tree))[
        "model_tree"
    ]
    assert values["costliest"]["names"][-1] == "Attention"
    leaves = [part for part in values["parts"] if part["is_leaf"]]
    assert sum(part["ns"] for part in leaves) == 497_000
    assert {part["module"] for part in values["parts"]} >= {"Net/Layer/Attention", "Net/Layer/Norm"}
    console = Console(record=True, width=100)
    with language.speaking("en"):
        print_trace_tree(console, tree)
    text = console.export_text()
    assert "Layer ×4" in text and "492.0" in text and "99.0 %" in text


def test_numbered_parts_of_scopes_are_named_without_their_number() -> None:
    """Runs of layer1/0/conv, layer1/1/conv and layer2/0/conv: 100, 300 and 90 us."""
    kernels = [
        Kernel(f"{scope}/Conv", us, "convolution", inputs="float32[1,8,4,4]")
        for scope, us in (("layer1/0/conv", 100), ("layer1/1/conv", 300), ("layer2/0/conv", 90))
    ]
    most = tree_of(steps_of([kernels] * 2)).costliest
    assert most is not None
    assert (most.names, most.instances, most.ns) == (("layer1", "#", "conv"), 2, 400_000)
    told = str(costliest_said(most, "step", "run")[0])
    assert (
        "layer1 › conv takes most, without modules inside it: 400 µs per run in 2 of them" in told
    )


LAYER = (
    Kernel("norm", 5, "normalisation"), Kernel("gemm_a", 40, "matrix_product"),
    Kernel("flash", 30, "attention"), Kernel("gemm_b", 80, "matrix_product"),
    Kernel("gelu", 7, "activation"),
)  # fmt: skip


def test_layers_that_repeat_stand_where_nothing_names_modules() -> None:
    """8 layers of 162 us, the third with 100 us more, behind 38 us of an embedding: 1434 us."""
    slow = tuple(replace(each, us=180) if each.name == "gemm_b" else each for each in LAYER)
    step = (Kernel("embed", 38), *LAYER * 2, *slow, *LAYER * 5)
    trace = steps_of([step] * 3)
    found = tree_of(trace)
    assert found.tree.levels.modules == "repeat"
    most = found.costliest
    assert most is not None and most.is_repeat
    assert (most.instances, most.ns, most.longest) == (8, 1_396_000, ("5#3",))
    told = " ".join(map(str, costliest_said(most, "step", "step")))
    assert (
        "The 8 layers of 5 kernels take most of what repeats: 1.40 ms per step, on average 175 µs"
    ) in told
    assert "The longest of them, number 3, takes 262 µs, the others 162 µs (median)." in told
    assert basis_of_one(found.tree).startswith("Time per step, as profiled;")
    of_runs = replace(found.tree, unit_name="iteration")
    assert basis_of_one(of_runs).startswith("Time per run, as profiled;")
    rows = rows_of(trace)
    layer = rows["layer of 5 kernels"]
    assert (layer.instances, layer.executions, layer.before) == ("×8", "40", "1\u202f396")
    assert rows["gemm_b"].before == "740"  # 7 · 80 + 180
    assert "in nothing that repeats › embed" in rows


def test_two_kinds_of_layers_with_as_many_kernels_stay_apart() -> None:
    other = tuple(replace(each, name=f"{each.name}_2") for each in LAYER)
    trace = steps_of([(*LAYER * 6, *other * 5)] * 2)
    found = tree_of(trace)
    layers = [node for node in found.tree.roots if node.steps[0][0] == "repeat"]
    assert sorted((node.instances[0], node.total_ns[0]) for node in layers) == [
        (5, 2 * 5 * 162_000), (6, 2 * 6 * 162_000),
    ]  # fmt: skip
    rows = rows_of(trace)
    told = {
        name: row.instances for name, row in rows.items() if "group" in name and "›" not in name
    }
    assert told == {"layer of 5 kernels (group 1)": "×6", "layer of 5 kernels (group 2)": "×5"}


def test_rows_of_layers_say_the_fewest_and_the_most_kernels_of_one() -> None:
    """8 layers of 324 us and 10 kernels, with another of 80 us in the fourth: 81 kernels."""
    layer = (*LAYER, *(replace(one, name=f"{one.name}_of_2") for one in LAYER))
    longer = (*layer[:9], layer[3], layer[9])
    trace = steps_of([(*layer * 3, *longer, *layer * 4)] * 2)
    found = tree_of(trace)
    row = rows_of(trace)["layer of 10 to 11 kernels"]
    assert (row.instances, row.executions, row.before) == ("×8", "81", "2\u202f672")
    assert found.costliest is not None
    told = " ".join(map(str, costliest_said(found.costliest, "step", "step")))
    assert "The 8 layers of 10 to 11 kernels take most of what repeats: 2.67 ms" in told
    values = tree_of_trace_values(found)
    assert values is not None
    part = next(part for part in values["parts"] if part["kind"] == "repeat")
    assert (part["layers"], part["kernels_of_copies"]) == ([10], [[10, 11]])


def test_copies_and_fills_are_counted_as_in_the_sentence_on_what_repeats() -> None:
    """8 rounds of 5 kernels of 162 us with a fill of 2 us in front of each: 48 executions."""
    trace = steps_of([(Kernel("Memset (Device)", 2, "copy"), *LAYER) * 8] * 2)
    types = trace.operators["op_type"].astype("object")
    types[trace.operators["name"] == "Memset (Device)"] = "Memset"
    trace = replace(trace, operators=trace.operators.assign(op_type=types.astype("category")))
    row = rows_of(trace)["repetition of 6 kernels and copies"]
    assert (row.instances, row.executions) == ("×8", "48")
    explained = explain_subject(advised(trace))
    assert explained is not None
    assert "8 repetitions of 6 kernels and copies take 1.31 ms" in trace_sentence(explained)

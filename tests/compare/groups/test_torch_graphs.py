"""Graphs of torch: what counts as fused, whose names say nothing, where operators are called."""

from __future__ import annotations

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import BEFORE_FUSION
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.equivalence import duplicates
from fusescope.analysis.compare.groups.fusion import Operator
from fusescope.analysis.compare.ledger.operator_texts import common_scope, source_text
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.graph import Graph, Node
from fusescope.analysis.wording import coverage_sentence
from tests.torch_experiments import called, graph, kernel, torch_experiment

MODEL = graph(
    called("linear", "aten::linear", ("x", "w"), "a", 3, scope="up"),
    called("view", "aten::view", ("a",), "v", 4, view=1),
    called("mul", "aten::mul", ("v",), "m", 5),
    called("add", "aten::add", ("m",), "y", 5),
    constant=("w",),
)


def compared(before: Graph, after: Graph, model: Graph = MODEL) -> Comparison:
    found = torch_experiment(model, {"unfused": before, "fused": after})
    return compare(side_of_variant(found, "unfused"), side_of_variant(found, "fused"))


UNFUSED = graph(
    called("addmm:1", "aten::addmm", ("x", "w"), "a"),
    kernel(2, "mul", ("a",), "m"),
    kernel(3, "add", ("m",), "y", 1),
    constant=("w",),
)
CAPTURED = graph(
    called("t:1", "aten::t", ("w",), "t", view=1),
    called("addmm:2", "aten::addmm", ("x", "t"), "a"),
    called("view:3", "aten::view", ("a",), "v", view=1),
    called("mul.Tensor:4", "aten::mul", ("v",), "m"),
    called("add.Tensor:5", "aten::add", ("m",), "y"),
    constant=("w",),
)
FUSED = graph(
    called("addmm:1", "aten::addmm", ("x", "w"), "a"),
    kernel(2, "add_mul", ("a",), "y"),
    constant=("w",),
)


def kinds(found: Comparison) -> dict[str, str]:
    return {" ".join(op.name for op in group.original): group.kind for group in found.fusion.groups}


def test_views_are_neither_fused_nor_made_by_a_split() -> None:
    assert kinds(compared(MODEL, CAPTURED))["linear"] == "replaced"  # linear: t and addmm
    assert kinds(compared(CAPTURED, UNFUSED)) == {
        "linear": "kept",
        "view mul": "replaced",  # of view and mul one computes
        "add": "replaced",
    }
    assert kinds(compared(MODEL, UNFUSED)) == {
        "linear": "replaced",
        "view mul": "replaced",
        "add": "replaced",
    }


def test_what_computes_is_fused() -> None:
    assert kinds(compared(UNFUSED, FUSED)) == {"linear": "kept", "view mul add": "fused"}


def test_every_operator_is_in_one_group() -> None:
    for before, after in ((MODEL, CAPTURED), (CAPTURED, UNFUSED), (UNFUSED, FUSED)):
        fusion = compared(before, after).fusion
        names = [op.name for group in fusion.groups for op in group.original]
        assert sorted(names) == ["add", "linear", "mul", "view"]


def test_calls_with_other_numbers_are_no_twins() -> None:
    """x * 2 + x * 3 in one line: numbers are in no graph."""
    model = graph(
        called("mul", "aten::mul", ("x",), "a", 3),
        called("mul_1", "aten::mul", ("x",), "b", 3),
        called("add", "aten::add", ("a", "b"), "y", 3),
    )
    assert duplicates(model, model.nodes) == {}
    unfused = graph(
        kernel(1, "mul", ("x",), "a"), kernel(2, "mul", ("x",), "b", 1),
        kernel(3, "add", ("a", "b"), "y", 2),
    )  # fmt: skip
    assert kinds(compared(model, unfused, model)) == dict.fromkeys(
        ("mul", "mul_1", "add"), "replaced"
    )


def test_the_name_of_a_kernel_is_no_operator() -> None:
    """'cpp_fused_relu_0:1' is one relu in `unfused`, and something else in `fused`."""
    model = graph(
        called("relu", "aten::relu", ("x",), "a"),
        called("relu_1", "aten::relu", ("a",), "y"),
    )
    unfused = graph(kernel(1, "relu", ("x",), "a"), kernel(2, "relu", ("a",), "y"))
    fused = graph(kernel(1, "relu", ("x",), "y"), shape=(8, 4))
    operators = compared(unfused, fused, model).operators
    assert sorted(zip(operators["name"], operators["side"], strict=True)) == [
        ("cpp_fused_relu_0:1", "baseline"),
        ("cpp_fused_relu_0:1", "candidate"),
        ("cpp_fused_relu_0:2", "baseline"),
    ]


def test_a_call_of_a_library_is_joined_within_its_group() -> None:
    """'addmm:2' of one variant is 'addmm:1' of the other."""
    operators = compared(CAPTURED, FUSED).operators.set_index("name")
    row = operators.loc["addmm:2"]
    assert (row["side"], row["matched_by"]) == ("both", "graph")


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ((), ""),
        (("",), ""),
        (("model.py:12",), "model.py:12"),
        (("model.py:14", "model.py:12", "model.py:13", "model.py:20"), "model.py:12-14, 20"),
        (("a.py:1", "b.py:2", "a.py:1"), "a.py:1, b.py:2"),
        (("<string>",), ""),
        (
            ("a.py:3: y = x[1:2]", "a.py:4"),
            "a.py:3-4",
        ),  # with the code, as the compiler's log has it
    ],
)
def test_lines_of_code(places: tuple[str, ...], expected: str) -> None:
    assert source_text([Operator("n", "t", place=place) for place in places]) == expected


@pytest.mark.parametrize(
    ("scopes", "expected"),
    [
        (("layer.0.norm", "layer.0.mlp"), "layer.0"),
        (("layer1/0/a", "layer1/0/b"), "layer1/0"),
        (("up", ""), ""),
        (("net/v1.0", "net/v1.1"), "net"),
    ],
)
def test_modules_are_written_with_dots_or_slashes(scopes: tuple[str, ...], expected: str) -> None:
    assert common_scope([Operator("n", "t", scope) for scope in scopes]) == expected


def test_groups_tell_their_lines_and_modules() -> None:
    rows = compared(UNFUSED, FUSED).ledger.rows.set_index("pattern")
    assert rows.loc["aten::linear", ["scope", "source"]].tolist() == ["up", "model.py:3"]
    assert rows.loc["aten::view + aten::mul + aten::add", "source"] == "model.py:4-5"


def test_what_fuses_nothing_comes_before_fusion() -> None:
    assert BEFORE_FUSION == ("eager", "captured", "generated")


BROKEN = graph(
    called("mul", "aten::mul", ("x",), "m", 3),
    called("sum", "aten::sum", ("m",), "s", 4),
    called("is_nonzero", "aten::is_nonzero", ("s",), "told", 4),
    called("cumsum", "aten::cumsum", ("m",), "c", 5),
    called("add", "aten::add", ("c",), "y", 6),
)
PARTS = graph(
    Node(
        "0:cpp_fused_mul_sum_0:1", "cpp_fused_mul_sum", ("x",), ("m", "s"),
        attributes={"event": "cpp_fused_mul_sum_0"},
    ),
    called("is_nonzero@1", "aten::is_nonzero", ("s",), "told", between=1),
    called("cumsum@2", "aten::cumsum", ("m",), "c", between=1),
    called("1:cpp_fused_add_0:1", "cpp_fused_add", ("c",), "y", event="cpp_fused_add_0"),
)  # fmt: skip


def test_what_runs_between_two_graphs_is_in_a_group_of_its_own() -> None:
    """Also what reads a number that decides how the program goes on, which no tensor stems from."""
    settings = {"fused": {"graphs": 2}}
    found = torch_experiment(BROKEN, {"eager": BROKEN, "fused": PARTS}, settings=settings)
    comparison = compare(side_of_variant(found, "eager"), side_of_variant(found, "fused"))
    assert kinds(comparison) == {
        "mul sum": "fused", "is_nonzero": "kept", "cumsum": "kept", "add": "replaced",
    }  # fmt: skip
    assert comparison.ledger.ungrouped.empty
    assert "calls_not_of_graph" not in {n.code for n in found.traces["fused"].diagnostics}
    said = coverage_sentence(comparison)
    assert "fused is 2 compiled graphs. 2 operators run outside, as in eager mode." in said
    trained = {"fused": {"graphs": 2, "backward_graphs": 1}}
    found = torch_experiment(BROKEN, {"eager": BROKEN, "fused": PARTS}, settings=trained)
    said = coverage_sentence(
        compare(side_of_variant(found, "eager"), side_of_variant(found, "fused"))
    )
    assert "fused is 2 compiled graphs. 1 of them computes gradients." in said
    whole = torch_experiment(
        MODEL, {"eager": MODEL, "fused": FUSED}, settings={"fused": {"graphs": 1}}
    )
    other = compare(side_of_variant(whole, "fused"), side_of_variant(whole, "eager"))
    assert "fused is 1 compiled graph." in coverage_sentence(other)
    assert "outside" not in coverage_sentence(other)

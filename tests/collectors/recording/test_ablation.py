"""Which optimizers matter is found by effect, and an ablation that has none is refused."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from fusescope.analysis.compare.ablation import ablation
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read_path
from fusescope.collectors.recording.ablation import ALL, ALL_OFF, LIMIT, NONE, with_ablation
from fusescope.collectors.recording.request import Plan
from fusescope.collectors.runtimes import optimizers
from fusescope.collectors.runtimes.structure import dumped, structure
from fusescope.collectors.variants import find
from fusescope.collectors.workers.jobs import SessionSettings, Structure, Switches
from tests.collectors.short_recordings import File, run, short

SAID_BY_ENGINE = re.compile(r"Applying graph transformer (\w+) on step")
LOUD = """
import sys, onnxruntime
settings = onnxruntime.SessionOptions()
settings.log_severity_level = 0
onnxruntime.InferenceSession(sys.argv[1], settings, providers=["CPUExecutionProvider"])
"""
# Each tiny model is changed by the optimizer that it is named after: op types before and after.
TINY: dict[str, tuple[list[Any], dict[str, Any], list[str], list[str]]] = {
    "EliminateIdentity": (
        [("Relu", "x", "a"), ("Identity", "a", "b"), ("Sigmoid", "b", "y")],
        {},
        ["Relu", "Identity", "Sigmoid"],
        ["Relu", "Sigmoid"],
    ),
    "ConvMulFusion": (
        [("Conv", "x w", "a"), ("Mul", "a m", "y")],
        {"w": np.ones((4, 4, 3, 3)), "m": np.full((4, 1, 1), 2.0)},
        ["Conv", "Mul"],
        ["Conv"],
    ),
    "ConvActivationFusion": (
        [("Conv", "x w", "a"), ("Relu", "a", "y")],
        {"w": np.ones((4, 4, 3, 3))},
        ["Conv", "Relu"],
        ["com.microsoft:FusedConv"],
    ),
    "ConvAddActivationFusion": (
        [("Conv", "x w b", "a"), ("Add", "a x", "s"), ("Relu", "s", "y")],
        {"w": np.ones((4, 4, 1, 1)), "b": np.ones(4)},
        ["Add", "Conv", "Relu"],
        ["com.microsoft:FusedConv"],
    ),
    "ConstantFolding": (
        [("Sqrt", "w", "a"), ("Add", "x a", "y")],
        {"w": np.ones((8, 8))},
        ["Sqrt", "Add"],
        ["Add"],
    ),
    "CommonSubexpressionElimination": (
        [("Relu", "x", "a"), ("Relu", "x", "b"), ("Tanh", "b", "c"), ("Add", "a c", "y")],
        {},
        ["Add", "Relu", "Relu", "Tanh"],
        ["Add", "Relu", "Tanh"],
    ),
    "QuickGeluFusion": (
        [("Mul", "x c", "a"), ("Sigmoid", "a", "b"), ("Mul", "x b", "y")],
        {"c": np.array(1.702)},
        ["Mul", "Mul", "Sigmoid"],
        ["com.microsoft:QuickGelu"],
    ),
}


@pytest.fixture
def settings(save_model: Callable[..., Path]) -> Callable[..., SessionSettings]:
    """settings(nodes, weights) for nodes written as (type, inputs, output); x is 1x4x8x8."""

    def make(nodes: list[Any], weights: dict[str, Any], dtype: str = "float32") -> SessionSettings:
        model = save_model(
            [helper.make_node(kind, reads.split(), [writes]) for kind, reads, writes in nodes],
            {"x": (dtype, [1, 4, 8, 8])},
            ["y"],
            {name: np.asarray(value, dtype) for name, value in weights.items()},
        )
        return SessionSettings(str(model), "", ("x",), 1, False)

    return make


def op_types(structure: Structure) -> list[str]:
    return sorted(kind for kind, count in structure.op_types.items() for _ in range(count))


@pytest.mark.parametrize("name", TINY)
def test_only_one_optimizer_acts(name: str, settings: Callable[..., SessionSettings]) -> None:
    nodes, weights, before, after = TINY[name]
    model = settings(nodes, weights)
    off = dumped(model, ALL_OFF)
    assert op_types(off) == sorted(before)
    assert off == dumped(model, NONE)
    assert op_types(dumped(model, Switches("all", find(f"only:{name}").disabled))) == after


def test_without_an_optimizer_the_others_still_act(
    settings: Callable[..., SessionSettings],
) -> None:
    gelu = [("Mul", "z c", "a"), ("Sigmoid", "a", "b"), ("Mul", "z b", "y")]
    model = settings([("Identity", "x", "z"), *gelu], {"c": np.array(1.702)})
    assert op_types(dumped(model, ALL)) == ["com.microsoft:QuickGelu"]
    without = dumped(model, Switches("all", find("without:QuickGeluFusion").disabled))
    assert op_types(without) == ["Mul", "Mul", "Sigmoid"]


def test_half_precision_weights_are_left_alone_too(
    settings: Callable[..., SessionSettings],
) -> None:
    """The engine runs half precision in float32; even that rewriting can be switched off."""
    model = settings([("Conv", "x w", "y")], {"w": np.ones((4, 4, 3, 3))}, dtype="float16")
    assert dumped(model, ALL_OFF) == dumped(model, NONE)


def test_every_transformer_that_the_engine_applies_is_listed(
    settings: Callable[..., SessionSettings],
) -> None:
    """The list is right for the engine that is installed: it names what it applies in its log."""
    model = settings([("Relu", "x", "y")], {}).model
    log = subprocess.run(
        [sys.executable, "-c", LOUD, model], capture_output=True, text=True, check=True
    )
    applied = set(SAID_BY_ENGINE.findall(log.stderr + log.stdout))
    assert "ConstantFolding" in applied
    rules = {"Level1_RuleBasedTransformer", "Level2_RuleBasedTransformer"}
    assert applied - rules - set(optimizers.NAMES) == set()
    assert len(set(optimizers.NAMES)) == len(optimizers.NAMES)


def graph(nodes: list[Any], weight: list[int] = [2, 3]) -> onnx.GraphProto:  # noqa: B006
    def value(name: str) -> Any:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3])

    constant = helper.make_tensor("w", TensorProto.FLOAT, weight, [0.0] * int(np.prod(weight)))
    return helper.make_graph(nodes, "g", [value("x")], [value("y")], [constant])


def node(kind: str, reads: str, writes: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(kind, reads.split(), writes.split(), **attributes)


def test_names_and_order_do_not_tell_graphs_apart() -> None:
    one = graph([node("Relu", "x", "a"), node("Tanh", "x", "b"), node("Add", "a b", "y")])
    other = graph(
        [
            node("Tanh", "x", "reorder_7", name="t"),
            node("Relu", "x", "reorder_9"),
            node("Add", "reorder_9 reorder_7", "y"),
        ]
    )
    assert structure(one) == structure(other)
    assert structure(one).op_types == {"Relu": 1, "Tanh": 1, "Add": 1}


@pytest.mark.parametrize(
    "changed",
    [
        graph([node("Relu", "x", "a"), node("Add", "w a", "y")]),
        graph([node("Relu", "x", "a"), node("Sub", "a w", "y")]),
        graph([node("Relu", "x", "a"), node("Add", "a a", "y")]),
        graph([node("Relu", "x", "a"), node("Add", "a w", "y")], [1, 3]),
        graph([node("Relu", "x", "a", alpha=1), node("Add", "a w", "y")]),
        graph([node("Relu", "x", "a", domain="com.microsoft"), node("Add", "a w", "y")]),
        graph([node("Relu", "x", "y"), node("Add", "y w", "b")]),
    ],
)
def test_what_tells_graphs_apart(changed: onnx.GraphProto) -> None:
    one = graph([node("Relu", "x", "a"), node("Add", "a w", "y")])
    assert structure(one).digest != structure(changed).digest


def test_a_change_inside_a_subgraph_counts() -> None:
    def branching(kind: str) -> onnx.GraphProto:
        output = helper.make_tensor_value_info("o", TensorProto.FLOAT, [2, 3])
        then, other = (
            helper.make_graph([node(inner, "x", "o")], "branch", [], [output])
            for inner in (kind, "Tanh")
        )
        condition = helper.make_tensor("c", TensorProto.BOOL, [], [True])
        made = graph([node("If", "c", "y", then_branch=then, else_branch=other)])
        made.initializer.append(condition)
        return made

    assert structure(branching("Relu")).digest != structure(branching("Sqrt")).digest
    assert structure(branching("Relu")).op_types == {"If": 1, "Relu": 1, "Tanh": 1}


class Engine:
    """An engine in which an optimizer removes operators of its own; any two may need each other.

    `worth` is operators removed by name, `needs` the optimizer without which a name does nothing.
    """

    def __init__(
        self, worth: dict[str, int], needs: dict[str, str] | None = None, unlisted: bool = False
    ) -> None:
        self.worth, self.needs, self.unlisted = worth, needs or {}, unlisted
        self.asked: list[Switches] = []

    def ask(self, switches: tuple[Switches, ...]) -> tuple[Structure, ...]:
        self.asked += switches
        return tuple(self.structure(one) for one in switches)

    def structure(self, switches: Switches) -> Structure:
        on = set(self.worth) - set(switches.disabled) if switches.optimization == "all" else set()
        acting = sorted(name for name in on if self.needs.get(name, name) in on)
        if self.unlisted and switches.optimization == "all":
            acting.append("unlisted")
        removed = {f"for {name}": self.worth.get(name, 1) for name in acting}
        return Structure(str(acting), removed)


def plan(*variants: str) -> Plan:
    named = tuple(map(find, ("unfused", "fused", *variants)))
    return Plan("model", None, named, "unfused")


def planned(engine: Engine, variants: tuple[str, ...] = (), search: bool = True) -> list[str]:
    made = with_ablation(plan(*variants), search=search, ask=engine.ask, report=print)
    assert made.names[:2] == ("unfused", "fused")
    return list(made.names[2:])


NAMED = st.sampled_from(optimizers.NAMES)


@given(st.dictionaries(NAMED, st.integers(1, 50), min_size=1), st.data())
def test_the_search_finds_what_acts(worth: dict[str, int], data: st.DataObject) -> None:
    some = st.sampled_from(sorted(worth))
    needs = data.draw(st.dictionaries(some, some))
    needs = {name: other for name, other in needs.items() if other not in needs}
    engine = Engine(worth, needs)
    everything = engine.structure(ALL)
    acting = {
        kind: {
            name
            for name in optimizers.NAMES
            if engine.structure(Switches("all", find(f"{kind}:{name}").disabled)) != reference
        }
        for kind, reference in (("without", everything), ("only", engine.structure(ALL_OFF)))
    }
    if not acting["without"] | acting["only"]:
        return
    found = planned(engine)
    shown = {name.partition(":")[2] for name in found}
    everywhere = acting["without"] | acting["only"]
    assert len(shown) == min(LIMIT, len(everywhere))
    for kind in ("without", "only"):
        assert {n.removeprefix(f"{kind}:") for n in found if n.startswith(kind)} == (
            acting[kind] & shown
        )
    assert len(engine.asked) == len(set(engine.asked))


def test_the_search_asks_for_few_graphs() -> None:
    engine = Engine({"NchwcTransformer": 50, "ConvBNFusion": 20})
    assert planned(engine) == [
        "without:NchwcTransformer", "only:NchwcTransformer",
        "without:ConvBNFusion", "only:ConvBNFusion",
    ]  # fmt: skip
    assert len(engine.asked) < len(optimizers.NAMES) / 2


def test_what_depends_on_another_is_not_tried_alone() -> None:
    engine = Engine({"ConvBNFusion": 5, "ConvActivationFusion": 9}, needs={
        "ConvActivationFusion": "ConvBNFusion"
    })  # fmt: skip
    assert planned(engine) == ["without:ConvBNFusion", "only:ConvBNFusion",
                               "without:ConvActivationFusion"]  # fmt: skip


def test_no_more_than_eight_and_the_rest_is_named() -> None:
    names = optimizers.NAMES[:10]
    engine = Engine({name: 100 - place for place, name in enumerate(names)})
    told: list[str] = []
    made = with_ablation(plan(), search=True, ask=engine.ask, report=told.append)
    assert len(made.variants) == 2 + 2 * LIMIT
    assert made.settings["fused"]["optimizers_left_out"] == ", ".join(names[8:])
    assert str(told[-1]).endswith(f"they change fewer operators: {', '.join(names[8:])}")


def test_nothing_is_asked_where_nothing_is_ablated() -> None:
    engine = Engine({})
    assert planned(engine, search=False) == []
    assert not engine.asked


def test_nothing_to_ablate_is_said() -> None:
    with pytest.raises(FuseScopeError, match="nothing to ablate"):
        planned(Engine({}))


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        ("without:MatMulAddFusion", "MatMulAddFusion changes nothing in this model"),
        ("only:MatMulAddFusion", "the graph of 'unfused' once more"),
        ("without:convbnfusion", "Did you mean 'ConvBNFusion'?"),
        ("only:ConvBNFusio", "Did you mean 'ConvBNFusion'?"),
        ("without:Zzz", "seems to have no optimizer 'Zzz'"),
    ],
)
def test_an_ablation_without_effect_is_refused(variant: str, expected: str) -> None:
    with pytest.raises(FuseScopeError) as told:
        planned(Engine({"ConvBNFusion": 5}), (variant,), search=False)
    assert expected in told.value.text


def test_an_unlisted_optimizer_by_its_name() -> None:
    """A newer engine may have more: what shows an effect is taken at its word."""
    engine = Engine({"BrandNewFusion": 3})
    assert planned(engine, ("without:BrandNewFusion",), search=False) == ["without:BrandNewFusion"]
    assert planned(engine, ("only:BrandNewFusion",), search=False) == ["only:BrandNewFusion"]


def test_what_cannot_be_switched_off_is_told() -> None:
    engine = Engine({"ConvBNFusion": 5}, unlisted=True)
    made = with_ablation(plan(), search=True, ask=engine.ask, report=print)
    assert made.settings["only:ConvBNFusion"] == {"unlisted_optimizers_act": True}
    assert "without:ConvBNFusion" not in made.settings


@pytest.mark.parametrize("name", ["without:", "only:../x", "without:a b", "ONLY:X", "only:é"])
def test_what_is_no_variant(name: str) -> None:
    with pytest.raises(FuseScopeError, match="There is no variant"):
        find(name)


@pytest.fixture(scope="module")
def ablated(tmp_path_factory: pytest.TempPathFactory) -> File:
    out = tmp_path_factory.mktemp("ablated")
    return run(short("conv_bn_relu", out, variants=(), ablate=True))[0]


def test_an_ablation_is_recorded_like_any_variants(ablated: File) -> None:
    record = ablated.record
    names = [variant.name for variant in record.variants]
    assert names[:2] == ["unfused", "fused"]
    assert record.settings.baseline == "unfused"
    assert "without:ConvBNFusion" in names and "only:ConvBNFusion" in names
    for variant in record.variants:
        assert len(variant.samples.wall_ns) == (6 if variant.name == "unfused" else 3)
        assert ":" not in f"{variant.graph}{variant.profiles[0].file}"
        assert variant.graph is not None
        nodes = {node.name for node in ablated.graph(variant.graph).nodes}
        events = ablated.events(variant.profiles[0].file)
        profiled = {e["name"].removesuffix("_kernel_time") for e in events if e["cat"] == "Node"}
        assert nodes == profiled
    only = record.variant("only:ConvBNFusion").settings
    assert only["disabled_optimizers"] == "all listed but ConvBNFusion"
    assert "unlisted_optimizers_act" not in only
    assert record.variant("without:ConvBNFusion").settings["disabled_optimizers"] == "ConvBNFusion"
    assert "ConvBNFusion" in str(record.variant("fused").settings["optimizers_found"])


def test_the_recorded_graphs_are_those_of_the_optimizers(ablated: File) -> None:
    def types(name: str) -> list[str]:
        graph = ablated.record.variant(name).graph
        assert graph is not None
        return [node.op_type for node in ablated.graph(graph).nodes]

    assert types("unfused") == ["Conv", "BatchNormalization", "Relu"]
    assert types("only:ConvBNFusion") == ["Conv", "Relu"]
    assert len(types("without:ConvBNFusion")) > len(types("fused"))


def test_the_table_of_a_recording(ablated: File) -> None:
    experiment = read_path(ablated.path)
    assert isinstance(experiment, Experiment)
    table = ablation(experiment)
    assert table is not None
    row = table.set_index("optimizer").loc["ConvBNFusion"]
    assert (row["nodes_none"], row["nodes_only"]) == (3, 2)
    assert row["removed"] > 0 and row["added"] > 0


def test_a_refusal_reaches_the_user_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(FuseScopeError, match="changes nothing in this model"):
        run(short("mul_add", tmp_path, variants=("unfused", "without:ConvBNFusion")))
    with pytest.raises(FuseScopeError, match="nothing to ablate"):
        run(short("mul_add", tmp_path, ablate=True))
    assert list(tmp_path.iterdir()) == []

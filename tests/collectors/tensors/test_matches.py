"""Tensors that lost their names are found again by their values, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import TensorMatch, parse_matches
from fusescope.analysis.graph import Node
from fusescope.collectors.derive.reseeding import renaming
from fusescope.collectors.derive.sessions import open_session
from fusescope.collectors.tasks import matches, prepare
from fusescope.collectors.tensors.sketches import distance, distances, sketch
from fusescope.collectors.variants import find
from fusescope.collectors.workers import worker
from fusescope.collectors.workers.jobs import Matched, MatchJob, PrepareJob, SessionSettings
from tests.collectors.short_recordings import run, short


@pytest.fixture
def chance() -> np.random.Generator:
    """A generator of each test's own: what others drew before it changes nothing."""
    return np.random.default_rng(7)


def weight(chance: np.random.Generator, *shape: int) -> np.ndarray:
    return chance.standard_normal(shape).astype(np.float32) / max(1, shape[-1]) ** 0.5


def node(op_type: str, inputs: Sequence[str], output: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op_type, inputs, [output], name=f"{output}/{op_type}", **attributes)


@dataclass
class Trial:
    """A model as it is recorded, and what the engine made of it."""

    folder: Path
    settings: SessionSettings
    variant: str
    dump: Path

    @classmethod
    def of(
        cls,
        folder: Path,
        nodes: list[onnx.NodeProto],
        inputs: dict[str, list[int]],
        outputs: list[str],
        weights: dict[str, np.ndarray],
        variant: str = "fused",
        opset: int = 17,
    ) -> Trial:
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
            [onnx.ValueInfoProto(name=name) for name in outputs],
            [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()],
        )
        opsets = [helper.make_opsetid("", opset)]
        file = folder / "file.onnx"
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), str(file))
        made = prepare.run(
            PrepareJob(
                model=str(file), folder=str(folder), zoo=False, cache="", seed=0, batch=None,
                shapes={}, inputs=None, input_ranges={}, allow_external_data=False,
            )
        )  # fmt: skip
        names = tuple(fact.name for fact in made.facts)
        settings = SessionSettings(made.model, made.inputs, names, 1, False)
        dump = folder / "dump.onnx"
        open_session(settings, find(variant), dump=dump)
        return cls(folder, settings, variant, dump)

    def search(self, **changes: Any) -> tuple[dict[str, list[TensorMatch]], Matched]:
        """Matches by tensor of the optimised graph, and what the search says of itself."""
        to = self.folder / "matches.json"
        job = MatchJob(
            **{
                "settings": self.settings,
                "variant": self.variant,
                "dump": str(self.dump),
                "matches": str(to),
                "seconds": 60.0,
                **changes,
            }
        )
        told = matches.run(job)
        found: dict[str, list[TensorMatch]] = {}
        rows = parse_matches(to.read_bytes(), "matches")
        assert sum(match.by == "refuted" for match in rows) == told.refuted
        for match in rows:
            if match.by != "refuted":
                found.setdefault(match.optimised, []).append(match)
        assert sorted(path.name for path in self.folder.glob("*.parts")) == []
        return found, told

    def nodes(self) -> list[onnx.NodeProto]:
        return list(onnx.load(str(self.dump)).graph.node)

    def written(self, op_type: str, domain: str = "") -> list[str]:
        """The outputs of the dump's operators of that type, in order."""
        found = [n for n in self.nodes() if (n.op_type, n.domain) == (op_type, domain)]
        return [name for n in found for name in n.output]


def originals(found: dict[str, list[TensorMatch]], names: Sequence[str]) -> list[set[str]]:
    return [{match.original for match in found.get(name, [])} for name in names]


NCHWC = "com.microsoft.nchwc"


def needs_blocks(trial: Trial) -> None:
    if not trial.written("Conv", NCHWC):
        pytest.skip("this machine's engine stores no channel blocks")


def test_blocked_tensors_are_found_behind_a_residual_and_a_concat(
    tmp_path: Path, chance: np.random.Generator
) -> None:
    """20 channels are padded to 32, or to 24: the blocks hold channels that the model has not."""
    nodes = [
        node("Conv", ["x", "w0", "b0"], "stem", pads=[1, 1, 1, 1]),
        node("Relu", ["stem"], "stem_relu"),
        node("Conv", ["stem_relu", "w1"], "left", pads=[1, 1, 1, 1]),
        node("Add", ["left", "stem_relu"], "sum"),
        node("Relu", ["sum"], "sum_relu"),
        node("Conv", ["sum_relu", "w2"], "grouped", pads=[1, 1, 1, 1], group=2),
        node("Sigmoid", ["grouped"], "gate"),
        node("Conv", ["gate", "w3"], "half"),
        node("Conv", ["gate", "w4"], "other"),
        node("Concat", ["half", "other"], "joined", axis=1),
        node("Conv", ["joined", "w5"], "last"),
        node("GlobalAveragePool", ["last"], "y"),
    ]
    weights = {
        "w0": weight(chance, 20, 3, 3, 3),
        "b0": weight(chance, 20),
        "w1": weight(chance, 20, 20, 3, 3),
        "w2": weight(chance, 32, 10, 3, 3),
        "w3": weight(chance, 16, 32, 1, 1),
        "w4": weight(chance, 16, 32, 1, 1),
        "w5": weight(chance, 20, 32, 1, 1),
    }
    trial = Trial.of(tmp_path, nodes, {"x": [1, 3, 9, 9]}, ["y"], weights)
    needs_blocks(trial)
    found, told = trial.search()
    assert told == Matched(refuted=0, unknown=0, problem=None)
    written = [name for n in trial.nodes() for name in n.output]
    assert set(found) == set(written)
    ours = {name for n in nodes for name in n.output}
    others = [match for name in written if name not in ours for match in found[name]]
    assert others and all(match.by == "value" for match in others)
    known = {frozenset(group) for group in originals(found, written)}
    # what a convolution took in is gone, what it hands out is there
    assert {frozenset({name}) for name in ("stem_relu", "sum_relu", "joined", "y")} <= known
    assert frozenset({"left"}) not in known and frozenset({"stem"}) not in known
    blocked = [match for name in trial.written("Conv", NCHWC) for match in found[name]]
    assert len(blocked) >= 5 and {match.layout for match in blocked} == {"blocked"}
    assert all(match.relative is not None and match.relative < 1e-4 for match in blocked)


def test_reshapes_around_a_matrix_product(tmp_path: Path, chance: np.random.Generator) -> None:
    """MatMul + Add of three dimensions becomes reshape, Gemm, reshape."""
    nodes = [
        node("MatMul", ["x", "w"], "product"),
        node("Add", ["product", "b"], "sum"),
        node("Tanh", ["sum"], "y"),
    ]
    trial = Trial.of(
        tmp_path,
        nodes,
        {"x": [2, 5, 8]},
        ["y"],
        {"w": weight(chance, 8, 6), "b": weight(chance, 6)},
        "basic",
    )
    found, told = trial.search()
    [gemm] = trial.written("Gemm")
    assert gemm != "sum", "the engine keeps the name: this test shows nothing"
    assert originals(found, [gemm]) == [{"sum"}]
    # the reshape in front hands out the model's own input
    assert {"x"} in originals(found, trial.written("Reshape"))
    assert told.unknown == 0
    assert found["y"][0].by == "name"


def test_equal_tensors_are_all_named(tmp_path: Path, chance: np.random.Generator) -> None:
    """Behind Identity and Reshape nothing tells which of them it was."""
    nodes = [
        node("Conv", ["x", "w"], "conv"),
        node("Identity", ["conv"], "same"),
        node("Relu", ["same"], "relu"),
        node("Conv", ["relu", "v"], "next"),
        node("Flatten", ["next"], "flat"),
        node("Identity", ["flat"], "y"),
    ]
    weights = {"w": weight(chance, 16, 4, 1, 1), "v": weight(chance, 16, 16, 1, 1)}
    trial = Trial.of(tmp_path, nodes, {"x": [1, 4, 6, 6]}, ["y"], weights)
    needs_blocks(trial)
    found, _ = trial.search()
    first, second = trial.written("Conv", NCHWC)
    assert originals(found, [first, second]) == [{"relu"}, {"next", "flat", "y"}]


def test_transposed_tensors(tmp_path: Path) -> None:
    """The engine moves a Transpose behind the operators that do not care."""
    nodes = [
        node("Relu", ["x"], "start"),
        node("Transpose", ["start"], "turned", perm=[0, 2, 3, 1]),
        node("Mul", ["turned", "two"], "scaled"),
        node("Sigmoid", ["scaled"], "sigmoid"),
        node("Transpose", ["sigmoid"], "back", perm=[0, 3, 1, 2]),
        node("Sqrt", ["back"], "y"),
    ]
    trial = Trial.of(
        tmp_path, nodes, {"x": [1, 3, 4, 5]}, ["y"], {"two": np.float32([2.0])}, "basic"
    )
    assert trial.written("Transpose") == [], "the engine keeps them: this test shows nothing"
    found, told = trial.search()
    assert told.unknown == 0
    [scaled] = found[trial.written("Mul")[0]]
    assert (scaled.original, scaled.layout, scaled.relative) == ("scaled", "permuted", 0.0)
    # the model has the last one in this order as well
    assert [match.layout for match in found[trial.written("Sigmoid")[0]]] == [""]
    assert originals(found, trial.written("Sigmoid")) == [{"back"}]


def test_weights_without_any_difference_are_replaced(tmp_path: Path) -> None:
    """With all weights 0.02 every channel is equal, and Relu does nothing: nobody can tell."""
    shape = np.array([16, 16, 1, 1], np.int64)
    value = numpy_helper.from_array(np.array([0.02], np.float32))
    nodes = [
        node("ConstantOfShape", ["shape"], "w1", value=value),
        node("Abs", ["x"], "start"),
        node("Conv", ["start", "w1"], "a"),
        node("Relu", ["a"], "b"),
        node("Conv", ["b", "w2"], "c"),
        node("Relu", ["c"], "d"),
        node("Conv", ["d", "w2"], "y"),
    ]
    weights = {"shape": shape, "w2": np.full((16, 16, 1, 1), 0.02, np.float32)}
    trial = Trial.of(tmp_path, nodes, {"x": [1, 16, 6, 6]}, ["y"], weights)
    needs_blocks(trial)
    found, told = trial.search()
    assert told == Matched(refuted=0, unknown=0, problem=None)
    assert originals(found, trial.written("Conv", NCHWC)) == [{"b"}, {"d"}, {"y"}]
    # the difference is still that of the user's weights
    rows = [match for matches in found.values() for match in matches]
    assert rows and all(match.absolute is not None for match in rows)


def test_bytes_may_be_stored_around_128(tmp_path: Path) -> None:
    """Engines run int8 as uint8: every value and the zero point 128 higher."""
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "q"),
        node("DequantizeLinear", ["q", "s", "z"], "dq"),
        node("Softmax", ["dq"], "y"),
    ]
    weights: dict[str, Any] = {"s": np.float32(0.05), "z": np.int8(3)}
    trial = Trial.of(tmp_path, nodes, {"x": [2, 6, 5]}, ["y"], weights, "unfused")
    proto = onnx.load(str(trial.dump))
    [zero] = [t for t in proto.graph.initializer if t.name == "z"]
    zero.CopyFrom(numpy_helper.from_array(np.array(131, np.uint8), "z"))
    del proto.graph.value_info[:]
    onnx.save(proto, str(trial.dump))
    found, told = trial.search()
    assert told == Matched(refuted=1, unknown=0, problem=None)  # a name of another type
    assert [(m.original, m.by, m.absolute) for m in found["q"]] == [("q", "value", 0.0)]


def rename(dump: Path, old: str, new: str) -> None:
    """The tensor's name in the whole dump."""
    proto = onnx.load(str(dump))
    for made in proto.graph.node:
        for names in (made.input, made.output):
            for place, name in enumerate(names):
                if name == old:
                    names[place] = new
    onnx.save(proto, str(dump))


def chain(tmp_path: Path, chance: np.random.Generator) -> Trial:
    nodes = [
        node("Tanh", ["x"], "a"),
        node("MatMul", ["a", "w"], "b"),
        node("Tanh", ["b"], "c"),
        node("MatMul", ["c", "w"], "d"),
        node("Tanh", ["d"], "y"),
    ]
    return Trial.of(tmp_path, nodes, {"x": [4, 6]}, ["y"], {"w": weight(chance, 6, 6)})


def test_a_wrong_name_is_refuted_and_the_right_one_found(
    tmp_path: Path, chance: np.random.Generator
) -> None:
    trial = chain(tmp_path, chance)
    rename(trial.dump, "b", "kept")
    rename(trial.dump, "d", "b")
    found, told = trial.search()
    assert told.refuted == 1
    assert [(m.original, m.by) for m in found["b"]] == [("d", "value")]
    assert [(m.original, m.by) for m in found["kept"]] == [("b", "value")]
    assert [(m.original, m.by, m.absolute) for m in found["c"]] == [("c", "name", 0.0)]


def test_values_that_the_model_has_not_match_nothing(
    tmp_path: Path, chance: np.random.Generator
) -> None:
    """A dump that computes something else is not explained away."""
    trial = chain(tmp_path, chance)
    proto = onnx.load(str(trial.dump))
    [weights] = [t for t in proto.graph.initializer if t.name == "w"]
    weights.CopyFrom(numpy_helper.from_array(weight(chance, 6, 6), "w"))
    onnx.save(proto, str(trial.dump))
    rename(trial.dump, "b", "unheard")
    found, told = trial.search()
    assert set(found) == {"a"}
    assert (told.refuted, told.unknown) == (3, 4)


def test_chunks_find_the_same(tmp_path: Path, chance: np.random.Generator) -> None:
    trial = chain(tmp_path, chance)
    rename(trial.dump, "b", "unheard")
    whole, _ = trial.search()
    pieces, told = trial.search(budget_bytes=1)
    assert pieces == whole
    assert told.problem is None


def test_time_that_runs_out_is_said(tmp_path: Path, chance: np.random.Generator) -> None:
    found, told = chain(tmp_path, chance).search(seconds=0.0)
    assert found == {}
    assert told.problem == "no time was left to compare the tensors of both graphs"
    assert matches.out_of_time(60.0).endswith("was ended after 60 s")


def test_a_dump_that_does_not_run_is_no_crash(tmp_path: Path, chance: np.random.Generator) -> None:
    trial = chain(tmp_path, chance)
    proto = onnx.load(str(trial.dump))
    proto.graph.node[0].op_type = "Unheard"
    onnx.save(proto, str(trial.dump))
    found, told = trial.search()
    assert found == {}
    assert told.problem is not None and "Unheard" in told.problem


def test_a_recording_carries_the_matches(
    tmp_path: Path, save_model: Callable[..., Path], chance: np.random.Generator
) -> None:
    path = save_model(
        [
            node("MatMul", ["x", "w"], "product"),
            node("Add", ["product", "b"], "sum"),
            node("Relu", ["sum"], "y"),
        ],
        {"x": ("float32", [2, 5, 8])},
        ["y"],
        {"w": weight(chance, 8, 6), "b": weight(chance, 6)},
    )
    file, _ = run(short(path, tmp_path, variants=("unfused", "fused")))
    unfused, fused = file.record.variant("unfused"), file.record.variant("fused")
    assert unfused.matches is None
    assert fused.matches == "matches/fused.json"
    found = parse_matches(file.read(fused.matches), fused.matches)
    assert {"x", "sum", "y"} <= {match.original for match in found}
    assert "matches_missing" not in fused.settings


def test_a_search_that_fails_leaves_a_reason(
    tmp_path: Path,
    save_model: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    chance: np.random.Generator,
) -> None:
    whole = worker.run

    def refuse(task: str, *rest: Any, **options: Any) -> Any:
        if task == "matches":
            raise FuseScopeError("engine_killed", signal="SIGSEGV")
        return whole(task, *rest, **options)

    monkeypatch.setattr(worker, "run", refuse)
    path = save_model(
        [node("MatMul", ["x", "w"], "p"), node("Add", ["p", "b"], "y")],
        {"x": ("float32", [3, 8])},
        ["y"],
        {"w": weight(chance, 8, 6), "b": weight(chance, 6)},
    )
    file, _ = run(short(path, tmp_path, variants=("unfused", "fused")))
    fused = file.record.variant("fused")
    assert fused.matches is None
    assert fused.settings["matches_missing"] == "The engine's process was ended by signal SIGSEGV"


def test_distances_between_sketches_estimate_those_between_tensors(
    chance: np.random.Generator,
) -> None:
    values = chance.standard_normal((3, 1000, 120))
    near = values + 0.01 * chance.standard_normal(values.shape)
    ours, theirs = sketch(values), sketch(near)
    assert ours is not None and theirs is not None
    exact = distance(values, near)
    assert distances(ours, [theirs])[0] == pytest.approx(exact, rel=0.5)
    assert distances(ours, [ours])[0] == 0.0
    swapped = sketch(values[::-1])
    assert swapped is not None
    assert distances(ours, [swapped])[0] > 0.5


def test_a_mask_hides_nothing(chance: np.random.Generator) -> None:
    """Beside -3.4e38 every other value is nothing to a plain norm."""
    mask = np.where(chance.random((40, 40)) < 0.5, np.finfo(np.float32).min, 0.0)
    one, other = (chance.standard_normal(mask.shape) + mask for _ in range(2))
    infinite = np.where(mask < 0, -np.inf, one)
    assert distance(one.astype(np.float32), other.astype(np.float32)) > 0.01
    assert distance(infinite, one) == np.inf
    assert distance(infinite, infinite.copy()) == 0.0


@pytest.mark.parametrize(
    "values",
    [np.zeros((4, 4)), np.array([1.0, 2.0, 3.0]), np.arange(9) % 3, np.ones(9, bool), np.empty(0)],
)
def test_tensors_of_few_values_prove_nothing(values: np.ndarray) -> None:
    assert sketch(values) is None


def test_operators_pair_only_where_both_graphs_do_the_same() -> None:
    def graph(*steps: tuple[str, str, str, str]) -> list[Node]:
        return [Node(name, kind, (reads, "w"), (writes,)) for name, kind, reads, writes in steps]

    one = graph(("c", "Conv", "x", "t1"), ("r_1", "Relu", "t1", "t2"), ("d", "Conv", "t2", "y"))
    other = graph(("c", "Conv", "x", "u7"), ("r_9", "Relu", "u7", "u8"), ("d", "Conv", "u8", "y"))
    assert renaming(one, other, ["x"]) == {"x": "x", "t1": "u7", "t2": "u8", "y": "y"}
    assert renaming(one, other[:2], ["x"]) is None
    parallel = graph(("c", "Conv", "x", "u7"), ("r_9", "Relu", "x", "u8"), ("d", "Conv", "u8", "y"))
    assert renaming(one, parallel, ["x"]) is None
    changed = graph(("c", "Conv", "x", "u7"), ("r_9", "Tanh", "u7", "u8"), ("d", "Conv", "u8", "y"))
    assert renaming(one, changed, ["x"]) is None

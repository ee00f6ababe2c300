"""A model run piece by piece: the cut, what may be written over, and recordings of both twins."""

from __future__ import annotations

import functools
import itertools
import random
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import onnx
import pytest

pytest.importorskip("numba", reason="kernels need the extra 'kernels'")

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.wording import diagnostic_sentence
from fusescope.collectors import kernels, record, variants
from fusescope.collectors.derive import cut, pieces, segments
from fusescope.collectors.derive.sessions import open_kernel
from fusescope.collectors.kernels import formulas
from fusescope.collectors.kernels.loading import groups_of
from fusescope.collectors.models.model import save
from fusescope.collectors.recording.request import Recording
from fusescope.collectors.runtimes.segments import SegmentsSession
from fusescope.collectors.workers.jobs import Derived, DeriveJob, SessionSettings, Steps
from tests.collectors.kernel_models import Node, engine, graph_of, model_of, values
from tests.collectors.short_recordings import File, run, short


def group_of(graph: onnx.GraphProto, names: list[str]) -> SimpleNamespace:
    nodes = [node for node in graph.node if node.name in names]
    return SimpleNamespace(nodes=tuple(nodes), output=nodes[-1].output[0])


def random_graph(chance: random.Random, count: int) -> onnx.GraphProto:
    nodes = []
    for place in range(count):
        made = [f"t{before}" for before in range(place)]
        reads = chance.sample(made, min(len(made), chance.choice([0, 1, 1, 2])))
        nodes.append(onnx.helper.make_node("Op", reads or ["x"], [f"t{place}"], name=f"n{place}"))
    return onnx.helper.make_graph(nodes, "g", [], [])


@pytest.mark.parametrize("seed", range(40))
def test_a_cut_keeps_order_and_groups(seed: int) -> None:
    chance = random.Random(seed)
    graph = random_graph(chance, 11)
    chosen = chance.sample([node.name for node in graph.node], 4)
    groups = [group_of(graph, [name]) for name in chosen]
    found = cut.around(graph, groups)
    ran = [node.name for piece in found for node in piece.nodes]
    assert sorted(ran) == sorted(node.name for node in graph.node)
    made = {"x"}
    for piece in found:
        inside = {name for node in piece.nodes for name in node.output}
        for node in piece.nodes:
            assert made | inside >= set(node.input)
        made |= inside
    assert [piece.group for piece in found if piece.group is not None] != []
    assert {id(piece.group) for piece in found if piece.group} == {id(group) for group in groups}
    between = [piece for piece in found if piece.group is None]
    assert len(between) == fewest_pieces(graph, set(chosen))
    for one, other in itertools.pairwise(found):
        assert one.group is not None or other.group is not None


def fewest_pieces(graph: onnx.GraphProto, apart: set[str]) -> int:
    """The fewest runs of nodes that are not `apart`, by trying every order."""
    names = [node.name for node in graph.node]
    place_of = {node.output[0]: place for place, node in enumerate(graph.node)}
    needs = [
        sum(1 << place_of[name] for name in node.input if name in place_of) for node in graph.node
    ]

    @functools.cache
    def fewest(done: int, in_piece: bool) -> int:
        return min(
            (
                fewest(done | 1 << place, name not in apart) + (name not in apart and not in_piece)
                for place, name in enumerate(names)
                if not done >> place & 1 and needs[place] & done == needs[place]
            ),
            default=0,
        )

    return fewest(0, False)


def test_a_cut_around_two_branches() -> None:
    nodes: list[Node] = [
        ("Relu", ["x"], ["a"], {}),
        ("Add", ["a", "s"], ["b"], {}),
        ("Relu", ["b"], ["c"], {}),
        ("Softmax", ["a"], ["d"], {}),
        ("Add", ["d", "s"], ["e"], {}),
        ("Relu", ["e"], ["f"], {}),
        ("MatMul", ["c", "f"], ["y"], {}),
    ]
    model = model_of(nodes, {"x": (3, 3)}, {"s": 1.0})
    groups = groups_of(graph_of(model), kernels.find("add_relu"))
    found = cut.around(model.graph, groups)
    assert [[node.name for node in piece.nodes] for piece in found] == [
        ["net/Relu_0", "net/Softmax_3"],
        ["net/Add_1", "net/Relu_2"],
        ["net/Add_4", "net/Relu_5"],
        ["net/MatMul_6"],
    ]
    assert [piece.group is None for piece in found] == [True, False, False, True]


# What is derived: both twins of a model, run here.


class Twins:
    """Both variants of one kernel, derived from a model as the recorder does it."""

    def __init__(self, model: onnx.ModelProto, inputs: dict, kernel: str, folder: Path) -> None:
        self.model, self.folder = model, folder
        self.feeds = values(inputs)
        folder.mkdir(parents=True, exist_ok=True)
        save(model, folder / "model.onnx")
        np.savez(folder / "inputs.npz", *self.feeds.values())
        settings = SessionSettings(
            model=str(folder / "model.onnx"),
            inputs=str(folder / "inputs.npz"),
            input_names=tuple(self.feeds),
            threads=1,
            spin=False,
        )
        self.settings = settings
        self.derived: dict[str, Derived] = {}
        for kind in ("segments", "custom"):
            own = folder / kind
            own.mkdir()
            job = DeriveJob(settings, f"{kind}:{kernel}", str(own), cache=str(folder / "cache"))
            self.derived[kind] = segments.derive(job, variants.find(job.variant), model)

    def plan(self, kind: str) -> Steps:
        return msgspec.json.decode(Path(self.derived[kind].steps or "").read_bytes(), type=Steps)

    def outputs(self, kind: str, runs: int = 1) -> list[np.ndarray]:
        session = SegmentsSession(self.settings, Path(self.derived[kind].steps or ""), open_kernel)
        for _ in range(runs):
            session.run()
        return [np.array(array) for array in session.outputs()]


RESIDUAL: list[Node] = [
    ("MatMul", ["x", "w"], ["a"], {}),
    ("MatMul", ["a", "w"], ["b"], {}),
    ("Add", ["b", "a"], ["c"], {}),
    ("Relu", ["c"], ["d"], {}),
    ("MatMul", ["d", "w"], ["e"], {}),
    ("Add", ["e", "d"], ["f"], {}),
    ("Relu", ["f"], ["y"], {}),
]
WEIGHT = {"w": np.random.default_rng(5).standard_normal((16, 16)) / 4}


def test_a_kernel_writes_over_what_nobody_reads_after_it(tmp_path: Path) -> None:
    model = model_of(RESIDUAL, {"x": (8, 16)}, WEIGHT)
    twins = Twins(model, {"x": (8, 16)}, "add_relu", tmp_path)
    plan = twins.plan("custom")
    calls = [step.kernel for step in plan.steps if step.kernel is not None]
    assert [call.over for call in calls] == ["b", "e"]
    assert plan.buffers == ()
    assert twins.derived["custom"].settings["kernels_in_place"] == 2
    theirs = engine(model, twins.feeds)
    for kind in ("segments", "custom"):
        [ours] = twins.outputs(kind, runs=3)
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)
    assert [len(twins.plan(kind).steps) for kind in ("segments", "custom")] == [4, 4]


@pytest.mark.parametrize(
    ("nodes", "outputs"),
    [
        # its operands are the model's input and a weight
        ([("Add", ["x", "s"], ["a"], {}), ("Relu", ["a"], ["y"], {})], ["y"]),
        # its operand is an output of the model
        (
            [
                ("Softmax", ["x"], ["a"], {}),
                ("Add", ["a", "s"], ["b"], {}),
                ("Relu", ["b"], ["y"], {}),
            ],
            ["y", "a"],
        ),
        # its operand is read again, after it and only there
        (
            [
                ("Softmax", ["x"], ["a"], {}),
                ("Add", ["a", "s"], ["b"], {}),
                ("Relu", ["b"], ["c"], {}),
                ("MatMul", ["c", "a"], ["y"], {}),
            ],
            ["y"],
        ),
    ],
)
def test_what_others_need_is_not_written_over(
    nodes: list[Node], outputs: list[str], tmp_path: Path
) -> None:
    shape = (16, 16)
    weights = {"s": np.linspace(-1, 1, 256).reshape(shape)}
    model = model_of(nodes, {"x": shape}, weights, outputs)
    twins = Twins(model, {"x": shape}, "add_relu", tmp_path)
    plan = twins.plan("custom")
    assert [step.kernel.over for step in plan.steps if step.kernel is not None] == [""]
    assert plan.buffers == (4 * 256,)
    theirs = twins.outputs("segments", runs=2)
    ours = twins.outputs("custom", runs=2)
    for one, other in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_a_tensor_that_shares_its_memory_is_not_written_over() -> None:
    memory = np.zeros(4, np.float32)

    def at(address: int) -> SimpleNamespace:
        return SimpleNamespace(data_ptr=lambda: address, is_tensor=lambda: True)

    group = SimpleNamespace(replaceable=("a", "b"))
    address = memory.ctypes.data
    shared = {"a": at(address), "b": at(address + 64), "view": at(address)}
    assert segments._place_in(group, ["a", "b"], shared) == "b"
    assert segments._place_in(group, ["a"], shared) == ""
    assert segments._place_in(group, ["a"], {"a": at(address)}) == "a"


def test_buffers_follow_each_other(tmp_path: Path) -> None:
    """Six kernels that cannot write in place need one buffer and scratch memory, not six."""
    nodes: list[Node] = []
    for place in range(6):
        nodes += [
            ("Conv", [f"h{place}", "w"], [f"c{place}"], {"group": 4, "pads": [1, 1, 1, 1]}),
            ("Softmax", [f"c{place}"], [f"h{place + 1}"], {}),
        ]
    nodes[0] = ("Conv", ["x", "w"], ["c0"], nodes[0][3])
    nodes[-1] = ("Softmax", ["c5"], ["y"], {})
    shape = (1, 4, 6, 6)
    model = model_of(nodes, {"x": shape}, {"w": np.ones((4, 1, 3, 3)) / 9})
    twins = Twins(model, {"x": shape}, "depthwise_conv", tmp_path)
    plan = twins.plan("custom")
    outputs = {step.kernel.buffer for step in plan.steps if step.kernel is not None}
    scratch = {step.kernel.scratch for step in plan.steps if step.kernel is not None}
    assert (len(outputs), len(scratch), len(plan.buffers)) == (1, 1, 2)
    [buffer] = outputs
    assert plan.buffers[buffer] == 4 * np.prod(shape)
    assert twins.derived["custom"].settings["kernel_buffers_bytes"] == sum(plan.buffers)
    theirs, ours = twins.outputs("segments")[0], twins.outputs("custom", runs=2)[0]
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_a_wrong_kernel_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = {**formulas._PLAIN, "Add": (2, 2, lambda names: f"{names[0]} - {names[1]}")}
    monkeypatch.setattr(formulas, "_PLAIN", planted)
    model = model_of(RESIDUAL, {"x": (8, 16)}, WEIGHT)
    with pytest.raises(FuseScopeError) as error:
        Twins(model, {"x": (8, 16)}, "add_relu", tmp_path)
    assert (
        "'net/FusedElementwise_0' computes a result different from ONNX Runtime's"
        in error.value.what
    )


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        ([1.0, 2.0, np.inf, np.nan], 0.0),
        ([1.0, 2.5, np.inf, np.nan], 0.25),
        ([1.0, np.nan, np.inf, np.nan], np.inf),
        ([1.0, 2.0, -np.inf, np.nan], np.inf),
        ([1.0, 2.0, np.inf, 3.0], np.inf),
    ],
)
def test_differences_of_values_that_are_not_finite(ours: list[float], expected: float) -> None:
    theirs = np.array([1.0, 2.0, np.inf, np.nan], np.float32)
    assert segments.finite_difference(theirs, np.array(ours, np.float32)) == expected


def test_differences_of_zeros() -> None:
    zeros = np.zeros(3, np.float32)
    assert segments.finite_difference(zeros, zeros) == 0.0
    assert segments.finite_difference(zeros, zeros + np.float32(1e-7)) == 0.0
    assert segments.finite_difference(zeros, zeros + np.float32(1.0)) == np.inf


def test_a_model_without_a_chain_says_so(tmp_path: Path) -> None:
    model = model_of([("MatMul", ["x", "w"], ["y"], {})], {"x": (8, 16)}, WEIGHT)
    with pytest.raises(FuseScopeError) as error:
        Twins(model, {"x": (8, 16)}, "mul_add", tmp_path)
    assert error.value.what == (
        "The model has no chain of Mul and Add that custom:mul_add could replace"
    )


def test_a_piece_knows_what_it_reads_through_subgraphs() -> None:
    body = onnx.helper.make_graph(
        [onnx.helper.make_node("Add", ["outside", "own"], ["sum"])],
        "body",
        [],
        [onnx.ValueInfoProto(name="sum")],
        [onnx.numpy_helper.from_array(np.float32(1), "own")],
    )
    node = onnx.helper.make_node("If", ["condition"], ["y"], then_branch=body, else_branch=body)
    assert list(dict.fromkeys(cut.reads(node))) == ["condition", "outside"]


def test_node_by_node_is_a_piece_for_each() -> None:
    model = model_of(RESIDUAL, {"x": (8, 16)}, WEIGHT)
    assert [len(piece.nodes) for piece in pieces.node_by_node(model.graph)] == [1] * len(RESIDUAL)


# Whole recordings.


@pytest.mark.parametrize(
    ("asked", "planned"),
    [
        (
            ("unfused", "custom:mul_add", "fused"),
            ("unfused", "segments:mul_add", "custom:mul_add", "fused"),
        ),
        (("custom:mul_add", "segments:mul_add"), ("custom:mul_add", "segments:mul_add")),
    ],
)
def test_the_cut_is_recorded_right_before(
    asked: tuple[str, ...], planned: tuple[str, ...], tmp_path: Path
) -> None:
    plan = Recording("mul_add", tmp_path, asked, baseline="segments:mul_add").plan()
    assert plan.names == planned and plan.baseline == "segments:mul_add"


@pytest.mark.parametrize("name", ["custom:nothing", "segments:", "custom:MulAdd", "custom:../x"])
def test_an_unknown_kernel_is_refused(name: str) -> None:
    with pytest.raises(FuseScopeError, match="There is no kernel"):
        variants.find(name)


def test_without_numba_a_recording_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "find_spec", lambda name: None)
    Recording("mul_add", None, ("unfused", "segments:mul_add")).plan()  # needs none
    with pytest.raises(FuseScopeError) as error:
        Recording("mul_add", None, ("unfused", "custom:mul_add")).plan()
    assert error.value.hint is not None
    assert "fusescope[kernels]" in error.value.hint


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> File:
    """Unfused and both twins of a tiny residual network."""
    folder = tmp_path_factory.mktemp("recorded")
    save(model_of(RESIDUAL, {"x": (8, 16)}, WEIGHT), folder / "residual.onnx")
    file, _ = run(short(folder / "residual.onnx", folder, variants=("unfused", "custom:add_relu")))
    return file


def test_a_recording_has_both_twins(recorded: File) -> None:
    assert [v.name for v in recorded.record.variants] == [
        "unfused", "segments:add_relu", "custom:add_relu",
    ]  # fmt: skip
    twin, custom = (recorded.record.variant(f"{kind}:add_relu") for kind in ("segments", "custom"))
    assert (twin.nodes, custom.nodes) == (7, 5)
    assert twin.output_difference is not None
    assert (twin.output_difference.absolute, twin.output_difference.relative) == (0.0, 0.0)
    assert custom.output_difference is not None
    assert custom.output_difference.relative is not None
    assert custom.output_difference.relative < 1e-4
    assert twin.settings["pieces"] == custom.settings["pieces"] == 4
    assert twin.settings["graph_optimization"] == custom.settings["graph_optimization"] == "none"
    assert custom.settings["kernels_in_place"] == 2
    assert "graph_missing" not in custom.settings
    assert custom.peak_memory_bytes is not None


def test_the_kernels_are_in_the_profile(recorded: File) -> None:
    profiles = recorded.record.variant("custom:add_relu").profiles
    assert profiles
    for profile in profiles:
        events = recorded.events(profile.file)
        ours = [event for event in events if event["args"].get("provider") == "FuseScope"]
        assert len(ours) == 2 * len(profile.run_start_ns or [])
        assert {event["name"] for event in ours} == {
            "net/FusedElementwise_0_kernel_time", "net/FusedElementwise_1_kernel_time",
        }  # fmt: skip
        spans = list(zip(profile.run_start_ns or [], profile.run_dur_ns or [], strict=True))
        assert {event["cat"] for event in ours} == {"Node"}
        for event in (event for event in events if event["cat"] == "Node"):
            start, end = event["ts"] * 1000, (event["ts"] + event["dur"]) * 1000
            assert any(s <= start + 1 and end <= s + d + 1 for s, d in spans)
        [told] = {str(event["args"]["input_type_shape"]) for event in ours}
        assert told == "[{'float': [8, 16]}, {'float': [8, 16]}]"


def test_the_chain_is_a_fusion_group(recorded: File) -> None:
    experiment = read(Source(recorded.path.name, recorded.path.read_bytes()))
    assert isinstance(experiment, Experiment)
    twin, custom, unfused = (
        side_of_variant(experiment, name)
        for name in ("segments:add_relu", "custom:add_relu", "unfused")
    )
    comparison = compare(twin, custom)
    fused = [group for group in comparison.fusion.groups if len(group.baseline) > 1]
    assert [[op.op_type for op in group.baseline] for group in fused] == [["Add", "Relu"]] * 2
    assert [[op.op_type for op in group.candidate] for group in fused] == [["FusedElementwise"]] * 2
    codes = {note.code for note in comparison.diagnostics}
    assert "boundaries_included" not in codes
    assert not codes & {"unmapped_originals", "unexplained_operators", "not_in_graph"}
    [note] = [
        note for note in compare(unfused, custom).diagnostics if note.code == "boundaries_included"
    ]
    sentence = diagnostic_sentence(note)
    assert sentence.startswith("Candidate: It runs in 4 pieces")
    assert sentence.endswith("Compare with segments:add_relu, which is cut in the same way.")


def test_the_record_page_offers_what_this_machine_can_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "custom:mul_add" in record.variant_names()
    monkeypatch.setattr(kernels, "find_spec", lambda name: None)
    assert not [name for name in record.variant_names() if name.startswith("custom:")]

"""Lineage of real optimised graphs, judged by names and by values (tests/lineage_judge.py).

The models go the way of a recording: prepared, optimised by the engine with its profile, tensors
matched. The nine models of the onnx package have constant weights, which say nothing by value, so
the groups of those are judged on a twin of the same nodes with random weights.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="optimised graphs need the extra 'collect'")
pytest.importorskip("onnxruntime", reason="optimised graphs need the extra 'collect'")

from fusescope.analysis.compare.groups.lineage import Lineage, lineage
from fusescope.analysis.experiment import TensorMatch, parse_matches
from fusescope.analysis.graph import Graph, parse_graph
from fusescope.collectors.derive.sessions import open_session
from fusescope.collectors.models import graphs, model
from fusescope.collectors.tasks import derive as derive_task
from fusescope.collectors.tasks import matches
from fusescope.collectors.tasks import prepare as prepare_task
from fusescope.collectors.variants import find
from fusescope.collectors.workers.jobs import DeriveJob, MatchJob, PrepareJob, SessionSettings
from fusescope.collectors.zoo import (
    convolutions,
    deeplabv3plus,
    elementwise,
    mobilenetv2,
    transformer_encoder,
)
from tests.architectures import ARCHITECTURES, feeds, random_network
from tests.dynamic_models import causal
from tests.lineage_judge import Pair, Side, judge
from tests.repetitions import few

Levels = tuple[str, ...]
LEVELS = ("unfused", "basic", "extended", "fused")
OPTIMISED = LEVELS[1:]
# Of these, `make test` runs the ones that are small for what they show.
SMALL = {"squeezenet"}
ZOO = {
    "add_relu": elementwise.add_relu,
    "conv_bn_relu": convolutions.conv_bn_relu,
    "deeplabv3plus": partial(deeplabv3plus.build, size=65),
    "deeplabv3plus-resnet50": partial(deeplabv3plus.build, "resnet50", size=65),
    "mobilenetv2": mobilenetv2.build,
    "mul_add": elementwise.mul_add,
    "mul_sigmoid": elementwise.mul_sigmoid,
    "mynet_composite": elementwise.mynet_composite,
    "transformer_encoder": transformer_encoder.build,
}
LIGHT_MODELS = (
    "bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet",
    "squeezenet", "vgg19", "zfnet512",
)  # fmt: skip
# These nine are large for what they show: hidden units, and what vgg19 flattens of 96 x 96 pixels.
FEWER = {4096: 64, 25088: 4608}
FIXED_SIZE = ("bvlc_alexnet", "inception_v1", "shufflenet", "zfnet512")
SHAPES = {
    "transformer_dynamic": {"x": (2, 5, 16), "mask": (2, 5)},
    "causal": {"x": (2, 6, 16)},
}
LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"


@dataclass(frozen=True)
class Prepared:
    """A model as a recording prepares it; `named` is its file with names for every node."""

    folder: Path
    named: Path
    settings: SessionSettings
    graph: Graph
    feeds: tuple[dict[str, np.ndarray], ...]

    @cached_property
    def side(self) -> Side:
        return Side(self.named, self.feeds)

    def paired(self, dump: Path) -> Pair:
        """The model beside one optimised graph, both run once."""
        return Pair(self.side, Side(dump, self.feeds))

    def optimise(self, level: str) -> tuple[Path, Graph]:
        """The engine's own file of the optimised graph, and the graph with the shapes that ran."""
        dump = self.folder / f"{level}.onnx"
        profile = self.folder / f"{level}.json"
        open_session(
            self.settings, find(level), profile=self.folder / level, dump=dump
        ).end_profiling(profile)
        events = msgspec.json.decode(profile.read_bytes())
        optimised = onnx.load(str(dump))
        graphs.name_as_profiled(optimised, events)
        onnx.save(optimised, str(dump))
        return dump, graphs.from_model(optimised, graphs.profiled_shapes(events))

    def match(self, level: str, dump: Path) -> tuple[TensorMatch, ...]:
        """What the recording finds out about tensors by running both."""
        found = self.folder / f"{level}.matches.json"
        matches.run(MatchJob(self.settings, level, str(dump), str(found), 60.0))
        return parse_matches(found.read_bytes(), str(found))


def models(names: Iterable[str], small: Container[str], few: Levels, every: Levels) -> list[Any]:
    """Names with levels: the small models at a few levels, and with --exhaustive each at every."""
    return [
        *(pytest.param(name, few, id=name) for name in names if name in small),
        *(
            pytest.param(name, every, id=f"{name}, every level", marks=pytest.mark.exhaustive)
            for name in names
        ),
    ]


def prepare(proto: onnx.ModelProto, folder: Path) -> Prepared:
    """As a recording prepares it, with two inputs of the same shapes."""
    folder.mkdir()
    file = folder / "file.onnx"
    file.write_bytes(proto.SerializeToString())
    job = PrepareJob(
        model=str(file), folder=str(folder), zoo=False, cache="", seed=0, batch=None,
        shapes=SHAPES.get(folder.name, {}), inputs=None, input_ranges={},
        allow_external_data=False,
    )  # fmt: skip
    made = prepare_task.run(job)
    named, _ = model.load(file, allow_external_data=False)
    model.modernise(named)
    model.name_nodes(named)
    onnx.save(named, str(folder / "named.onnx"))
    names = tuple(fact.name for fact in made.facts)
    with np.load(made.inputs) as archive:
        arrays = [archive[f"arr_{place}"] for place in range(len(names))]
    chance = np.random.default_rng(1)
    others = [chance.permutation(a.ravel()).reshape(a.shape) for a in arrays]
    return Prepared(
        folder=folder,
        named=folder / "named.onnx",
        settings=SessionSettings(made.model, made.inputs, names, 1, False, declared=made.declared),
        graph=parse_graph(Path(made.graph).read_bytes(), made.graph),
        feeds=tuple(dict(zip(names, values, strict=True)) for values in (arrays, others)),
    )


def told(found: Lineage) -> Iterator[str]:
    """What a lineage says against itself."""
    yield from (f"mismatch {mismatch}" for mismatch in found.mismatches)
    yield from (f"unexplained {name}" for name in found.unexplained)


def complaints(pair: Pair, found: Lineage) -> list[str]:
    """What the referee finds, and what the lineage says against itself."""
    return [*told(found), *map(str, judge(pair, found.groups, found.inserted))]


def without_minimality(found: list[str]) -> list[str]:
    """Groups may be larger where tensors are known by name alone; they may not be wrong."""
    return [what for what in found if not what.startswith("smaller")]


def examined(prepared: Prepared, levels: Levels = OPTIMISED) -> dict[str, list[str]]:
    """Level -> complaints, of the levels that have some; with tensor matches and by name alone."""
    found = {}
    for level in levels:
        dump, optimised = prepared.optimise(level)
        pair = prepared.paired(dump)
        known = lineage(prepared.graph, optimised, prepared.match(level, dump))
        guessed = lineage(prepared.graph, optimised)
        found[level] = complaints(pair, known)
        found[f"{level}, by name"] = without_minimality(complaints(pair, guessed))
    return {level: what for level, what in found.items() if what}


@pytest.mark.parametrize(
    ("name", "levels"),
    [
        *models(ARCHITECTURES, tuple(ARCHITECTURES)[::11], ("fused",), LEVELS),
        pytest.param("residual_cnn", ("unfused",), id="residual_cnn, unfused"),
    ],
)
def test_architectures(name: str, levels: Levels, tmp_path: Path) -> None:
    assert examined(prepare(ARCHITECTURES[name](), tmp_path / name), levels) == {}


@pytest.mark.parametrize(
    "name", ["causal", pytest.param("transformer_dynamic", marks=pytest.mark.exhaustive)]
)
def test_dynamic_dimensions(name: str, tmp_path: Path) -> None:
    """The graph that the engine makes without the sizes, against the model that has them."""
    build = causal if name == "causal" else ARCHITECTURES[name]
    fixed = prepare(build(), tmp_path / name)
    (tmp_path / "derived").mkdir()
    made = derive_task.run(DeriveJob(fixed.settings, "dynamic", str(tmp_path / "derived")))
    settings = msgspec.structs.replace(fixed.settings, derived={"dynamic": made})
    left_open = replace(fixed, settings=settings)
    _, graph = left_open.optimise("dynamic")
    assert name != "causal" or "Range" in {node.op_type for node in graph.nodes}
    assert examined(left_open, ("dynamic",)) == {}
    assert examined(fixed, ("fused",)) == {}


# Networks that broke earlier versions, and two that did not.
SEEDS = (3, 9, 28, 41, 54, 90, 100, 104, 116, 153, 264, 7, 8)


@pytest.mark.parametrize("seed", few(SEEDS, {8, 264}))
def test_random_networks(seed: int, tmp_path: Path) -> None:
    assert examined(prepare(random_network(seed), tmp_path / "random")) == {}


QUANTISED = list(
    itertools.product(["residual_cnn", "unet", "efficientnet_block", "gelus"], ["QUInt8", "QInt8"])
)


@pytest.mark.parametrize("quantised_model", few(QUANTISED, {("gelus", "QUInt8")}), ids="-".join)
def test_models_quantised_by_the_engine_s_tool(
    quantised_model: tuple[str, str], tmp_path: Path
) -> None:
    name, activations = quantised_model
    assert examined(prepare(quantised(name, activations, tmp_path), tmp_path / name)) == {}


def quantised(name: str, activations: str, folder: Path) -> onnx.ModelProto:
    """QDQ with static ranges; weights are int8, per channel beside uint8 activations. They have 7
    bits: without VNNI the engine's products of uint8 and int8 saturate, and are really wrong."""
    from onnxruntime import quantization

    proto = ARCHITECTURES[name]()

    class Calibration(quantization.CalibrationDataReader):
        def __init__(self) -> None:
            self.left = iter([feeds(proto, seed) for seed in range(3)])

        def get_next(self) -> dict[str, np.ndarray] | None:
            return next(self.left, None)

    onnx.save(proto, str(folder / "float.onnx"))
    quantization.quantize_static(
        str(folder / "float.onnx"),
        str(folder / "quantised.onnx"),
        Calibration(),
        quant_format=quantization.QuantFormat.QDQ,
        per_channel=activations == "QUInt8",
        activation_type=quantization.QuantType[activations],
        weight_type=quantization.QuantType.QInt8,
        reduce_range=True,
    )
    return onnx.load(str(folder / "quantised.onnx"))


@pytest.mark.parametrize(("name", "levels"), models(ZOO, SMALL, ("fused",), OPTIMISED))
def test_zoo(name: str, levels: Levels, tmp_path: Path) -> None:
    prepared = prepare(ZOO[name](), tmp_path / name)
    found = {}
    for level in levels:
        dump, optimised = prepared.optimise(level)
        found[level] = complaints(prepared.paired(dump), lineage(prepared.graph, optimised))
    assert {level: what for level, what in found.items() if what} == {}


@pytest.mark.parametrize(("name", "levels"), models(LIGHT_MODELS, SMALL, ("fused",), OPTIMISED))
def test_light_models(name: str, levels: Levels, tmp_path: Path) -> None:
    proto = smaller(onnx.load(str(LIGHT / f"light_{name}.onnx")))
    prepared = prepare(proto, tmp_path / "light")
    duplicate = prepare(reseeded(proto), tmp_path / "twin")
    duplicate = replace(duplicate, feeds=duplicate.feeds[:1])
    found = {}
    for level in levels:
        file, optimised = prepared.optimise(level)
        dump, other = duplicate.optimise(level)
        known = lineage(prepared.graph, optimised)
        if wiring(other) == wiring(optimised):
            rename_nodes(dump, optimised)
            found[level] = complaints(duplicate.paired(dump), known)
        else:  # equal weights made nodes equal, and the engine kept one of them
            found[level] = complaints(prepared.paired(file), known)
            known = lineage(duplicate.graph, other)
            found[f"{level}, twin"] = complaints(duplicate.paired(dump), known)
        file.unlink()
        dump.unlink()
    assert {level: what for level, what in found.items() if without_minimality(what)} == {}


@pytest.mark.parametrize("name", few(["squeezenet", "shufflenet"], {"squeezenet"}))
def test_light_models_with_matches(name: str, tmp_path: Path) -> None:
    proto = smaller(onnx.load(str(LIGHT / f"light_{name}.onnx")))
    duplicate = prepare(reseeded(proto), tmp_path / "twin")
    dump, optimised = duplicate.optimise("fused")
    known = lineage(duplicate.graph, optimised, duplicate.match("fused", dump))
    assert complaints(duplicate.paired(dump), known) == []


def wiring(graph: Graph) -> list[tuple[str, list[int]]]:
    """Op type and makers of what each node reads: names of what the engine inserts may differ."""
    place = {name: at for at, node in enumerate(graph.nodes) for name in node.outputs}
    return [(node.op_type, [place.get(name, -1) for name in node.inputs]) for node in graph.nodes]


def rename_nodes(file: Path, graph: Graph) -> None:
    """Gives the nodes of a file the names of those of a graph."""
    proto = onnx.load(str(file))
    if [node.name for node in proto.graph.node] != [node.name for node in graph.nodes]:
        for node, known in zip(proto.graph.node, graph.nodes, strict=True):
            node.name = known.name
        onnx.save(proto, str(file))


def smaller(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The same nodes, each with a name, with fewer hidden units and images of 96 x 96."""
    model.name_nodes(proto)
    for tensor in proto.graph.initializer:
        if tensor.data_type == onnx.TensorProto.INT64:
            values = [FEWER.get(int(v), int(v)) for v in onnx.numpy_helper.to_array(tensor)]
            tensor.CopyFrom(onnx.numpy_helper.from_array(np.array(values, np.int64), tensor.name))
    if proto.graph.name in FIXED_SIZE:
        return proto
    for value in proto.graph.input:
        for size in value.type.tensor_type.shape.dim:
            size.dim_value = 96 if size.dim_value == 224 else size.dim_value
    for node in proto.graph.node:
        for setting in node.attribute:
            if node.op_type == "AveragePool" and list(setting.ints) == [7, 7]:
                setting.ints[:] = [3, 3]
    return proto


def reseeded(proto: onnx.ModelProto) -> onnx.ModelProto:
    """A copy in which every ConstantOfShape is an Identity of a random weight."""
    copy = onnx.ModelProto.FromString(proto.SerializeToString())
    model.modernise(copy)
    chance = np.random.default_rng(0)
    shapes = {t.name: onnx.numpy_helper.to_array(t) for t in copy.graph.initializer}
    for node in copy.graph.node:
        if node.op_type != "ConstantOfShape":
            continue
        shape = shapes[node.input[0]]
        if len(shape) > 1:
            spread = np.float32((2 / np.prod(shape[1:])) ** 0.5)
            values = chance.standard_normal(shape, dtype=np.float32) * spread
        else:
            values = chance.uniform(0.5, 1.5, shape).astype(np.float32)
        weight = f"random of {node.output[0]}"
        copy.graph.initializer.append(onnx.numpy_helper.from_array(values, weight))
        node.op_type = "Identity"
        node.input[0] = weight
        del node.attribute[:]
    return copy

"""Experiments around real engine graphs: the model and one variant, with made-up durations."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import msgspec
import onnx
import onnxruntime as ort

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.experiment import Experiment, parse_record, record_json
from fusescope.analysis.graph import Graph, graph_json
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.collectors.models import graphs, shapes
from fusescope.collectors.models.model import (
    constants_to_initializers,
    infer_shapes,
    modernise,
    name_nodes,
)
from tests.factories import Operator, experiment_zip
from tests.pattern_models import ORT_LEVELS

LEVELS = {"unfused": "none", "basic": "basic", "extended": "extended", "fused": "all"}


def compared(
    model: onnx.ModelProto,
    variant: str = "fused",
    us: Mapping[str, int] | None = None,
    opset: int = 17,
    sizes: Mapping[str, tuple[int, ...]] | None = None,
) -> Comparison:
    """unfused against `variant`, whose graphs are the engine's own.

    Every operator takes 10 µs, or what `us` says for its op type. Dynamic inputs get these `sizes`
    but in the variant `dynamic`.
    """
    prepared = onnx.ModelProto.FromString(model.SerializeToString())
    modernise(prepared)
    name_nodes(prepared)
    constants_to_initializers(prepared.graph)
    infer_shapes(prepared)
    declared = onnx.ModelProto.FromString(prepared.SerializeToString())
    if sizes:
        shapes.apply(prepared, sizes)
        infer_shapes(prepared)
    made = {"model": graphs.from_model(prepared)}
    for name in ("unfused", variant):
        kind, _, optimizer = name.partition(":")
        off = [optimizer] if kind == "without" else []
        given = declared if name == "dynamic" else prepared
        made[name] = _optimised(given, LEVELS.get(name, "all"), off)
    operators = {
        name: [_operator(made[name], place, us or {}) for place in range(len(made[name].nodes))]
        for name in ("unfused", variant)
    }
    data = experiment_zip({"unfused": [10.0] * 6, variant: [5.0] * 6}, operators)
    experiment = read(Source("made.zip", _with_graphs(data, made, opset)))
    assert isinstance(experiment, Experiment)
    return compare(side_of_variant(experiment, "unfused"), side_of_variant(experiment, variant))


def _optimised(model: onnx.ModelProto, level: str, off: list[str]) -> Graph:
    settings = ort.SessionOptions()
    settings.graph_optimization_level = ORT_LEVELS[level]
    settings.log_severity_level = 4
    with tempfile.TemporaryDirectory() as folder:
        settings.optimized_model_filepath = str(Path(folder) / "optimised.onnx")
        ort.InferenceSession(
            model.SerializeToString(),
            settings,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=off or None,
        )
        dumped = onnx.load(settings.optimized_model_filepath)
    name_nodes(dumped)
    return graphs.from_model(dumped)


def _operator(graph: Graph, place: int, us: Mapping[str, int]) -> Operator:
    node = graph.nodes[place]
    return node.name, node.op_type, us.get(node.op_type, 10), [(1,)], [(1,)]


def _with_graphs(data: bytes, made: Mapping[str, Graph], opset: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.startswith("graphs/"):
                content = graph_json(made[name.removeprefix("graphs/").removesuffix(".json")])
            if name == "experiment.json":
                record = parse_record(content)
                facts = msgspec.structs.replace(record.model, opset=opset)
                content = record_json(msgspec.structs.replace(record, model=facts))
            new.writestr(name, content)
    return out.getvalue()

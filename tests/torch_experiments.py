"""Small recordings of torch with times and graphs that can be checked by hand."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import msgspec

from fusescope.analysis.experiment import (
    Engine,
    Experiment,
    ModelFacts,
    ModelInput,
    Profile,
    VariantRecord,
    parse_record,
    record_json,
)
from fusescope.analysis.graph import Graph, Node, Tensor, graph_json
from fusescope.analysis.readers import Source, read
from tests.factories import experiment_zip, samples

RUNS = 3
BLOCKS = 5


def called(
    name: str, op_type: str, reads: tuple[str, ...], writes: str, line: int = 0, **more: Any
) -> Node:
    """An operator of the eager run, or of a compiled one; `event` as the profile has it."""
    event = more.pop("event", op_type)
    source = {"source": f"model.py:{line}"} if line else {}
    scope = more.pop("scope", "")
    return Node(
        name, op_type, reads, (writes,), attributes={"event": event, **source, **more}, scope=scope
    )


def kernel(number: int, listed: str, reads: tuple[str, ...], writes: str, of: int = 0) -> Node:
    """A generated kernel by its handle: 'cpp_fused_add_0:1' is the first call, of source 0."""
    name = f"cpp_fused_{listed}_{of}"
    return called(f"{name}:{number}", f"cpp_fused_{listed}", reads, writes, event=name)


def graph(*nodes: Node, shape: tuple[int, ...] = (4, 8), constant: tuple[str, ...] = ()) -> Graph:
    """From the input `x` to `y`; all tensors have one shape."""
    names = dict.fromkeys(name for node in nodes for name in (*node.inputs, *node.outputs))
    tensors = tuple(Tensor(name, "float32", shape, name in constant) for name in names)
    return Graph(nodes, tensors, ("x",), ("y",))


def torch_zip(
    model: Graph,
    variants: Mapping[str, Graph],
    *,
    times_us: Mapping[str, int] | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    ms: Mapping[str, float] | None = None,
) -> bytes:
    """An experiment file; an operator takes 10 µs where `times_us` names no other time. The first
    variant is the baseline."""
    times, ms = times_us or {}, ms or {}
    baseline = next(iter(variants))
    plain = experiment_zip({"unfused": (1.0,) * BLOCKS, "fused": (1.0,) * BLOCKS})
    with zipfile.ZipFile(io.BytesIO(plain)) as archive:
        record = parse_record(archive.read("experiment.json"))
    rows = [
        VariantRecord(
            name=name,
            settings={"execution": name, **(settings or {}).get(name, {})},
            samples=samples((ms.get(name, 1.0),) * BLOCKS, copies=2 if name == baseline else 1),
            profiles=[Profile(b, f"profiles/{name}/{b}.json", 1) for b in range(BLOCKS)],
            graph=f"graphs/{name}.json",
            nodes=len(found.nodes),
        )
        for name, found in variants.items()
    ]
    facts = ModelFacts(
        "torch:tiny", "zoo", "ab" * 32, len(model.nodes), None,
        (ModelInput("x", "float32", (4, 8), "made by the model's function"),),
    )  # fmt: skip
    changed = {
        "model": facts,
        "engine": Engine("torch", "2.13.0+cpu", "CPU"),
        "variants": rows,
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "experiment.json", record_json(_replaced(record, changed, baseline)))
        _add(archive, "graphs/model.json", graph_json(model))
        for name, found in variants.items():
            _add(archive, f"graphs/{name}.json", graph_json(found))
            for block in range(BLOCKS):
                _add(archive, f"profiles/{name}/{block}.json", _profile(found, times))
    return buffer.getvalue()


def torch_experiment(model: Graph, variants: Mapping[str, Graph], **more: Any) -> Experiment:
    """The same, read."""
    experiment = read(Source("m.zip", torch_zip(model, variants, **more)))
    assert isinstance(experiment, Experiment)
    return experiment


def _replaced(record: Any, changed: Mapping[str, Any], baseline: str) -> Any:
    settings = msgspec.structs.replace(record.settings, baseline=baseline, threads=1)
    return msgspec.structs.replace(record, settings=settings, **changed)


def _profile(found: Graph, times: Mapping[str, int]) -> bytes:
    events: list[dict[str, Any]] = []
    at = 0
    for run in range(RUNS + 1):
        start = at
        for node in found.nodes:
            events.append(_event(str(node.attributes["event"]), at, times.get(node.name, 10)))
            at += times.get(node.name, 10) + 1
        events.append(_event(f"ProfilerStep#{run}", start, at - start, "user_annotation"))
        at += 5
    return json.dumps({"traceEvents": events}).encode()


def _event(name: str, start: int, dur: int, cat: str = "cpu_op") -> dict[str, Any]:
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": dur}


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name), data)

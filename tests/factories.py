"""Small profiles, traces and experiments with times that can be checked by hand."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from fusescope.analysis.experiment import (
    SCHEMA_VERSION,
    Cache,
    Engine,
    ExperimentRecord,
    Machine,
    ModelFacts,
    ModelInput,
    Outcome,
    OutputDifference,
    Peaks,
    Profile,
    Samples,
    Settings,
    VariantRecord,
    record_json,
)
from fusescope.analysis.graph import Graph, Node, Tensor, graph_json

# (name, op type, duration in µs, inputs, outputs)
Operator = tuple[str, str, int, Sequence[Sequence[int]], Sequence[Sequence[int]]]

CONV: Operator = ("a/Conv", "Conv", 100, [(1, 3, 8, 8), (4, 3, 3, 3)], [(1, 4, 8, 8)])
BN: Operator = ("a/BatchNormalization", "BatchNormalization", 30, [(1, 4, 8, 8)], [(1, 4, 8, 8)])
RELU: Operator = ("a/Relu", "Relu", 20, [(1, 4, 8, 8)], [(1, 4, 8, 8)])
GEMM: Operator = ("head/Gemm", "Gemm", 50, [(1, 256), (10,)], [(1, 10)])
FUSED: Operator = ("a/Conv", "FusedConv", 110, [(1, 3, 8, 8), (4, 3, 3, 3), (4,)], [(1, 4, 8, 8)])
UNFUSED_OPERATORS = (CONV, BN, RELU, GEMM)
FUSED_OPERATORS = (FUSED, GEMM)


def node_event(operator: Operator, ts: int, *, tid: int = 7) -> dict[str, Any]:
    """One node event as ONNX Runtime 1.31 writes it."""
    name, op_type, dur, inputs, outputs = operator
    return {
        "cat": "Node",
        "pid": 7,
        "tid": tid,
        "dur": dur,
        "ts": ts,
        "ph": "X",
        "name": f"{name}_kernel_time",
        "args": {
            "op_name": op_type,
            "provider": "CPUExecutionProvider",
            "node_index": "3",
            "activation_size": "768",
            "parameter_size": "432",
            "output_size": "1024",
            "thread_scheduling_stats": "",
            "input_type_shape": [{"float": list(shape)} for shape in inputs],
            "output_type_shape": [{"float": list(shape)} for shape in outputs],
        },
    }


def session_event(name: str, ts: int, dur: int, *, tid: int = 7) -> dict[str, Any]:
    """One Session event."""
    return {
        "cat": "Session",
        "pid": 7,
        "tid": tid,
        "dur": dur,
        "ts": ts,
        "ph": "X",
        "name": name,
        "args": {},
    }


def profile_events(
    operators: Sequence[Operator], runs: int = 1, gap_us: int = 2, start_us: int = 1000
) -> list[dict[str, Any]]:
    """A whole profile: runs of `operators` back to back, `gap_us` before each of them.

    One run spans sum(dur) + gap * (operators + 1).
    """
    events = [session_event("model_loading_uri", 1, 400), session_event("session_init", 402, 500)]
    ts = start_us
    for _ in range(runs):
        first = ts
        for operator in operators:
            ts += gap_us
            events.append(node_event(operator, ts))
            ts += operator[2]
        ts += gap_us
        events.append(session_event("SequentialExecutor::Execute", first, ts - first))
        events.append(session_event("model_run", first, ts - first))
    return events


def profile_json(operators: Sequence[Operator], runs: int = 1, gap_us: int = 2) -> bytes:
    """`profile_events` as the file that ONNX Runtime writes: one event a line."""
    lines = ",\n".join(json.dumps(event) for event in profile_events(operators, runs, gap_us))
    return f"[\n{lines}\n]\n".encode()


def graph_of(operators: Sequence[Operator], *, fused: int = 0) -> Graph:
    """A chain of the operators: float32 tensors t0, t1, …; further inputs are weights.

    The first operator stands for `fused` further ones, whose tensors are gone.
    """
    nodes, tensors = [], []
    names = ["t0", *(f"t{fused + position}" for position in range(1, len(operators) + 1))]
    for position, (name, op_type, _, inputs, outputs) in enumerate(operators):
        weights = [f"{name}.w{i}" for i in range(1, len(inputs))]
        tensors += [
            Tensor(weight, "float32", tuple(shape), constant=True)
            for weight, shape in zip(weights, inputs[1:], strict=True)
        ]
        if position == 0:
            tensors.append(Tensor("t0", "float32", tuple(inputs[0])))
        tensors.append(Tensor(names[position + 1], "float32", tuple(outputs[0])))
        attributes = {"pads": [1, 1, 1, 1]} if op_type.endswith("Conv") else {}
        nodes.append(
            Node(
                name,
                op_type,
                (names[position], *weights),
                (names[position + 1],),
                attributes=attributes,
                scope=name.rpartition("/")[0],
            )
        )
    return Graph(tuple(nodes), tuple(tensors), ("t0",), (names[-1],))


def samples(
    block_ms: Sequence[float],
    rounds: int = 3,
    copies: int = 1,
    control: Sequence[float] = (1.0,),
) -> Samples:
    """Every run of block b takes block_ms[b], on both threads; the second copy takes control[b] as
    long."""
    rows = [
        (block, round_, copy, int(ms * 1e6 * (control[block % len(control)] if copy == 2 else 1.0)))
        for block, ms in enumerate(block_ms)
        for round_ in range(rounds)
        for copy in range(1, copies + 1)
    ]
    block, round_, copy, wall = (list(column) for column in zip(*rows, strict=True))
    return Samples(block, round_, copy, wall, [2 * ns for ns in wall])


def experiment_zip(
    block_ms: Mapping[str, Sequence[float]],
    operators: Mapping[str, Sequence[Operator]] | None = None,
    *,
    looks: tuple[int, ...] = (8,),
    control: Sequence[float] = (1.001, 0.999),
    profiled_runs: int = 3,
    model_name: str = "tiny",
    model_sha256: str = "ab" * 32,
    changes: Mapping[str, Any] | None = None,
) -> bytes:
    """An experiment file: the first variant is the baseline, recorded in two copies.

    `changes` replaces top-level fields of the record.
    """
    operators = operators or {
        name: FUSED_OPERATORS if name == "fused" else UNFUSED_OPERATORS for name in block_ms
    }
    baseline = next(iter(block_ms))
    blocks = len(block_ms[baseline])
    variants = [
        VariantRecord(
            name=name,
            settings={"level": name},
            samples=samples(times, copies=2 if name == baseline else 1, control=control),
            profiles=[Profile(b, f"profiles/{name}/{b}.json", 1) for b in range(blocks)],
            graph=f"graphs/{name}.json",
            nodes=len(operators[name]),
            output_difference=OutputDifference(0.0, 0.0)
            if name == baseline
            else OutputDifference(2e-6, 1e-6),
            peak_memory_bytes=10_000_000 if name == baseline else 8_000_000,
        )
        for name, times in block_ms.items()
    ]
    record = ExperimentRecord(
        schema_version=SCHEMA_VERSION,
        fusescope_version="0.1.0",
        created="2026-01-02T03:04:05Z",
        model=ModelFacts(
            model_name,
            "zoo",
            model_sha256,
            4,
            17,
            (ModelInput("t0", "float32", (1, 3, 8, 8), "seed 0"),),
            1,
        ),
        machine=Machine(
            "Test CPU", "x86_64", 2, 2, 8 * 2**30, (Cache(2, "Unified", 2**20, 2),), "Linux"
        ),
        engine=Engine("onnxruntime", "1.31.1", "CPUExecutionProvider"),
        settings=Settings(baseline, 2, False, 0, 3, 3, 1, looks, "fusescope collect tiny"),
        outcome=Outcome(blocks, 0, "blocks", -4.0),
        peaks=Peaks(1e11, 384, 500.0),
        variants=variants,
        model_graph="graphs/model.json",
    )
    if changes:
        record = msgspec.structs.replace(record, **changes)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "experiment.json", record_json(record))
        _add(archive, "graphs/model.json", graph_json(graph_of(operators[baseline])))
        for name, ops in operators.items():
            gone = max(0, len(operators[baseline]) - len(ops))
            _add(archive, f"graphs/{name}.json", graph_json(graph_of(ops, fused=gone)))
            for block in range(blocks):
                profile = profile_json(ops, profiled_runs + 1)
                _add(archive, f"profiles/{name}/{block}.json", profile)
    return buffer.getvalue()


def _add(archive: zipfile.ZipFile, name: str, data: bytes | str) -> None:
    """Without the time of day: the same experiment is the same bytes, which are read once."""
    archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)


def profiles(
    operators: Sequence[Operator],
    factors: Sequence[float],
    first_second: int = 0,
    step: int = 2,
    runs: int = 6,
) -> dict[str, bytes]:
    """Profiles of one graph, each of a process of its own that takes `factor` times as long, by
    the names that ONNX Runtime gives: they began every `step` seconds."""
    made = {}
    for number, factor in enumerate(factors):
        at = first_second + number * step
        slower = [(n, t, round(us * factor), i, o) for n, t, us, i, o in operators]
        name = f"run_2026-11-24_08-{at // 60:02}-{at % 60:02}_000.json"
        made[name] = profile_json(slower, runs)
    return made

"""What the engine makes of a model under given settings, reduced to what distinguishes graphs.

Sessions are created and dumped, never run: this is for finding out what an optimizer does.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

import onnx
import onnxruntime as ort

from fusescope.collectors.runtimes.onnxruntime import PROVIDERS, options
from fusescope.collectors.workers.jobs import SessionSettings, Structure, Switches


def dumped(settings: SessionSettings, switches: Switches) -> Structure:
    """The graph that the engine makes of the model under these settings."""
    ort_options = options(
        switches.optimization,
        threads=settings.threads,
        spin=False,
        library=settings.custom_op_library,
    )
    ort_options.add_session_config_entry("session.disable_prepacking", "1")  # nothing runs
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "optimized.onnx"
        ort_options.optimized_model_filepath = str(path)
        ort.InferenceSession(
            settings.model,
            ort_options,
            providers=PROVIDERS,
            disabled_optimizers=list(switches.disabled) or None,
        )
        return structure(onnx.load(str(path), load_external_data=False).graph)


def structure(graph: onnx.GraphProto) -> Structure:
    """Operators by type, those of subgraphs included, and a digest that is equal for graphs of
    the same operators in the same arrangement.

    Names the engine makes up and the order of independent nodes do not count; nor do the values
    of weights, since what changes them also changes operators.
    """
    types: Counter[str] = Counter()
    return Structure(_digest(graph, {}, types), dict(types))


def _digest(graph: onnx.GraphProto, outer: Mapping[str, str], types: Counter[str]) -> str:
    known = dict(outer)
    for index, value in enumerate(graph.input):
        known[value.name] = f"input {index}"
    for tensor in graph.initializer:
        known[tensor.name] = f"weight {tensor.data_type} {list(tensor.dims)}"
    for sparse in graph.sparse_initializer:
        known[sparse.values.name] = f"weight {sparse.values.data_type} {list(sparse.dims)}"
    nodes = []
    for node in graph.node:
        types[f"{node.domain}:{node.op_type}" if node.domain else node.op_type] += 1
        parts = [
            node.domain,
            node.op_type,
            *(known.get(name, name) for name in node.input),
            *sorted(_attribute(attribute, known, types) for attribute in node.attribute),
        ]
        digest = _hash(parts)
        nodes.append(digest)
        for index, name in enumerate(node.output):
            known[name] = f"{digest} {index}"
    return _hash([*sorted(nodes), *(known.get(value.name, "") for value in graph.output)])


def _attribute(
    attribute: onnx.AttributeProto, known: Mapping[str, str], types: Counter[str]
) -> str:
    if attribute.type == onnx.AttributeProto.GRAPH:
        return f"{attribute.name} {_digest(attribute.g, known, types)}"
    return blake2b(attribute.SerializeToString(deterministic=True), digest_size=16).hexdigest()


def _hash(parts: list[str]) -> str:
    return blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()

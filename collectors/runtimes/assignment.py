"""Which execution provider ran which node of a model, as ONNX Runtime tells it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import onnx
import onnxruntime as ort

from fusescope.collectors.runtimes import providers
from fusescope.collectors.runtimes.onnxruntime import PROVIDERS, session_options
from fusescope.collectors.workers.given import load_inputs
from fusescope.collectors.workers.jobs import Optimization, SessionSettings

_RECORD = "session.record_ep_graph_assignment_info"  # since 1.24; older ones ignore it


@dataclass(frozen=True)
class RanNode:
    """A node as the profile has it; `output_types` are ONNX Runtime's words."""

    name: str
    op_name: str
    provider: str
    output_types: tuple[str, ...]


@dataclass(frozen=True)
class Part:
    """Nodes that one provider took together, by their names before it did."""

    provider: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Ran:
    """One run: the providers that were loaded, `nodes` in their order in the graph, and the parts,
    None where this ONNX Runtime does not tell them."""

    providers: tuple[str, ...]
    nodes: tuple[RanNode, ...]
    parts: tuple[Part, ...] | None


def watched(settings: SessionSettings, optimization: Optimization) -> Ran:
    """Runs the model once with the provider of the settings."""
    with tempfile.TemporaryDirectory() as folder:
        ort_options = session_options(settings, optimization)
        ort_options.enable_profiling = True
        ort_options.profile_file_prefix = str(Path(folder) / "profile")
        ort_options.add_session_config_entry(_RECORD, "1")
        session = ort.InferenceSession(
            settings.model,
            ort_options,
            providers=providers.made_ready(settings.provider, settings.threads),
        )
        feeds = {
            name: ort.OrtValue.ortvalue_from_numpy(array)
            for name, array in load_inputs(settings).items()
        }
        session.run_with_ort_values(None, feeds)
        events = msgspec.json.decode(
            Path(session.end_profiling()).read_bytes(), type=list[dict[str, Any]]
        )
    return Ran(tuple(session.get_providers()), _nodes(events), _parts(session))


def optimised(model: str, settings: SessionSettings, optimization: Optimization) -> onnx.ModelProto:
    """What ONNX Runtime makes of a model for the CPU at that level. Nothing runs."""
    with tempfile.TemporaryDirectory() as folder:
        ort_options = session_options(settings, optimization)
        ort_options.add_session_config_entry("session.disable_prepacking", "1")
        path = Path(folder) / "optimised.onnx"
        ort_options.optimized_model_filepath = str(path)
        ort.InferenceSession(model, ort_options, providers=PROVIDERS)
        return onnx.load(str(path))


def _nodes(events: list[dict[str, Any]]) -> tuple[RanNode, ...]:
    found: dict[str, tuple[int, RanNode]] = {}
    for event in events:
        name = str(event.get("name", ""))
        if event.get("cat") != "Node" or not name.endswith("_kernel_time"):
            continue
        args: Mapping[str, Any] = event.get("args", {})
        types = tuple(next(iter(one), "") for one in args.get("output_type_shape", []))
        node = RanNode(
            name.removesuffix("_kernel_time"),
            str(args.get("op_name", "")),
            str(args.get("provider", "")),
            types,
        )
        found[node.name] = (int(args.get("node_index", 0)), node)
    return tuple(node for _, node in sorted(found.values(), key=lambda one: one[0]))


def _parts(session: ort.InferenceSession) -> tuple[Part, ...] | None:
    ask = getattr(session, "get_provider_graph_assignment_info", None)
    if ask is None:
        return None
    return tuple(
        Part(part.ep_name, tuple(node.name for node in part.get_nodes())) for part in ask()
    )

"""Intermediate tensors of a model file: their values, asked for by name, in bounded memory."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import onnx
import onnxruntime as ort

from fusescope.analysis.graph import tensor_bytes
from fusescope.collectors.models import graphs
from fusescope.collectors.models.array import Array
from fusescope.collectors.models.model import name_nodes
from fusescope.collectors.runtimes import providers
from fusescope.collectors.runtimes.onnxruntime import numpy_of, profiled_run, session_options
from fusescope.collectors.workers.given import load_inputs
from fusescope.collectors.workers.jobs import SessionSettings

UNKNOWN_BYTES = 32 * 1024 * 1024  # a tensor of unknown size
INLINE_BYTES = 1024  # bigger weights lie beside the model, so that a chunk's file stays small
BLOCKED_DOMAIN = "com.microsoft.nchwc"


class OutOfTime(Exception):
    """The time for the search is over."""


class Intermediates:
    """A model file that runs as it is, every optimisation off.

    Tensors of at most `budget_bytes` are asked for in one run; none after `deadline` (monotonic).
    `nodes` are its own, `inputs` the names that are fed; by tensor, `shapes` and `dtypes` are those
    that ran. `blocked` tensors are in channel blocks (NCHWc), `varying` ones depend on an input.
    """

    def __init__(
        self,
        file: Path,
        settings: SessionSettings,
        folder: Path,
        *,
        budget_bytes: int,
        deadline: float,
    ) -> None:
        folder.mkdir(parents=True)
        self._budget_bytes = budget_bytes
        self._folder = folder
        self._settings = settings
        self._deadline = deadline
        self._model = onnx.load(str(file))
        onnx.save(
            self._model,
            str(folder / "model.onnx"),
            save_as_external_data=True,
            location="weights.bin",
            size_threshold=INLINE_BYTES,
        )  # leaves the model in memory without its weights
        copied = msgspec.structs.replace(settings, model=str(folder / "model.onnx"))
        events = profiled_run(copied, folder)
        graphs.name_as_profiled(self._model, events)
        name_nodes(self._model)
        self.nodes = graphs.nodes_of(self._model.graph)
        self.inputs = settings.input_names
        self._sizes, self.shapes, self.dtypes = self._measured(events)
        self.varying = self._varying()
        self.blocked = self._blocked()

    def names(self) -> list[str]:
        """Every tensor that a node writes from an input, in the order of the nodes."""
        return [
            name for node in self.nodes for name in node.outputs if name and name in self.varying
        ]

    def chunks(self, names: Sequence[str]) -> Iterator[list[str]]:
        """The names in order, in groups whose tensors fit into the budget together."""
        chunk: list[str] = []
        used = 0
        for name in names:
            size = self.bytes_of(name)
            if chunk and used + size > self._budget_bytes:
                yield chunk
                chunk, used = [], 0
            chunk.append(name)
            used += size
        if chunk:
            yield chunk

    def bytes_of(self, name: str) -> int:
        """Size of a tensor; a guess where it did not show in a profile."""
        return self._sizes.get(name, UNKNOWN_BYTES)

    def values(self, names: Sequence[str]) -> dict[str, Array]:
        """The tensors by name, those in channel blocks as [N, padded channels, H, W].

        One run; what numpy cannot hold is left out. Raises OutOfTime.
        """
        if time.monotonic() > self._deadline:
            raise OutOfTime
        feeds = load_inputs(self._settings)
        fed = {name: feeds[name] for name in names if name in feeds}
        asked = [name for name in names if name not in feeds]
        if not asked:
            return fed
        file = self._folder / "chunk.onnx"
        outputs = self._write(asked, file)
        session = ort.InferenceSession(
            str(file),
            session_options(self._settings),
            providers=providers.made_ready(self._settings.provider, self._settings.threads),
        )
        values = {name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in feeds.items()}
        ran = session.run_with_ort_values(outputs, values)
        arrays = {name: numpy_of(value) for name, value in zip(asked, ran, strict=True)}
        return fed | {name: array for name, array in arrays.items() if array is not None}

    def _write(self, names: Sequence[str], file: Path) -> list[str]:
        """The model with these tensors as further outputs; the engine itself unblocks them."""
        model = onnx.ModelProto()
        model.CopyFrom(self._model)
        graph = model.graph
        declared = {output.name for output in graph.output}
        outputs = []
        for name in names:
            output = name
            if name in self.blocked:
                output = f"{name}:unblocked"
                graph.node.append(
                    onnx.helper.make_node(
                        "ReorderOutput",
                        [name],
                        [output],
                        name=output,
                        domain=BLOCKED_DOMAIN,
                        channels=self.shapes[name][1],
                        channels_last=0,
                    )
                )
            if output not in declared:
                graph.output.append(onnx.ValueInfoProto(name=output))
            outputs.append(output)
        file.write_bytes(model.SerializeToString())
        return outputs

    def _measured(
        self, events: list[dict[str, Any]]
    ) -> tuple[dict[str, int], dict[str, tuple[int, ...]], dict[str, str]]:
        """Bytes, shapes and types of the tensors, as they ran."""
        ran = graphs.profiled_shapes(events)
        sizes: dict[str, int] = {}
        shapes: dict[str, tuple[int, ...]] = {}
        dtypes: dict[str, str] = {}
        for node in self.nodes:
            outputs = [name for name in node.outputs if name]
            known = ran.get(node.name, [])
            if len(known) == len(outputs):
                for name, (dtype, shape) in zip(outputs, known, strict=True):
                    shapes[name], dtypes[name] = shape, dtype
                    sizes[name] = tensor_bytes(dtype, shape) or 8 * math.prod(shape)
        feeds = load_inputs(self._settings)
        shapes |= {name: array.shape for name, array in feeds.items()}
        sizes |= {name: array.nbytes for name, array in feeds.items()}
        return sizes, shapes, dtypes

    def _varying(self) -> set[str]:
        varying = set(self.inputs)
        for node in self.nodes:
            if any(name in varying for name in (*node.inputs, *node.captured)):
                varying |= set(node.outputs) - {""}
        return varying

    def _blocked(self) -> set[str]:
        """What the blocked operators write, and what layout-blind operators make of it."""
        blocked: set[str] = set()
        for node in self.nodes:
            if node.op_type == "ReorderOutput" and node.domain == BLOCKED_DOMAIN:
                continue
            if node.domain == BLOCKED_DOMAIN or any(name in blocked for name in node.inputs):
                blocked |= {name for name in node.outputs if len(self.shapes.get(name, ())) == 4}
        return blocked

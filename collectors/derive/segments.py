"""Variants that run a model piece by piece: each node alone, or cut around groups of nodes.

`custom:<kernel>` runs each group of the kernel as one call of it, `segments:<kernel>` makes exactly
the same cut and leaves the groups to the engine, so that the two differ by the kernel alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import MAX_DIFFERENCE
from fusescope.collectors import kernels
from fusescope.collectors.derive import cut, pieces
from fusescope.collectors.derive.replacement import with_kernels
from fusescope.collectors.kernels import compiled
from fusescope.collectors.kernels.group import Group
from fusescope.collectors.kernels.loading import groups_of
from fusescope.collectors.kernels.memory import Buffers
from fusescope.collectors.models import graphs
from fusescope.collectors.models.array import Array
from fusescope.collectors.models.model import save
from fusescope.collectors.runtimes.onnxruntime import profiled_run
from fusescope.collectors.tensors.difference import difference_of
from fusescope.collectors.variants import Variant
from fusescope.collectors.workers.given import load_inputs
from fusescope.collectors.workers.jobs import Derived, DeriveJob, KernelCall

NOTHING = 1e-6  # of max|a-b| where a is all zero


def derive(job: DeriveJob, variant: Variant, model: onnx.ModelProto) -> Derived:
    """The pieces of the variant. Raises FuseScopeError where the model has no group for its
    kernel, a piece cannot run alone, or a kernel computes something else than the engine."""
    folder = Path(job.folder)
    feeds = load_inputs(job.settings)
    library = job.settings.custom_op_library
    if variant.kind == "eager":
        steps = pieces.write(
            model, pieces.node_by_node(model.graph), feeds, folder, library=library
        )
        return Derived(
            job.settings.model,
            steps=_listed(steps, folder),
            keeps_tensors=True,
            settings={"execution": "one session a node"},
        )
    kernel = kernels.find(variant.argument)
    ran = graphs.profiled_shapes(profiled_run(job.settings, folder))
    graph = graphs.from_model(model, ran)
    groups = groups_of(graph, kernel)
    if not groups:
        raise FuseScopeError(
            "kernel_nothing_to_replace", pattern=kernel.replaces, kernel=kernel.name
        )
    parts = cut.around(model.graph, groups)
    told: dict[str, str | int | float | bool] = {
        "execution": "in pieces, tensors passed between",
        "pieces": len(parts),
        "groups": len(groups),
        "operators_in_groups": sum(len(group.nodes) for group in groups),
    }
    if variant.kind == "segments":
        steps = pieces.write(model, parts, feeds, folder, library=library)
        told["groups_run_by"] = "ONNX Runtime, a session each, every optimisation off"
        return Derived(
            job.settings.model, steps=_listed(steps, folder), keeps_tensors=True, settings=told
        )
    maker = _Calls(job, model)
    steps = pieces.write(
        model,
        parts,
        feeds,
        folder,
        make_call=maker.call,
        freed=maker.buffers.free,
        library=library,
    )
    steps = msgspec.structs.replace(
        steps, buffers=tuple(maker.buffers.sizes), kernel_cache=maker.machine_code
    )
    picture = folder / "picture.onnx"
    save(with_kernels(model, parts), picture)
    told |= {
        "groups_run_by": f"kernel {kernel.name}, compiled by numba {compiled.version()}",
        "kernel_threads": job.settings.threads,
        "kernels_in_place": maker.in_place,
        "kernel_buffers_bytes": sum(steps.buffers),
        "kernel_output_difference": maker.difference,
    }
    return Derived(str(picture), steps=_listed(steps, folder), keeps_tensors=True, settings=told)


class _Calls:
    """Compiles a kernel for every group, checks it against the engine, and plans its memory."""

    def __init__(self, job: DeriveJob, model: onnx.ModelProto) -> None:
        self.buffers = Buffers()
        self.in_place = 0
        self.difference = 0.0
        self.machine_code = ""
        self._threads = job.settings.threads
        self._folder = Path(job.folder)
        user = (Path(job.cache) / "kernels",) if job.cache else ()
        self._sources = (*user, self._folder / "kernels")
        self._weights = {tensor.name: tensor for tensor in model.graph.initializer}

    def call(
        self, group: Group, last_read: Sequence[str], values: Mapping[str, Any], theirs: Any
    ) -> KernelCall:
        """See pieces.MakeCall. Raises FuseScopeError where the results differ."""
        over = _place_in(group, last_read, values)
        program = group.program(over=over, threads=self._threads)
        source, machine_code = compiled.store(program.source, self._sources)
        self.machine_code = str(machine_code)
        constants = [
            np.array(onnx.numpy_helper.to_array(self._weights[name]))  # a kernel takes no view
            for name in group.operands
            if name not in values
        ]
        call = KernelCall(
            source=str(source),
            operands=group.operands,
            numbers=program.numbers,
            shape=group.shape,
            node=group.name,
            op_name=group.op_name,
            operand_shapes=tuple(
                tuple(values[name].shape()) if name in values else tuple(self._weights[name].dims)
                for name in group.operands
            ),
            constants=self._saved(constants),
            over=over,
        )
        self._verify(group, call, program.scratch_floats, values, constants, theirs.numpy())
        if program.scratch_floats:
            scratch = self.buffers.scratch(4 * program.scratch_floats)
            call = msgspec.structs.replace(call, scratch=scratch)
        if over:
            self.in_place += 1
            self.buffers.write_over(over, group.output)
            return call
        size = 4 * math.prod(group.shape)
        return msgspec.structs.replace(call, buffer=self.buffers.take(group.output, size))

    def _saved(self, constants: Sequence[Array]) -> str:
        if not constants:
            return ""
        file = self._folder / f"constants_{len(list(self._folder.glob('constants_*'))):05d}.npz"
        np.savez(file, *constants)
        return str(file)

    def _verify(
        self,
        group: Group,
        call: KernelCall,
        scratch_floats: int,
        values: Mapping[str, Any],
        constants: Sequence[Array],
        theirs: Array,
    ) -> None:
        """Runs the kernel on the values of this run, on copies where it writes."""
        kept = iter(constants)
        arrays = {
            name: (values[name].numpy() if name in values else next(kept)).reshape(-1)
            for name in call.operands
        }
        if call.over:
            ours = arrays[call.over] = arrays[call.over].copy()
        else:
            ours = np.empty(theirs.size, np.float32)
        run = compiled.load(call.source, self.machine_code, self._threads)
        run(
            *([] if call.over else [ours]),
            *arrays.values(),
            *([np.empty(scratch_floats, np.float32)] if scratch_floats else []),
            *call.numbers,
        )
        difference = finite_difference(theirs.reshape(-1), ours)
        self.difference = max(self.difference, difference)
        if not difference < MAX_DIFFERENCE:
            raise FuseScopeError("kernel_differs", operator=group.name[:60], difference=difference)


def finite_difference(a: Array, b: Array) -> float:
    """max|a-b| / max|a| of what is finite; infinite where other values are not finite, or where
    only a is all zero."""
    finite = np.isfinite(a)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return math.inf
    absolute, relative = difference_of([a[finite]], [b[finite]])
    if absolute is None:
        return math.inf
    if relative is None:
        return 0.0 if absolute <= NOTHING else math.inf
    return relative


def _place_in(group: Group, last_read: Sequence[str], values: Mapping[str, Any]) -> str:
    """The operand that a kernel may write over, '' for none: one that the engine or a kernel made,
    that nobody reads after it, and whose memory is no other tensor's."""
    for name in group.replaceable:
        if name not in last_read or name not in values:
            continue
        address = values[name].data_ptr()
        others = (other for key, other in values.items() if key != name and other.is_tensor())
        if all(other.data_ptr() != address for other in others):
            return name
    return ""


def _listed(steps: msgspec.Struct, folder: Path) -> str:
    listing = folder / "steps.json"
    listing.write_bytes(msgspec.json.encode(steps))
    return str(listing)

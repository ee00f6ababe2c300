"""One variant of a model for torch alone: compile time, peak memory, outputs, and its kernels."""

from __future__ import annotations

from pathlib import Path

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import graph_json
from fusescope.collectors.errors.engine import clean
from fusescope.collectors.models.array import Array
from fusescope.collectors.tensors.agreement import agreement_of
from fusescope.collectors.tensors.difference import difference_of
from fusescope.collectors.tensors.outputs import against
from fusescope.collectors.torch import devices, internals
from fusescope.collectors.torch import session as sessions
from fusescope.collectors.torch.session import TorchSession
from fusescope.collectors.torch.variant_graph import VariantGraph, graph_of
from fusescope.collectors.workers.alone import last_of_runs_ns
from fusescope.collectors.workers.jobs import Checked
from fusescope.collectors.workers.jobs import CheckJob as Job
from fusescope.collectors.workers.memory import PeakMemory


def run(job: Job) -> Checked:
    """Measures and writes as the job says. A graph that cannot be had is not a failure, except
    where it shows that the variant is not what its name says."""
    sessions.prepare_process(job.settings)
    with devices.chosen(job.settings.placement).failing():
        return _checked(job)


def _checked(job: Job) -> Checked:
    memory = PeakMemory.start()
    session = TorchSession(job.settings, job.variant)
    session.device.start_peaks()
    run_ns = last_of_runs_ns(session.run_anew, already=1)
    peak_bytes = memory.peak_bytes()
    device_peaks = session.device.peaks()
    if job.variant != "eager" and not session.graphs:
        raise FuseScopeError("torch_nothing_compiled", variant=job.variant)
    difference = against(job.reference, job.outputs, session.outputs())
    dtype_difference = _from_own_types(job, session.outputs())
    agreed, agreement_problem = agreement_of(job, session)
    settings = {
        **sessions.recorded_settings(job.settings, job.variant),
        **internals.settings(),
        "peak_memory_from": memory.source,
        **device_peaks,
        "compile_s": round(session.compile_ns / 1e9, 3) if job.variant != "eager" else 0.0,
        "graphs": session.graphs,
        "graph_breaks": session.graph_breaks,
        "recompilations": session.recompilations(),
    }
    if session.loaded.training is not None:
        settings["training_step"] = session.loaded.training.name
    if session.backward_graphs:
        settings["backward_graphs"] = session.backward_graphs
    Path(job.graph).parent.mkdir(parents=True, exist_ok=True)
    guard_us = session.guard_us(Path(job.graph).parent)
    if guard_us is not None:
        settings["guard_us"] = guard_us
    del session
    made, problem = _graph(job)
    if made is not None:
        Path(job.graph).write_bytes(graph_json(made.named.graph))
        Path(job.matches).parent.mkdir(parents=True, exist_ok=True)
        Path(job.matches).write_bytes(msgspec.json.encode(made.named.matches))
        if made.not_fused is not None:
            Path(job.not_fused).parent.mkdir(parents=True, exist_ok=True)
            Path(job.not_fused).write_bytes(msgspec.json.encode(made.not_fused))
        settings |= made.settings
    return Checked(
        settings=settings,
        nodes=len(made.named.graph.nodes) if made is not None else None,
        graph_problem=problem,
        peak_memory_bytes=peak_bytes,
        difference=difference,
        setup_ns=0,
        run_ns=run_ns,
        agreement=agreed,
        agreement_problem=agreement_problem,
        dtype_difference=dtype_difference,
    )


def _from_own_types(
    job: Job, outputs: list[Array | None]
) -> tuple[float | None, float | None] | None:
    """How far outputs are from those of the eager model before its types were converted, None where
    they were not."""
    if not job.settings.placement.dtype:
        return None
    unconverted = msgspec.structs.replace(
        job.settings, placement=msgspec.structs.replace(job.settings.placement, dtype="")
    )
    return difference_of(TorchSession(unconverted, "eager").outputs(), outputs)


def _graph(job: Job) -> tuple[VariantGraph | None, str | None]:
    """What ran, or why it is not known."""
    folder = Path(job.graph).with_suffix(".parts")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return graph_of(job.settings, job.variant, folder), None
    except FuseScopeError:
        raise
    except Exception as error:  # noqa: BLE001 - parts of torch that may be others in another release
        return None, clean(str(error)) or type(error).__name__

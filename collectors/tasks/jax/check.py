"""One variant of a model for jax alone: compile time, peak memory, outputs, and its graph."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import graph_json
from fusescope.collectors.errors.engine import clean
from fusescope.collectors.jax import devices, internals
from fusescope.collectors.jax.session import JaxSession, prepare_process
from fusescope.collectors.jax.variant_graph import VariantGraph, graph_of
from fusescope.collectors.models.array import Array
from fusescope.collectors.tensors.agreement import agreement_of
from fusescope.collectors.tensors.difference import difference_of
from fusescope.collectors.tensors.outputs import against
from fusescope.collectors.workers.alone import last_of_runs_ns
from fusescope.collectors.workers.jobs import Checked
from fusescope.collectors.workers.jobs import CheckJob as Job
from fusescope.collectors.workers.memory import PeakMemory

_NOT_FOLLOWED = "programs of JAX for a device are not evaluated operator by operator"


def run(job: Job) -> Checked:
    """Measures and writes as the job says. A graph that cannot be had is not a failure."""
    prepare_process(job.settings)
    with devices.chosen(job.settings.placement).failing():
        return _checked(job)


def _checked(job: Job) -> Checked:
    memory = PeakMemory.start()
    session = JaxSession(job.settings, job.variant)
    run_ns = last_of_runs_ns(session.run)
    peak_bytes = memory.peak_bytes()
    difference = against(job.reference, job.outputs, session.outputs())
    dtype_difference = _from_own_types(job, session.outputs())
    agreed, agreement_problem = agreement_of(job, session)
    settings = {
        **session.settings,
        **internals.settings(),
        "peak_memory_from": memory.source,
        **session.device.peaks(),
        "compile_s": round(session.compile_ns / 1e9, 3) if job.variant != "eager" else 0.0,
    }
    made, problem = _graph(job, session)
    if made is not None:
        for file, data in (
            (job.graph, graph_json(made.graph)),
            (job.matches, msgspec.json.encode(made.matches)),
        ):
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            Path(file).write_bytes(data)
        settings |= made.settings
    return Checked(
        settings=settings,
        nodes=len(made.graph.nodes) if made is not None else None,
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
    return difference_of(JaxSession(unconverted, "eager").outputs(), outputs)


def _graph(job: Job, session: JaxSession) -> tuple[VariantGraph | None, str | None]:
    """What ran, or why it is not known."""
    if not session.device.is_cpu:
        return None, _NOT_FOLLOWED
    folder = Path(job.graph).with_suffix(".parts")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return graph_of(session.loaded, session.program, folder), None
    except FuseScopeError:
        raise
    except Exception as error:  # noqa: BLE001 - parts of JAX that may be others in another release
        return None, clean(str(error)) or type(error).__name__
    finally:
        shutil.rmtree(folder)

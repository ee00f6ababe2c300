"""The graph of one variant of a model for MindSpore, in a process that also writes values."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import graph_json, parse_graph
from fusescope.collectors.errors.engine import clean
from fusescope.collectors.mindspore import process
from fusescope.collectors.mindspore.names import WITHOUT
from fusescope.collectors.tasks.mindspore.prepare import VALUES
from fusescope.collectors.workers.jobs import CheckJob as Job
from fusescope.collectors.workers.jobs import Seen

if TYPE_CHECKING:
    from fusescope.collectors.mindspore.program import Kernel
    from fusescope.collectors.mindspore.variant_graph import ValueOf


def run(job: Job) -> Seen:
    """Writes the graph and the matches as the job says. Raises FuseScopeError where the graph shows
    that the variant is not what its name says."""
    folder = Path(job.graph).with_suffix("") / "parts"  # MindSpore takes no dot in it
    process.prepare(job.settings.compiled)
    if job.variant != "eager":
        process.keep_values(folder)
    try:
        return _seen(job, folder)
    except FuseScopeError:
        raise
    except Exception as error:  # noqa: BLE001 - parts of MindSpore that may be others in another release
        return Seen(problem=clean(str(error)) or type(error).__name__)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _seen(job: Job, folder: Path) -> Seen:
    from fusescope.collectors.mindspore.dumped import Values
    from fusescope.collectors.mindspore.eager import watch_eager
    from fusescope.collectors.mindspore.program import read_program
    from fusescope.collectors.mindspore.session import MindSporeSession, prepare_process
    from fusescope.collectors.mindspore.variant_graph import Originals, graph_of, told_otherwise

    prepare_process(job.settings)
    model = parse_graph(Path(job.model_graph).read_bytes(), "model")
    programs = folder / "programs" if job.variant != "eager" else None
    session = MindSporeSession(job.settings, job.variant, vary_weights=True, programs=programs)
    kept = Path(job.model_graph).parent / VALUES
    originals = Originals(model, Values(kept, model.nodes).array)
    settings: dict[str, str | int | float | bool] = {}
    value: ValueOf
    if programs is None:
        eager = watch_eager(session.loaded, model.inputs, folder)
        program, value = eager.program, eager.values.get
    else:
        program = read_program(programs)
        value = Values(folder, program.kernels).array
        if job.variant == "generated":
            _refuse_fusions(program.kernels)
        left_out = job.variant.removeprefix(WITHOUT)
        if left_out != job.variant and any(programs.rglob(f"*_stage*_{left_out}_*.ir")):
            raise FuseScopeError("mindspore_pass_stays", variant=job.variant)
        settings["graph_kernels"] = sum(bool(kernel.inside) for kernel in program.kernels)
        meta = Path(job.settings.compiled, "akg_kernel_meta")
        infos = {file.stem: file.read_bytes() for file in meta.glob("*.info")}
        if odd := told_otherwise(program.kernels, infos):
            settings["kernels_told_otherwise"] = odd
    graph, matches = graph_of(program, value, originals, session.loaded.file)
    for file, data in (
        (job.graph, graph_json(graph)),
        (job.matches, msgspec.json.encode(matches)),
    ):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_bytes(data)
    return Seen(nodes=len(graph.nodes), settings=settings)


def _refuse_fusions(kernels: Iterable[Kernel]) -> None:
    for kernel in kernels:
        if len(kernel.operators) > 1:
            raise FuseScopeError(
                "mindspore_still_fused",
                kernel=clean(kernel.op_type, 80),
                n=len(kernel.operators),
                operators=clean(", ".join(kernel.operators), 200),
            )

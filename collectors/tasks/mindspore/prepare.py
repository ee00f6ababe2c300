"""Load a model for MindSpore and see what it is: its inputs, its operators, and their values."""

from __future__ import annotations

from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import Graph, graph_json
from fusescope.collectors.mindspore import process
from fusescope.collectors.models.facts import InputFacts
from fusescope.collectors.workers.jobs import Drawing, Prepared, SessionSettings
from fusescope.collectors.workers.jobs import PrepareJob as Job

VALUES = "values"  # beside the graph: what the model's operators wrote


def run(job: Job) -> Prepared:
    """Writes graph.json into the job's folder, and the values beside it. Raises FuseScopeError for
    what returns no model, or one that MindSpore does not run."""
    folder = Path(job.folder)
    process.prepare(str(folder / "compiled"))
    process.keep_values(folder / VALUES)
    import mindspore

    from fusescope.collectors.mindspore import models
    from fusescope.collectors.mindspore.dumped import Values
    from fusescope.collectors.mindspore.program import files_of, read_program
    from fusescope.collectors.mindspore.session import MindSporeSession, prepare_process
    from fusescope.collectors.mindspore.variant_graph import model_graph

    settings = SessionSettings(
        model=job.model,
        inputs="",
        input_names=(),
        threads=1,
        spin=False,
        drawing=Drawing(seed=job.seed),
    )
    prepare_process(settings)
    plain = models.load(job.model, job.seed)
    session = MindSporeSession(
        settings, "unfused", vary_weights=True, programs=folder / VALUES / "programs"
    )
    programs = folder / VALUES / "programs"
    written = len(files_of(programs))
    if not written:
        raise FuseScopeError("mindspore_nothing_runs")
    if written == 1:
        program = read_program(programs)
        values = Values(folder / VALUES, program.kernels)
        graph = model_graph(program, values, session.loaded.file)
        given = [one for one in program.given if not one.is_weight]
    else:  # a model with branches or loops on values: every variant says that it has no graph
        graph = Graph((), (), (), ())
        given = session.loaded.given()
    file = folder / "graph.json"
    file.write_bytes(graph_json(graph))
    facts = tuple(
        InputFacts(one.name, one.dtype, one.shape, "made by the model's function") for one in given
    )
    return Prepared(
        model=job.model,
        inputs="",
        graph=str(file),
        sha256=plain.sha256,
        nodes=len(graph.nodes),
        opset=None,
        batch=None,
        facts=facts,
        engine_version=str(mindspore.__version__),
    )

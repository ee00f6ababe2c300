"""Several environments of one engine in one recording, and what a release of it cannot compile."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import Graph, Node, Tensor, graph_json
from fusescope.collectors.environments import chosen, named
from fusescope.collectors.record import Recording
from fusescope.collectors.recording import across, left_out, several
from fusescope.collectors.workers import worker
from fusescope.collectors.workers.jobs import CheckJob, Prepared, PrepareJob, SessionSettings
from fusescope.collectors.workers.pool import WorkerPool

TWO = ("torch@2.12", "torch@2.13")
VERSIONS = {"torch@2.12": "2.12.1+cpu", "torch@2.13": "2.13.0+cu130"}


@pytest.fixture(autouse=True)
def environments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that were seen; no Python is started."""

    def ready(runtime: str) -> Any:
        if runtime not in VERSIONS and not runtime.startswith(("onnxruntime@", "jax@")):
            raise FuseScopeError("runtime_no_such_name", runtime=runtime, engine="", name="")
        engine, _, name = runtime.partition("@")
        return named.Named(
            engine, name, f"/{name}/bin/python", "3.11.7", "", "", "", ("msgspec",),
            VERSIONS.get(runtime, "1"), "", "", (), "",
        )  # fmt: skip

    monkeypatch.setattr(named, "ready", ready)


def asked(**changes: Any) -> Recording:
    names = ("fused",)
    return Recording(**{"model": "torch:mlp", "runtimes": TWO, "variants": names, **changes})


def test_each_environment_runs_the_model_of_the_engine() -> None:
    plan = asked().plan()
    assert plan.names == ("torch@2.12:fused", "torch@2.13:fused")
    assert (plan.baseline, plan.model, plan.path) == ("torch@2.12:fused", "torch:mlp", None)
    assert asked().engine == "torch"
    names = ("torch@2.12:eager", "torch@2.13:fused", "torch@2.12:fused")
    assert asked(variants=names).plan().baseline == "torch@2.12:fused"
    assert asked(variants=("eager",)).plan().baseline == "torch@2.12:eager"


def test_code_of_ones_own_is_recorded_in_each(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text("")
    plan = asked(model=f"{file}:make").plan()
    assert (plan.model, plan.path) == ("net-make", file)
    assert asked().prepare_job(asked().plan(), tmp_path).model == "torch:mlp"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"runtimes": (*TWO, "torch@2.14")}, "runtime_no_such_name"),
        ({"runtimes": (*TWO, "torch@2.13")}, "runtime_twice"),
        ({"variants": ("torch@2.13:fused",)}, "runtime_without_variants"),
        ({"variants": ("torch@2.14:fused", "fused")}, "variant_of_engine_left_out"),
        ({"variants": ("fsed",)}, "variant_unknown_of_engine"),
        ({"variants": ("without:cpp_fused_0:1",)}, "variant_of_one_engine"),
        ({"ablate": True}, "option_not_beside"),
        ({"batch": 2}, "option_of_onnx_only"),
        ({"model": "torch:nothing"}, "torch_model_unknown"),
        ({"model": "net.py:make", "runtimes": (TWO[0], "jax@9")}, "code_beside"),
        ({"model": "nothing"}, "model_unknown_in_zoo"),
    ],
)
def test_what_cannot_be_recorded_is_refused(changes: dict[str, Any], code: str) -> None:
    with pytest.raises(FuseScopeError) as told:
        asked(**changes).plan()
    assert told.value.code == code and "\n" not in told.value.text


def test_an_onnx_model_is_translated_for_each_environment() -> None:
    recording = asked(model="mobilenetv2", runtimes=(*TWO, "onnxruntime@new"))
    assert recording.engine == "onnxruntime"
    assert recording.plan().names == (
        "torch@2.12:fused", "torch@2.13:fused", "onnxruntime@new:fused",
    )  # fmt: skip
    assert several.translated_to(recording.runtimes) == TWO


def pool() -> WorkerPool:
    return several.with_engines(WorkerPool("net", 1, 1.0, None, lambda: False), TWO)


def test_a_job_goes_to_the_environment_of_its_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[tuple[str, Any, Path | None, Any]] = []

    def run(task: str, job: Any, answer: Any, **more: Any) -> None:
        ran.append((task, job, more["python"], more["brought"]))

    monkeypatch.setattr(worker, "run", run)
    settings = SessionSettings("torch:mlp", "", (), 1, spin=False, compiled="/tmp/compiled")
    for name in ("torch@2.13:fused", "torch@2.12:eager"):
        pool().run("check", CheckJob(settings, name, "o", None, "g", "d", "m", "c", 0.0), Prepared)
    assert [(task, python, brought) for task, _, python, brought in ran] == [
        ("torch.check", Path("/2.13/bin/python"), ("msgspec",)),
        ("torch.check", Path("/2.12/bin/python"), ("msgspec",)),
    ]
    assert [job.variant for _, job, _, _ in ran] == ["fused", "eager"]
    folders = [job.settings.compiled for _, job, _, _ in ran]
    assert folders == ["/tmp/compiled/torch@2.13", "/tmp/compiled/torch@2.12"]


def test_what_ran_a_variant_is_the_engine_in_its_version() -> None:
    found = several.facts_of("torch@2.13", "1.23.4")
    assert (found.name, found.version, found.provider) == ("torch", "2.13.0+cu130", "CPU")
    assert several.facts_of("onnxruntime@new", "1.23.4").version == "1"
    assert chosen.version_of("torch@2.12") == "2.12.1+cpu"
    told = {"environment": "torch@2.12", "python": "3.11.7"}
    assert chosen.settings_of("torch@2.12") == told and chosen.settings_of("torch") == {}


MODEL = Graph(
    (Node("linear.0", "linear", ("x", "w"), ("y",)), Node("gelu.0", "gelu", ("y",), ("z",))),
    tuple(Tensor(name, "float32", (2, 2)) for name in "xwyz"),
    ("x",),
    ("z",),
)


def prepared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, other: Graph, **changes: Any
) -> across.Across:
    """What both environments make of a model, of which the second has it as `other`."""

    def run(task: str, job: PrepareJob, answer: Any, **more: Any) -> Prepared:
        is_other = "2.13" in str(more["python"])
        file = Path(job.folder) / "graph.json"
        file.write_bytes(graph_json(other if is_other else MODEL))
        made = Prepared(job.model, "", str(file), "abc", 2, None, None, (), "2")
        return msgspec.structs.replace(made, **changes) if is_other else made

    monkeypatch.setattr(worker, "run", run)
    job = asked().prepare_job(asked().plan(), tmp_path)
    return across.prepared(job, pool().engines)


def test_graphs_are_kept_where_both_have_the_model_in_the_same_operators(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = replace_source(MODEL, "net.py:9")
    found = prepared(monkeypatch, tmp_path, lines)
    assert Path(found.model.graph).read_bytes() == graph_json(MODEL)
    assert found.why_no_graph("torch@2.13:fused") is None


def replace_source(graph: Graph, line: str) -> Graph:
    """The same graph, with what does not change which operator is which."""
    nodes = tuple(msgspec.structs.replace(n, attributes={"source": line}) for n in graph.nodes)
    return msgspec.structs.replace(graph, nodes=nodes)


@pytest.mark.parametrize(
    ("other", "example"),
    [
        (Node("gelu_tanh.0", "gelu", ("y",), ("z",)), "gelu.0, gelu_tanh.0"),
        (Node("gelu.0", "gelu_tanh", ("y",), ("z",)), "gelu.0, gelu.0"),
        (Node("gelu.0", "gelu", ("w",), ("z",)), "gelu.0, gelu.0"),
        (None, "gelu.0"),
    ],
)
def test_other_operators_leave_no_graph_to_set_beside_the_models(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, other: Node | None, example: str
) -> None:
    nodes = (MODEL.nodes[0],) if other is None else (MODEL.nodes[0], other)
    found = prepared(monkeypatch, tmp_path, msgspec.structs.replace(MODEL, nodes=nodes))
    assert found.why_no_graph("torch@2.12:fused") is None
    assert found.why_no_graph("torch@2.13:fused") == (
        f"torch@2.13 has the model in other operators than torch@2.12: {example}"
    )


def test_other_weights_are_another_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(FuseScopeError) as told:
        prepared(monkeypatch, tmp_path, MODEL, sha256="def")
    assert told.value.code == "model_drawn_apart"
    assert "torch@2.13 than in torch@2.12" in told.value.text


def test_what_a_release_cannot_compile_is_left_out_and_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lacking = {"captured": "torch._inductor.lite_mode_options"}
    found = prepared(monkeypatch, tmp_path, MODEL, lacking=lacking)
    assert found.lacking == {"torch@2.13:captured": "torch._inductor.lite_mode_options"}
    recording = asked(variants=("captured", "fused"))
    said: list[str] = []
    plan = left_out.without(
        recording.plan(), found.lacking, recording, lambda one: said.append(str(one))
    )
    assert plan.names == ("torch@2.12:captured", "torch@2.12:fused", "torch@2.13:fused")
    [left] = said
    assert left == (
        "Without torch@2.13:captured: this release of the engine has no "
        "torch._inductor.lite_mode_options"
    )
    assert plan.settings["torch@2.13:fused"]["variants_left_out"] == (
        "torch@2.13:captured: no torch._inductor.lite_mode_options"
    )


def test_the_next_variant_is_the_baseline_unless_one_was_named() -> None:
    one = Recording(model="torch:mlp", runtime="torch", variants=("unfused", "eager", "fused"))
    lacking = {"unfused": "torch._inductor.debug.dump_inductor_provenance_info"}
    plan = left_out.without(one.plan(), lacking, one, lambda said: None)
    assert (plan.baseline, plan.names) == ("eager", ("eager", "fused"))
    for given in (replace(one, baseline="unfused"), replace(one, variants=("unfused", "fused"))):
        with pytest.raises(FuseScopeError) as told:
            left_out.without(given.plan(), lacking, given, lambda said: None)
        assert told.value.text == (
            "This release of the engine cannot compile unfused: it has no "
            "torch._inductor.debug.dump_inductor_provenance_info. Name two other variants, or "
            "record with another release."
        )
    assert left_out.without(one.plan(), {}, one, lambda said: None) == one.plan()

"""Findings about recordings of torch: those of ONNX Runtime's rules keep silent."""

from __future__ import annotations

from dataclasses import replace

from fusescope.analysis.advice import findings
from fusescope.analysis.advice.finding import Finding
from fusescope.analysis.advice.remedies import remedies
from fusescope.analysis.advice.sides import advised
from fusescope.analysis.wording.findings import gain_parts, limit_parts, remedy_text, why_text
from tests.compare.groups.test_torch_graphs import CAPTURED, FUSED, MODEL, UNFUSED
from tests.torch_experiments import called, graph, kernel, torch_experiment


def found(name: str, **more: object) -> dict[str, Finding]:
    variants = {"unfused": UNFUSED, "eager": MODEL, "captured": CAPTURED, "fused": FUSED}
    subject = advised(torch_experiment(MODEL, variants, **more), name)
    told = findings(subject)
    assert remedies(subject, told) == ()  # nothing can be tried
    return {one.code: one for one in told.found}


def test_a_graph_of_more_kernels_is_no_growth() -> None:
    names = ["x", *(f"t{n}" for n in range(1, 8))]
    steps = [
        kernel(n, "native_layer_norm", (names[n - 1],), names[n], n) for n in range(1, len(names))
    ]
    last = called("addmm:8", "aten::addmm", (names[-1], "w"), "y")
    many = graph(*steps, last, constant=("w",))
    subject = advised(torch_experiment(MODEL, {"unfused": many}), "unfused")
    assert "graph_growth" not in {one.code for one in findings(subject).found}


def test_gaps_of_the_eager_run_are_not_between_sessions() -> None:
    assert "pieces" not in found("eager", times_us={})


def text(parts: object) -> str:
    return "".join(getattr(part, "text", str(part)) for part in parts)  # type: ignore[attr-defined]


def test_the_compiler_says_how_many_operators_it_computes_again() -> None:
    one = found("fused", settings={"fused": {"recomputed_operators": 2}})["recomputed"]
    assert one.values["operators"] == 2
    assert "2 operations" in text(limit_parts(one)) and "several kernels" in text(limit_parts(one))
    assert "time" in text(gain_parts(one, None)) and "memory" not in text(gain_parts(one, None))
    assert why_text(one) and "clone" in remedy_text(one)
    assert "recomputed" not in found("fused")
    assert "clone" not in remedy_text(replace(one, values={**one.values, "engine": "jax"}))


def test_a_slower_group_is_answered_in_the_compilers_words() -> None:
    values = {"pattern": "a", "becomes": "b", "after_ns": 2.0, "before_ns": 1.0}
    compiled = Finding("fused_slower", values={**values, "engine": "torch"})
    assert "inductor" in remedy_text(compiled)
    assert "OPTIMIZER" in remedy_text(Finding("fused_slower", values=values))
    for engine, said in (("mindspore", "disable_cluster_ops"), ("jax", "jax.jit"),
                         ("openvino", "return the tensor in between")):  # fmt: skip
        told = remedy_text(Finding("fused_slower", values={**values, "engine": engine}))
        assert said in told and "OPTIMIZER" not in told
    kept = Finding("fused_slower", values={**values, "engine": "torch", "kind": "kept"})
    assert "Nothing was fused here" in why_text(kept) and "inductor" not in remedy_text(kept)

"""Eager against compiled where a GPU did the work: with the compiler's map, and without it.

The pair is written by hand in the form of files of PyTorch: kernels with a correlation to the call
of the host that launched them, triton's kernels below an event of their own name.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.packed.context import context_of, frames_of
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import coverage_sentence, diagnostic_sentence
from fusescope.analysis.wording.fusion.became import became
from tests import compiled_logs as logs
from tests.conftest import SHARED_TRACES

GIVEN = {
    "norm": "torch.nn.functional.layer_norm(l_x_, (8,))",
    "linear": "torch._C._nn.linear(norm, l_w_)",
    "view": "linear.view(8, 8)",
    "gelu": "torch._C._nn.gelu(view)",
    "y": "gelu + l_x_",
    "gelu_1": "torch._C._nn.gelu(y)",
}
STEPS = {
    "triton_per_fused_native_layer_norm_0:1": ["norm"],
    "extern_kernels.addmm:2": ["linear"],
    "triton_poi_fused_add_gelu_1:3": ["gelu", "y", "gelu_1"],
}
LOG = logs.log_text(GIVEN, GIVEN, STEPS, {name: [name] for name in GIVEN})
GELU = ("aten::gelu", "", ("vectorized_gelu",))
EAGER = (
    ("aten::layer_norm", "aten::native_layer_norm", ("vectorized_layer_norm",)),
    ("aten::linear", "aten::addmm", ("ampere_sgemm_64x32_tn", "cublasLt::splitKreduce_kernel")),
    ("aten::view", "", ()),
    GELU,
    ("aten::add", "", ("vectorized_add",)),
    GELU,
)
COMPILED = (
    ("triton_per_fused_native_layer_norm_0", "", ("triton_per_fused_native_layer_norm_0",)),
    ("aten::addmm", "", ("ampere_sgemm_64x32_tn",)),
    ("triton_poi_fused_add_gelu_1", "", ("triton_poi_fused_add_gelu_1",)),
)


def trace_of(data: bytes, log: str = "") -> Trace:
    beside = (Source("torch.log", log.encode()),) if log else ()
    value = read(Source("trace.json", data, beside=beside))
    assert isinstance(value, Trace)
    return value


def compared(log: str, eager: bytes = b"") -> Comparison:
    before = trace_of(eager or logs.device_steps(EAGER))
    after = trace_of(logs.device_steps(COMPILED, key=logs.KEY, kernel_us=3), log)
    return compare(side_of_trace(before), side_of_trace(after))


def shown(comparison: Comparison) -> list[tuple[str, str, str, str, str]]:
    return [
        (
            group.kind,
            group.known_by,
            *(
                " ".join(op.name for op in side)
                for side in (group.original, group.baseline, group.candidate)
            ),
        )  # type: ignore[misc]
        for group in comparison.fusion.groups
    ]


def notes(comparison: Comparison) -> dict[str, str]:
    found = (*comparison.diagnostics, *comparison.candidate.trace.diagnostics)
    return {note.code: diagnostic_sentence(note) for note in found}


def test_kernels_of_eager_mode_are_told_apart_by_the_graph_that_was_compiled() -> None:
    comparison = compared(LOG)
    assert shown(comparison) == [
        (
            "replaced", "compiler", "norm", "vectorized_layer_norm",
            "triton_per_fused_native_layer_norm_0",
        ),
        (
            "kept", "compiler", "linear", "ampere_sgemm_64x32_tn cublasLt::splitKreduce_kernel",
            "ampere_sgemm_64x32_tn",
        ),
        (
            "fused", "compiler", "gelu y gelu_1", "vectorized_gelu vectorized_add vectorized_gelu",
            "triton_poi_fused_add_gelu_1",
        ),
    ]  # fmt: skip
    rows = comparison.ledger.rows.set_index("group").sort_index()
    assert rows["before_ns"].tolist() == [5_000, 10_000, 15_000]
    assert rows["after_ns"].tolist() == [3_000, 3_000, 3_000]
    assert comparison.ledger.ungrouped.empty
    assert rows["source"].tolist() == ["model.py:9"] * 3


def test_without_the_log_groups_are_what_names_list_and_say_which_setting_would_tell() -> None:
    comparison = compared("")
    assert [(by, original) for _, by, original, *_ in shown(comparison)] == [
        ("listed", "aten::native_layer_norm"),
        ("launched_by", "aten::addmm"),
        ("listed", "aten::gelu aten::add"),
    ]
    told = notes(comparison)
    assert "TORCH_TRACE=FOLDER and INDUCTOR_PROVENANCE=1" in told["compiler_map_missing"]
    assert "A name proves nothing" in told["groups_listed"]
    assert "No graph confirms them" in coverage_sentence(comparison)
    members = comparison.ledger.rows.query("known_by == 'listed'")
    assert "a claim, no proof" in became(members, "").text(n=2)


def test_a_program_of_other_operators_is_not_laid_beside_the_graph() -> None:
    other = [("aten::tanh", "", ("vectorized_tanh",))] * 6
    comparison = compared(LOG, logs.device_steps(other))
    assert "originals_unmatched" in notes(comparison)
    assert not any(by == "compiler" for _, by, *_ in shown(comparison))


def test_what_is_outside_the_graph_is_in_no_group_of_it() -> None:
    outside = ("aten::_foreach_add_", "", ("multi_tensor_apply",))
    comparison = compared(LOG, logs.device_steps((*EAGER, outside)))
    assert len(shown(comparison)) == 3
    assert list(comparison.ledger.ungrouped["name"]) == ["multi_tensor_apply"]


def test_kernels_stem_from_the_operator_that_the_program_called() -> None:
    """Not from one that it calls inside, nor from a node of autograd around it."""
    trace = trace_of(logs.device_steps(EAGER))
    program = trace.program
    assert program is not None
    names = [program.names[place] for place in program.name_of]
    assert names == [name for name, _, _ in EAGER] * 2
    assert program.runs.tolist() == [0] * 6 + [1] * 6
    by = program.of(trace.calls["source_row"].to_numpy("int64"))
    assert sorted(by.tolist()) == [0, 1, 1, 3, 4, 5, 6, 7, 7, 9, 10, 11]
    inside = ("autograd::engine::evaluate_function: GeluBackward0", "aten::gelu", ("k",))
    around = trace_of(logs.device_steps([inside])).program
    assert around is not None
    assert [around.names[place] for place in around.name_of] == ["aten::gelu"] * 2
    assert trace_of(logs.device_steps(COMPILED, key=logs.KEY)).program is None


def test_a_program_is_packed_with_its_trace() -> None:
    trace = trace_of(logs.device_steps(EAGER))
    again = context_of(frames_of(trace))["program"]
    assert trace.program is not None
    before = np.array(trace.program.names)[trace.program.name_of]
    assert (np.array(again.names)[again.name_of] == before).all()
    for column in ("runs", "rows", "launched_by"):
        assert (getattr(again, column) == getattr(trace.program, column)).all()
    with pytest.raises(ValueError, match="without what it launched"):
        context_of({"program": frames_of(trace)["program"]})
    with pytest.raises(ValueError, match="an operator is not there"):
        dataclasses.replace(again, launched_by=again.launched_by + 1000)


@pytest.mark.usefixtures("shared_traces")
def test_real_files_of_a_gpu_tell_their_program() -> None:
    for name in ("h100-bert-small", "mi300-train_resnet18"):
        trace = read_path(SHARED_TRACES / f"third_party/kineto/{name}.json.gz")
        assert isinstance(trace, Trace) and trace.program is not None
        rows = trace.calls["source_row"].to_numpy("int64")
        known = trace.program.of(rows) >= 0
        assert trace.calls["dur_ns"].to_numpy()[known].sum() > 0.9 * trace.calls["dur_ns"].sum()

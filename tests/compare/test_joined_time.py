"""Different models are named as such; the same model under other names is not."""

from __future__ import annotations

from dataclasses import replace

from fusescope.analysis import wording
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Fusion
from fusescope.analysis.compare.joined_time import joined_shares
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.report.exports.comparison_json import comparison_values
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame

# name, launcher, class, inputs, time in ns
Op = tuple[str, str | None, str, str | None, int]


def trace_of(label: str, operators: list[Op]) -> Trace:
    count = range(len(operators))
    name, launcher, op_class, inputs, dur = zip(*operators, strict=True)
    starts = [sum(dur[:at]) for at in count]
    return Trace(
        Meta("hand", "test", file_name=label, sha256=label * 4),
        runs_frame(run=[0], kind=["step"], start_ns=[0], dur_ns=[sum(dur)], profiled=[True]),
        operators_frame(
            operator=count,
            name=name,
            op_type=name,
            op_class=op_class,
            launched_by=launcher,
            inputs=inputs,
            level=["device_kernel"] * len(operators),
        ),
        calls_frame(operator=count, run=[0] * len(operators), start_ns=starts, dur_ns=dur),
    )


RESNET = trace_of(
    "resnet.json",
    [
        ("implicit_gemm", "aten::cudnn_convolution", "convolution", None, 900),
        ("vectorized_add", "aten::add_", "elementwise", None, 100),
    ],
)
BERT = trace_of(
    "bert.json",
    [
        ("ampere_sgemm", "aten::addmm", "matrix_product", None, 500),
        ("elementwise_add", "aten::add_", "elementwise", None, 500),
    ],
)
# As RESNET, by the kernels of another device.
OTHER_GPU = trace_of(
    "other.json",
    [
        ("Cijk_Ailk", "aten::cudnn_convolution", "convolution", None, 1200),
        ("add_kernel", "aten::add_", "elementwise", None, 90),
    ],
)


def of(first: Trace, second: Trace) -> Comparison:
    return compare(side_of_trace(first), side_of_trace(second))


def test_shares_by_hand() -> None:
    """add_ joins: 100 of 1000 ns and 500 of 1000 ns; convolution and product do not."""
    shares = joined_shares(of(RESNET, BERT).operators, Fusion("none"), (RESNET, BERT))
    assert shares == (0.1, 0.5)
    assert joined_shares(of(RESNET, OTHER_GPU).operators, Fusion("none"), (RESNET, OTHER_GPU)) == (
        1.0,
        1.0,
    )


def test_different_models_have_no_change_anywhere() -> None:
    comparison = of(RESNET, BERT)
    sentence = wording.verdict_sentence(comparison)
    assert sentence == "resnet.json and bert.json look like different models"
    assert comparison.verdict.speedup is None and comparison.verdict.reason == "different_models"
    assert comparison.figures
    assert all(figure.change is None for figure in comparison.figures)
    assert comparison.diagnostics[0].code == "different_models"
    assert wording.change_title(comparison) == "Fusion groups"
    values = comparison_values(comparison)
    assert values["verdict"]["reason"] == "different_models"
    assert values["latency"]["change"] is None and values["verdict"]["latency_change"] is None
    assert values["fusion"]["reconciliation"]["delta_ns"] is None
    rows = values["operators"] + values["by_type"] + values["by_class"] + values["by_launcher"]
    assert rows and all(row["delta_ns"] is None for row in rows)


def test_another_device_is_the_same_model_and_named_as_the_cause() -> None:
    comparison = of(RESNET, OTHER_GPU)
    assert comparison.verdict.outcome == "noise_unknown" and comparison.verdict.speedup is not None
    assert wording.change_title(comparison) == "Where the change came from"
    first, second = (
        replace(trace, meta=replace(trace.meta, device=device))
        for trace, device in ((RESNET, "H100"), (OTHER_GPU, "MI300X"))
    )
    title = wording.change_title(of(first, second))
    assert title == "Where the change came from: device (H100 → MI300X)"
    # What a file says goes to a page as a name, which is never read as Markdown.
    names = [p.text for p in wording.change_parts(of(first, second)) if p.role == "name"]
    assert names == ["H100", "MI300X"]


def test_shape_and_class_tie_operators_of_other_names() -> None:
    first = trace_of(
        "a.json", [("x", None, "convolution", "float32[8,3,9,9]; float32[4,3,3,3]", 9)]
    )
    second = trace_of("b.json", [("y", None, "convolution", "float16[8,3,9,9]", 5)])
    assert joined_shares(of(first, second).operators, Fusion("none"), (first, second)) == (1.0, 1.0)
    assert wording.change_title(of(first, second)) == (
        "Where the change came from: precision (float32 → float16)"
    )


def test_one_opaque_region_is_not_called_another_model() -> None:
    region = trace_of("compiled.json", [("Torch-Compiled Region: 0/0", None, "unknown", None, 90)])
    comparison = of(RESNET, region)
    assert comparison.verdict.reason == "single_run"

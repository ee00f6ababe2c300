"""Kernels of two traces joined by what launched them, then by class."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.groups.fusion import Fusion
from fusescope.analysis.compare.groups.inferred import infer_groups
from fusescope.analysis.compare.groups.launched import join_by_launcher
from fusescope.analysis.compare.joining.launchers import launchers_that_differ
from fusescope.analysis.compare.side import Side, side_of_trace
from fusescope.analysis.readers import read_path
from fusescope.analysis.report.html import report_html
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame
from fusescope.analysis.wording.fusion.terms import no_speedups_sentence
from tests.conftest import SHARED_TRACES

KINETO = SHARED_TRACES / "third_party/kineto"

# name, launcher, class, duration in ns
Kernel = tuple[str, str | None, str, int]


def side(*kernels: Kernel, level: str = "device_kernel") -> Side:
    """One step in which each kernel runs once, back to back."""
    names, launchers, classes, times = zip(*kernels, strict=True)
    starts = [sum(times[:place]) for place in range(len(times))]
    span = sum(times) + 100
    trace = Trace(
        meta=Meta("kineto", "PyTorch"),
        runs=runs_frame(run=[0], kind=["step"], start_ns=[0], dur_ns=[span], profiled=[True]),
        operators=operators_frame(
            operator=range(len(names)),
            name=list(names),
            op_type=list(names),
            op_class=list(classes),
            level=[level] * len(names),
            launched_by=list(launchers),
        ),
        calls=calls_frame(
            operator=range(len(names)), run=[0] * len(names), start_ns=starts, dur_ns=list(times)
        ),
    )
    return side_of_trace(trace)


H100 = side(
    ("cutlass_80", "aten::bmm", "matrix_product", 50),
    ("sm90_gemm", "aten::bmm", "matrix_product", 30),
    ("softmax", "aten::_softmax", "activation", 20),
    ("layer_norm", "aten::native_layer_norm", "normalisation", 7),
    ("cudnn_conv", "aten::cudnn_convolution", "convolution", 40),
    ("triton_poi_a", "Torch-Compiled Region: 0/0", "elementwise", 5),
    ("only_here", "aten::roll", "layout", 3),
)
MI300 = side(
    ("Cijk_Alik", "aten::bmm", "matrix_product", 140),
    ("softmax_warp", "aten::_softmax", "activation", 90),
    ("layer_norm", "aten::native_layer_norm", "normalisation", 9),
    ("igemm_fwd", "aten::miopen_convolution", "convolution", 65),
    ("triton_poi_b", "Torch-Compiled Region: 0/0", "elementwise", 6),
)


def joined(before: Side, after: Side) -> Fusion:
    return join_by_launcher(infer_groups(before, after), before, after)


def shown(fusion: Fusion) -> list[str]:
    return [
        f"{group.known_by} {group.original[0].name}: {group.kind} "
        f"{'+'.join(op.name for op in group.baseline)} -> "
        f"{'+'.join(op.name for op in group.candidate)}"
        for group in fusion.groups
    ]


def test_kernels_join_by_launcher_and_then_by_class() -> None:
    fusion = joined(H100, MI300)
    assert shown(fusion) == [
        "launched_by aten::bmm: replaced cutlass_80+sm90_gemm -> Cijk_Alik",
        "launched_by aten::_softmax: replaced softmax -> softmax_warp",
        "inferred layer_norm: kept layer_norm -> layer_norm",
        "op_class convolution: replaced cudnn_conv -> igemm_fwd",
        # A compiled region is not an operator of the framework.
        "op_class elementwise: replaced triton_poi_a -> triton_poi_b",
    ]
    assert [group.id for group in fusion.groups] == [1, 2, 3, 4, 5]
    assert {(note.code, note.count) for note in fusion.diagnostics} == {
        ("groups_inferred", 1),
        ("groups_launched", 2),
        ("groups_by_class", 2),
    }
    assert (fusion.mapped_nodes, fusion.original_nodes) == (6, 7)


def test_the_ledger_says_what_each_launcher_gained() -> None:
    comparison = compare(H100, MI300)
    rows = comparison.ledger.rows.set_index("pattern")
    assert rows["gain_ns"].to_dict() == {
        "aten::_softmax": 20 - 90,
        "aten::bmm": 80 - 140,
        "convolution": 40 - 65,
        "layer_norm": 7 - 9,
        "elementwise": 5 - 6,
    }
    assert list(comparison.ledger.ungrouped["name"]) == ["only_here"]
    sums = comparison.ledger.reconciliation
    assert (sums.groups_ns, sums.ungrouped_ns) == (70 + 60 + 25 + 2 + 1, -3)


@pytest.mark.parametrize(("most", "source", "inside"), [(7, "inferred", 158), (6, "none", 0)])
def test_more_operators_than_can_be_compared_form_no_groups(
    most: int, source: str, inside: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 7 operators; all of the change is outside of groups then, and operators still join."""
    monkeypatch.setattr("fusescope.analysis.compare.groups.grouping.MOST_DISTINCT", most)
    comparison = compare(H100, MI300)
    assert comparison.fusion.source == source
    codes = {note.code for note in comparison.diagnostics}
    assert ("groups_not_formed" in codes) == (source == "none")
    sums = comparison.ledger.reconciliation
    assert sums.groups_ns == inside and sums.groups_ns + sums.ungrouped_ns == 310 - 155
    both = comparison.operators[comparison.operators["side"] == "both"]
    assert "layer_norm" in set(both["name"].astype(str))
    assert "layer_norm" in report_html(comparison)


def test_groups_joined_only_by_launcher_or_class_have_no_speedup() -> None:
    """Of the same kernel on both sides it is 7 / 9; kernels of one class may be of other work."""
    comparison = compare(H100, MI300)
    speedups = comparison.ledger.patterns.set_index("pattern")["speedup"]
    assert speedups.dropna().to_dict() == {"layer_norm": 7 / 9}
    assert len(speedups) == 5
    why = "Groups joined only by class or launcher have no speedup"
    assert no_speedups_sentence(comparison.ledger).startswith(why)
    assert why in report_html(comparison)
    assert no_speedups_sentence(compare(H100, H100).ledger) == ""


REGION = "Torch-Compiled Region: 0/0"
EAGER = side(
    ("add_kernel", "aten::add", "elementwise", 10),
    ("layer_norm", "aten::native_layer_norm", "normalisation", 20),
    ("gemm", "aten::addmm", "matrix_product", 50),
    ("gelu_kernel", "aten::gelu", "activation", 30),
    ("silu_kernel", "aten::silu", "activation", 7),
    ("roll", "aten::roll", "layout", 3),
)
COMPILED = side(
    ("triton_red_fused_add_native_layer_norm_0", REGION, "normalisation", 22),
    ("gemm", "aten::addmm", "matrix_product", 51),
    # The product is a library's: only its bias is in here.
    ("triton_poi_fused_addmm_gelu_1", REGION, "activation", 12),
    ("vector_add", "aten::add_", "elementwise", 4),
    ("silu_other", "aten::silu", "activation", 6),
)


def test_generated_kernels_stand_with_what_launched_the_types_that_they_list() -> None:
    both = "triton_red_fused_add_native_layer_norm_0+vector_add"
    assert shown(joined(EAGER, COMPILED)) == [
        f"listed aten::add: replaced add_kernel+layer_norm -> {both}",
        "inferred gemm: kept gemm -> gemm",
        "listed aten::gelu: replaced gelu_kernel -> triton_poi_fused_addmm_gelu_1",
        "launched_by aten::silu: replaced silu_kernel -> silu_other",
    ]
    # With the sides exchanged the same stands together.
    assert len(joined(COMPILED, EAGER).groups) == 4


def test_two_compiled_sides_are_not_joined_by_what_names_list() -> None:
    other = side(("triton_poi_fused_gelu_9", REGION, "activation", 5),
                 ("add_kernel", "aten::add", "elementwise", 9))  # fmt: skip
    assert "listed aten::add" not in " ".join(shown(joined(COMPILED, other)))


def test_a_launcher_is_one_group_with_all_that_it_launched() -> None:
    """Else its row would say another time than the table of launchers."""
    before = side(("gemm_a", "aten::mm", "matrix_product", 10),
                  ("gemm_b", "aten::mm", "matrix_product", 20))  # fmt: skip
    after = side(("gemm_a", "aten::mm", "matrix_product", 11),
                 ("gemm_c", "aten::mm", "matrix_product", 5))  # fmt: skip
    assert [group.candidate[0].name for group in infer_groups(before, after).groups] == ["gemm_a"]
    assert shown(joined(before, after)) == [
        "launched_by aten::mm: replaced gemm_a+gemm_b -> gemm_a+gemm_c"
    ]


def test_operators_of_a_framework_do_not_join_by_class() -> None:
    """Their types are the same everywhere: what does not join is another operator."""
    before = side(("Conv_1", None, "convolution", 10), level="graph_layer")
    after = side(("Conv_2", None, "convolution", 20), level="graph_layer")
    assert joined(before, after).groups == ()


def test_without_launchers_and_classes_nothing_changes() -> None:
    before = side(("k1", None, "unknown", 10), ("k2", None, "elementwise", 10))
    after = side(("k3", None, "unknown", 10))
    assert joined(before, after) == infer_groups(before, after)


KERNELS = st.lists(
    st.tuples(
        st.sampled_from("abcdef"),
        st.sampled_from(["aten::x", "aten::y", None]),
        st.sampled_from(["elementwise", "convolution", "unknown"]),
        st.integers(1, 50),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=3)
@given(KERNELS, KERNELS)
def test_every_kernel_is_in_one_group_or_in_none(
    before: Sequence[Kernel], after: Sequence[Kernel]
) -> None:
    first, second = side(*before), side(*after)
    comparison = compare(first, second)
    fusion, ledger = comparison.fusion, comparison.ledger
    for part in ("baseline", "candidate"):
        rows = [op.row for group in fusion.groups for op in getattr(group, part)]
        assert None not in rows and len(rows) == len(set(rows))
        assert all(getattr(group, part) for group in fusion.groups)
    sums = ledger.reconciliation
    whole = sum(kernel[3] for kernel in after) - sum(kernel[3] for kernel in before)
    if comparison.is_of_other_work:
        assert sums.groups_ns is None  # too little joins: no sum is shown
        return
    assert sums.groups_ns is not None and sums.ungrouped_ns is not None
    assert sums.groups_ns + sums.ungrouped_ns == whole


@pytest.mark.exhaustive
@settings(max_examples=40)
@given(KERNELS, KERNELS)
def test_every_kernel_of_many_traces(before: Sequence[Kernel], after: Sequence[Kernel]) -> None:
    test_every_kernel_is_in_one_group_or_in_none.hypothesis.inner_test(before, after)


@pytest.mark.usefixtures("shared_traces")
def test_two_gpus_leave_nothing_of_one_model_without_a_group() -> None:
    h100, mi300 = (
        side_of_trace(read_path(KINETO / f"{name}-bert-small.json.gz"))
        for name in ("h100", "mi300")
    )
    comparison = compare(h100, mi300)
    assert comparison.ledger.ungrouped.empty
    launched = [group for group in comparison.fusion.groups if group.known_by == "launched_by"]
    assert "aten::addmm" in {group.original[0].name for group in launched}
    # The table of operators sets kernels beside each other that one launcher ran on equal inputs.
    joined = comparison.operators["matched_by"]
    assert set(joined.dropna()) == {"name", "launcher"}
    # One copies to the host, the other on the device: these are two kinds of copies.
    alone = comparison.operators[joined.isna()]
    assert {str(name).split(" (")[0] for name in alone["name"]} == {"Memcpy DtoH", "Memcpy DtoD"}


def test_rows_of_one_name_say_what_launched_them() -> None:
    """The copy of 20 ns was launched by nothing that the file names: only the other one joins."""
    before = side(("copy", "aten::copy_", "layout", 30), ("copy", None, "layout", 20))
    after = side(("copy", "aten::copy_", "layout", 25), ("gemm", "aten::mm", "matrix_product", 5))
    comparison = compare(before, after)
    rows = comparison.operators
    launched = launchers_that_differ(rows, before.trace, after.trace)
    assert launched is not None
    told = zip(rows["name"], launched, rows["per_run_ns_baseline"].fillna(0), strict=True)
    assert sorted(told) == [("copy", "", 20), ("copy", "aten::copy_", 30), ("gemm", "aten::mm", 0)]
    alone = compare(after, after).operators
    assert launchers_that_differ(alone, after.trace, after.trace) is None
    html = report_html(comparison)
    assert "launched by: aten::copy_" in html and "launched by: unknown" in html
    assert "launched by: " not in report_html(compare(after, after))

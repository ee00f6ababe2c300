"""Labels and facts of single changes: what stands beside a bar, and behind a sentence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.explanation import explain
from fusescope.analysis.compare.explanation.explanation import Change, KernelTime, UnitTimes
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.messages import language
from fusescope.analysis.report.explanation.rows import explained_rows
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.explanation import change_sentence
from fusescope.analysis.wording.explanation.details import known_by, where_names
from fusescope.analysis.wording.explanation.kernels import kernel_text, names_text
from fusescope.analysis.wording.explanation.waterfall import change_label, steps_of
from tests.compare.explanation.test_unit_sides import with_earlier
from tests.step_traces import Kernel
from tests.step_traces import steps_of as trace_of

CUT = "vectorized_elementw…rt_kernel_cuda> fp32"


def unit() -> UnitTimes:
    found = explain(trace_of([[Kernel("a", 100)]]), trace_of([[Kernel("a", 100)]]))
    assert found is not None
    return found.unit


def test_idle_time_of_an_unknown_cause_is_not_all_idle_time() -> None:
    """The device waits 100 us before the second kernel, 300 after the change, where no thread of
    the host runs anything; in a file without the host it is all idle time that changes."""

    def waiting(us: int, *, has_host: bool) -> Trace:
        step = [Kernel("a", 50), Kernel("b", 50, after_us=us)]
        launches = [(0, 0.0), (0, 49.0 + us)] if has_host else []
        spans = [(0, "runtime", "cudaLaunchKernel", 0, 2_000)] if has_host else []
        return trace_of([step], spans=spans, launches=launches)

    for has_host, label in ((True, "idle: not known why"), (False, "idle time")):
        found = explain(waiting(100, has_host=has_host), waiting(300, has_host=has_host))
        assert found is not None
        (change,) = found.changes
        assert (change.change_ns, change_label(change)) == (200_000, label)
        assert "The files do not show what the host did then." in change_sentence(
            change, found.unit
        )
    pair = explain(waiting(100, has_host=False), waiting(300, has_host=True))
    assert pair is not None
    (change,) = pair.changes
    said = change_sentence(change, pair.unit)
    assert "The baseline's file does not show what the host did then." in said


def test_kernels_of_no_known_operator_are_named_by_their_class_as_it_is_called(
    translations: Path,
) -> None:
    change = Change("operator", 5, where=("matrix_product",), values={"op_class": "matrix_product"})
    assert change_label(change) == "matrix product, operator not in the file"
    assert where_names(change) == ("matrix product, operator not in the file",)
    with language.speaking("zh"):
        assert change_label(change) == "矩阵乘，文件中没有其算子"
    shaped = replace(change, code="shapes", where=("matrix_product", "float32[4,8]"))
    assert change_label(shaped) == "matrix product, operator not in the file, float32[4,8]"


@pytest.mark.parametrize(
    ("where", "label"),
    [
        (("float32[4,8]",), "aten::copy_, float32[4,8]"),
        (("Layer", "float32[4,8]"), "aten::copy_, float32[4,8]"),
        (("Layer", "aten::mm", "float32[4,8]"), "aten::mm, float32[4,8]"),
    ],
)
def test_shapes_stand_behind_the_operator_or_the_kernel(where: tuple[str, ...], label: str) -> None:
    kernels = (KernelTime("aten::copy_", 2, 200, "copy"),)
    assert change_label(Change("shapes", 5, where=where, before=kernels, after=kernels)) == label


def test_a_size_of_tensors_is_no_bare_number() -> None:
    change = Change("added", 5, where=("151936",), values={"size": 151_936})
    assert where_names(change) == ("tensors with a dimension of 151\N{NARROW NO-BREAK SPACE}936",)


def test_kernels_over_shapes_are_counted_as_kernels_and_copies_apart() -> None:
    """Two kernels and a copy of one operator over one shape: three things, two of them kernels."""
    kernels = (KernelTime("gemm", 2, 200, "matrix_product"),)
    with_copy = (*kernels, KernelTime("Memcpy DtoD", 1, 10, "copy", is_copy=True))
    where = ("aten::mm", "float32[4,8]")
    change = Change("shapes", 100, 2, where, kernels, kernels)
    assert "instead of 200 ns in 2 kernels: " in change_sentence(change, unit())
    copied = replace(change, before=with_copy, after=with_copy)
    assert "instead of 210 ns in 3 kernels, copies and fills: " in change_sentence(copied, unit())
    on_host = replace(unit(), on_device=False)
    assert "instead of 200 ns in 2 executions: " in change_sentence(change, on_host)


@pytest.mark.parametrize("code", ["added", "removed", "outlier"])
def test_what_only_one_side_has_is_not_known_by_names_of_both(code: str) -> None:
    change = Change("added", 5, evidence="named")
    assert known_by(replace(change, code=code), on_device=True) == ""  # type: ignore[arg-type]
    assert known_by(replace(change, code="time"), on_device=True) == ("names that both files have")
    guessed, ordered = (replace(change, evidence=how) for how in ("guessed", "ordered"))
    assert known_by(guessed, on_device=True) == "the class of the kernels alone"
    assert known_by(guessed, on_device=False) == "the class of the operators alone"
    assert known_by(ordered, on_device=False) == "the order of the operators"


def test_kernels_of_other_names_are_known_by_the_name_of_what_launched_them() -> None:
    before, after = (
        (KernelTime(name, 1, 100, "convolution"),) for name in ("volta_scudnn", "dgrad_engine")
    )
    change = Change("replaced", 5, 1, ("aten::conv2d",), before, after, evidence="named")
    launcher = "the name of the operator that launched the kernels, which both files have"
    assert known_by(change, on_device=True) == launcher
    assert known_by(replace(change, after=(*before, *after)), on_device=True) == launcher
    assert known_by(replace(change, after=before), on_device=True) == "names that both files have"
    assert known_by(change, on_device=False) == "names that both files have"


@pytest.mark.parametrize(("code", "side"), [("added", "candidate"), ("removed", "baseline")])
def test_nothing_is_new_of_two_sides_that_stand_beside_each_other(code: str, side: str) -> None:
    """Ranks, devices and phases do not follow one another."""
    kernel = (KernelTime("gemm", 1, 100, "matrix_product"),)
    change = Change(code, 100, 1, ("gemm",), kernel, kernel)  # type: ignore[arg-type]
    assert change_label(change, are_two=True) == f"only in the {side}: gemm"
    assert change_label(change) == f"{'new' if code == 'added' else 'gone'}: gemm"


@pytest.mark.parametrize("code", ["operator", "replaced"])
def test_no_kernel_runs_instead_of_one_that_is_shown_alike(code: str) -> None:
    """Two kernels of 100 and 300 ns whose names were cut to the same text."""
    before, after = (KernelTime(CUT, 4, ns, "elementwise") for ns in (100, 300))
    change = Change(code, 200, 4, ("aten::rsqrt",), (before,), (after,))  # type: ignore[arg-type]
    assert "instead of vectorized" not in change_sentence(change, unit())
    assert "300 ns instead of 100 ns" in change_sentence(change, unit())
    assert "instead of" not in change_label(change)
    other = replace(change, after=(replace(after, name="rsqrt_v2"),))
    assert f"rsqrt_v2 instead of {CUT}" in change_sentence(replace(other, code="operator"), unit())


def test_bars_and_rows_leave_out_the_same_smaller_changes() -> None:
    """Nine kernels take 20 to 100 us longer: five are told, four are left, 20 to 50 us."""
    names = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota")
    sides = []
    for more in (0, 10):
        step = [Kernel(each, 200 + at * more) for at, each in enumerate(names, 2)]
        step += [Kernel(each, 300) for each in ("copy", "gemm", "norm", "softmax")]
        sides.append(side_of_trace(trace_of([step] * 3)))
    comparison = compare(*sides)
    rows = explained_rows(comparison, [None] * 9)
    assert rows is not None
    steps = steps_of(comparison)
    assert (len(rows.rows), rows.more_title) == (5, "4 smaller changes, +140 µs together")
    assert [step.value_ns for step in steps[1:7]] == [
        *(1000 * us for us in (100, 90, 80, 70, 60)), 140_000
    ]  # fmt: skip
    assert steps[6].label == "4 smaller changes"
    assert sum(step.value_ns for step in steps[:-1]) == steps[-1].value_ns


def test_layers_of_before_the_file_are_told_in_the_details() -> None:
    """Ten of 24 layers of 100 us; after the change another kernel of 200 us runs in the step."""
    before, after = with_earlier(10), with_earlier(10)
    after.calls.loc[after.calls.index[-1], "dur_ns"] += 200_000
    comparison = compare(side_of_trace(before), side_of_trace(after))
    assert comparison.explanation is not None
    rows = explained_rows(comparison, [None] * len(comparison.explanation.changes))
    assert rows is not None and rows.rows
    text = "".join(part.text for sentence in rows.details for part in sentence)
    assert (
        text.count("When the recording began the device still ran 10 layers of earlier work") == 1
    )


def test_more_than_two_operators_that_a_file_numbers_are_named_by_what_they_are() -> None:
    """As Ascend's graphs number them: 36 names of casts say no more than Cast."""
    casts = [
        KernelTime(name, 1, 10, "cast", family="Cast")
        for name in ("trans_Cast_109", "trans_Cast_65", "Cast7")
    ]
    others = [KernelTime("MatMul68", 1, 10, family="MatMul"), KernelTime("x_7", 1, 10, family="Op")]
    assert str(names_text(casts)) == "Cast"
    assert str(names_text(casts[:2])) == "trans_Cast_109 and trans_Cast_65"
    assert str(names_text([*casts, *others])) == "Cast, MatMul and 1 more"
    layers = [KernelTime(f"Conv_{at} + Relu", 1, 10, family="CaskConvolution") for at in range(3)]
    assert str(names_text(layers)) == "Conv_0 + Relu, Conv_1 + Relu and 1 more"


def test_a_longer_time_from_launch_to_start_is_not_said_of_the_host() -> None:
    """464 us more, 716 of them from the launch to the start: the host's own part got shorter."""
    values: dict[str, str | int | float] = {
        "kind": "launching", "before_ns": 1_900_000, "after_ns": 2_364_000,
        "call": "hipLaunchKernel", "each_ns": 9_000, "was_ns": 5_000,
        "call_before_ns": 300_000, "call_after_ns": 540_000,
    }  # fmt: skip
    before, after = (
        (KernelTime("", 60, ns), KernelTime("hipLaunchKernel", 60, own))
        for ns, own in ((98_000, 1_802_000), (814_000, 1_550_000))
    )
    change = Change("idle", 464_000, before=before, after=after, values=values)
    found = explain(trace_of([[Kernel("a", 50)]]), trace_of([[Kernel("a", 90)]]))
    assert found is not None
    said = change_sentence(change, found.unit).replace("**", "")
    assert "until the next kernel starts: +464 µs per step." in said
    assert (
        "Of this, 814 µs instead of 98.0 µs pass between the launch of a kernel and its start"
        in said
    ), "of 60"
    assert "while the host launches" not in said
    own = replace(change, before=before[1:], after=after[1:])
    assert "while the host launches the next kernel" in change_sentence(own, found.unit)


def test_a_part_from_launch_to_start_is_said_where_it_is_much_of_a_change() -> None:
    """1 655 us more, 683 of them (41 %) from the launch to the start, where the host is done; of
    212 in 2 620 (8 %) it is not said."""
    values: dict[str, str | int | float] = {
        "kind": "launching", "before_ns": 657_000, "after_ns": 2_312_000,
        "call": "hipLaunchKernel", "each_ns": 4_820, "was_ns": 3_980,
        "call_before_ns": 4_100_000, "call_after_ns": 5_070_000,
    }  # fmt: skip
    before, after = (
        (KernelTime("", 29, ns), KernelTime("aten::addmm", 20, own))
        for ns, own in ((53_500, 603_500), (736_500, 1_575_500))
    )
    change = Change("idle", 1_655_000, before=before, after=after, values=values)
    found = explain(trace_of([[Kernel("a", 50)]]), trace_of([[Kernel("a", 90)]]))
    assert found is not None
    said = change_sentence(change, found.unit).replace("**", "")
    assert "while the host launches" not in said
    assert (
        "Of this, 737 µs instead of 53.5 µs pass between the launch of a kernel and its start"
        in said
    )
    little = replace(change, change_ns=2_620_000, before=(before[1],), after=(after[1],))
    assert "each hipLaunchKernel takes 4.82 µs instead of 3.98 µs" in change_sentence(
        little, found.unit
    )


def test_kernels_of_fewer_names_are_counted_by_name_too() -> None:
    """13 kernels of 3 names before each of 4 products: 2 that are named and 1 more are no 13."""
    kernels = tuple(KernelTime(name, n, 100) for name, n in (("q", 20), ("r", 20), ("s", 12)))
    values: dict[str, str | int | float] = {"kernels": 13, "next_class": "matrix_product"}
    change = Change("added", 300, 4, ("gemm",), after=kernels, values=values)
    said = change_sentence(change, unit()).replace("**", "")
    assert said.startswith("13 new kernels run before each of 4 executions of matrix product")
    assert said.endswith("(3 kinds: q, r and 1 more).")
    each_once = tuple(KernelTime(name, 1, 100) for name in "qrs")
    alone = Change("added", 300, after=each_once)
    assert change_sentence(alone, unit()).endswith("(q, r and 1 more).")


def test_fills_that_kernels_do_are_counted_apart_from_kernels() -> None:
    """11 kernels and 2 fills before each of 228 products are 2 964, of which 2 508 are kernels."""
    fill = KernelTime("__amd_rocclr_fillBufferAligned", 456, 100, "copy", is_copy=True)
    kernels = (KernelTime("quantise", 2_508, 900), fill)
    values: dict[str, str | int | float] = {"kernels": 13, "next_class": "attention"}
    change = Change("added", 1_000, 228, ("sage_fwd",), after=kernels, values=values)
    said = change_sentence(change, unit()).replace("**", "")
    assert said.startswith(
        "13 new kernels, copies and fills run before each of 228 executions of attention"
    )
    gone = replace(change, code="removed", before=kernels, after=())
    assert "13 kernels, copies and fills before each of 228" in change_sentence(gone, unit())
    alone = Change("added", 100, after=(fill,))
    assert change_sentence(alone, unit()).startswith("456 copies or fills run only in the candid")
    alone = Change("removed", -1_000, before=kernels)
    assert change_sentence(alone, unit()).startswith(
        "2\u202f964 kernels, copies and fills run only"
    )


def test_what_new_kernels_stand_before_is_none_of_them() -> None:
    """Of two new kernels before each of two executions the second is what they stand before: it
    is counted among the new ones, so nothing says that it follows them."""
    kernels = (KernelTime("ReduceSum", 2, 100), KernelTime("gemm", 2, 100))
    change = Change("added", 200, 2, ("gemm",), after=kernels, values={"kernels": 2})
    said = change_sentence(change, unit()).replace("**", "")
    assert said.startswith("4 kernels run only in the candidate") and "before each" not in said


def test_copies_are_named_without_the_word_for_their_class() -> None:
    """Memcpy says that it copies; a kernel that copies has another name, and its class says so."""
    copies = [KernelTime("Memcpy HtoD (Pageable -> Device)", 1, 10, "copy", is_copy=True)]
    assert str(kernel_text(copies)) == "Memcpy HtoD (Pageable -> Device)"
    assert str(kernel_text([KernelTime("poi_15", 1, 10, "copy")])) == "copy (poi_15)"


def test_all_operators_of_a_class_are_not_without_an_operator() -> None:
    values = {"op_class": "convolution", "by_class": 1}
    change = Change("operator", 5, where=("convolution",), values=values)
    assert change_label(change) == "convolution"


def test_what_kernels_stand_before_is_not_where_they_are() -> None:
    """A layout change in Net before a convolution of it, and one in no module."""
    values: dict[str, str | int | float] = {"kernels": 1, "next_class": "convolution"}
    change = Change("removed", -45, 1, ("Net", "Conv_3 + Relu_4"), values=values)
    assert where_names(change) == ("Net",)
    assert where_names(replace(change, where=("Conv_3 + Relu_4",))) == ()
    assert where_names(replace(change, values={})) == ("Net", "Conv_3 + Relu_4")

"""What changed as rows: sentences, bars, kernels of both sides, and ways to the timelines."""

from __future__ import annotations

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import Side
from fusescope.analysis.messages import language
from fusescope.analysis.metrics import kernel_types
from fusescope.analysis.report.explanation.rows import (
    MAX_FACT,
    ExplainedRows,
    KernelRow,
    explained_rows,
    host_text,
)
from fusescope.analysis.report.html import report_html
from fusescope.analysis.timeline.highlight import of_changes
from fusescope.analysis.timeline.payload import timeline_payload
from fusescope.analysis.wording.explanation.waterfall import steps_of
from tests.step_traces import Kernel
from tests.step_traces import steps_of as trace_of


def slower_and_faster() -> Comparison:
    """Four softmaxes of 100 us take 150, a product of 500 takes 400: +200 and -100 us a step of
    1000 us."""
    sides = []
    for name, softmax, product in (("a.json", 100, 500), ("b.json", 150, 400)):
        step = [Kernel("gemm", product, "matrix_product")]
        for at in range(4):
            step += [Kernel("softmax", softmax, "softmax"), Kernel(f"norm{at}", 25)]
        sides.append(Side(name, trace_of([step] * 3, name=name)))
    return compare(*sides)


def rows_of(comparison: Comparison) -> ExplainedRows:
    rows = explained_rows(comparison, of_changes(timeline_payload(comparison), comparison))
    assert rows is not None
    return rows


def test_each_change_has_its_bar_and_its_kernels() -> None:
    rows = rows_of(slower_and_faster())
    slower, faster = rows.rows
    assert (slower.change, slower.kind, faster.change, faster.kind) == (
        "+200 µs", "slower", "−100 µs", "faster",
    )  # fmt: skip
    # Of 300 us the first third is before 0.
    assert (slower.left, slower.width) == pytest.approx((100 / 3, 200 / 3))
    assert (faster.left, faster.width) == pytest.approx((0, 100 / 3))
    [kernel] = slower.kernels
    assert kernel == KernelRow(
        "softmax", "400 µs", "4 × 100 µs", "600 µs", "4 × 150 µs", "+200 µs", kernel.row
    )
    assert [way.label for way in slower.ways] == [
        "Show the median place in the timelines",
        "Show the first place",
    ]
    assert [way.label for way in faster.ways] == ["Show it in the timelines"]
    assert ("Known by", "names that both files have") in slower.facts
    assert rows.rest == "0"
    assert rows.more == ()


def test_a_kernel_leads_to_its_row_in_the_table_of_operators() -> None:
    comparison = slower_and_faster()
    [kernel] = rows_of(comparison).rows[0].kernels
    assert comparison.operators.loc[kernel.row, "name"] == "softmax"


def test_names_of_kernels_are_shortened_once_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be a million of them."""
    shortened: list[list[str]] = []
    shorten = kernel_types.short_kernel_names

    def counted(names: list[str], types: list[str], chars: int) -> list[str]:
        shortened.append(names)
        return shorten(names, types, chars)

    monkeypatch.setattr(kernel_types, "short_kernel_names", counted)
    comparison = slower_and_faster()
    rows_of(comparison)
    report_html(comparison)
    assert len(shortened) == 2


def test_how_long_a_step_takes_is_said_once() -> None:
    """The verdict has the times of a step already."""
    comparison = slower_and_faster()
    explanation = comparison.explanation
    assert explanation is not None
    unit = (explanation.unit.before_ns, explanation.unit.after_ns)
    assert comparison.verdict.times_ns == pytest.approx(unit)
    assert rows_of(comparison).after == ()


def test_smaller_changes_add_up_with_what_is_told_and_the_rest() -> None:
    """Eight kernels take 10 to 80 us longer: five are told, two follow, and 10 us are less than
    0.3 % of 5.16 ms."""
    sides = []
    for name, more in (("a.json", 0), ("b.json", 10)):
        names = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")
        step = [Kernel(each, 200 + at * more) for at, each in enumerate(names, 1)]
        step += [Kernel(each, 900) for each in ("copy", "gemm", "norm", "softmax")]
        sides.append(Side(name, trace_of([step] * 3, name=name)))
    comparison = compare(*sides)
    rows = rows_of(comparison)
    assert [row.change for row in rows.rows] == [f"+{us}.0 µs" for us in (80, 70, 60, 50, 40)]
    assert [row.change for row in rows.more] == [f"+{us}.0 µs" for us in (30, 20)]
    assert (rows.more_title, rows.rest) == ("2 smaller changes, +50.0 µs together", "+10.0 µs")


def test_steps_from_baseline_to_candidate_are_the_changes_and_add_up() -> None:
    """1000 us, +200 of four softmaxes, -100 of a product, 1100 us."""
    steps = steps_of(slower_and_faster())
    assert [(step.label, step.value_ns, step.kind) for step in steps[1:-1]] == [
        ("softmax", 200_000, "slower"),
        ("gemm", -100_000, "faster"),
    ]
    assert sum(step.value_ns for step in steps[:-1]) == steps[-1].value_ns == 1_100_000


def test_the_report_has_the_changes_with_ways_to_its_timelines_and_no_groups_in_sight() -> None:
    page = report_html(slower_and_faster())
    assert page.count('<details class="change">') == 2
    assert "data-spans='[[500000,600000],[400000,550000]]'" in page, "the first of four softmaxes"
    assert "4 × 100 µs" in page
    before_fold = page[page.index('<section id="fusion">') :]
    before_fold = before_fold[: before_fold.index("<details>")]
    assert "By pattern" not in before_fold
    assert "softmax" in before_fold


def test_nothing_changed_is_a_sentence_without_rows() -> None:
    step = [Kernel("a", 100), Kernel("b", 50)]
    sides = [Side(name, trace_of([step] * 3, name=name)) for name in ("a.json", "b.json")]
    rows = rows_of(compare(*sides))
    assert rows.rows == ()
    assert "take 150 µs and 150 µs" in rows.before[0][0].text


def test_idle_time_is_told_by_call_on_both_sides_and_adds_up() -> None:
    """The device waits 100 us under one function and 200 under another of the same file, after the
    change 400 and 50; a launch takes the last us before each kernel. Both functions also run while
    it computes, and their caller is around them."""
    sides = []
    for name, first, second in (("a.json", 100, 200), ("b.json", 400, 50)):
        step = [Kernel("a", 50, after_us=first), Kernel("b", 50, after_us=second)]
        ends = (first, first + 50 + second)
        spans = [
            (0, "frame", "main.py(1): main", 0, 900_000),
            (0, "frame", "model.py(1): prepare", 0, (ends[0] - 1) * 1000),
            (0, "frame", "model.py(2): check", ends[0] * 1000, (ends[1] - 1) * 1000),
        ]
        launches = [(0, float(end - 1)) for end in ends]
        trace = trace_of([step], name=name, spans=spans, launches=launches)
        sides.append(Side(name, trace))
    comparison = compare(*sides)
    (row,) = rows_of(comparison).rows
    assert "idle for 448 µs instead of 298 µs while the host runs model.py: " in "".join(
        part.text for part in row.parts
    )
    assert (row.change, row.head) == ("+150 µs", "Idle time by call of the host")
    assert [(k.name, k.before, k.after, k.change, k.before_each) for k in row.kernels] == [
        ("model.py(1): prepare", "99 µs", "399 µs", "+300 µs", ""),
        ("model.py(2): check", "199 µs", "49 µs", "−150 µs", ""),
    ]


def test_a_longer_wait_that_is_one_gap_is_said_to_be_one() -> None:
    """Before the kernel an operator takes 95 us more inside aten::mm; the gap was 10 us long."""
    sides = []
    for name, inner_us in (("a.json", 0), ("b.json", 95)):
        launch = (5 + inner_us) * 1000
        spans = [
            (0, "operator", "aten::mm", 0, launch + 5000),
            (0, "operator", "aten::empty", 5000, launch),
            (0, "runtime", "cudaLaunchKernel", launch, launch + 5000),
        ]
        kernel = Kernel("gemm", 500, after_us=10 + inner_us)
        launches = [(0, launch / 1000 + 5)]
        sides.append(Side(name, trace_of([[kernel]], name=name, spans=spans, launches=launches)))
    (row,) = rows_of(compare(*sides)).rows
    assert "".join(part.text for part in row.parts).endswith(
        "+95.0 µs per step, nearly all of it in aten::empty and in one gap of 105 µs."
    )


@pytest.mark.parametrize(
    ("inner_us", "call_us", "start_us", "end"),
    [
        # 100 of 90 us are not nearly all of them: others cancel more than a tenth.
        (100, 10, 20, "+90.0 µs per step."),
        (95, 10, 25, "+90.0 µs per step, nearly all of it in aten::empty."),
        (
            70,
            30,
            30,
            (
                "+90.0 µs per step, the largest part in aten::empty (+70.0 µs); each "
                "cudaLaunchKernel takes 30.0 µs instead of 10.0 µs."
            ),
        ),
    ],
)
def test_launching_has_the_time_under_each_call_and_0_where_a_side_has_none(
    inner_us: int, call_us: int, start_us: int, end: str
) -> None:
    """Before the kernel an operator runs for 90 us and launches it in 10; after the change for 60,
    and another one for `inner_us` inside it, and the kernel starts `start_us` after its launch."""
    sides = []
    after_parts = (60, inner_us, call_us, start_us)
    for name, parts in (("a.json", (90, 0, 10, 0)), ("b.json", after_parts)):
        own, inner, call = (1000 * part for part in parts[:3])
        launch = own + inner
        spans = [
            (0, "operator", "aten::mm", 0, launch + call),
            (0, "operator", "aten::empty", own, own + inner),
            (0, "runtime", "cudaLaunchKernel", launch, launch + call),
        ]
        kernel = Kernel("gemm", 500, after_us=sum(parts))
        trace = trace_of(
            [[kernel]], name=name, spans=spans, launches=[(0, launch / 1000 + call / 1000)]
        )
        sides.append(Side(name, trace))
    (row,) = rows_of(compare(*sides)).rows
    assert row.change == "+90.0 µs"
    assert "".join(part.text for part in row.parts).endswith(end)
    end = " µs" if inner_us >= 100 else ".0 µs"  # three digits of the largest value
    inner, call, start = (f"{us}{end}" for us in after_parts[1:])
    longer = f"+{call_us - 10}{end}" if call_us > 10 else f"0{end}"
    assert {(k.name, k.before, k.after, k.change) for k in row.kernels} == {
        ("aten::empty", f"0{end}", inner, f"+{inner}"),
        ("aten::mm", f"90{end}", f"60{end}", f"−30{end}"),
        ("from the launch to the start", f"0{end}", start, f"+{start}"),
        ("cudaLaunchKernel", f"10{end}", call, longer),
    }


@pytest.mark.parametrize("side", [0, 1])
def test_one_long_execution_has_what_it_takes_longer_and_the_others_are_told_apart(
    side: int,
) -> None:
    """One of eight softmaxes of 50 us takes 600: 550 more; all eight take 950, of which 400 are as
    long as ever, as in the other file."""
    usual = [Kernel("gemm", 1000, "matrix_product"), Kernel("softmax", 50, "softmax")] * 8
    long = [*usual[:5], Kernel("softmax", 600, "softmax"), *usual[6:]]
    steps = (long, usual) if side == 0 else (usual, long)
    sides = [
        Side(f"{at}.json", trace_of([step], name=f"{at}.json")) for at, step in enumerate(steps)
    ]
    comparison = compare(*sides)
    explanation = comparison.explanation
    assert explanation is not None
    (change,) = explanation.changes
    ns = 550_000 if side else -550_000
    assert (change.change_ns, change.after_ns - change.before_ns) == (ns, ns)
    (row,) = rows_of(comparison).rows
    (kernel,) = row.kernels
    told = ("550 µs", "one takes 600 µs, the others 50.0 µs")
    cells = (kernel.before, kernel.before_each), (kernel.after, kernel.after_each)
    assert cells == ((("", ""), told) if side else (told, ("", "")))
    assert (row.change, kernel.change) == (("+550 µs",) * 2 if side else ("−550 µs",) * 2)


@pytest.mark.usefixtures("translations")
def test_a_row_says_what_of_its_kernels_another_change_has() -> None:
    """Four products of 100 us a step take 120, and one of the 16 of four steps 920, which is 200 us
    a step: the file has 400 and 680 us, of which the row of the products tells 400 and 480."""

    def step(product: float, first: float) -> list[Kernel]:
        times = [first, product, product, product]
        pairs = [(Kernel("gemm", us, "matrix_product"), Kernel(f"norm{at}", 25))
                 for at, us in enumerate(times)]  # fmt: skip
        return [kernel for pair in pairs for kernel in pair]

    before = Side("a.json", trace_of([step(100, 100)] * 4, name="a.json"))
    slow = [step(120, 120), step(120, 120), step(120, 920), step(120, 120)]
    comparison = compare(before, Side("b.json", trace_of(slow, name="b.json")))
    for spoken, what, fact in (
        (
            "en",
            "That is without the 200 µs that one execution of the candidate takes beyond the",
            "Single long executions, not counted here",
        ),
        ("zh", "其中不含候选有 1 次执行比其他各次多用的 200 µs。", "个别过长的执行，此处不计"),
    ):
        with language.speaking(spoken):
            rows = {row.change: row for row in rows_of(comparison).rows}
        texts = {change: "".join(part.text for part in row.parts) for change, row in rows.items()}
        facts = {change: dict(row.facts).get(fact) for change, row in rows.items()}
        assert facts == {"+200 µs": None, "+80.0 µs": "+200 µs"}
        assert what in texts["+80.0 µs"] and what not in texts["+200 µs"]


def test_kernels_that_are_not_shown_are_one_row_so_that_a_table_adds_up() -> None:
    """15 kernels of 101 to 115 us before a product of 500: 1620 us, of which the 12 longest take
    1314 and the last 3 take 306."""
    added = [Kernel(f"new_{chr(97 + at)}", 101 + at, "elementwise") for at in range(15)]
    product = [Kernel("gemm", 500, "matrix_product")] * 4
    sides = [
        Side(name, trace_of([step] * 3, name=name))
        for name, step in (("a.json", product), ("b.json", [*added, *product]))
    ]
    [row] = rows_of(compare(*sides)).rows
    assert row.change == "+1.62 ms" and len(row.kernels) == 13
    assert row.kernels[-1] == KernelRow("3 more", "", "", "306 µs", "", "+306 µs", None)


def test_of_a_deep_stack_of_the_host_the_innermost_frames_are_shown() -> None:
    """Eight of 100 characters would be 821 with what stands between them: the last five are."""
    frames = [f"{at}{'x' * 99}" for at in range(8)]
    text = host_text(frames)
    assert text == " › ".join(["…", *frames[3:]]) and len(text) <= MAX_FACT
    assert host_text(["a", "b"]) == "a › b"
    assert host_text(["a" * 50 + "?" * 500 + "b" * 50]).endswith("b" * 50)

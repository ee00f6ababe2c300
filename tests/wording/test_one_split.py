"""What changes are told, smaller ones together and what no change accounts for is one split of the
change, wherever it is shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.report.explanation.rows import explained_rows
from fusescope.analysis.wording.answer import answer_lines
from fusescope.analysis.wording.explanation import explained_parts, rest_parts, unexplained_parts
from fusescope.analysis.wording.explanation.waterfall import steps_of as waterfall_of
from tests.step_traces import Kernel, steps_of

LAYER = (
    Kernel("gemm_qkv", 400, "matrix_product"),
    Kernel("flash_fwd_kernel", 300, "attention"),
    Kernel("gelu_kernel", 300, "activation"),
)  # 1 ms
WAITS = (replace(LAYER[0], after_us=50), *LAYER[1:])  # 50 us more


@pytest.fixture(scope="module")
def plain() -> Comparison:
    before, after = (steps_of([layer] * 9) for layer in (LAYER, WAITS))
    return compare(side_of_trace(before), side_of_trace(after))


def with_changes(plain: Comparison, *changes_us: int) -> Comparison:
    """The comparison of +50 us with changes of so many us each."""
    found = plain.explanation
    assert found is not None and found.unit.change_ns == 50_000
    changes = tuple(replace(found.changes[0], change_ns=1000 * us) for us in changes_us)
    return replace(plain, explained=replace(found, changes=changes))


@pytest.mark.parametrize(
    ("changes_us", "smaller", "said"),
    [  # five changes are told; what is left of the 50 us is the rest
        (
            (12, 10, 8, 6, 5, 3, -1),
            ("2 smaller changes, +2.00 µs together", "2 smaller changes", 2_000, 7_000),
            (
                "Everything else adds up to +9.00 µs per step: 2 smaller changes add +2.00 µs, "
                "and +7.00 µs are in no change listed here."
            ),
        ),
        (
            (20, 12, 8, 6, 5, 4),
            ("1 smaller change, +4.00 µs", "1 smaller change", 4_000, -5_000),
            "",  # in all −1 us, which is next to nothing of 1 ms
        ),
        (
            (12, 10, 8, 6, 5, 4),
            ("1 smaller change, +4.00 µs", "1 smaller change", 4_000, 5_000),
            (
                "Everything else adds up to +9.00 µs per step: 1 smaller change adds +4.00 µs, "
                "and +5.00 µs are in no change listed here."
            ),
        ),
        (
            (20, 10, 6, 5, 4, 3, 2),
            ("2 smaller changes, +5.00 µs together", "2 smaller changes", 5_000, 0),
            "2 smaller changes add +5.00 µs per step.",
        ),
        ((30, 10), ("", "", 0, 10_000), "+10.0 µs per step are in no change listed here."),
    ],
)
def test_told_smaller_and_rest_are_the_same_everywhere(
    plain: Comparison,
    changes_us: tuple[int, ...],
    smaller: tuple[str, str, int, int],
    said: str,
) -> None:
    shown = with_changes(plain, *changes_us)
    found = shown.explanation
    assert found is not None
    title, label, smaller_ns, rest_ns = smaller
    told_us = changes_us[:5]
    steps = [(step.label, step.value_ns) for step in waterfall_of(shown)[1:-1]]
    assert [ns for _, ns in steps[: len(told_us)]] == [1000 * us for us in told_us]
    left = [(label, smaller_ns), ("in no listed change", rest_ns)]
    assert steps[len(told_us) :] == [each for each in left if each[1]]
    rows = explained_rows(shown, [None] * len(changes_us))
    assert rows is not None and rows.more_title == title and len(rows.rows) == len(told_us)
    assert [row.change for row in rows.more] == [
        f"{us:+.2f} µs".replace("-", "−") for us in changes_us[5:]
    ]
    # The page lists the smaller changes with their sum, and says each figure once.
    texts = ["".join(part.text for part in parts) for parts in rows.after]
    rest = f"{rest_ns / 1000:+.3g}".replace("-", "−")
    assert len(texts) == bool(rest_ns) and "".join(texts).startswith(rest if rest_ns else "")
    assert "smaller" not in "".join(texts)
    assert "".join(part.text for part in explained_parts(found)[-1]).endswith(said or ").")
    assert answer_lines(shown)[-1].endswith(said or ").")
    assert 1000 * sum(told_us) + smaller_ns + rest_ns == found.unit.change_ns


def test_a_rest_that_is_idle_time_is_called_so() -> None:
    """One of three steps stops for 3 ms: 1 ms a step on average, which no change has. Of a rest of
    10 ms it is a small part."""
    stalled = (replace(LAYER[0], after_us=3000), *LAYER[1:])
    before, after = steps_of([LAYER, stalled, LAYER]), steps_of([LAYER] * 3)
    found = compare(side_of_trace(before), side_of_trace(after)).explanation
    assert found is not None and found.unit.change_ns == -1_000_000
    assert not any(change.code == "idle" for change in found.changes)
    for parts in (rest_parts(found), unexplained_parts(found)):
        assert "".join(part.text for part in parts) == (
            "The remaining −1.00 ms per step is idle time: 1.00 ms in the baseline and 0 ns in the "
            "candidate, on average."
        )
    busy = replace(found, unit=replace(found.unit, before_ns=found.unit.before_ns + 9_000_000))
    assert "idle" not in "".join(part.text for part in rest_parts(busy))

"""Fusion groups as rows: what stands before them where fusion is not what changed most."""

from __future__ import annotations

from pathlib import Path

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.readers import read_path
from fusescope.analysis.report.explanation.group_rows import group_lines, group_rows

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"


def test_what_ran_on_neither_side_is_no_change() -> None:
    """Of eight groups two have no operator on either side: the others are the rows."""
    recorded = read_path(SAMPLES / "cases" / "jax_twice_read.zip")
    compared = compare(*choose_sides(recorded, None, "unfused", "fused"))
    counts = compared.ledger.rows[["operators_baseline", "operators_candidate"]].sum(axis=1)
    assert list(compared.ledger.rows["pattern"][counts == 0]) == ["broadcast_in_dim"] * 2
    rows = group_rows(compared)
    assert rows is not None
    told = ["".join(part.text for part in row.parts) for row in (*rows.rows, *rows.more)]
    assert len(told) == 6 and not any("no longer" in one for one in told)


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        (
            "mindspore/mynet_composite.zip",
            (
                "fused takes 2.11 ms longer than unfused: code generation costs 2.55 ms and fusion "
                "brings 447 µs."
            ),
        ),
        ("mobilenetv2.zip", ""),
    ],
)
def test_a_step_that_is_not_fusion_stands_before_the_groups(sample: str, said: str) -> None:
    """Of unfused 2.40, generated 4.96 and fused 4.51 ms the larger step is the first."""
    recorded = read_path(SAMPLES / sample)
    compared = compare(*choose_sides(recorded, None, "unfused", "fused"))
    rows = group_rows(compared)
    assert rows is not None
    told = ["".join(part.text for part in parts) for parts in rows.before]
    assert told == ([said] if said else [])
    assert group_lines(compared)[0].startswith(said or "- ")

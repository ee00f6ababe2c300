"""What an optimizer is worth, by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pytest
import scipy  # loads `stats` when it is asked for it

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.ablation import ablation
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.wording import ablation_notes, ablation_ratio, fusion_sentence
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip

EVEN = {
    "unfused": [20.0] * 6,
    "fused": [10.0] * 6,
    "without:A": [12.0] * 6,
    "only:A": [16.0] * 6,
    "without:B": [19.0] * 6,
}


def recorded(
    block_ms: dict[str, list[float]], settings: dict[str, dict[str, Any]] | None = None
) -> Experiment:
    """An experiment; `settings` are added to those of a variant."""
    experiment = read(Source("e.zip", experiment_zip(block_ms)))
    assert isinstance(experiment, Experiment)
    changed = settings or {}
    variants = [
        msgspec.structs.replace(v, settings={**v.settings, **changed.get(v.name, {})})
        for v in experiment.record.variants
    ]
    return replace(experiment, record=msgspec.structs.replace(experiment.record, variants=variants))


def table_of(*arguments: Any) -> pd.DataFrame:
    table = ablation(recorded(*arguments))
    assert table is not None
    return table


def test_no_ablation_no_table() -> None:
    assert ablation(recorded({"unfused": [20.0] * 6, "fused": [10.0] * 6})) is None


def test_ratios_nodes_and_order() -> None:
    table = table_of(EVEN)
    assert list(table["optimizer"]) == ["B", "A"]
    a, b = table.iloc[1], table.iloc[0]
    assert a["removed"] == pytest.approx(12 / 10, rel=1e-3)
    assert a["added"] == pytest.approx(20 / 16, rel=1e-3)
    assert b["removed"] == pytest.approx(19 / 10, rel=1e-3)
    assert math.isnan(b["added"]) and b["nodes_only"] is pd.NA and b["acts_only"] is pd.NA
    assert (a["nodes_all"], a["nodes_none"]) == (len(FUSED_OPERATORS), len(UNFUSED_OPERATORS))
    assert (a["nodes_without"], a["nodes_only"]) == (len(UNFUSED_OPERATORS),) * 2
    assert table["nodes_only"].dtype == "Int64"


def test_the_interval_is_yuens_at_the_level_of_all_variants() -> None:
    """Six blocks: the smallest and the largest log-ratio are cut, h = 4, df = 3."""
    log_ratios = np.array([0.10, 0.30, 0.18, 0.20, 0.22, 0.26])
    fused = 10 * np.exp(np.array([0.0, 0.5, -0.3, 0.1, 0.2, -0.1]))  # drift cancels in the block
    times = {
        "unfused": [20.0] * 6,
        "fused": list(fused),
        "without:A": list(fused * np.exp(log_ratios)),
    }
    row = table_of(times).iloc[0]
    mean = (0.18 + 0.20 + 0.22 + 0.26) / 4
    winsorised = np.array([0.18, 0.18, 0.20, 0.22, 0.26, 0.26])
    error = winsorised.std(ddof=1) * math.sqrt(5 / (4 * 3))
    alpha = 0.05 / 2  # one look, two variants beside the baseline
    half_width = scipy.stats.t.ppf(1 - alpha / 2, 3) * error
    assert row["removed"] == pytest.approx(math.exp(mean), rel=1e-5)
    assert row["removed_low"] == pytest.approx(math.exp(mean - half_width), rel=1e-5)
    assert row["removed_high"] == pytest.approx(math.exp(mean + half_width), rel=1e-5)


def test_few_blocks_have_a_ratio_and_no_interval() -> None:
    row = table_of({name: times[:4] for name, times in EVEN.items()}).iloc[0]
    assert row["removed"] == pytest.approx(1.9, rel=1e-3)
    assert math.isnan(row["removed_low"]) and math.isnan(row["removed_high"])
    assert ablation_ratio(row, "removed") == "1.90× (no interval)"


def test_without_the_variants_to_compare_with() -> None:
    row = table_of({"eager": [30.0] * 6, "without:A": [12.0] * 6}).iloc[0]
    assert math.isnan(row["removed"]) and row["nodes_all"] is pd.NA
    assert row["nodes_without"] == len(UNFUSED_OPERATORS)
    assert ablation_ratio(row, "removed") == "not recorded"


def test_what_the_search_found_to_change_nothing() -> None:
    """Found as acting, without: recorded and only: not: alone it changes nothing."""
    table = table_of(EVEN, {"fused": {"optimizers_found": "B, A, C", "optimizers_left_out": "C"}})
    b = table.set_index("optimizer").loc["B"]
    assert b["acts_without"] and not b["acts_only"]
    assert b["nodes_only"] == len(UNFUSED_OPERATORS)
    assert ablation_ratio(b, "added") == "same graph as unfused"
    assert table.attrs["left_out"] == ("C",)
    assert any("change fewer operators: C." in note for note in ablation_notes(table))


def test_an_optimizer_that_slows_the_model_down() -> None:
    row = table_of({**EVEN, "without:A": [8.0] * 6}).set_index("optimizer").loc["A"]
    assert row["removed"] == pytest.approx(0.8, rel=1e-3)
    assert row["removed_high"] < 1


def test_the_notes_say_what_rests_on_what() -> None:
    notes = ablation_notes(table_of(EVEN))
    assert notes[0] == (
        "Un-profiled wall time, measured in 6 blocks of fresh processes and paired. Each interval "
        "is at 98.75 %."
    )
    assert "do not add up" in notes[1]
    assert len(notes) == 2
    loose = table_of(EVEN, {"only:A": {"unlisted_optimizers_act": True}})
    assert any("cannot switch off" in note for note in ablation_notes(loose))
    assert ablation_ratio(loose.iloc[1], "removed") == "1.20× (1.20× to 1.20×)"


def test_hostile_names_stay_text() -> None:
    """A file may name anything; a name without an optimizer is a row like any other."""
    times = {"unfused": [20.0] * 6, "fused": [10.0] * 6, "without:<b>x</b>": [12.0] * 6}
    assert list(table_of(times)["optimizer"]) == ["<b>x</b>"]
    assert list(table_of({"fused": [10.0] * 6, "without:": [12.0] * 6})["optimizer"]) == [""]


def test_rows_are_fusions_where_kernels_were_denied() -> None:
    without = {"without:cpp_fused_gelu_1:3": [12.0] * 6, "without:cpp_fused_add_0:1": [9.0] * 6}
    table = table_of(
        {"unfused": [20.0] * 6, "fused": [10.0] * 6, **without},
        {name: {"denied_operators": "a, b"} for name in without}
        | {"fused": {"fusions_left_out": "cpp_fused_2:5", "fusions_refused": "cpp_3:7: it stays"}},
    )
    assert list(table["optimizer"]) == ["cpp_fused_gelu_1:3", "cpp_fused_add_0:1"]
    assert table.attrs["of"] == "fusion"
    notes = "\n".join(ablation_notes(table))
    assert "The model is faster without cpp_fused_add_0:1" in notes
    assert "hold fewer operators: cpp_fused_2:5" in notes
    assert "cannot be left out by itself: cpp_3:7: it stays" in notes
    assert "optimizer" not in notes


@pytest.mark.parametrize(("nodes", "is_told"), [(2, True), (4, False)])
def test_what_is_no_fusion_is_not_credited_to_it(nodes: int, is_told: bool) -> None:
    """Without B the model of 2 operators takes 19 / 10 as long: no fusion, where it has 2 still."""
    experiment = recorded(EVEN)
    variants = [
        msgspec.structs.replace(v, nodes=nodes) if v.name == "without:B" else v
        for v in experiment.record.variants
    ]
    changed = replace(
        experiment, record=msgspec.structs.replace(experiment.record, variants=variants)
    )
    sides = [side_of_variant(changed, name) for name in ("unfused", "fused")]
    words = (
        "Not all of it is fusion: without the optimizer B the number of operators does not grow "
        "(2 instead of 2), yet the model takes 1.90× as long."
    )
    assert (words in fusion_sentence(compare(*sides))) == is_told

"""Two sides are never called the same, and what both names have in common is left out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis import wording
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.naming import MAX_CHARS, short_names, without_common
from fusescope.analysis.compare.side import Side, side_of_trace, side_of_variant
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.timeline.payload import timeline_payload
from fusescope.analysis.trace import Trace
from fusescope.analysis.units import middle_cut
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip, profile_json

LONG = "bench_resnet50_torch_2.3_{}_batch32_rank0.pt.trace.json"


def side(name: str, runs: int = 3, device: str | None = None) -> Side:
    trace = read(Source("a.json", profile_json(FUSED_OPERATORS, runs=runs)))
    assert isinstance(trace, Trace)
    trace = replace(trace, meta=replace(trace.meta, device=device))
    return replace(side_of_trace(trace), label=name)


def variant(name: str, file: str, model: str = "net", ms: float = 5.0) -> Side:
    data = experiment_zip({"unfused": [ms] * 8, "fused": [ms] * 8}, model_name=model)
    experiment = read(Source(file, data))
    assert isinstance(experiment, Experiment)
    return side_of_variant(experiment, name)


@pytest.mark.parametrize(
    ("names", "short"),
    [
        ((LONG.format("fp32"), LONG.format("fp16")), ("fp32", "fp16")),
        ((LONG.format("no_fusion"), LONG.format("fusion")), ("no_fusion", "fusion")),
        (("run_of_the_large_net.json", "run_of_the_large_net_2.json"), ("net", "net_2")),
        (("a_very_long_name_of_bench_1.json", "a_very_long_name_of_bench_2.json"),
         ("bench_1", "bench_2")),
        (("before.json", "after.json"), ("before.json", "after.json")),
        # Times since 1970 tell nothing where the rest differs, else they are all there is.
        (("resnet50_num_workers_0-worker0.1623143089861.pt.trace.json.gz",
          "resnet50_num_workers_4-worker0.1623212756351.pt.trace.json.gz"),
         ("workers_0", "workers_4")),
        (("worker0.1623143089861.pt.trace.json", "worker0.1623212756351.pt.trace.json"),
         ("worker0.1623143089861", "worker0.1623212756351")),
        (("H100/step/kernels.json.gz", "MI300X/step/kernels.json.gz"), ("H100", "MI300X")),
    ],
)  # fmt: skip
def test_the_common_words_of_long_names_are_left_out(
    names: tuple[str, str], short: tuple[str, str]
) -> None:
    found = short_names(side(names[0]), side(names[1], runs=4))
    assert found[0] != found[1]
    assert found == short


def test_equal_names_get_device_then_digest_then_role() -> None:
    both = ("trace.json (H100)", "trace.json (MI300X)")
    assert short_names(side("trace.json", 3, "H100"), side("trace.json", 4, "MI300X")) == both
    first, second = side("trace.json", 3, "H100"), side("trace.json", 4, "H100")
    digests = tuple(f"trace.json ({one.trace.meta.sha256[:6]})" for one in (first, second))
    assert short_names(first, second) == digests
    assert short_names(first, first) == ("trace.json (baseline)", "trace.json (candidate)")


def test_variants_keep_their_names_and_equal_ones_get_model_or_file() -> None:
    one = variant("unfused", "a.zip"), variant("fused", "a.zip")
    assert short_names(*one) == ("unfused", "fused")
    models = variant("fused", "a.zip", "resnet50"), variant("fused", "b.zip", "mobilenetv2")
    assert short_names(*models) == ("resnet50 · fused", "mobilenetv2 · fused")
    files = variant("fused", "monday.zip"), variant("fused", "friday.zip", ms=6.0)
    assert short_names(*files) == ("monday · fused", "friday · fused")


def test_names_are_short_wherever_a_side_is_shown_and_whole_in_its_label() -> None:
    before = read(Source("a", profile_json(UNFUSED_OPERATORS, runs=6)))
    after = read(Source("b", profile_json(FUSED_OPERATORS, runs=6)))
    assert isinstance(before, Trace) and isinstance(after, Trace)
    names = LONG.format("unfused"), LONG.format("o3fused")
    sides = (
        replace(side_of_trace(trace), label=name)
        for trace, name in zip((before, after), names, strict=True)
    )
    comparison = compare(*sides)
    assert (comparison.baseline.label, comparison.candidate.label) == names
    sentence = wording.verdict_sentence(comparison)
    assert "o3fused" in sentence and "unfused" in sentence and "bench" not in sentence
    labels = [one["label"] for one in timeline_payload(comparison)["sides"]]
    assert labels == ["unfused", "o3fused"]


TEXT = st.text(alphabet="ab1._-/ é", max_size=60)


@given(TEXT, TEXT, TEXT, TEXT)
def test_names_differ_where_they_are_cut(start: str, one: str, other: str, end: str) -> None:
    left, right = replace(BARE[0], label=start + one + end), replace(BARE[1], label=start + other)
    for pair in ((left, right), (left, replace(right, label=left.label))):
        first, second = short_names(*pair)
        assert middle_cut(first, MAX_CHARS) != middle_cut(second, MAX_CHARS)
    first, second = without_common(start + one + end, start + other + end)
    assert first in start + one + end and second in start + other + end


BARE = side(""), side("", runs=4)


def test_processes_of_two_files_keep_no_end_of_the_file_name() -> None:
    first, second = side("mfu_before.sqlite · process:144"), side("mfu_after.sqlite · process:148")
    sides = [
        replace(one, trace=replace(one.trace, meta=replace(one.trace.meta, variant=unit)))
        for one, unit in ((first, "process:144"), (second, "process:148"))
    ]
    assert short_names(*sides) == ("before · process:144", "after · process:148")
    second = replace(sides[1], label="mfu_after.sqlite · process:144", trace=sides[0].trace)
    assert short_names(sides[0], second) == ("before", "after")

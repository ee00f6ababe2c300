"""What ran each side: intervals by hand, precision, and which variants are shown first."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from fusescope.analysis.compare.multiple.choice import several_sides
from fusescope.analysis.compare.multiple.comparison import (
    MAX_SIDES,
    MultipleComparison,
    compare_several,
)
from fusescope.analysis.compare.multiple.engines import Ran, first_variants, has_engines, ran
from fusescope.analysis.experiment import Engine, Experiment
from fusescope.analysis.report.exports.multiple_json import multiple_json
from fusescope.analysis.report.multiple.csv import multiple_csv
from fusescope.analysis.report.multiple.html import multiple_html
from fusescope.analysis.report.multiple.markdown import multiple_markdown
from fusescope.analysis.wording.multiple.comparison import doubt_lines
from fusescope.analysis.wording.multiple.engines import (
    apart_sentence,
    engine_text,
    facts,
    reading_sentences,
)
from tests.compare.test_comparison import experiment_of
from tests.factories import experiment_zip

OTHER = Engine("directml", "1.15", "CPU")
UP = [1.02, 1 / 1.02] * 4
TIMES = {"onnxruntime:fused": [10.0] * 8, "directml:fused": [4.0 * one for one in UP]}


def with_engine(experiment: Experiment, name: str, **settings: Any) -> Experiment:
    """The same, its variant of that name run by another engine."""
    variants = [
        msgspec.structs.replace(one, engine=OTHER, settings=one.settings | settings)
        if one.name == name
        else one
        for one in experiment.record.variants
    ]
    record = msgspec.structs.replace(experiment.record, variants=variants)
    return replace(experiment, record=record)


def two(**settings: Any) -> MultipleComparison:
    experiment = with_engine(experiment_of(experiment_zip(TIMES)), "directml:fused", **settings)
    return compare_several(several_sides([experiment]))


def test_the_interval_of_a_time_by_hand() -> None:
    """ln of a block is ln 4 ± ln 1.02, four times each: trimmed of one at either end the standard
    error is ln 1.02 √(8 / 30), and t(0.975, 5) = 2.5706: 4 ms · e^(±0.026287). The baseline's two
    copies are 1 and 1 ± 0.001, on average ln 10 ± 0.0005: 10 ms · e^(±0.000664)."""
    found = [ran(entry) for entry in two().entries]
    assert found[0].time is not None and found[1].time is not None
    assert (found[0].time.low, found[0].time.high) == (
        pytest.approx(10e6 * math.exp(-0.000664), rel=1e-5),
        pytest.approx(10e6 * math.exp(0.000664), rel=1e-5),
    )
    assert found[1].time.low == pytest.approx(4e6 * math.exp(-0.026287), rel=1e-5)
    assert found[1].time.high == pytest.approx(4e6 * math.exp(0.026287), rel=1e-5)


def test_the_columns_say_what_ran() -> None:
    multiple = two(inference_precision="bf16", compile_s=0.25, provider="DmlExecutionProvider")
    told = {fact.code: fact.cells for fact in facts(multiple)}
    assert told["engine"] == ("onnxruntime 1.31.1", "directml 1.15, Dml")
    assert told["precision"] == ("float32", "bfloat16")
    assert told["compile_time"] == ("", "250 ms")
    assert told["time_interval"][0] == "9.99 to 10.0 ms"
    nothing = {fact.code: fact.cells for fact in facts(two(compile_s=0.0))}
    assert nothing["compile_time"] == ("", "none")
    assert told["time_interval"][1] == "3.90 to 4.11 ms"
    values = json.loads(multiple_json(multiple))["variants"]
    assert [one["ran"]["engine"] for one in values] == ["onnxruntime", "directml"]
    assert values[1]["ran"] == {
        "engine": "directml",
        "version": "1.15",
        "provider": "DmlExecutionProvider",
        "precision": "bfloat16",
        "compile_s": 0.25,
        "latency_interval_ns": {
            "low": pytest.approx(4e6 * math.exp(-0.026287), rel=1e-5),
            "high": pytest.approx(4e6 * math.exp(0.026287), rel=1e-5),
        },
    }
    assert "directml 1.15, Dml" in multiple_html(multiple)
    assert "directml 1.15, Dml" in multiple_markdown(multiple)
    assert (
        b",directml,1.15,DmlExecutionProvider,bfloat16,0.25,"
        in multiple_csv(multiple)["variants.csv"]
    )


def test_one_engine_has_no_such_columns() -> None:
    multiple = compare_several(several_sides([experiment_of(experiment_zip(TIMES))]))
    assert not has_engines(multiple) and facts(multiple) == ()
    assert "directml 1.15" not in multiple_html(multiple)


def test_two_providers_of_one_engine_are_told_apart() -> None:
    experiment = experiment_of(experiment_zip(TIMES))
    variants = [
        msgspec.structs.replace(one, settings={"provider": provider})
        for one, provider in zip(
            experiment.record.variants,
            ("CPUExecutionProvider", "DnnlExecutionProvider"),
            strict=True,
        )
    ]
    record = msgspec.structs.replace(experiment.record, variants=variants)
    multiple = compare_several(several_sides([replace(experiment, record=record)]))
    assert has_engines(multiple)
    assert facts(multiple)[0].cells == ("onnxruntime 1.31.1", "onnxruntime 1.31.1, Dnnl")
    assert any("execution providers" in line for line in doubt_lines(multiple))


def test_a_provider_of_a_trace_is_not_known() -> None:
    assert engine_text(Ran("", "", "", "", None, None)) == ""


def test_a_time_of_several_requests_is_said_to_be_one() -> None:
    assert any("4 requests run at once" in line for line in doubt_lines(two(requests_at_once=4)))
    assert not any("requests" in line for line in doubt_lines(two(requests_at_once=1)))


def test_recordings_apart_are_said_to_be() -> None:
    first = experiment_of(experiment_zip({"fused": [10.0] * 8}), "a.zip")
    changes = {"engine": OTHER}
    second = experiment_of(experiment_zip({"fused": [4.0] * 8}, changes=changes), "b.zip")
    multiple = compare_several(several_sides([first, second]))
    assert [side.name for side in multiple.sides] == ["onnxruntime:fused", "directml:fused"]
    assert "2 recordings" in apart_sentence(multiple, "fusescope collect tiny")
    assert apart_sentence(two(), "fusescope collect tiny") == ""


def test_what_is_shown_first_takes_turns_between_engines() -> None:
    times = {name: [1.0] * 5 for name in (
        "onnxruntime:unfused", "onnxruntime:without:A", "onnxruntime:fused", "directml:latency",
        "directml:marked", "directml:fused", "onnxruntime:basic", "directml:a", "directml:b",
        "directml:c",
    )}  # fmt: skip
    record = experiment_of(experiment_zip(times)).record
    variants = [
        msgspec.structs.replace(
            one,
            engine=OTHER if one.name.startswith("directml") else None,
            settings={"marked_outputs": 3} if one.name.endswith("marked") else {},
        )
        for one in record.variants
    ]
    record = msgspec.structs.replace(record, variants=variants)
    chosen = [name for _, name in first_variants([record])]
    assert chosen == [
        "onnxruntime:unfused",  # the recorded baseline
        "onnxruntime:fused", "directml:fused", "onnxruntime:basic", "directml:latency",
        "directml:a", "onnxruntime:without:A", "directml:b",
    ]  # fmt: skip
    assert len(chosen) == MAX_SIDES


def test_how_to_read_latency_is_said_of_several_sides_and_memory_of_several_engines() -> None:
    """Latencies depend on the baseline that ratios are paired with; two sides have but one."""
    first = experiment_of(experiment_zip({**TIMES, "other:fused": [7.0] * 8}))
    three = compare_several(several_sides([with_engine(first, "directml:fused")]))
    said = reading_sentences(three)
    assert f"that of {three.baseline.name} × a ratio" in said and "engine's own code" in said
    assert reading_sentences(two()).startswith("Peak memory is counted from")
    of_one = reading_sentences(compare_several(several_sides([first])))
    assert "× a ratio" in of_one and "Peak memory" not in of_one

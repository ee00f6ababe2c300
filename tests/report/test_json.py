"""The documented JSON: pinned by golden files, and its promises checked."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.multiple.choice import several_sides
from fusescope.analysis.compare.multiple.comparison import compare_several
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.graph import Graph, Node, Tensor, graph_json
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.exports import comparison_json as exports
from fusescope.analysis.report.exports.comparison_json import comparison_json, comparison_values
from fusescope.analysis.report.exports.inspection import inspection, inspection_json
from fusescope.analysis.report.exports.multiple_json import multiple_json
from fusescope.analysis.trace import Trace
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip, profile_json

ROOT = Path(__file__).resolve().parents[2]
TIMES = {"unfused": [10.0, 10.1, 10.2, 10.0, 10.1, 10.3], "fused": [5.0, 5.1, 5.0, 5.0, 5.2, 5.1]}


def value_of(data: bytes, name: str) -> Trace | Experiment:
    return read(Source(name, data))


def with_one_boundary(data: bytes) -> bytes:
    """The experiment with the fused graph's tensors named as the model names them."""
    weights = {f"a/Conv.w{n}": shape for n, shape in ((1, (4, 3, 3, 3)), (2, (4,)))}
    graph = Graph(
        nodes=(
            Node(
                "a/Conv", "FusedConv", ("t0", *weights), ("t3",), attributes={"pads": [1, 1, 1, 1]}
            ),
            Node("head/Gemm", "Gemm", ("t3", "head/Gemm.w1"), ("t4",)),
        ),
        tensors=(
            Tensor("t0", "float32", (1, 3, 8, 8)),
            Tensor("t3", "float32", (1, 4, 8, 8)),
            Tensor("t4", "float32", (1, 10)),
            Tensor("head/Gemm.w1", "float32", (10,), constant=True),
            *(Tensor(name, "float32", shape, constant=True) for name, shape in weights.items()),
        ),
        inputs=("t0",),
        outputs=("t4",),
    )
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            is_fused = name == "graphs/fused.json"
            new.writestr(name, graph_json(graph) if is_fused else old.read(name))
    return made.getvalue()


def test_inspect_of_a_profile(golden: Callable[[str, Any], None]) -> None:
    value = value_of(profile_json(UNFUSED_OPERATORS, runs=3), "p.json")
    golden("inspect/onnxruntime.json", json.loads(inspection_json(value)))


def test_inspect_of_an_experiment(golden: Callable[[str, Any], None]) -> None:
    value = value_of(experiment_zip(TIMES), "e.zip")
    golden("inspect/experiment.json", json.loads(inspection_json(value)))


def test_compare_of_variants(golden: Callable[[str, Any], None]) -> None:
    data = with_one_boundary(experiment_zip(TIMES))
    comparison = compare(*choose_sides(value_of(data, "e.zip")))
    values = json.loads(comparison_json(comparison))
    for side in ("baseline", "candidate"):
        values[side]["sha256"] = "…"  # zips carry a time
    golden("compare/variants.json", values)


def test_compare_of_several(golden: Callable[[str, Any], None]) -> None:
    times = TIMES | {"eager": [20.0] * 6, "extended": [5.3, 5.0, 4.9, 5.1, 5.0, 5.2]}
    experiment = value_of(experiment_zip(times), "e.zip")
    values = json.loads(multiple_json(compare_several(several_sides([experiment]))))
    for variant in values["variants"]:
        variant["sha256"] = "…"
        assert {note["code"] for note in variant.pop("diagnostics")} or variant["verdict"] is None
    golden("compare/several.json", values)


def test_compare_of_profiles(golden: Callable[[str, Any], None]) -> None:
    sides = choose_sides(
        value_of(profile_json(UNFUSED_OPERATORS, runs=6), "before.json"),
        value_of(profile_json(FUSED_OPERATORS, runs=2), "after.json"),
    )
    golden("compare/profiles.json", json.loads(comparison_json(compare(*sides))))


def test_types_sum_exactly_to_the_total() -> None:
    """Of a profile as the engine wrote it, without the shapes that older ones lack."""
    with zipfile.ZipFile(ROOT / "sample_traces" / "mobilenetv2.zip") as archive:
        data = archive.read("profiles/unfused/0.json").replace(b"_type_shape", b"_left_out")
    facts = inspection(value_of(data, "p.json"))
    assert len(facts["by_type"]) > 3
    assert sum(row["total_ns"] for row in facts["by_type"]) == facts["total_kernel_ns"]
    totals = [row["total_ns"] for row in facts["by_type"]]
    assert totals == sorted(totals, reverse=True)
    assert facts["fields"]["shapes"] is False and facts["fields"]["runs"] is True


def test_warm_up_is_in_no_figure_per_run() -> None:
    value = read_path(ROOT / "sample_traces" / "recipes" / "conv_bn.zip")
    assert isinstance(value, Experiment)
    variant = inspection(value)["variants"][0]
    told = compare(*choose_sides(value, None, variant["name"], None)).op_types
    expected = dict(zip(told["op_type"], told["per_run_ns_baseline"], strict=True))
    runs = value.traces[variant["name"]].profiled_runs
    assert runs["warmup"].any()
    assert variant["by_type"]
    for row in variant["by_type"]:
        assert row["per_run_ns"] == pytest.approx(expected[row["op_type"]])
        assert row["per_run_ns"] != row["total_ns"] / len(runs)
    assert sum(row["total_ns"] for row in variant["by_type"]) == variant["total_kernel_ns"]


def test_deltas_sum_to_the_change_of_operator_time() -> None:
    comparison = compare(*choose_sides(value_of(experiment_zip(TIMES), "e.zip")))
    values = json.loads(comparison_json(comparison))
    for table in ("by_type", "operators"):
        delta = sum(row["delta_ns"] for row in values[table])
        sums = [
            sum(row[side]["per_run_ns"] or 0 for row in values[table])
            for side in ("baseline", "candidate")
        ]
        assert abs(delta - (sums[1] - sums[0])) < 1e-6


def test_the_largest_and_what_is_left_out_are_everything() -> None:
    comparison = compare(*choose_sides(value_of(experiment_zip(TIMES), "e.zip")))
    whole = json.loads(comparison_json(comparison))
    top = json.loads(comparison_json(comparison, 1))
    left_out = top.pop("left_out")
    assert len(whole["operators"]) > 2 and len(whole["fusion"]["groups"]) > 1
    assert top["operators"] == whole["operators"][:1]
    rest = whole["operators"][1:]
    assert left_out["operators"]["count"] == len(rest)
    assert left_out["operators"]["delta_ns"] == pytest.approx(sum(row["delta_ns"] for row in rest))
    for side in ("baseline", "candidate"):
        ran = [row[side]["per_run_ns"] for row in rest if row[side]["per_run_ns"] is not None]
        assert left_out["operators"][side]["count"] == len(ran)
        assert left_out["operators"][side]["per_run_ns"] == pytest.approx(sum(ran))
    groups = whole["fusion"]["groups"]
    assert [group["id"] for group in top["fusion"]["groups"]] == [groups[0]["id"]]
    for name in ("before_ns", "after_ns", "gain_ns"):
        assert left_out["groups"][name] == sum(group[name] for group in groups[1:])
    (shown,) = top["fusion"]["groups"]
    for name in ("original", "baseline", "optimised"):
        assert shown[name] == groups[0][name][:1]
        assert shown["left_out"][name] == len(groups[0][name]) - len(shown[name])
    same = [name for name in whole if name not in ("operators", "fusion")]
    assert {name: top[name] for name in same} == {name: whole[name] for name in same}


def test_nothing_is_left_out_of_what_fits() -> None:
    comparison = compare(*choose_sides(value_of(experiment_zip(TIMES), "e.zip")))
    whole, top = (json.loads(comparison_json(comparison, most)) for most in (None, 1000))
    nothing = {"count": 0, "per_run_ns": 0.0}
    assert top.pop("left_out") == {
        "operators": {"count": 0, "baseline": nothing, "candidate": nothing, "delta_ns": 0.0},
        "groups": {"count": 0, "before_ns": 0, "after_ns": 0, "gain_ns": 0},
        "ungrouped": {"count": 0, "baseline": 0, "candidate": 0},
        "inserted": {"baseline": 0, "candidate": 0},
    }
    assert top["operators"] == whole["operators"]
    none = json.loads(comparison_json(comparison, 0))
    assert none["operators"] == [] and none["fusion"]["groups"] == []
    assert none["left_out"]["groups"]["gain_ns"] == sum(
        group["gain_ns"] for group in whole["fusion"]["groups"]
    )


def test_parts_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    comparison = compare(*choose_sides(value_of(experiment_zip(TIMES), "e.zip")))
    whole = comparison_json(comparison)
    assert whole == msgspec.json.format(
        msgspec.json.encode(comparison_values(comparison)), indent=2
    )
    monkeypatch.setattr(exports, "_AT_ONCE", 2)
    parts = [*exports.comparison_parts(comparison)]
    assert len(parts) > 3 and b"".join(parts) == whole

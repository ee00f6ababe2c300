"""The recipes themselves: what they name exists, and published figures keep one arithmetic."""

from __future__ import annotations

import math
import re
import zipfile
from pathlib import Path

import pytest

from fusescope.analysis import units
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import parse_graph
from fusescope.analysis.quantity import relative_change
from fusescope.analysis.recipes import RECIPES, Recipe, find, recipe
from fusescope.analysis.recipes.notes import FROM_PROFILE
from fusescope.analysis.wording.recipes import (
    COLUMNS,
    both_ways,
    length_text,
    published_line,
    published_notes,
)

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"
PUBLISHED = [one for one in RECIPES if one.published]
of_each = pytest.mark.parametrize("one", RECIPES, ids=[one.name for one in RECIPES])


def test_times_of_the_profile_are_called_so() -> None:
    """Beside latency, which is un-profiled: a depthwise convolution took 626 us of 471 us."""
    times = [code for code in FROM_PROFILE if code in COLUMNS and code.endswith("x3_time")]
    for code in (*times, "depthwise_time"):
        assert COLUMNS[code].label.endswith(", profiled")


def test_every_published_recipe_is_there() -> None:
    names = [one.name for one in RECIPES]
    assert len(set(names)) == len(names)
    assert set(names) >= {
        "conv_bn_relu", "conv_bn_clip", "depthwise", "three_modes", "mul_add", "composite",
        "conv3x3", "add_relu", "mul_sigmoid", "conv_bn",
    }  # fmt: skip


@of_each
def test_what_a_recipe_names_exists(one: Recipe) -> None:
    assert set(one.columns) <= set(COLUMNS)
    assert len(set(one.columns)) == len(one.columns)
    assert len(set(one.variants)) == len(one.variants)
    assert {one.baseline, *one.compare} <= set(one.variants)
    assert one.compare[0] != one.compare[1]
    for published in one.published:
        assert published.code in COLUMNS
        assert {variant for variant, _ in published.values} <= set(one.variants)
    assert bool(one.published) == bool(one.source)
    assert one.blocks >= 5, "no interval"
    assert one.runs >= one.mean_runs


@of_each
def test_a_recipe_is_what_is_recorded(one: Recipe) -> None:
    pytest.importorskip("msgspec")
    from fusescope.app.recipes.request import recording
    from fusescope.collectors import zoo
    from fusescope.collectors.record import engine_models

    made = recording(one, None)
    is_own = one.runtime == "onnxruntime"
    assert zoo.find(one.model) is not None if is_own else one.model in engine_models()
    assert made.runtime == one.runtime
    assert (made.blocks, made.rounds, made.batch) == (one.blocks, one.rounds, one.batch)
    if one.needs_compiler:
        pytest.importorskip("numba")
    assert made.plan().names == one.variants, "beside each custom: stands its segments:"
    assert made.command == f"fusescope recipe {one.name}"
    shorter = recording(one, None, blocks=2, seconds=90)
    assert (shorter.blocks, shorter.seconds) == (2, 90)
    assert shorter.command == f"fusescope recipe {one.name} --blocks 2 --seconds 90"


@pytest.mark.parametrize(
    ("seconds", "text"), [(90, "90"), (0.5, "0.5"), (1.2e6, "1200000"), (1234567.25, "1234567.25")]
)
def test_a_command_has_all_digits_of_its_budget(seconds: float, text: str) -> None:
    pytest.importorskip("psutil", reason="recording needs the extra 'collect'")
    from fusescope.app.recipes.request import recording

    made = recording(find("mul_add"), None, seconds=seconds)
    assert made.command == f"fusescope recipe mul_add --seconds {text}"


def test_rounds_that_do_not_count_are_those_of_the_recorder() -> None:
    from fusescope.collectors.recording import blocks

    assert recipe.WARMUP_ROUNDS == blocks.WARMUP_ROUNDS
    assert recipe.PROFILE_WARMUP_ROUNDS == blocks.PROFILE_WARMUP_ROUNDS


def test_one_arithmetic() -> None:
    assert both_ways(18.2e6, 7.5e6) == "2.43×, latency −58.8 %, throughput +142.7 %"
    lines = [published_line(find("conv3x3"), one) for one in find("conv3x3").published]
    assert lines == [
        (
            "latency: 18.2 ms (unfused) → 7.50 ms (precision): "
            "2.43×, latency −58.8 %, throughput +142.7 %"
        ),
        (
            "3x3 convolutions, profiled: 13.1 ms (unfused) → 3.20 ms (precision): "
            "4.09×, latency −75.6 %, throughput +309.4 %"
        ),
        "compute utilisation: 42.0 % (unfused) → 88.0 % (precision): +46.0 pt",
        "cache utilisation: 28.0 % (unfused) → 76.0 % (precision): +48.0 pt",
        "top-5 accuracy: −0.3 pt (precision)",
    ]
    lines = [published_line(find("three_modes"), one) for one in find("three_modes").published]
    assert lines == [
        ("mean time of all runs: 520 ms (eager) → 180 ms (graph) → 125 ms (graph, fused): 4.16×"),
        "peak memory: 250 MB (eager) → 210 MB (graph) → 190 MB (graph, fused): −24.0 %",
    ]


@pytest.mark.parametrize("one", PUBLISHED, ids=[one.name for one in PUBLISHED])
def test_the_verdict_is_on_the_pair_of_a_published_change(one: Recipe) -> None:
    """Where a published time is told as a ratio, ours of the same two steps is the headline."""
    for published in one.published:
        if published.unit == "ns" and len(published.values) > 1:
            assert (published.values[0][0], published.values[-1][0]) == one.compare


def test_notes_on_published_figures_do_their_sums_right() -> None:
    [note] = published_notes(find("conv_bn_relu"))
    latency = relative_change(1.8, 1.0)
    assert latency is not None
    assert units.percent(latency, signed=True) in note
    told = {one.code: dict(one.values)["rules:O3"] for one in find("conv_bn_relu").published}
    assert told["throughput_change"] == 0.8
    assert told["latency_change"] == pytest.approx(0.45 - 1)
    assert latency != pytest.approx(told["latency_change"], abs=0.1), "they do contradict"
    assert any("−42.7 % and +142.7 %" in note for note in published_notes(find("conv3x3")))


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("conv3", "conv3x3"), ("Three-Modes", "three_modes"), ("muladd", "mul_add")],
)
def test_an_unknown_name_suggests_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(FuseScopeError, match=f"Did you mean '{nearest}'"):
        find(name)


def test_arithmetic_beside_small_operators_is_as_told() -> None:
    """Operations of convolutions and products for each value that another operator writes."""
    told = " ".join(find("conv_bn_relu").why_differ)
    assert "ResNet-50 does about 300 operations, MobileNetV2 about 46" in told
    for model, ratio in (("resnet50", 300), ("mobilenetv2", 46)):
        with zipfile.ZipFile(SAMPLES / f"{model}.zip") as file:
            graph = parse_graph(file.read("graphs/unfused.json"), model)
        operations = written = 0
        for node in graph.nodes:
            values = math.prod(graph.tensor[node.outputs[0]].shape or ())
            weight = graph.tensor[node.inputs[1]].shape or () if len(node.inputs) > 1 else ()
            if node.op_type == "Conv":
                operations += 2 * values * math.prod(weight[1:])
            elif node.op_type == "Gemm":
                operations += 2 * math.prod(weight)
            else:
                written += values
        assert operations / written == pytest.approx(ratio, rel=0.05)


def test_an_unknown_name_is_shown_without_controls() -> None:
    with pytest.raises(FuseScopeError) as raised:
        find("\x1b[31m" + "x" * 500)
    assert "\x1b" not in raised.value.text
    assert re.search(r"x{50,60}…'\. The recipes are: ", raised.value.text.replace("?[31m", ""))


@of_each
def test_more_blocks_take_longer(one: Recipe) -> None:
    assert 0 < one.seconds(blocks=1) < one.seconds() < one.seconds(blocks=50)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1, "about 10 s"), (43, "about 40 s"), (89, "about 90 s"), (90, "about 2 min"),
     (1100, "about 18 min")],
)  # fmt: skip
def test_lengths_are_round(seconds: float, text: str) -> None:
    assert length_text(seconds) == text

"""What changed between two sides: the title of the ledger names no less than the step ladder."""

from __future__ import annotations

from pathlib import Path

import pytest

from fusescope.analysis import readers
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.multiple.rungs import RUNGS, steps_between
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.wording import came_from_parts, change_title

SAMPLES = Path(__file__).parents[2] / "sample_traces"
MINDSPORE, TORCH, JAX = (
    "mindspore/mynet_composite", "cases/torch_transformer", "cases/jax_twice_read",
)  # fmt: skip


@pytest.mark.parametrize(
    ("sample", "baseline", "candidate", "title"),
    [
        (MINDSPORE, "generated", "fused", "What fusion bought"),
        (MINDSPORE, "unfused", "fused", "Where the change came from: code generation, fusion"),
        (MINDSPORE, "unfused", "generated", "Where the change came from: code generation"),
        (MINDSPORE, "eager", "unfused", "Where the change came from: capture"),
        (TORCH, "unfused", "fused", "What fusion bought"),
        (
            TORCH,
            "eager",
            "fused",
            "Where the change came from: capture, code generation, fusion",
        ),
        (JAX, "fused", "eager", "Where the change came from: compilation, fusion"),
        (JAX, "eager", "unfused", "Where the change came from: compilation"),
        (
            MINDSPORE,
            "fused",
            "unfused",
            "Where the change came from: code generation, fusion",
        ),
        ("mobilenetv2", "unfused", "fused", "What fusion bought"),
        ("mobilenetv2", "fused", "unfused", "What lost fusions cost"),
        ("mobilenetv2", "fused", "without:ConvBNFusion", "What lost fusions cost"),
        ("mobilenetv2", "eager", "fused", "Where the change came from: one graph, fusion"),
        ("mobilenetv2", "fused", "eager", "Where the change came from: one graph, fusion"),
        ("mobilenetv2", "eager", "unfused", "Where the change came from: one graph"),
        (
            "mobilenetv2",
            "eager",
            "without:NchwcTransformer",
            "Where the change came from: one graph, fusion",
        ),
        ("mobilenetv2", "without:ConvBNFusion", "fused", "What fusion bought"),
    ],
)
def test_the_title_names_every_step_between_two_variants(
    sample: str, baseline: str, candidate: str, title: str
) -> None:
    experiment = readers.read_path(SAMPLES / f"{sample}.zip")
    assert isinstance(experiment, Experiment)
    pair = compare(*choose_sides(experiment, baseline=baseline, candidate=candidate))
    assert change_title(pair) == title
    named = "".join(part.text for part in came_from_parts(pair))
    assert named == ("" if title.startswith("What ") else title)


def test_steps_are_those_of_neighbours_whichever_comes_first() -> None:
    assert steps_between("torch", "eager", "fused") == ("capture", "code_generation", "fusion")
    assert steps_between("torch", "fused", "captured") == ("code_generation", "fusion")
    assert steps_between("torch", "fused", "fused") == ()
    assert steps_between("torch", "fused", "freezing") == ()
    assert steps_between("torch", "captured", "without:cpp_fused_add_1") == (
        "code_generation",
        "fusion",
    )
    assert steps_between("onnxruntime", "eager", "segments:elementwise") == ()
    assert steps_between("openvino", "marked", "fused") == ()
    for engine, rungs in RUNGS.items():
        assert len(steps_between(engine, rungs.variants[0], rungs.variants[-1])) >= 2

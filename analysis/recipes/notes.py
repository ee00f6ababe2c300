"""What the reader of a recipe's table must know: codes and values, for wording.recipes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.doubts import FEW_CLASSES, MUCH_BIAS
from fusescope.analysis.compare.timing.statistics import MIN_SAMPLES
from fusescope.analysis.experiment import MAX_DIFFERENCE, Experiment
from fusescope.analysis.graph import Graph
from fusescope.analysis.recipes.cell import Cell
from fusescope.analysis.recipes.measures import Figures, sampled_ns
from fusescope.analysis.recipes.recipe import Recipe
from fusescope.analysis.trace import DiagnosticCode, Value

# Notes that only a recipe has, or has in other words than Compare.
NoteCode = Literal[
    "agreement", "boundaries", "few_blocks", "fewer_runs", "inflation", "mean_differs", "mean_of",
    "memory", "other_batch", "other_threads", "outputs_differ", "over_peak", "over_roof",
    "same_graph", "weak_attribution",
]  # fmt: skip

_IN_PIECES = ("eager", "segments:", "custom:")
_UTILISATIONS = ("compute_utilisation", "conv3x3_utilisation", "depthwise_utilisation")
# Doubts of a comparison about the recording, which are those of every step, in Compare's words.
OF_RECORDING: frozenset[DiagnosticCode] = frozenset(
    ("stopped_device", "stopped_interrupted", "stopped_seconds", "device_busy")
    + ("load_seen", "blocks_loaded", "load", "governor")
    + ("control", "part_missing", "part_unreadable")
)
# Figures that are times of the profile, or rest on them.
FROM_PROFILE = frozenset(
    ("small_op_time", "light_time", "roofline_share", "conv3x3_time", "conv3x3_utilisation")
    + ("depthwise_time", "depthwise_utilisation")
)


@dataclass(frozen=True)
class Note:
    """A code and the values of its sentence; names of variants and texts can come from a file."""

    code: NoteCode | DiagnosticCode
    is_doubt: bool = False
    values: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))


def notes(
    recipe: Recipe,
    experiment: Experiment,
    cells: Mapping[str, Mapping[str, Cell]],
    known: Sequence[Figures],
    answer: Comparison,
) -> tuple[Note, ...]:
    """Doubts first. `cells` are those of each step by variant, `known` its figures in a comparison
    with the first one, `answer` compares the pair that says most."""
    found = [
        *_recording(recipe, experiment, answer),
        *_profile(recipe, known, answer),
        *_figures(recipe, cells),
        *_same_graphs(recipe, experiment),
        *_meaning(recipe, experiment),
    ]
    return tuple(sorted(found, key=lambda note: not note.is_doubt))


def _recording(recipe: Recipe, experiment: Experiment, answer: Comparison) -> Iterator[Note]:
    record = experiment.record
    blocks = record.outcome.blocks
    if blocks < MIN_SAMPLES:
        yield _doubt("few_blocks", blocks=blocks, needed=MIN_SAMPLES)
    for one in answer.diagnostics:
        if one.code in OF_RECORDING:
            yield Note(one.code, one.severity != "info", one.values)
        elif one.code == "other_baseline" and recipe.variants[0] != recipe.baseline:
            yield Note(one.code, values=one.values)
        elif one.code == "mean_differs":
            yield _doubt("mean_differs", **_pair(recipe), **one.values)
    asked: tuple[tuple[NoteCode, int | None, int | None], ...] = (
        ("other_threads", recipe.threads, record.settings.threads),
        ("other_batch", recipe.batch, record.model.batch),
    )
    for code, wanted, got in asked:
        if wanted is not None and got != wanted:
            yield _doubt(code, wanted=wanted, got=got)
    if recipe.mean_runs:
        runs = min(len(sampled_ns(record.variant(name))) for name in recipe.variants)
        if runs < recipe.mean_runs:
            yield _doubt("fewer_runs", runs=runs, wanted=recipe.mean_runs)
        else:
            yield Note("mean_of", values={"runs": runs})


def _profile(recipe: Recipe, known: Sequence[Figures], answer: Comparison) -> Iterator[Note]:
    """What weakens times of the profile, where the table has any."""
    if not FROM_PROFILE & set(recipe.columns):
        return
    inflation = {
        step.label_message: value
        for step, figures in zip(recipe.steps, known, strict=True)
        if (value := figures["profiler_inflation"].value) is not None
    }
    if inflation:
        minimum = min(inflation, key=inflation.__getitem__)
        maximum = max(inflation, key=inflation.__getitem__)
        low, high = inflation[minimum], inflation[maximum]
        much = high > 1 + MUCH_BIAS or low < 1 - MUCH_BIAS
        yield Note(
            "inflation",
            much,
            {"low": low, "least": minimum.of(), "high": high, "most": maximum.of()},
        )
    for one in answer.diagnostics:
        if one.code == "weak_attribution":
            yield _doubt("weak_attribution", **_pair(recipe), **one.values)


def _pair(recipe: Recipe) -> dict[str, Value]:
    """What the two steps of the answer are called."""
    labels = {step.variant: step.label_message.of() for step in recipe.steps}
    return {"before": labels[recipe.compare[0]], "after": labels[recipe.compare[1]]}


def _figures(recipe: Recipe, cells: Mapping[str, Mapping[str, Cell]]) -> Iterator[Note]:
    for variant, row in cells.items():
        difference = _value(row, "output_difference")
        if variant != "int8" and difference is not None and difference > MAX_DIFFERENCE:
            yield _doubt("outputs_differ", variant=variant, difference=difference)
        for code in _UTILISATIONS:
            share = _value(row, code)
            if share is not None and share > 1:
                yield _doubt("over_peak", variant=variant, figure=code, share=share)
        share = _value(row, "roofline_share")
        if share is not None and share > 1:
            yield Note("over_roof", values={"variant": variant})


def _same_graphs(recipe: Recipe, experiment: Experiment) -> Iterator[Note]:
    """Steps that run the very graph of an earlier one; those in pieces differ by their cut."""
    seen: list[tuple[str, Graph]] = []
    for name in recipe.variants:
        graph = experiment.graphs.get(name)
        if graph is None or name.startswith(_IN_PIECES):
            continue
        twin = next((other for other, known in seen if known.nodes == graph.nodes), None)
        if twin is not None:
            yield Note("same_graph", values={"variant": name, "other": twin})
        seen.append((name, graph))


def _meaning(recipe: Recipe, experiment: Experiment) -> Iterator[Note]:
    if any(name.startswith("custom:") for name in recipe.variants):
        yield Note("boundaries")
    if "allocator" in recipe.columns:  # which is what peak memory depends on
        yield Note("memory")
    if "agreement_top1" in recipe.columns:
        yield from _agreement(recipe, experiment)


def _agreement(recipe: Recipe, experiment: Experiment) -> Iterator[Note]:
    found = [experiment.record.variant(name).agreement for name in recipe.variants]
    known = [agreement for agreement in found if agreement is not None]
    if known:
        fewest = min(known, key=lambda agreement: agreement.distinct)
        values = {"samples": fewest.samples, "distinct": fewest.distinct}
        yield Note("agreement", fewest.distinct < FEW_CLASSES, values)


def _value(row: Mapping[str, Cell], code: str) -> float | None:
    cell = row.get(code)
    return cell.quantity.value if cell is not None and cell.quantity is not None else None


def _doubt(code: NoteCode, **values: Value) -> Note:
    return Note(code, True, values)

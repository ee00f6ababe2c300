"""Words of recipes: labels of columns, cells as text, notes, published figures, lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from fusescope.analysis import units
from fusescope.analysis.compare.timing.verdict import Verdict
from fusescope.analysis.experiment import ExperimentRecord
from fusescope.analysis.messages import Message, Part, Shown, paragraph, say
from fusescope.analysis.quantity import Basis, Quantity, ratio, relative_change
from fusescope.analysis.recipes import Cell, Note, Published, Recipe, RecipeTable, Step
from fusescope.analysis.recipes.notes import FROM_PROFILE, NoteCode
from fusescope.analysis.trace import Diagnostic, DiagnosticCode, Severity
from fusescope.analysis.wording.diagnostics import diagnostic_sentence
from fusescope.analysis.wording.diagnostics.attribution import (
    BESIDE_OPERATORS,
    MEAN_RUN_CHANGED,
    terms_beside_operators,
)
from fusescope.analysis.wording.diagnostics.text import NoteText, told
from fusescope.analysis.wording.sentences import pair_parts, quantity_text, verdict_interval
from fusescope.analysis.wording.texts import FIGURES, REASONS, FigureText

COLUMNS: Mapping[str, FigureText] = {
    **FIGURES,
    "speedup_first": FigureText(
        Message("vs first step"),
        Message(
            "Latency of the first step / latency of this one, paired inside blocks, with "
            "the 95 % interval of the verdict where there are at least 5 blocks."
        ),
        "higher",
    ),
    "speedup_previous": FigureText(
        Message("vs step before"),
        Message(
            "Latency of the step before / latency of this one, paired inside blocks, with "
            "the 95 % interval of the verdict where there are at least 5 blocks."
        ),
        "higher",
    ),
    "latency_change": FigureText(
        Message("latency change"),
        Message("1 / speedup - 1, compared with the first step."),
        "lower",
    ),
    "throughput_change": FigureText(
        Message("throughput change"),
        Message("Speedup - 1, compared with the first step."),
        "higher",
    ),
    "latency_per_sample": FigureText(
        Message("latency per sample"),
        Message("Latency / batch size."),
        "lower",
    ),
    "latency_mean": FigureText(
        Message("mean time of all runs"),
        Message(
            "Arithmetic mean of the un-profiled wall times of all runs, as in published "
            "figures. Unlike latency, it fully includes runs that were slowed down by other "
            "load."
        ),
        "lower",
    ),
    "latency_median": FigureText(
        Message("median time of all runs"),
        Message("Median of the un-profiled wall times of all runs: half of them took less."),
        "lower",
    ),
    "allocator": FigureText(
        Message("allocator"),
        Message("Where the engine's sessions take their memory from. It affects peak memory."),
    ),
    "operators": FigureText(
        Message("operators"),
        Message("Operators of the graph as the engine ran it."),
        "lower",
    ),
    "fused_nodes": FigureText(
        Message("fused nodes"),
        Message(
            "Operators of the graph that ran that replace several nodes of the model, "
            "counted in the fusion groups."
        ),
    ),
    "intermediate_removed": FigureText(
        Message("intermediate traffic removed"),
        Message("Intermediate traffic of the first step minus that of this one."),
        "higher",
    ),
    "conv3x3_time": FigureText(
        Message("3x3 convolutions, profiled"),
        Message(
            "Time in convolutions with a 3 x 3 kernel per run, from the profile, which makes runs "
            "longer: compare it with other profiled times, not with latency, of which it may be "
            "more than the whole. A fused convolution includes what was fused into it."
        ),
        "lower",
    ),
    "conv3x3_utilisation": FigureText(
        Message("3x3 utilisation"),
        Message(
            "FLOPs of the 3 x 3 convolutions / (their profiled time × measured peak). The "
            "profiler makes runs longer, so the utilisation is lower than with un-profiled "
            "time."
        ),
        "higher",
    ),
    "depthwise_time": FigureText(
        Message("depthwise convolutions, profiled"),
        Message(
            "Time in depthwise convolutions per run, from the profile, which makes runs longer: "
            "compare it with other profiled times, not with latency, of which it may be more than "
            "the whole. A fused convolution includes what was fused into it."
        ),
        "lower",
    ),
    "depthwise_utilisation": FigureText(
        Message("depthwise utilisation"),
        Message(
            "FLOPs of the depthwise convolutions / (their profiled time × measured peak). "
            "The profiler makes runs longer, so the utilisation is lower than with "
            "un-profiled time."
        ),
        "higher",
    ),
    "top5_accuracy_change": FigureText(
        Message("top-5 accuracy"),
        Message("Change of accuracy on labelled images, as published."),
    ),
}

GRAPH_HELP = Message("Operators of the graph that the engine ran, in their order.")

_OVER_PEAK: Mapping[str, Message] = {
    "compute_utilisation": Message(
        "The compute utilisation of {variant:name} is over 100 %: FLOPs are counted too high, or "
        "the measured peak is too low."
    ),
    "conv3x3_utilisation": Message(
        "The 3x3 utilisation of {variant:name} is over 100 %: FLOPs are counted too high, or the "
        "measured peak is too low."
    ),
    "depthwise_utilisation": Message(
        "The depthwise utilisation of {variant:name} is over 100 %: FLOPs are counted too high, or "
        "the measured peak is too low."
    ),
}
NOTES: Mapping[NoteCode, NoteText] = {
    "few_blocks": told(
        Message("Only {n:count} block was recorded.", "Only {n:count} blocks were recorded."),
        Message("An interval and a verdict need at least {needed:blocks}."),
        counted="blocks",
    ),
    "mean_differs": told(
        Message(
            "From {before} to {after}, the mean run changed by {mean:change}, but the typical run "
            "changed by {typical:change}."
        ),
        Message(
            "Latency and the ratios are based on the typical run. A few slow runs have a large "
            "effect on the mean."
        ),
    ),
    "inflation": told(
        Message(
            "Profiled runs take {low:factor} ({least}) to {high:factor} ({most}) the time of "
            "un-profiled ones."
        ),
        Message("Compare profiled figures with each other, not with latency."),
    ),
    "weak_attribution": told(
        Message("Profiled times explain only part of the change from {before} to {after}."),
        MEAN_RUN_CHANGED,
        BESIDE_OPERATORS,
    ),
    "other_threads": told(
        Message("It was recorded with {got:threads}, but the recipe uses {wanted:threads}.")
    ),
    "other_batch": told(
        Message(
            "It was recorded with a batch size of {got:count}, but the recipe uses {wanted:count}."
        )
    ),
    "fewer_runs": told(
        Message("The mean is over {runs:runs}, the published one is over {wanted:runs}.")
    ),
    "mean_of": told(
        Message("Mean and median are over {runs:runs} per step."),
        Message("Latency and the ratios are based on the lower quartile of each block."),
    ),
    "outputs_differ": told(
        Message(
            "The outputs of {variant:name} differ from those of the baseline by "
            "{difference:number} of the largest value. At most 1e-4 is expected."
        )
    ),
    "over_peak": told(
        _OVER_PEAK["compute_utilisation"],
        Message(
            "Products of float32 numbers and products of 8-bit numbers are each compared with "
            "their own peak."
        ),
    ),
    "same_graph": told(
        Message("{variant:name} runs the same graph as {other:name}."),
        Message("Nothing more was fused, so a difference between the two is noise."),
    ),
    "over_roof": told(
        Message("{variant:name} is over its roofline, which is that of main memory."),
        Message("Its tensors come from a cache."),
    ),
    "boundaries": told(
        Message(
            "A variant that is cut pays for its boundaries, including the one with the custom "
            "kernel."
        ),
        Message(
            "The kernel's own gain is its ratio to the step before it, which has the same cut "
            "without the kernel."
        ),
    ),
    "memory": told(Message("Peak memory depends on the allocator, which is shown as well.")),
    "agreement": told(
        Message(
            "Agreement is with the baseline on {samples:count} inputs other than the recorded one, "
            "for which the baseline chose {distinct:classes}."
        ),
        Message("It is not accuracy, because these inputs have no labels."),
    ),
}
_UNKNOWN_BATCH = Message(
    "It was recorded with a batch of unknown size, but the recipe uses a batch size of "
    "{wanted:count}."
)


def answer_parts(recipe: Recipe, verdict: Verdict) -> tuple[Part, ...]:
    """The verdict on the pair that says most: 'precision', ' is ', '2.43× faster', …"""
    labels = {step.variant: step.label for step in recipe.steps}
    return pair_parts(verdict, *(labels[name] for name in recipe.compare))


def answer_text(table: RecipeTable) -> str:
    """The same as text: 'precision is 2.43× faster than unfused (95 % interval …).'"""
    sentence = "".join(part.text for part in answer_parts(table.recipe, table.answer))
    interval = verdict_interval(table.answer)
    if interval:
        sentence = say("{answer} ({interval})", answer=sentence, interval=interval)
    if table.cut is None:
        return sentence
    return paragraph(say("{answer}.", answer=sentence), cut_text(table.cut))


def cut_text(verdict: Verdict) -> str:
    """A custom kernel against the same cut without it: 'Compared with the same cut …: 1.26×.'"""
    if verdict.speedup is None or verdict.outcome not in ("faster", "slower"):
        return say("The change from the same cut without the kernel cannot be told from noise.")
    interval = verdict.interval
    if interval is None:
        return say(
            "Speedup over the same cut without the kernel: {speedup:factor}.",
            speedup=verdict.speedup,
        )
    return say(
        "Speedup over the same cut without the kernel: {speedup:factor} ({low:factor} to "
        "{high:factor}).",
        speedup=verdict.speedup,
        low=interval.low,
        high=interval.high,
    )


def step_text(step: Step, between: str = " ") -> str:
    """What a step is called, and the variant where that is another word: 'fusion (fused)'."""
    return step.label if step.label == step.variant else f"{step.label}{between}({step.variant})"


def cell_text(code: str, cell: Cell) -> str:
    """A cell of the column `code`: '18.2 ms', '~42.0 %', '-58.8 %', '2.43× (2.40× to 2.46×)'; a
    dash where it is empty. A text of the file is given as it is."""
    text, interval = value_text(code, cell), interval_text(cell)
    if not interval:
        return text
    return say("{value} ({interval})", value=text, interval=interval)


# What recorders write of it; other texts are shown as they are.
_ALLOCATORS: Mapping[str, Message] = {
    "one a session": Message("one per session"),
    "shared by all sessions": Message("shared by all sessions"),
}


def value_text(code: str, cell: Cell) -> str:
    """`cell_text` without the interval."""
    quantity = cell.quantity
    if quantity is None:
        known = _ALLOCATORS.get(cell.text) if code == "allocator" else None
        return known.text() if known is not None else cell.text or units.MISSING
    if code == "top5_accuracy_change":
        return units.points(quantity.value)
    if code.endswith("_change"):
        return units.percent(quantity.value, signed=True)
    return quantity_text(quantity)


def interval_text(cell: Cell) -> str:
    """Bounds of a ratio's 95 % interval: '2.40× to 2.46×'; '' without one."""
    if cell.low is None or cell.high is None:
        return ""
    return say("{low:factor} to {high:factor}", low=cell.low, high=cell.high)


def missing_text(cell: Cell) -> str:
    """Why a cell is empty; '' where it is not, or where nothing can be said."""
    if not cell.is_empty or cell.quantity is None or cell.quantity.reason is None:
        return ""
    return REASONS[cell.quantity.reason].text()


_BASES: Mapping[Basis, Message] = {
    "measured": Message("measured"),
    "counter": Message("counter"),
    "modelled": Message("modelled"),
    "assumed": Message("assumed"),
}


def column_basis(table: RecipeTable, code: str) -> str:
    """What the figures of a column rest on: 'measured', 'modelled, profiled' (on times of the
    profile); a dash where they are texts; where the whole column is empty, why."""
    cells = [row.cells[code] for row in table.rows]
    shown = [cell.quantity for cell in cells if cell.quantity is not None and not cell.is_empty]
    if shown:
        basis = _bases(shown)
        return say("{basis}, profiled", basis=basis) if code in FROM_PROFILE else basis
    if any(cell.text for cell in cells):
        return units.MISSING
    return next(filter(None, map(missing_text, reversed(cells))), "")


def published_basis(table: RecipeTable, code: str) -> str:
    """What the published figures of a column rest on; '' where there are none."""
    told = [row.cells[code].quantity for row in table.published if code in row.cells]
    return _bases([quantity for quantity in told if quantity is not None])


def _bases(quantities: Sequence[Quantity]) -> str:
    return " / ".join(_BASES[basis].text() for basis in dict.fromkeys(q.basis for q in quantities))


def graph_text(graph: Sequence[str]) -> str:
    """Op types in the order in which they run: 'Mul → Add'. They come from the file."""
    return " → ".join(graph)


def both_ways(before_ns: float, after_ns: float) -> str:
    """A change of time both ways: '2.43×, latency -58.8 %, throughput +142.7 %'."""
    return say(
        "{speedup:factor}, latency {latency:change}, throughput {throughput:change}",
        speedup=ratio(before_ns, after_ns),
        latency=relative_change(before_ns, after_ns),
        throughput=relative_change(after_ns, before_ns),
    )


def published_line(recipe: Recipe, published: Published) -> str:
    """A published figure: 'latency: 18.2 ms (unfused) → 7.50 ms (precision): 2.43×, …'."""
    labels = {step.variant: step.label for step in recipe.steps}
    shown = " → ".join(
        say(
            "{value} ({step})",
            value=cell_text(published.code, Cell(Quantity(value, published.unit, "measured"))),
            step=labels[variant],
        )
        for variant, value in published.values
    )
    label, change = COLUMNS[published.code].label, _published_change(published)
    if not change:
        return say("{figure}: {values}", figure=label, values=shown)
    return say("{figure}: {values}: {change}", figure=label, values=shown, change=change)


def _published_change(published: Published) -> str:
    """From the first to the last value; '' for one alone and for counts."""
    before, after = published.values[0][1], published.values[-1][1]
    if len(published.values) < 2 or published.unit == "count":
        return ""
    if published.code == "latency_mean":  # the latency beside it is another time
        return units.factor(ratio(before, after))
    if published.unit == "ns":
        return both_ways(before, after)
    if published.unit == "fraction":
        return units.points_between(before, after)
    return units.percent(relative_change(before, after), signed=True)


def how_to_read(table: RecipeTable) -> str:
    """How the cells of the table are to be read."""
    cells = [cell for row in table.rows for cell in row.cells.values()]
    if any(cell.low is not None for cell in cells):
        ratios = say(
            "Ratios are of un-profiled times, paired inside blocks, with their 95 % interval."
        )
    else:
        ratios = say("Ratios are of un-profiled times, paired inside blocks.")
    estimates = any(cell.quantity is not None and cell.quantity.is_estimate for cell in cells)
    return paragraph(
        ratios,
        say("~ marks figures that are modelled or assumed.") if estimates else "",
        say("Profiled figures are from runs with the engine's profiler on.")
        if FROM_PROFILE & set(table.columns)
        else "",
        say("Published figures are from other hardware.") if table.published else "",
    )


def published_notes(recipe: Recipe) -> tuple[str, ...]:
    """What is odd about published figures, by themselves or beside ours."""
    return tuple(dict.fromkeys(p.note for p in recipe.published if p.note))


def note_sentence(note: Note) -> str:
    """The sentences of a note. Names in it can come from a file."""
    if note.code not in NOTES:
        severity: Severity = "warning" if note.is_doubt else "info"
        code = cast("DiagnosticCode", note.code)  # the others are all in NOTES
        return diagnostic_sentence(Diagnostic(severity, code, 1, "", note.values))
    text = NOTES[cast("NoteCode", note.code)]
    fact = text.fact
    if note.code == "over_peak":
        fact = _OVER_PEAK[str(note.values["figure"])]
    elif note.code == "other_batch" and note.values["got"] is None:
        fact = _UNKNOWN_BATCH
    values: dict[str, Shown] = {**note.values, "n": note.values.get(text.counted)}
    if note.code == "weak_attribution":
        values["terms"] = terms_beside_operators(note.values)
    return paragraph(*(sentence.text(**values) for sentence in (fact, *text.then)))


def length_text(seconds: float) -> str:
    """How long a recording takes, rounded: 'about 40 s', 'about 9 min'."""
    if seconds < 90:
        return say("about {seconds:count} s", seconds=max(10, round(seconds, -1)))
    return say("about {minutes:count} min", minutes=round(seconds / 60))


def settings_text(recipe: Recipe) -> str:
    """What is recorded: 'resnet50, batch size 16, 2 threads; 8 blocks of 13 runs per step'."""
    text = _SETTINGS[recipe.batch is not None, recipe.threads is not None]
    return text.text(
        model=recipe.model,
        batch=recipe.batch,
        threads=recipe.threads,
        blocks=recipe.blocks,
        runs=recipe.rounds,
    )


# With a batch size, with a number of threads.
_SETTINGS: Mapping[tuple[bool, bool], Message] = {
    (False, False): Message(
        "{model:name}, one thread per core; {blocks:blocks} of {runs:runs} per step"
    ),
    (False, True): Message(
        "{model:name}, {threads:threads}; {blocks:blocks} of {runs:runs} per step"
    ),
    (True, False): Message(
        "{model:name}, batch size {batch:count}, one thread per core; {blocks:blocks} of "
        "{runs:runs} per step"
    ),
    (True, True): Message(
        "{model:name}, batch size {batch:count}, {threads:threads}; {blocks:blocks} of {runs:runs} "
        "per step"
    ),
}


def rounds_text(record: ExperimentRecord) -> str:
    """Return how many rounds each block has: '24 rounds', or '3 to 8 rounds'."""
    fewest, most = record.rounds
    if fewest == most:
        return say("{rounds:rounds}", rounds=most)
    return say("{fewest:count} to {rounds:rounds}", fewest=fewest, rounds=most)


def made_text(record: ExperimentRecord) -> str:
    """Where and when a table's figures were recorded. Names in it come from the file."""
    machine, settings = record.machine, record.settings
    return say(
        "{cpu:name}, {cores:cores}; {engine:name} {version:name}, {threads:threads}; "
        "{blocks:blocks} of {rounds}; recorded {date:name}",
        cpu=machine.cpu_model,
        cores=machine.physical_cores or machine.logical_cores,
        engine=record.engine.name,
        version=record.engine.version,
        threads=settings.threads,
        blocks=record.outcome.blocks,
        rounds=rounds_text(record),
        date=record.created[:10],
    )

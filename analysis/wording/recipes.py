"""Words of recipes: labels of columns, cells as text, notes, published figures, lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import cast

from analysis import units
from analysis.compare.timing.verdict import Verdict
from analysis.experiment import ExperimentRecord
from analysis.messages import Message, Part
from analysis.quantity import Quantity, ratio, relative_change
from analysis.recipes import Cell, Note, Published, Recipe, RecipeTable, Step
from analysis.recipes.notes import FROM_PROFILE, NoteCode
from analysis.trace import Diagnostic, DiagnosticCode, Severity
from analysis.wording.diagnostics import diagnostic_sentence
from analysis.wording.phrases import capital, number, plural, saved_text
from analysis.wording.sentences import pair_parts, quantity_text, verdict_interval
from analysis.wording.texts import FIGURES, REASONS, FigureText

COLUMNS: Mapping[str, FigureText] = {
    **FIGURES,
    "speedup_first": FigureText(
        Message("vs first step"),
        Message(
            "Latency of the first step / latency of this one, paired inside blocks, with the "
            "95 % interval of the verdict where there are at least 5 blocks."
        ),
        "higher",
    ),
    "speedup_previous": FigureText(
        Message("vs step before"),
        Message(
            "Latency of the step before / latency of this one, paired inside blocks, with the "
            "95 % interval of the verdict where there are at least 5 blocks."
        ),
        "higher",
    ),
    "latency_change": FigureText(
        Message("latency change"), Message("1 / speedup - 1 against the first step."), "lower"
    ),
    "throughput_change": FigureText(
        Message("throughput change"), Message("Speedup - 1 against the first step."), "higher"
    ),
    "latency_per_sample": FigureText(
        Message("latency per sample"), Message("Latency / batch size."), "lower"
    ),
    "latency_mean": FigureText(
        Message("mean time of all runs"),
        Message(
            "Arithmetic mean of the un-profiled wall times of all runs, as published figures "
            "have it. Runs that met other load weigh fully in it, in latency they do not."
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
        Message("Where the engine's sessions take their memory from: part of peak memory."),
    ),
    "operators": FigureText(
        Message("operators"), Message("Operators of the graph as the engine ran it."), "lower"
    ),
    "fused_nodes": FigureText(
        Message("fused nodes"),
        Message(
            "Operators of the graph as it ran that stand for several nodes of the model, "
            "counted in the fusion groups."
        ),
    ),
    "intermediate_removed": FigureText(
        Message("intermediate traffic removed"),
        Message("Intermediate traffic of the first step - that of this one."),
        "higher",
    ),
    "conv3x3_time": FigureText(
        Message("3x3 convolutions"),
        Message(
            "Time in convolutions with a 3 x 3 kernel {per}, from the profile. A fused one "
            "includes what was fused into it."
        ),
        "lower",
    ),
    "conv3x3_utilisation": FigureText(
        Message("3x3 utilisation"),
        Message(
            "FLOPs of the 3 x 3 convolutions / (their profiled time × measured peak). The "
            "profiler makes runs longer, so it is lower than un-profiled time would give."
        ),
        "higher",
    ),
    "depthwise_time": FigureText(
        Message("depthwise convolutions"),
        Message(
            "Time in depthwise convolutions {per}, from the profile. A fused one includes "
            "what was fused into it."
        ),
        "lower",
    ),
    "depthwise_utilisation": FigureText(
        Message("depthwise utilisation"),
        Message(
            "FLOPs of the depthwise convolutions / (their profiled time × measured peak). The "
            "profiler makes runs longer, so it is lower than un-profiled time would give."
        ),
        "higher",
    ),
    "top5_accuracy_change": FigureText(
        Message("top-5 accuracy"), Message("Change of accuracy on labelled images, as published.")
    ),
}

GRAPH_HELP = "Operators of the graph as the engine ran it, in that order."

_NOTES: Mapping[NoteCode | DiagnosticCode, str] = {
    "few_blocks": "Only {blocks}: below {needed} there is no interval and no verdict.",
    "mean_differs": "From {before} to {after} the mean run changed by {mean}, the typical run, on "
    "which latency and the ratios rest, by {typical}: a few slow runs weigh in the mean.",
    "inflation": "Profiled runs take {low} ({least}) to {high} ({most}) the time of un-profiled "
    "ones: hold profiled figures against each other, not against latency.",
    "weak_attribution": "From {before} to {after} slow executions, dispatch and profiler bias "
    "together {beside_ns}, the whole run {delta_ns}: profiled times explain only part of it.",
    "other_threads": "Recorded with {got} threads, the recipe asks for {wanted}.",
    "other_batch": "Recorded with a batch of {got}, the recipe asks for {wanted}.",
    "fewer_runs": "The mean is of {runs} runs; the published one is of {wanted}.",
    "mean_of": "Mean and median are of {runs} runs a step; latency and the ratios rest on the "
    "lower quartile of each block.",
    "outputs_differ": "The outputs of {variant} differ from the baseline's by {difference}, more "
    "than 1e-4 of the largest.",
    "over_peak": "{figure} of {variant} is over 100 %: FLOPs are counted too high, or a peak was "
    "measured too low. Products of float32 and of 8-bit numbers are held against a peak each.",
    "same_graph": "{variant} runs the same graph as {other}: nothing more was fused, and what "
    "differs between the two is noise.",
    "over_roof": "{variant} is over its roofline, which is that of main memory: its tensors come "
    "from a cache.",
    "boundaries": "A variant that is cut pays for its boundaries, the own kernel too: what the "
    "kernel is worth is its ratio to the step before it, the same cut without the kernel.",
    "memory": "Peak memory depends on the allocator, which is named beside it.",
    "agreement": "Agreement is with the baseline on {samples} other inputs than the recorded one, "
    "for which the baseline chose {distinct}. It is not accuracy: nobody labelled these inputs.",
}


_TEXTS: Mapping[str, Callable[[float], str]] = {
    "difference": units.small_number,
    "low": units.factor,
    "high": units.factor,
    "mean": partial(units.percent, signed=True),
    "typical": partial(units.percent, signed=True),
    "beside_ns": saved_text,
    "delta_ns": saved_text,
}


def answer_parts(recipe: Recipe, verdict: Verdict) -> tuple[Part, ...]:
    """The verdict on the pair that says most: 'precision', ' is ', '2.43× faster', …"""
    labels = {step.variant: step.label for step in recipe.steps}
    return pair_parts(verdict, *(labels[name] for name in recipe.compare))


def answer_text(table: RecipeTable) -> str:
    """The same as a sentence: 'precision is 2.43× faster than unfused (95 % interval …)'."""
    sentence = "".join(part.text for part in answer_parts(table.recipe, table.answer))
    interval = verdict_interval(table.answer)
    cut = "" if table.cut is None else f"; {cut_text(table.cut)}"
    return (f"{sentence} ({interval})" if interval else sentence) + cut


def cut_text(verdict: Verdict) -> str:
    """A kernel of one's own against the same cut without it: '1.26× over the same cut (95 % …)'."""
    if verdict.speedup is None or verdict.outcome not in ("faster", "slower"):
        return "against the same cut without the kernel it cannot be told"
    interval = verdict.interval
    shown = f" ({units.factor(interval.low)} to {units.factor(interval.high)})" if interval else ""
    return f"{units.factor(verdict.speedup)} over the same cut without the kernel{shown}"


def step_text(step: Step, between: str = " ") -> str:
    """What a step is called, and the variant where that is another word: 'fusion (fused)'."""
    return step.label if step.label == step.variant else f"{step.label}{between}({step.variant})"


def cell_text(code: str, cell: Cell) -> str:
    """A cell of the column `code`: '18.2 ms', '~42.0 %', '-58.8 %', '2.43× (2.40× to 2.46×)'; a
    dash where it is empty. A text of the file is given as it is."""
    text, interval = value_text(code, cell), interval_text(cell)
    return f"{text} ({interval})" if interval else text


def value_text(code: str, cell: Cell) -> str:
    """`cell_text` without the interval."""
    quantity = cell.quantity
    if quantity is None:
        return cell.text or units.MISSING
    if code == "top5_accuracy_change":
        return units.points(quantity.value)
    if code.endswith("_change"):
        return units.percent(quantity.value, signed=True)
    return quantity_text(quantity)


def interval_text(cell: Cell) -> str:
    """Bounds of a ratio's 95 % interval: '2.40× to 2.46×'; '' without one."""
    if cell.low is None or cell.high is None:
        return ""
    return f"{units.factor(cell.low)} to {units.factor(cell.high)}"


def missing_text(cell: Cell) -> str:
    """Why a cell is empty; '' where it is not, or where nothing can be said."""
    if not cell.is_empty or cell.quantity is None or cell.quantity.reason is None:
        return ""
    return REASONS[cell.quantity.reason].text()


def column_basis(table: RecipeTable, code: str) -> str:
    """What the figures of a column rest on: 'measured', 'modelled, profiled' (on times of the
    profile); a dash where they are texts; where the whole column is empty, why."""
    cells = [row.cells[code] for row in table.rows]
    shown = [cell.quantity for cell in cells if cell.quantity is not None and not cell.is_empty]
    if shown:
        profiled = ", profiled" if code in FROM_PROFILE else ""
        return " / ".join(dict.fromkeys(quantity.basis for quantity in shown)) + profiled
    if any(cell.text for cell in cells):
        return units.MISSING
    return next(filter(None, map(missing_text, reversed(cells))), "")


def published_basis(table: RecipeTable, code: str) -> str:
    """What the published figures of a column rest on; '' where there are none."""
    told = [row.cells[code].quantity for row in table.published if code in row.cells]
    return " / ".join(dict.fromkeys(quantity.basis for quantity in told if quantity is not None))


def graph_text(graph: Sequence[str]) -> str:
    """Op types in the order in which they run: 'Mul → Add'. They come from the file."""
    return " → ".join(graph)


def both_ways(before_ns: float, after_ns: float) -> str:
    """A change of time both ways: '2.43×, latency -58.8 %, throughput +142.7 %'."""
    latency = relative_change(before_ns, after_ns)
    throughput = relative_change(after_ns, before_ns)
    return (
        f"{units.factor(ratio(before_ns, after_ns))}, "
        f"latency {units.percent(latency, signed=True)}, "
        f"throughput {units.percent(throughput, signed=True)}"
    )


def published_line(recipe: Recipe, published: Published) -> str:
    """A published figure: 'latency: 18.2 ms (unfused) → 7.50 ms (precision): 2.43×, …'."""
    labels = {step.variant: step.label for step in recipe.steps}
    shown = [
        f"{cell_text(published.code, Cell(Quantity(value, published.unit, 'measured')))} "
        f"({labels[variant]})"
        for variant, value in published.values
    ]
    line = f"{COLUMNS[published.code].label}: {' → '.join(shown)}"
    if len(shown) < 2:
        return line
    before, after = published.values[0][1], published.values[-1][1]
    if published.unit == "ns":
        return f"{line}: {both_ways(before, after)}"
    if published.unit == "fraction":
        return f"{line}: {units.points_between(before, after)}"
    if published.unit == "count":
        return line
    return f"{line}: {units.percent(relative_change(before, after), signed=True)}"


def how_to_read(table: RecipeTable) -> str:
    """What stands for what in the cells of the table."""
    cells = [cell for row in table.rows for cell in row.cells.values()]
    interval = ", with their 95 % interval" if any(cell.low is not None for cell in cells) else ""
    told = [f"Ratios are of un-profiled times, paired inside blocks{interval}."]
    if any(cell.quantity is not None and cell.quantity.is_estimate for cell in cells):
        told.append("~ marks figures that are modelled or assumed.")
    if FROM_PROFILE & set(table.columns):
        told.append("Profiled figures are of runs with the engine's profiler on.")
    if table.published:
        told.append("Published figures are of other hardware.")
    return " ".join(told)


def published_notes(recipe: Recipe) -> tuple[str, ...]:
    """What is odd about published figures, by themselves or beside ours."""
    return tuple(dict.fromkeys(p.note for p in recipe.published if p.note))


def note_sentence(note: Note) -> str:
    """The sentence of a note. Names in it can come from a file."""
    if note.code not in _NOTES:
        severity: Severity = "warning" if note.is_doubt else "info"
        code = cast("DiagnosticCode", note.code)  # the others are all in _NOTES
        return diagnostic_sentence(Diagnostic(severity, code, 1, "", note.values))
    values = dict(note.values)
    for key, text in _TEXTS.items():
        if key in values:
            values[key] = text(number(values, key))
    if note.code == "few_blocks":
        values["blocks"] = plural(values["blocks"], "block")
    if "distinct" in values:
        count = values["distinct"]
        values["distinct"] = "1 class" if count == 1 else f"{count} classes"
    if "figure" in values:
        values["figure"] = capital(COLUMNS[str(values["figure"])].label)
    if note.code == "other_batch" and values["got"] is None:
        values["got"] = "unknown size"
    return _NOTES[note.code].format(**values)


def length_text(seconds: float) -> str:
    """How long a recording takes, rounded: 'about 40 s', 'about 9 min'."""
    if seconds < 90:
        return f"about {max(10, round(seconds, -1)):.0f} s"
    return f"about {round(seconds / 60):.0f} min"


def settings_text(recipe: Recipe) -> str:
    """What is recorded: 'resnet50, batch of 16, 2 threads; 8 blocks of 13 runs a step'."""
    threads = "a thread a core" if recipe.threads is None else plural(recipe.threads, "thread")
    batch = "" if recipe.batch is None else f", batch of {recipe.batch}"
    return (
        f"{recipe.model}{batch}, {threads}; {plural(recipe.blocks, 'block')} of "
        f"{plural(recipe.rounds, 'run')} a step"
    )


def made_text(record: ExperimentRecord) -> str:
    """Where and when a table's figures were recorded. Names in it come from the file."""
    machine, settings = record.machine, record.settings
    return (
        f"{machine.cpu_model}, {machine.physical_cores or machine.logical_cores} cores; "
        f"{record.engine.name} {record.engine.version}, {plural(settings.threads, 'thread')}; "
        f"{plural(record.outcome.blocks, 'block')} of {plural(settings.rounds, 'round')}; "
        f"recorded {record.created[:10]}"
    )

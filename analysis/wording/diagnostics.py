"""Sentences for what readers noticed and for doubts about a comparison."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from analysis import units
from analysis.trace import Diagnostic, DiagnosticCode, Value
from analysis.wording.phrases import capital, number, plural, saved_text
from analysis.wording.reading import READING
from analysis.wording.texts import TIME_SOURCES

_STATEMENT_ENDS = re.compile(r"[:;] |\. (?=[A-Z])")
_MIN_WORDS = 3  # 'A/A control: …' says nothing yet
_HEADLINE_CHARS = 150


def diagnostic_sentence(note: Diagnostic) -> str:
    """One sentence for a diagnostic of a reader or a doubt about a comparison."""
    text = _DIAGNOSTICS[note.code](note.count, note.values)
    side = f"{capital(str(note.values['side']))}: " if "side" in note.values else ""
    example = f" First: {note.example}" if note.example else ""
    return f"{side}{text if side else capital(text)}{example}"


def diagnostic_headline(note: Diagnostic) -> str:
    """The first statement of a diagnostic's sentence: its fact, without what follows from it."""
    whole = diagnostic_sentence(replace(note, example="")).rstrip(".")
    start = whole.index(": ") + 2 if "side" in note.values else 0
    for end in (found.start() for found in _STATEMENT_ENDS.finditer(whole, start)):
        if len(whole[start:end].split()) >= _MIN_WORDS:
            whole = whole[:end]
            break
    return f"{units.middle_cut(whole, _HEADLINE_CHARS)}."


def _load(values: Mapping[str, Value]) -> str:
    after = values.get("after")
    then = f", {after:.1f} after" if isinstance(after, int | float) else ""
    return (
        f"load average {number(values, 'before'):.1f} before the recording{then} on "
        f"{values.get('cores')} cores."
    )


def _boundaries(values: Mapping[str, Value]) -> str:
    pieces, twin = values.get("pieces"), values.get("same_cut")
    count = f"{pieces} pieces" if isinstance(pieces, int) and pieces > 1 else "pieces"
    told = (
        f"runs in {count} with tensors passed between, which the other side does not. A boundary "
        "costs some 40 to 100 µs, and that is part of this change."
    )
    return told if twin is None else f"{told} Compare with {twin} for the kernel alone."


def _only(values: Mapping[str, Value]) -> str:
    shown = (
        (side, values.get(key)) for side, key in (("baseline", "before"), ("candidate", "after"))
    )
    return ", ".join(f"only the {side} has {names}" for side, names in shown if names)


def _charged(values: Mapping[str, Value]) -> str:
    """What the profiler's charge for every operator does to the answer, where that is known."""
    before, after = values.get("before"), values.get("after")
    if not isinstance(before, int) or not isinstance(after, int):
        return "Profilers slow a run down, and need not slow both sides alike."
    counts = f"{units.count(after)} against {units.count(before)} executions"
    if values.get("is_fusion"):
        return (
            f"Profilers charge every operator, and fusion leaves fewer of them ({counts}), so it "
            "overstates what fusion bought."
        )
    more, favours = ("fewer", "candidate") if after < before else ("more", "baseline")
    return (
        f"Profilers charge every operator, and the candidate runs {more} of them ({counts}), so it "
        f"favours the {favours}."
    )


def _level(values: Mapping[str, Value], key: str) -> str:
    level = str(values.get(key))
    return _LEVELS.get(level, level)


_LEVELS = {
    "device_kernel": "kernels of a device",
    "framework_op": "operators of a framework",
    "graph_layer": "layers of a graph",
}

# code -> sentence from (count, values)
_DIAGNOSTICS: Mapping[DiagnosticCode, Callable[[int, Mapping[str, Value]], str]] = {
    **READING,
    "part_missing": lambda n, v: (
        f"the experiment lacks its file '{v.get('file')}'; what rests on it is left out."
    ),
    "part_unreadable": lambda n, v: (
        f"'{v.get('file')}' in the experiment is damaged, and what rests on it is left out. "
        f"{v.get('reason')}."
    ),
    "graph_missing": lambda n, v: (
        "the experiment holds no graph of it, so fusion groups could not be read from graphs."
    ),
    "graph_foreign": lambda n, v: (
        "its graph has other inputs or outputs than the model, so it is not a graph of this model "
        "and fusion groups could not be read from graphs."
    ),
    "graphs_of_two_models": lambda n, v: (
        "the two sides are recordings of different models, so fusion groups could not be read "
        "from graphs."
    ),
    "graph_ambiguous": lambda n, v: (
        "operators or results of operators share a name in its graph, so fusion groups could not "
        "be read from graphs."
    ),
    "graph_unusable": lambda n, v: (
        f"fusion groups could not be read from graphs: {str(v.get('reason')).rstrip('.')}."
    ),
    "boundary_mismatch": lambda n, v: (
        f"{plural(n, 'fusion group')} with other boundary tensors than in the model: its gain may "
        "belong to a neighbour."
    ),
    "unexplained_operators": lambda n, v: (
        f"{plural(n, 'operator')} in no fusion group: no original operator is known for it."
    ),
    "unmapped_originals": lambda n, v: (
        f"{plural(n, 'operator')} of the model in no fusion group, so what became of it is not "
        "in the ledger."
    ),
    "untimed_operators": lambda n, v: (
        f"{plural(n, 'operator')} in fusion groups without a time in the trace, counted as 0."
    ),
    "groups_inferred": lambda n, v: (
        f"{plural(n, 'group')} inferred from type, shapes and order: neither graphs nor names of "
        "members tie the operators of one file to those of the other."
    ),
    "groups_launched": lambda n, v: (
        f"{plural(n, 'group')} of kernels joined by the operator of the framework that launched "
        "them: the kernels have other names on either side, as on another GPU or with another "
        "library."
    ),
    "groups_by_class": lambda n, v: (
        f"{plural(n, 'group')} of kernels joined by operator class alone: neither names nor "
        "launchers agree, so such a group says how the class changed and no more."
    ),
    "inferred_without_partner": lambda n, v: (
        f"{plural(n, 'operator')} in no group: nothing says what became of them, or what "
        "they stand for."
    ),
    "same_variant": lambda n, v: (
        "both sides are the same variant of one recording, so there is nothing to compare."
    ),
    "paired": lambda n, v: (
        f"same machine, same input, {v.get('blocks')} fresh "
        f"process{'' if v.get('blocks') == 1 else 'es'}, {v.get('rounds')} interleaved "
        f"round{'' if v.get('rounds') == 1 else 's'} each in random order; ratios are taken inside "
        "a process."
    ),
    "paired_spin": lambda n, v: (
        f"same machine, same input, {v.get('blocks')} blocks; threads spin, so each variant ran "
        "in a process of its own."
    ),
    "unpaired": lambda n, v: (
        "two separate recordings: the machine's drift between them is not controlled. Recordings "
        "of one graph under changing load came out up to 1.8× apart; record both variants "
        "together for an answer to trust."
    ),
    "one_process_each": lambda n, v: (
        "each file is one process. Two processes that run the same graph differed by up to 12 % "
        "on a quiet machine, so smaller differences give no verdict."
    ),
    "recordings_differ": lambda n, v: (
        f"the recordings differ in {v.get('what')}: {v.get('baseline')} and {v.get('candidate')}."
    ),
    "one_side_unknown": lambda n, v: (
        "one side is a bare profile: machine, threads and input cannot be checked."
    ),
    "machines_unknown": lambda n, v: (
        "bare profiles do not say "
        + (
            "more of the machine than its device, nor "
            if v.get("devices")
            else "on which machine, "
        )
        + "with how many threads and on what input they were made."
    ),
    "same_file": lambda n, v: "both sides are the same file.",
    "tools_differ": lambda n, v: (
        f"the files come from different profilers, {v.get('before')} and {v.get('after')}: they "
        "count and time operators differently."
    ),
    "formats_differ": lambda n, v: (
        f"the files are of different formats, {v.get('before')} and {v.get('after')}: they need "
        "not hold the same rows."
    ),
    "versions_differ": lambda n, v: (
        f"the profilers are of different versions, {v.get('before')} and {v.get('after')}: part of "
        "the change may be theirs."
    ),
    "devices_differ": lambda n, v: (
        f"the files were recorded on different devices, {v.get('before')} and {v.get('after')}: "
        "the change is not that of fusion alone."
    ),
    "levels_differ": lambda n, v: (
        f"the baseline tells of {_level(v, 'before')}, the candidate of {_level(v, 'after')}: "
        "their operators are not the same things."
    ),
    "runs_differ": lambda n, v: (
        f"the files hold different numbers of {v.get('kind')}s, {v.get('before')} and "
        f"{v.get('after')}: figures per {v.get('kind')} compare, totals of the files do not."
    ),
    "communication_differs": lambda n, v: (
        f"only the {v.get('on')} holds communication "
        f"({units.duration(number(v, 'per_file_ns'))} in the file): one is of several devices, "
        "the other may not be."
    ),
    "compared_cut_short": lambda n, v: (
        f"the file of the {v.get('on')} ends before its recording did: its last run and its totals "
        "are too low."
    ),
    "counters_on_one_side": lambda n, v: (
        f"only the {v.get('on')} was recorded with hardware counters ({v.get('names')}), which can "
        "slow the recording down."
    ),
    "counter_units_differ": lambda n, v: (
        f"{plural(v.get('count'), 'counter')} in different units, first {v.get('before')} and "
        f"{v.get('after')}: they are kept apart."
    ),
    "counters_differ": lambda n, v: (
        f"the files hold different counters: {_only(v)}. Another setting of the profiler, device "
        "or toolkit makes them; what only one side has is not compared."
    ),
    "detail_differs": lambda n, v: (
        f"only the {v.get('on')} has {v.get('what')}: the files were recorded at different levels "
        "of detail, so operators join by name and order where shapes would tell."
    ),
    "heavy_counts_differ": lambda n, v: (
        f"{units.count(number(v, 'before'))} and {units.count(number(v, 'after'))} convolutions, "
        f"matrix products and attentions per {v.get('per')}: more than fusion explains, so these "
        "may be different models, batches or numbers of runs."
    ),
    "operator_counts_differ": lambda n, v: (
        f"{units.count(number(v, 'before'))} and {units.count(number(v, 'after'))} operators per "
        f"{v.get('per')}: more than fusion explains, so these may be different models, batches or "
        "numbers of runs."
    ),
    "stopped_interrupted": lambda n, v: (
        f"the recording was interrupted after {plural(v.get('blocks'), 'block')}."
    ),
    "stopped_seconds": lambda n, v: (
        f"the time budget ended the recording after {plural(v.get('blocks'), 'block')}."
    ),
    "load_seen": lambda n, v: (
        "measured under the load seen: no quiet reference of this machine was stored, or more "
        "than a fifth of the blocks were slower than it. The sign stands, the size may not."
    ),
    "blocks_loaded": lambda n, v: (
        f"{plural(v.get('replaced'), 'block')} that ran more than 10 % slower than this machine "
        f"does when quiet replaced, {v.get('loaded')} such kept."
    ),
    "different_models": lambda n, v: (
        f"only {units.percent(number(v, 'before'))} of the baseline's and "
        f"{units.percent(number(v, 'after'))} of the candidate's operator time has a counterpart "
        "on the other side, by name, shape, group or launcher. Below a fifth these look like "
        "different models, so no change between them is shown."
    ),
    "runs_unknown": lambda n, v: (
        "figures per run are those of the whole file on the side that does not mark its runs."
    ),
    "detail_borrowed": lambda n, v: (
        f"the {v.get('on')} was recorded with less detail, so the other file told its operators "
        f"apart: {plural(number(v, 'names'), 'name')} by the order of the calls, "
        f"{plural(number(v, 'types'), 'op type')} by name. Times and counts are its own."
    ),
    "runs_entered": lambda n, v: (
        f"cut into {plural(n, 'run')}, as entered: the file does not mark its runs, and every "
        "figure per run rests on that number."
    ),
    "runs_averaged": lambda n, v: (
        f"one average run of {n}, as entered: the file does not mark its runs and holds totals, "
        "so how much they differ is not known."
    ),
    "subgraphs": lambda n, v: (
        f"cache and traffic figures leave out the bodies of {plural(v.get('nodes'), 'operator')} "
        "with subgraphs (Loop, If, Scan)."
    ),
    "unsized_tensors": lambda n, v: (
        f"cache and traffic figures leave out {plural(v.get('tensors'), 'tensor')} of unknown size."
    ),
    "load": lambda n, v: _load(v),
    "boundaries_included": lambda n, v: _boundaries(v),
    "governor": lambda n, v: f"the CPU frequency governor was '{v.get('governor')}'.",
    "other_baseline": lambda n, v: (
        f"the A/A control and the output difference refer to '{v.get('baseline')}', the baseline "
        "of the recording."
    ),
    "control": lambda n, v: (
        f"A/A control: two copies of the baseline differ by {units.factor(number(v, 'low'))} to "
        f"{units.factor(number(v, 'high'))} (99 % interval)."
    ),
    "decided_at": lambda n, v: (
        f"settled by the look at {v.get('look')} blocks, at a significance level of "
        f"{number(v, 'alpha'):.4f}."
    ),
    "profiler_inflation": lambda n, v: (
        f"profiled runs take {units.factor(number(v, 'baseline'))} (baseline) and "
        f"{units.factor(number(v, 'candidate'))} (candidate) the time of un-profiled ones: "
        "latency is un-profiled, operator times are not."
    ),
    "profiled_headline": lambda n, v: (
        f"the verdict rests on {TIME_SOURCES[str(v.get('of'))]}. {_charged(v)}"
    ),
    "slow_first_runs": lambda n, v: (
        f"{plural(v.get('runs'), 'slow first run')} set aside as warm-up in operator figures."
    ),
    "large_output_difference": lambda n, v: (
        f"outputs differ from those of the recording's baseline by "
        f"{units.small_number(number(v, 'relative'))} of their largest value, more than rounding "
        "explains: check that it computes the same model."
    ),
    "quantised": lambda n, v: (
        "quantised to 8 bits, so it computes something else on purpose"
        + (
            ""
            if v.get("relative") is None
            else f": its outputs differ by {units.small_number(number(v, 'relative'))} of the "
            "largest value"
        )
        + ". In its fusion groups the codes of a tensor stand for the tensor."
    ),
    "one_class": lambda n, v: (
        "the recording's baseline chose one class for all of "
        f"{plural(v.get('samples'), 'sample')}: agreement with it says little."
    ),
    "biased_rows": lambda n, v: (
        f"{units.percent(number(v, 'share'))} of operator time is in rows under 20 µs, where the "
        "profiler's own cost is a large part."
    ),
    "unknown_operators": lambda n, v: (
        f"{units.percent(number(v, 'share'))} of operator time is of unknown class; the small-op "
        "ratio is low by up to that much."
    ),
    "classes_unknown": lambda n, v: (
        f"{units.percent(number(v, 'share'))} of operator time is of unknown class, so there is "
        "no small-op ratio."
    ),
    "operators_over_one": lambda n, v: (
        f"{plural(v.get('operators'), 'operator')} with a compute utilisation above 100 %: the "
        "peak was measured too low, or FLOPs are counted too high."
    ),
    "weak_attribution": lambda n, v: (
        "attribution is weak: slow executions, dispatch and profiler bias together "
        f"{saved_text(number(v, 'beside_ns'))}, the whole run {saved_text(number(v, 'delta_ns'))}, "
        "so the operators' own times explain only part of it."
    ),
    "slow_executions": lambda n, v: (
        f"{plural(n, 'fusion group')} dominated by single slow executions: they change the group's "
        "mean time by more than its gain and its interval. They are in no gain; the ledger has "
        "them in a line of their own."
    ),
    "mean_differs": lambda n, v: (
        f"the mean run, whose change the ledger adds up to, changed by "
        f"{units.percent(number(v, 'mean'), signed=True)}, the typical run of the verdict by "
        f"{units.percent(number(v, 'typical'), signed=True)}: a few slow runs weigh in the mean."
    ),
    "not_in_graph": lambda n, v: (
        f"{plural(n, 'operator')} of the trace not in its graph, so in no fusion group: "
        f"{units.duration(number(v, 'per_run_ns'))} a run."
    ),
    "utilisation_over_one": lambda n, v: (
        f"compute utilisation is {units.percent(number(v, 'value'))}: the peak was measured too "
        "low, or FLOPs are counted too high."
    ),
}

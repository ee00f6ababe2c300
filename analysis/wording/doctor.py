"""Sentences of the import doctor: what a file is, holds, lacks, and can answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from fusescope.analysis.doctor import FOUND_RUNS, Answer, AnswerCode, Examination, FigureCode
from fusescope.analysis.messages import Message, language, listed, paragraph, say
from fusescope.analysis.messages.formats import shown
from fusescope.analysis.trace import Diagnostic
from fusescope.analysis.wording.diagnostics import diagnostic_sentence

DOCTOR_HELP = Message(
    "What FuseScope read in each file, what it left out or repaired, and which figures the file "
    "can provide. Where a field is missing, it says how to record it."
)

FIELD_LABELS: Mapping[str, Message] = {
    "start": Message("start times"),
    "runs": Message("marked runs or steps"),
    "samples": Message("un-profiled run times"),
    "types": Message("op types"),
    "shapes": Message("shapes"),
    "dtypes": Message("data types"),
    "flops": Message("FLOPs"),
    "counters": Message("hardware counters"),
    "members": Message("names of the operators inside fused ones"),
    "stream": Message("streams"),
    "communication": Message("communication"),
    "sizes": Message("bytes that operators read and write"),
    "peak_memory": Message("peak memory of the process"),
    "memory": Message("memory over time"),
    "graph": Message("graph of the model"),
}
# What to call a field that too few operators have for a figure: the answer that says so, the label.
_PARTLY: Mapping[str, tuple[AnswerCode, Message]] = {
    "flops": ("some_flops", Message("FLOPs of some operators")),
    "sizes": ("some_sizes", Message("bytes that some operators read and write")),
}

_FOUND_RUNS = Message("runs that it does not mark")

FIGURE_LABELS: Mapping[FigureCode, Message] = {
    "latency": Message("Latency"),
    "verdict": Message("Verdict"),
    "small_ops": Message("Small-op ratio"),
    "short_ops": Message("Short-op ratio"),
    "dispatch_gap": Message("Idle time"),
    "compute_utilisation": Message("Compute utilisation"),
    "bytes_moved": Message("Bytes moved"),
    "cache": Message("Modelled cache"),
    "memory": Message("Peak memory"),
    "counters": Message("Hardware counters"),
    "fusion": Message("Fusion groups"),
    "timeline": Message("Timeline"),
}

# What profiled runs are called, and how they are counted.
_RUN_NOUNS = {
    "model_run": "profiled_runs",
    "step": "steps",
    "annotation": "steps",
    "repeat": "repetitions",
    "iteration": "iterations",
}
_MAX_NAMES = 8
_MUCH_UNKNOWN = 0.005  # share of time of unknown class that is worth a sentence


def recognised_sentence(found: Examination) -> str:
    """'Ascend profiler, kernel_details.csv, written by Ascend PyTorch Profiler 2.1 on 910B.'"""
    made = " ".join(part for part in (found.tool, found.version) if part)
    is_told = bool(made) and made != found.title
    title = language.translated(found.title)
    text = _RECOGNISED[is_told, bool(found.device)]
    return text.text(title=title, made=made, device=found.device)


_RECOGNISED: Mapping[tuple[bool, bool], Message] = {
    (False, False): Message("{title}."),
    (True, False): Message("{title}, written by {made:name}."),
    (False, True): Message("{title}, recorded on {device:name}."),
    (True, True): Message("{title}, written by {made:name} on {device:name}."),
}


def read_sentence(found: Examination) -> str:
    """Return '3 steps; 412 distinct operators and 1 236 executions in all.', and un-profiled runs.

    All is the file, or the one of its processes or devices that was read by itself."""
    kind = found.run_kind or ""
    if found.samples and kind in ("step", "annotation"):
        kind = (
            "model_run"  # as `run_word` has it: runs of a model, of which others were not profiled
        )
    counts = [
        (len(found.variants), "variants"),
        (None if kind == "file" else found.runs, _RUN_NOUNS.get(kind, "profiled_runs")),
        (found.samples or None, "unprofiled_runs"),
    ]
    told = [shown(count, noun) for count, noun in counts[not found.variants :] if count is not None]
    whole = {"operators": shown(found.operators, "distinct"), "n": shown(found.rows, "executions")}
    if not told:
        return say("{operators} and {n}.", **whole)
    return say("{counts}; {operators} and {n} in all.", counts=listed(told), **whole)


def files_sentence(files: Iterable[str]) -> str:
    """'Read together with l2_cache.csv, profiler_info_0.json.'; '' where it was read alone."""
    names = tuple(path.rpartition("/")[2] for path in files)
    return say("Read together with {names:name}.", names=some_of(names)) if names else ""


def some_of(names: tuple[str, ...]) -> str:
    """'a, b and 3 more'."""
    first, more = reduce(_with_next, names[:_MAX_NAMES]), len(names) - _MAX_NAMES
    if more <= 0:
        return first
    return say("{names:name} and {n:count} more", names=first, n=more)


def _with_next(start: str, name: str) -> str:
    return say("{start}, {next}", start=start, next=name)


def has_sentence(found: Examination) -> str:
    """'It contains start times, op types and shapes.'"""
    if not found.has:
        return say("It contains only names and times.")
    answers = {answer.code for answer in found.answers}
    labels = {
        **FIELD_LABELS,
        **{name: label for name, (code, label) in _PARTLY.items() if code in answers},
    }
    if any(note.code in FOUND_RUNS for note in found.noted):
        labels["runs"] = _FOUND_RUNS
    return say("It contains {fields}.", fields=listed([labels[name].text() for name in found.has]))


def note_sentence(note: Diagnostic) -> str:
    """A reader's diagnostic, with its variant in front where it is of one."""
    variant, sentence = note.values.get("variant"), diagnostic_sentence(note)
    if not variant:
        return sentence
    return say("{variant:name}: {sentence}", variant=variant, sentence=sentence)


def lack_sentences(found: Examination) -> tuple[str, ...]:
    """'Missing: shapes and data types. Record with level1.', a text for each way to have them.

    Communication that did not happen is nothing that lacks, nor are FLOPs where nothing has any.
    """
    absent = {"communication"}
    if any(answer.code == "no_heavy_operators" for answer in found.answers):
        absent.add("flops")
    by_switch: dict[str | None, list[str]] = {}
    for lack in found.lacks:
        if lack.field not in absent:
            by_switch.setdefault(lack.switch, []).append(lack.field)
    ordered = sorted(by_switch.items(), key=lambda item: (item[0] is None, item[0] == ""))
    return tuple(
        paragraph(say("Missing: {fields}.", fields=_fields(fields)), _remedy(switch))
        for switch, fields in ordered
    )


def _fields(names: tuple[str, ...] | list[str]) -> str:
    return listed([FIELD_LABELS[name].text() for name in names])


def _remedy(switch: str | None) -> str:
    if switch is None:
        return say("FuseScope reads this from no file of this format.")
    if not switch:
        return say(
            "Files of this format usually contain this, so the file may be cut off or changed."
        )
    return language.translated(switch).replace("`", "")  # these are shown as text, not as Markdown


def answer_text(answer: Answer) -> str:
    """Where a figure comes from, or why it is missing: 'No shapes. Record with level1.'"""
    reason = _reason(answer)
    if answer.without:
        names = some_of(answer.without)
        if not answer.needs:
            return paragraph(
                reason, say("This is so of {variants:name}, not of all variants.", variants=names)
            )
        return say(
            "No {field} in {variants:name}. The figure is there for the other variants.",
            field=FIELD_LABELS[answer.needs],
            variants=names,
        )
    if not answer.needs:
        return reason
    remedy = _remedy(answer.switch)
    if answer.figure == answer.needs:
        return remedy
    return paragraph(reason, say("No {field}.", field=FIELD_LABELS[answer.needs]), remedy)


def answer_sentence(answer: Answer) -> str:
    """Return a sentence such as 'Idle time: No start times. FuseScope reads this from no file of
    this format.'"""
    return say("{figure}: {text}", figure=FIGURE_LABELS[answer.figure], text=answer_text(answer))


def fed_sentence(found: Examination) -> str:
    """'It provides these figures: Latency, Timeline.'"""
    labels = [FIGURE_LABELS[answer.figure].text() for answer in found.answers if answer.available]
    if not labels:
        return say("It provides no figure.")
    return say("It provides these figures: {figures}.", figures=listed(labels))


def _reason(answer: Answer) -> str:
    key = answer.figure, answer.code
    values = answer.values
    if answer.code == "ends_early":
        return _ENDS_EARLY.text()
    if key == ("latency", "samples") and not values.get("blocks"):
        return _SAMPLES.text(**values)
    if key == ("latency", "runs") and values.get("runs") == 1:
        return _ONE_RUN.text()
    if key == ("counters", "named") and values.get("more"):
        return _MANY_COUNTERS.text(**values, n=values["count"])
    text = ANSWERS.get(key)
    if text is None:
        return ""  # a field that is missing is the reason
    unknown = values.get("unknown")
    is_much = isinstance(unknown, int | float) and unknown > _MUCH_UNKNOWN and answer.available
    told = text.text(**values, n=values.get("count"))
    return paragraph(told, _UNKNOWN.text(unknown=unknown) if is_much else "")


_ENDS_EARLY = Message("The file ends early, so no run is known to be complete.")
_UNKNOWN = Message("{unknown:percent} of the time is of unknown class.")
_SAMPLES = Message("From {runs:unprofiled_runs}.")
_ONE_RUN = Message("The only one, as profiled; a profiler makes it longer.")
_MANY_COUNTERS = Message("{n:count} counters: {names:name} and {more:count} more.")
_NO_TIMES = Message("Its operators took no time.")
_FROM_GRAPH = Message("From the graph.")
ANSWERS: Mapping[tuple[FigureCode, AnswerCode], Message] = {
    ("latency", "samples"): Message("From {runs:unprofiled_runs} in {blocks:blocks}."),
    ("latency", "runs"): Message(
        "The mean of {runs:count} as profiled; a profiler makes them longer."
    ),
    ("verdict", "enough"): Message(
        "From {runs:count} blocks, runs or steps; {least:count} are needed."
    ),
    ("verdict", "one_process"): Message(
        "Beside another file of one process, only for a change beyond 30 %: its {runs:count} runs "
        "or steps are of one process. Give five or more files a side for smaller ones."
    ),
    ("verdict", "few"): Message(
        "Only a point estimate: the file has {runs:count} of the {least:count} blocks, runs or "
        "steps that are needed. Record more of them."
    ),
    ("small_ops", "by_type"): Message("From op types."),
    ("small_ops", "by_name"): Message(
        "Classes are derived from kernel names, because op types are missing."
    ),
    ("small_ops", "unknown_classes"): Message(
        "{unknown:percent} of the time is in operators of unknown class."
    ),
    ("small_ops", "no_times"): _NO_TIMES,
    ("short_ops", "each"): Message("From the time of every execution."),
    ("short_ops", "means"): Message(
        "From mean times, because the file does not contain single executions."
    ),
    ("short_ops", "some_means"): Message(
        "From the time of every execution; of variants that have no single executions from mean "
        "times."
    ),
    ("dispatch_gap", "starts"): Message("From start times."),
    ("dispatch_gap", "whole_file"): Message(
        "Only of the whole file, as it does not mark its runs."
    ),
    ("dispatch_gap", "kernels_missing"): Message(
        "The file lacks kernels of launched graphs, so the device may not have been idle."
    ),
    ("compute_utilisation", "measured_peak"): Message("From FLOPs and the measured peak."),
    ("compute_utilisation", "public_peak"): Message(
        "From FLOPs and the public peak of {device:name} ({source:name}), which is assumed."
    ),
    ("compute_utilisation", "no_peak"): Message(
        "FLOPs are known, but the machine's peak is not. Settings on the page Compare take one."
    ),
    ("compute_utilisation", "no_heavy_operators"): Message(
        "No convolution, matrix product or attention was recognised."
    ),
    ("compute_utilisation", "classes_unknown"): Message(
        "Most of the operators' time is of unknown class."
    ),
    ("compute_utilisation", "some_flops"): Message(
        "FLOPs are not known for heavy operators with more than 5 % of the heavy operators' time."
    ),
    ("compute_utilisation", "no_times"): _NO_TIMES,
    ("bytes_moved", "graph"): _FROM_GRAPH,
    ("bytes_moved", "sizes"): Message("From shapes and data types."),
    ("bytes_moved", "some_sizes"): Message(
        "Sizes are missing for operators with more than 5 % of the time."
    ),
    ("cache", "graph"): _FROM_GRAPH,
    ("memory", "recorded"): Message("As recorded."),
    ("memory", "memory_over_time"): Message(
        "Only an experiment that FuseScope recorded contains it; this file has memory over time "
        "instead, which the page Trace shows."
    ),
    ("memory", "missing"): Message("Only an experiment that FuseScope recorded contains it."),
    ("counters", "named"): Message(
        "{n:count} counter: {names:name}.", "{n:count} counters: {names:name}."
    ),
    ("fusion", "graphs"): Message("From the graphs."),
    ("fusion", "members"): Message("From the members that fused operators name."),
    ("fusion", "inferred"): Message("Inferred from types, shapes and order."),
    ("fusion", "by_name"): Message(
        "Inferred from names, types and order. The file has no shapes, so fewer operators can be "
        "joined."
    ),
    ("timeline", "starts"): Message("From start times."),
    ("timeline", "in_order"): Message(
        "Operators are drawn one after the other, in the order of the file."
    ),
}

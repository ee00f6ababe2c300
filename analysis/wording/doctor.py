"""Sentences of the import doctor: what a file is, holds, lacks, and can answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from analysis import units
from analysis.doctor import Answer, Examination
from analysis.trace import Diagnostic, Value
from analysis.wording.diagnostics import diagnostic_sentence
from analysis.wording.phrases import capital, plural

DOCTOR_HELP = (
    "What FuseScope read in each file, what it left out or mended, and which figures the file can "
    "feed. Where a field is missing, it says how to have it recorded."
)

FIELD_LABELS: Mapping[str, str] = {
    "start": "start times",
    "runs": "runs that are told apart",
    "samples": "un-profiled run times",
    "types": "op types",
    "shapes": "shapes",
    "dtypes": "data types",
    "flops": "FLOPs",
    "counters": "hardware counters",
    "members": "names of the operators inside fused ones",
    "stream": "streams",
    "communication": "communication",
    "memory": "sizes of tensors or peak memory",
    "graph": "graph of the model",
}

FIGURE_LABELS: Mapping[str, str] = {
    "latency": "latency per run",
    "verdict": "verdict",
    "small_ops": "small-op ratio",
    "short_ops": "short-op ratio",
    "dispatch_gap": "dispatch gap",
    "compute_utilisation": "compute utilisation",
    "bytes_moved": "bytes moved",
    "cache": "modelled cache",
    "memory": "peak memory",
    "counters": "hardware counters",
    "fusion": "fusion groups",
    "timeline": "timeline",
}

_RUN_KINDS = {"model_run": "run", "step": "step", "iteration": "iteration", "file": "file"}


def recognised_sentence(found: Examination) -> str:
    """'Ascend profiler, kernel_details.csv; written by Ascend PyTorch Profiler 2.1 on 910B.'"""
    made = " ".join(part for part in (found.tool, found.version) if part)
    device = f" on {found.device}" if found.device else ""
    by = f"; written by {made}{device}" if made and made != found.title else device
    return f"{found.title}{by}."


def read_sentence(found: Examination) -> str:
    """'3 steps, 412 operators, 1,236 executions.' and, where there are any, un-profiled runs."""
    kind = _RUN_KINDS.get(found.run_kind or "", "run")
    parts = [plural(found.runs, "profiled run" if kind == "run" else kind)]
    if kind == "file":
        parts = []
    if found.samples:
        parts.append(plural(found.samples, "un-profiled run"))
    if found.variants:
        parts.insert(0, plural(len(found.variants), "variant"))
    parts += [plural(found.operators, "operator"), plural(found.rows, "execution")]
    return f"{', '.join(parts)}."


def files_sentence(found: Examination) -> str:
    """'Read with l2_cache.csv, profiler_info_0.json.'; '' where it was read alone."""
    names = tuple(path.rpartition("/")[2] for path in found.files)
    return f"Read with {listed(names)}." if names else ""


def listed(names: tuple[str, ...], max_names: int = 8) -> str:
    """'a, b and 3 more'."""
    shown = ", ".join(names[:max_names])
    return f"{shown} and {len(names) - max_names} more" if len(names) > max_names else shown


def has_sentence(found: Examination) -> str:
    """'It has start times, op types, shapes.'"""
    labels = ", ".join(FIELD_LABELS[name] for name in found.has)
    return f"It has {labels}." if labels else "It has nothing but names and times."


def note_sentence(note: Diagnostic) -> str:
    """A reader's diagnostic, with its variant in front where it is of one."""
    variant = note.values.get("variant")
    return f"{variant}: {diagnostic_sentence(note)}" if variant else diagnostic_sentence(note)


def lack_sentences(found: Examination) -> tuple[str, ...]:
    """'No shapes, data types: record with level1.', a sentence for each way to have them.

    Communication that did not happen is nothing that lacks, nor are FLOPs where nothing has any.
    """
    absent = {"communication"}
    if any(answer.code == "no_heavy_operators" for answer in found.answers):
        absent.add("flops")
    by_switch: dict[str | None, list[str]] = {}
    for lack in found.lacks:
        if lack.field not in absent:
            by_switch.setdefault(lack.switch, []).append(FIELD_LABELS[lack.field])
    ordered = sorted(by_switch.items(), key=lambda item: (item[0] is None, item[0] == ""))
    return tuple(f"No {', '.join(labels)}: {_remedy(switch)}." for switch, labels in ordered)


def _remedy(switch: str | None) -> str:
    if switch is None:
        return "this format never has that"
    return switch or "such files otherwise have that, so it may be cut short or altered"


def answer_text(answer: Answer) -> str:
    """How a figure is fed, or why it cannot be: 'no shapes: record with level1'."""
    made = _ANSWERS.get((answer.figure, answer.code))
    reason = made(answer.values) if made is not None else ""
    if not answer.needs:
        return reason
    remedy, label = _remedy(answer.switch), FIELD_LABELS[answer.needs]
    if label == FIGURE_LABELS[answer.figure]:
        return remedy
    return f"{reason}; no {label}: {remedy}" if reason else f"no {label}: {remedy}"


def answer_sentence(answer: Answer) -> str:
    """'Dispatch gap: no start times: this format never has that.'"""
    label = FIGURE_LABELS[answer.figure]
    text = answer_text(answer)
    return f"{capital(label)}: {text}{'' if text.endswith('…') else '.'}"


def fed_sentence(found: Examination) -> str:
    """'It can feed latency per run, timeline.'"""
    labels = [FIGURE_LABELS[answer.figure] for answer in found.answers if answer.available]
    return f"It can feed {', '.join(labels)}." if labels else "It can feed no figure."


def _runs(values: Mapping[str, Value], noun: str = "run") -> str:
    return plural(values.get("runs"), noun)


def _share(values: Mapping[str, Value]) -> str:
    share = values.get("unknown")
    return units.percent(float(share) if isinstance(share, int | float) else None)


def _from_samples(values: Mapping[str, Value]) -> str:
    blocks = values.get("blocks")
    places = f" in {plural(blocks, 'block')}" if blocks else ""
    return f"from {_runs(values, 'un-profiled run')}{places}"


_Maker = Callable[[Mapping[str, Value]], str]
_ANSWERS: Mapping[tuple[str, str], _Maker] = {
    ("latency", "samples"): _from_samples,
    ("latency", "runs"): lambda v: f"from {_runs(v, 'profiled run')}; profilers slow runs down",
    ("verdict", "enough"): lambda v: (
        f"from {v.get('runs')} blocks or runs; it needs {v.get('least')}"
    ),
    ("verdict", "few"): lambda v: (
        f"a point estimate only; {v.get('runs')} of the {v.get('least')} blocks or runs that it "
        "needs: record more runs"
    ),
    ("small_ops", "by_type"): lambda v: "from op types" + _unknown(v),
    ("small_ops", "by_name"): lambda v: (
        "classes are told from kernel names, for want of op types" + _unknown(v)
    ),
    ("small_ops", "unknown_classes"): lambda v: (
        f"{_share(v)} of the time is in operators of unknown class"
    ),
    ("small_ops", "no_times"): lambda v: "its operators took no time",
    ("short_ops", "each"): lambda v: "from the time of every execution",
    ("short_ops", "means"): lambda v: "from mean times, as the file has no single executions",
    ("dispatch_gap", "starts"): lambda v: "from start times inside runs",
    ("compute_utilisation", "measured_peak"): lambda v: "from FLOPs and the measured peak",
    ("compute_utilisation", "no_peak"): lambda v: (
        "FLOPs are known, the machine's peak is not: enter it in Settings of the dashboard"
    ),
    ("compute_utilisation", "no_heavy_operators"): lambda v: (
        "no convolution, matrix product or attention was recognised"
    ),
    ("compute_utilisation", "classes_unknown"): lambda v: (
        "most of the operators' time is of unknown class"
    ),
    ("compute_utilisation", "some_flops"): lambda v: (
        "the FLOPs of heavy operators with more than 5 % of their time are unknown"
    ),
    ("compute_utilisation", "no_times"): lambda v: "its operators took no time",
    ("bytes_moved", "graph"): lambda v: "from the graph",
    ("bytes_moved", "sizes"): lambda v: "from sizes of tensors",
    ("bytes_moved", "some_sizes"): lambda v: (
        "sizes are missing for operators with more than 5 % of the time"
    ),
    ("cache", "graph"): lambda v: "from the graph",
    ("memory", "recorded"): lambda v: "as recorded",
    ("memory", "missing"): lambda v: "only an experiment that FuseScope recorded has it",
    ("counters", "named"): lambda v: f"{plural(v.get('count'), 'counter')}: {v.get('names')}",
    ("fusion", "graphs"): lambda v: "from the graphs",
    ("fusion", "members"): lambda v: "from the members that fused operators name",
    ("fusion", "inferred"): lambda v: "inferred from types, shapes and order",
    ("timeline", "starts"): lambda v: "from start times",
}


def _unknown(values: Mapping[str, Value]) -> str:
    share = values.get("unknown")
    large = isinstance(share, int | float) and share > 0.005
    return f"; {_share(values)} of the time is of unknown class" if large else ""

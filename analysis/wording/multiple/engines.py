"""Several engines beside each other: the columns that say what ran, and what compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fusescope.analysis import units
from fusescope.analysis.compare.multiple.comparison import MultipleComparison
from fusescope.analysis.compare.multiple.engines import Ran, has_engines, ran
from fusescope.analysis.messages import Message, paragraph, say
from fusescope.analysis.text import clean_text
from fusescope.analysis.units import Column

FactCode = Literal["engine", "precision", "compile_time", "time_interval"]
_CHARS = 60
_USUAL = ("CPUExecutionProvider", "CPU", "")  # providers that go without saying
_OF_ENGINES = ("latency", "memory", "output_difference", "agreement_top1")
_SUFFIX = "ExecutionProvider"


@dataclass(frozen=True)
class Fact:
    """A column of text beside the figures: what it is called and means, and its cells in the order
    of the sides, '' where nothing is known."""

    code: FactCode
    label: Message
    definition: Message
    cells: tuple[str, ...]


_ENGINE = Message("Engine")
_ENGINE_HELP = Message(
    "What ran the variant, its version, and its execution provider where that is not the one for "
    "the CPU."
)
_PRECISION = Message("Precision")
_PRECISION_HELP = Message(
    "The type of numbers that the engine was told to compute with, else that of most of its "
    "operators' inputs."
)
_COMPILE = Message("Compile time")
_COMPILE_HELP = Message(
    "What compiling the model took, once, outside of all runs; none where nothing is compiled. "
    "ONNX Runtime's is not timed."
)
_TIME = Message("Interval of latency")
_TIME_HELP = Message(
    "95 % interval of the latency over blocks. It holds the drift of the machine, which the "
    "interval of the speedup does not where variants were recorded together."
)


def facts(multiple: MultipleComparison) -> tuple[Fact, ...]:
    """The columns that a side has, engine first; none where one engine ran all of them."""
    if not has_engines(multiple):
        return ()
    of = [ran(entry) for entry in multiple.entries]
    bounds = [ns for one in of if one.time for ns in (one.time.low, one.time.high)]
    times = units.column_of(bounds)
    compiling = units.column_of(one.compile_s * 1e9 for one in of if one.compile_s)
    compiled = tuple(_compiled(one, compiling) for one in of)
    made = (
        Fact("engine", _ENGINE, _ENGINE_HELP, tuple(map(engine_text, of))),
        Fact("time_interval", _TIME, _TIME_HELP, tuple(_interval(one, times) for one in of)),
        Fact("precision", _PRECISION, _PRECISION_HELP, tuple(one.precision for one in of)),
        Fact("compile_time", _COMPILE, _COMPILE_HELP, compiled),
    )
    return tuple(fact for fact in made if any(fact.cells))


def in_order(multiple: MultipleComparison) -> tuple[str, ...]:
    """Codes of the columns, those in front that tell engines apart, where there are several."""
    codes = multiple.columns
    if not has_engines(multiple):
        return codes
    return tuple(sorted(codes, key=lambda code: code not in _OF_ENGINES))


def engine_text(of: Ran) -> str:
    """'openvino 2026.4.1', with the provider where it is not the usual one; '' of a trace."""
    told = clean_text(" ".join(filter(None, (of.engine, of.version))), _CHARS)
    if of.provider in _USUAL:
        return told
    provider = clean_text(of.provider.removesuffix(_SUFFIX), _CHARS)
    return say("{engine:name}, {provider:name}", engine=told, provider=provider)


def _interval(of: Ran, column: Column) -> str:
    if of.time is None:
        return ""
    high = column.at_least_three(of.time.high)
    low = column.at_least_three(of.time.low).removesuffix(f" {column.unit}")
    return say("{low} to {high}", low=low, high=high)


def _compiled(of: Ran, column: Column) -> str:
    if of.compile_s is None:
        return ""
    return column.text(of.compile_s * 1e9) if of.compile_s else say("none")


def reading_sentences(multiple: MultipleComparison) -> str:
    """How to read latency and, of several engines, memory beside those of other tables."""
    is_related = multiple.is_one_recording and len(multiple.sides) > 2
    has_memory = has_engines(multiple) and "memory" in multiple.columns
    memory = _MEMORY.text() if has_memory else ""
    related = _RELATED.text(baseline=multiple.baseline.name) if is_related else ""
    return paragraph(related, memory)


_RELATED = Message(
    "Each latency is that of {baseline:name} × a ratio that is paired inside blocks, so with "
    "another baseline, as in a comparison of two others, it may read differently."
)
_MEMORY = Message(
    "Peak memory is counted from where the engine is imported, so it leaves out the engine's own "
    "code that was loaded by then."
)


ENGINES_TITLE = Message("Engines on {model:name}")
_APART = Message(
    "These are {n:count} recordings, which did not alternate: a difference between two of them "
    "counts only beyond 12 %, which the machine may drift by. To compare engines more closely, "
    "record them together: {command:name}",
)
ONE_ENGINE = Message("{engine:name} alone ran this model. To compare engines, record several:")
ONE_ENGINE_OF_OWN = Message(
    "{engine:name} alone ran this model, which is written for it. Engines are compared on an ONNX "
    "model, for example a built-in one:"
)
NO_ENGINES = Message("No model was recorded here")
COMPARES_TITLE = Message("What compares between engines, and what does not")
_COMPARES = (
    Message(
        "Run times, memory and outputs are measured alike, and compare: the run times and the peak "
        "memory without a profiler, outputs on the same input."
    ),
    Message(
        "Fusion groups compare where every engine ran the same ONNX file: original operators are "
        "found by names and values of tensors. Classes and modules are common to all engines."
    ),
    Message(
        "Op types do not: they are each engine's own words. Nor do times of operators to the last "
        "per cent: each engine has its own profiler, which slows its runs down by what profiler "
        "inflation says, and OpenVINO's are means of whole µs without a start."
    ),
    Message(
        "Idle time, waits and timelines compare only where both engines tell when an operator "
        "started. And what a difference comes from is the engine as a whole: kernels, layouts and "
        "threads as well as fusion."
    ),
)


def compares_lines() -> tuple[str, ...]:
    """What compares between engines, a line each."""
    return tuple(message.text() for message in _COMPARES)


def apart_sentence(multiple: MultipleComparison, command: str) -> str:
    """That the recordings did not alternate; '' of one recording."""
    if multiple.is_one_recording:
        return ""
    files = {side.trace.meta.sha256 for side in multiple.sides}
    return _APART.text(n=len(files), command=command)

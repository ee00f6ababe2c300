"""What times and counts of operators are of: a run each, or whole files that do not mark runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Message, Said, paragraph, say
from fusescope.analysis.trace import RunWord
from fusescope.analysis.wording.noise.unknown_noise import OF_FILES
from fusescope.analysis.wording.texts import (
    FIGURES,
    PER_WORD,
    TIME_SOURCES,
    TIMES_FIRST,
    FigureText,
)
from fusescope.analysis.work_units import run_word

FILE_TIME = Message("time in operators")
_PER_FILE = Message("per file")
# By whether baseline and candidate mark their runs: values of {per} and {mean}.
_PER: Mapping[tuple[bool, bool], Mapping[str, Message | Said]] = {
    (False, False): {"per": _PER_FILE, "mean": _PER_FILE},
    (True, False): {
        "per": Message("per run, the candidate's of its whole file"),
        "mean": Message("mean per run, the candidate's of its whole file"),
    },
    (False, True): {
        "per": Message("per run, the baseline's of its whole file"),
        "mean": Message("mean per run, the baseline's of its whole file"),
    },
}


class Runs(NamedTuple):
    """Whether the file of each side marks its runs, so that its times and counts are of one, and
    what runs are called."""

    baseline: bool
    candidate: bool
    word: RunWord = "runs"


_WITH_COPIES = FigureText(
    Message("light executions, with copies and fills"),
    Message("Executions of light operators {per}, copies and fills of memory among them."),
    "lower",
)
_RATE_MEANING = Message(
    "1 / latency: the files do not both give the batch size, so samples are not counted. The "
    "change is speedup - 1."
)
_RATES: Mapping[RunWord, FigureText] = {
    "runs": FigureText(Message("runs per second"), _RATE_MEANING, "higher"),
    "steps": FigureText(Message("steps per second"), _RATE_MEANING, "higher"),
    "repetitions": FigureText(Message("repetitions per second"), _RATE_MEANING, "higher"),
}
_FILE_MEANING = Message(
    "{time} of all that the file holds of this side. It does not mark its runs, so the number of "
    "runs is not known. Time in which nothing ran does not count."
)
_DRAWN: Mapping[tuple[bool, bool], tuple[Message, Message]] = {
    (True, True): (
        Message("one run of each side"),
        Message("The timelines show one run of each side on one time scale, as profiled."),
    ),
    (False, False): (
        Message("the whole file of each side"),
        Message("The timelines show the whole file of each side on one time scale, as profiled."),
    ),
    (True, False): (
        Message("one run of the baseline, the whole file of the candidate"),
        Message(
            "The timelines show one run of the baseline and the whole file of the candidate "
            "on one time scale, as profiled."
        ),
    ),
    (False, True): (
        Message("one run of the candidate, the whole file of the baseline"),
        Message(
            "The timelines show one run of the candidate and the whole file of the baseline "
            "on one time scale, as profiled."
        ),
    ),
}
_DRAWN_UNIT: Mapping[RunWord, tuple[Message, Message]] = {
    "steps": (
        Message("one step of each side"),
        Message("The timelines show one step of each side on one time scale, as profiled."),
    ),
    "repetitions": (
        Message("one repetition of each side"),
        Message("The timelines show one repetition of each side on one time scale, as profiled."),
    ),
}
_WHOLE: Mapping[RunWord, Message] = {
    "runs": Message("the whole run"),
    "steps": Message("the whole step"),
    "repetitions": Message("the whole repetition"),
}
_PROFILED = Message("The profiler adds time to every operator.")


def runs_of(comparison: Comparison) -> Runs:
    """Return what times and counts of both sides are of."""
    traces = (comparison.baseline.trace, comparison.candidate.trace)
    return Runs(traces[0].has_runs, traces[1].has_runs, run_word(*traces))


def per_of(runs: Runs) -> Mapping[str, Message | Said]:
    """Return the values of {per} and {mean}."""
    sides = (runs.baseline, runs.candidate)
    return PER_WORD[runs.word] if all(sides) else _PER[sides]


def per_text(comparison: Comparison) -> str:
    """'per run', 'per step'; 'per file' where no side marks its runs; where one does not, it says
    so."""
    return str(_per(comparison)["per"])


def mean_text(comparison: Comparison) -> str:
    """`per_text` of means: 'mean per run', 'per file'."""
    return str(_per(comparison)["mean"])


def counts_of(comparison: Comparison) -> tuple[str, str]:
    """What times and counts of each side are of: 'per run', or 'whole file'."""
    runs = runs_of(comparison)
    before, after = (
        str(PER_WORD[runs.word]["per"]) if has else say("whole file")
        for has in (runs.baseline, runs.candidate)
    )
    return before, after


def _drawn(comparison: Comparison) -> tuple[Message, Message]:
    runs = runs_of(comparison)
    sides = (runs.baseline, runs.candidate)
    return _DRAWN_UNIT[runs.word] if all(sides) and runs.word != "runs" else _DRAWN[sides]


def drawn_text(comparison: Comparison) -> str:
    """Return what the timelines show: 'one run of each side', or the file that marks none."""
    return _drawn(comparison)[0].text()


def timelines_help(comparison: Comparison) -> str:
    """How to read the timelines."""
    return paragraph(_drawn(comparison)[1].text(), _PROFILED.text())


def counted(text: Message, comparison: Comparison) -> str:
    """A help with {per} and {mean}, of what this comparison's times and counts are of."""
    return text.text(**_per(comparison))


def times_are_of_files(comparison: Comparison) -> bool:
    """Whether the times that the verdict compares are of whole files, not of a run."""
    return comparison.verdict.of in OF_FILES and not any(_marked(comparison))


def figure_text(comparison: Comparison, code: str) -> FigureText:
    """Label and definition of a figure of this comparison; the time of a file is not a latency, and
    a rate of runs whose batch size is not known not a throughput."""
    text = FIGURES[code]
    if code == "latency" and times_are_of_files(comparison):
        meaning = _FILE_MEANING.of(time=TIMES_FIRST[comparison.verdict.of])
        return FigureText(FILE_TIME, meaning, text.better)
    if code == "throughput" and not counts_samples(comparison):
        return _RATES[runs_of(comparison).word]
    if code == "light_count" and has_copies(comparison):
        text = _WITH_COPIES
    return replace(text, per=_per(comparison))


def counts_samples(comparison: Comparison) -> bool:
    """Whether the rates of both sides are of samples, and not of runs of unknown batch size."""
    return comparison.baseline.counts_samples and comparison.candidate.counts_samples


def has_copies(comparison: Comparison) -> bool:
    """True where a side copies or fills memory on a device, which counts as light."""
    copies = [figure for figure in comparison.figures if figure.code == "copies"]
    return any(one.value for figure in copies for one in (figure.baseline, figure.candidate))


def order_text(comparison: Comparison) -> str:
    """The order of the tables of operators: changes are not shown of two models."""
    return say("largest change first") if comparison.has_changes else say("longest time first")


def table_help(help_: Message, comparison: Comparison) -> str:
    """The help of a table of operators, with what its figures are of and its order."""
    is_change = comparison.has_changes
    order = say("Largest change first.") if is_change else say("Longest time first.")
    return paragraph(counted(help_, comparison), order)


def whole_text(comparison: Comparison) -> str:
    """What the ledger's sum is of: the typical run, where that is not the mean run."""
    if comparison.ledger.reconciliation.of in OF_FILES:
        return say("all operators")
    is_typical = any(comparison.ledger.reconciliation.slow_runs_ns)
    return say("the typical run") if is_typical else _WHOLE[runs_of(comparison).word].text()


def time_of_sum(comparison: Comparison) -> str:
    """What the ledger's sum is of: 'mean un-profiled wall time', 'union of operator times'."""
    sum_ = comparison.ledger.reconciliation
    of = TIME_SOURCES[sum_.of]
    if any(_marked(comparison)) and not any(sum_.slow_runs_ns):
        return say("mean {time}", time=of)
    return str(of)


def _marked(comparison: Comparison) -> tuple[bool, bool]:
    """Whether baseline and candidate mark their runs."""
    return comparison.baseline.trace.has_runs, comparison.candidate.trace.has_runs


def _per(comparison: Comparison) -> Mapping[str, Message | Said]:
    return per_of(runs_of(comparison))

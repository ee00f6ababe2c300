"""Plant changes into traces, have each pair explained, and print what was named and how far off."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.explanations import facts, made
from benchmarks.explanations.document import Document
from benchmarks.explanations.plants import PLANTS, Truth
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.explanation.explanation import Change, Explanation
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers import read_path
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.explanation import leading_sentence

_SHARED = Path(__file__).parents[3] / "shared" / "traces" / "third_party" / "kineto"
_NAMES = (
    "flux1-base-fmha.json.gz", "resnet50-workers_4.pt.trace.json.gz",
    "h100-Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", "mi300-train_resnet18.json.gz",
    "sglang_Qwen3-8B_prefilldecode.json.gz", "mi300-bert-small.json.gz",
)  # fmt: skip
_NEAR = 0.15  # of the planted time, within which an answer is right
_WANTED = 0.9


@dataclass(frozen=True)
class Row:
    """One planted change, and what was said of it."""

    trace: str
    plant: str
    truth: Truth
    is_named: bool
    is_near: bool
    off: float | None
    sentence: str

    @property
    def is_right(self) -> bool:
        """True where the cause is named with its time."""
        return self.is_named and self.is_near


def documents() -> Iterator[tuple[str, Document]]:
    """Yield the traces that changes are planted into, with their names: real ones beside the
    project, and a made one."""
    yield "made", made.document()
    for name in _NAMES:
        if (_SHARED / name).exists():
            yield name.split(".")[0], Document.read(_SHARED / name)


def judge(trace: str, document: Document, name: str, folder: Path) -> Row | None:
    """Return what is said of one planted change; None where it cannot be planted here."""
    document.write(folder / "before.json.gz")
    planted = document.copy()
    truth = PLANTS[name](planted)
    if truth is None:
        return None
    planted.write(folder / "after.json.gz")
    sides = [side_of_trace(_trace(folder / file)) for file in ("before.json.gz", "after.json.gz")]
    explanation = compare(*sides).explanation
    sentence = leading_sentence(explanation)
    if not truth.codes:
        is_right = explanation.outcome in truth.outcomes
        return Row(trace, name, truth, is_right, is_right, None, sentence)
    change, off = _named(explanation, truth), _off(explanation, truth)
    is_named = change is not None and any(word in sentence.lower() for word in truth.words)
    is_named &= explanation.outcome in truth.outcomes
    is_near = off is not None and abs(off) <= _NEAR
    for other in truth.also:
        off_too = _off(explanation, other)
        is_near &= off_too is not None and abs(off_too) <= _NEAR
    return Row(trace, name, truth, is_named, is_near, off, sentence)


def _units(explanation: Explanation) -> int:
    return explanation.unit.counts[0]


def _named(explanation: Explanation, truth: Truth) -> Change | None:
    """Return the change that is the planted one: of the right kind, nearest in time."""
    fitting = [change for change in explanation.changes if change.code in truth.codes]
    planted = truth.change_us * 1e3 / _units(explanation)
    return min(fitting, key=lambda change: abs(change.change_ns - planted), default=None)


def _off(explanation: Explanation, truth: Truth) -> float | None:
    """Return by which share of the planted time the change that is it differs; None without one.
    What was planted into the work before the only step is a change of that work."""
    change = _named(explanation, truth)
    if change is None:
        return None
    named_us = change.change_ns / 1e3 * _units(explanation)
    return (named_us + _earlier_us(explanation, truth, named_us)) / truth.change_us - 1


def _earlier_us(explanation: Explanation, truth: Truth, named_us: float) -> float:
    """Return the time of the change of the work before the only step that is planted too: with that
    of the step nearest to what was planted; 0 without one."""
    changes = explanation.earlier.changes if explanation.earlier is not None else ()
    times = [change.change_ns / 1e3 for change in changes if change.code in truth.codes]
    return min((0.0, *times), key=lambda us: abs(named_us + us - truth.change_us))


def _trace(path: Path) -> Trace:
    read = read_path(path)
    assert isinstance(read, Trace)
    return read


def main() -> int:
    """Print a table and the share that was named with its time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="plants whose name has this text")
    parser.add_argument("--trace", default="", help="traces whose name has this text")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for trace, document in documents():
            for name in PLANTS:
                if given.only in name and given.trace in trace:
                    row = judge(trace, document, name, Path(folder))
                    if row is not None:
                        rows.append(row)
                        print(_line(row), flush=True)
    right = sum(row.is_right for row in rows)
    print(f"{right} of {len(rows)} planted changes were named with their time")
    for case in facts.cases() if not (given.only or given.trace) else ():
        whole = len(case.known) + len(case.unknown)
        print(f"{case.name}: {len(case.known)} of {whole} facts of an expert. {case.sentence}")
    return 0 if right >= _WANTED * len(rows) else 1


def _line(row: Row) -> str:
    off = "" if row.off is None else f"{row.off:+.1%}"
    sign = "yes" if row.is_right else "near" if row.is_near else "named" if row.is_named else "NO"
    return f"{sign:5} {row.trace[:24]:24} {row.plant:16} {off:>8}  {row.sentence[:150]}"


if __name__ == "__main__":
    sys.exit(main())

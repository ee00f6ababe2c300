"""The functions of the API; each does what the verb of its name does in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from fusescope.analysis import advice
from fusescope.analysis import compare as comparing
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.choice import choose_sides, side_of
from fusescope.analysis.compare.timing.verdict import decided
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.report.exports.findings_json import findings_values
from fusescope.analysis.text import display_name
from fusescope.api import tables
from fusescope.api.comparison import Comparison
from fusescope.api.trace import Trace
from fusescope.app.library.reading import named_by_path, read_at

if TYPE_CHECKING:
    from fusescope.collectors.progress import Progress

Given = Trace | str | PathLike[str]
_OWN_ENGINE = "onnxruntime"


def read(path: str | PathLike[str], name: str | None = None) -> Trace:
    """Return what is in a file or folder of a profiler, or in a recording.

    `name` is a variant of a recording, or a process or device of a file; without it the most
    optimised variant, or the process or device that computes most. `library:NAME` reads what has
    that name in the library, `baseline:NAME` what was saved under it. Raises FuseScopeError for
    what cannot be read.
    """
    place = Path(path)
    try:
        content = read_at(place).value
    except OSError as error:  # such as a name that no file can have
        raise FuseScopeError(
            "unreadable_file",
            where=display_name(place.name),
            reason=error.strerror or type(error).__name__,
        ) from error
    side_of(content, name)  # raises for an unknown name
    return Trace(content, name, place)


def compare(
    a: Given,
    b: Given | None = None,
    *,
    baseline: str | None = None,
    candidate: str | None = None,
    runs: tuple[int | None, int | None] = (None, None),
) -> Comparison:
    """Return the comparison of two traces, or of two variants of one recording.

    `a` is the baseline. Of a recording alone its own baseline is compared with its most optimised
    variant, or those that `baseline` and `candidate` name; of a file with several processes or
    devices two of these. `runs` are how many runs each file holds that does not mark them. Raises
    FuseScopeError for what cannot be read or compared.
    """
    first, second = _trace(a), None if b is None else _trace(b)
    sides = choose_sides(
        first.content,
        None if second is None else second.content,
        baseline or first.chosen,
        candidate or (None if second is None else second.chosen),
    )
    paths = [first.path] if second is None else [first.path, second.path]
    if second is not None:
        one, other = named_by_path(sides, paths)
        sides = one, other
    return Comparison(comparing.compare(*sides, Assumptions(runs=runs)), paths)


def findings(of: Given | Comparison) -> pd.DataFrame:
    """Return what limits a trace, or the candidate of a comparison, and what to try, the most
    worthwhile first: `gain_ns` is what it would save of a run, None where that is not known."""
    if isinstance(of, Comparison):
        subject = advice.Subject(of.content.candidate, of.content)
    else:
        subject = _trace(of).subject
    rows = []
    for row in findings_values(advice.findings(subject))["findings"]:
        gain = row["gain_ns"] or {}
        ends = {f"gain_{end}_ns": gain.get(end) for end in ("low", "high")}
        rows.append({**row, "gain_ns": gain.get("value"), **ends})
    return tables.table_of(rows, tables.FINDING)


def record(
    model: str | PathLike[str],
    variants: Sequence[str] | None = None,
    *,
    out: str | PathLike[str] | None = None,
    baseline: str | None = None,
    runtime: str = _OWN_ENGINE,
    batch: int | None = None,
    threads: int | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    inputs: str | PathLike[str] | None = None,
    seconds: float | None = None,
    blocks: int | None = None,
    rounds: int | None = None,
    seed: int = 0,
    on_progress: Callable[[Progress], None] | None = None,
) -> Path:
    """Record variants of a model, and return the path of the recording, for `read` and `compare`.

    `model` is an ONNX file or a built-in name, `variants` as of `fusescope collect` (eager, unfused
    and fused without any). `out` is a file or folder, the current folder without it; nothing is
    overwritten. `seconds` is a budget for everything. `on_progress` is called with how far it is.
    An interrupt keeps complete blocks. Raises FuseScopeError for what cannot be recorded.
    """
    from fusescope.app.sources.model_files import read_models
    from fusescope.app.sources.rule_files import read_variants
    from fusescope.collectors import record as recorder

    names = tuple(variants) if variants else recorder.first_variants("", runtime)
    names, rules = read_variants(names)
    names, models = read_models(names)
    recording = recorder.Recording(
        model=str(model),
        out=None if out is None else Path(out),
        variants=names,
        baseline=baseline,
        runtime=runtime,
        batch=batch,
        threads=threads,
        shapes={name: tuple(shape) for name, shape in (shapes or {}).items()},
        inputs=None if inputs is None else Path(inputs),
        seconds=seconds,
        blocks=blocks,
        rounds=rounds,
        seed=seed,
        rules=rules,
        models=models,
    )
    return recorder.record(recording, on_progress=on_progress or _silent, enough=decided)


def library() -> pd.DataFrame:
    """Return what is in the library, the newest first: `read("library:" + name)` reads one of
    them. Raises FuseScopeError where the library is off."""
    from fusescope.app.library.items import items, values_of

    return tables.table_of(map(values_of, items()), tables.ITEM)


def _trace(given: Given) -> Trace:
    return given if isinstance(given, Trace) else read(given)


def _silent(progress: Progress) -> None:
    """Nobody asked how far the recording is."""

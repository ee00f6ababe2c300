"""What a report holds to be opened again: both sides as they were read, packed."""

from __future__ import annotations

import base64
from dataclasses import asdict, replace

import msgspec

from analysis.compare.comparison import Comparison
from analysis.compare.side import Side
from analysis.experiment import RECORD_NAME, Experiment, record_json
from analysis.graph import graph_json
from analysis.limits import MIB
from analysis.readers.packed import report
from analysis.readers.packed.archive import zipped
from analysis.readers.packed.tables import packed_trace
from analysis.redaction import redacted_sides

MAX_BYTES = 4 * MIB  # in the page
# Not worth packing: an execution takes two bytes or more, most of them four.
_MAX_CALLS = 2_000_000


def embedded(comparison: Comparison, *, private: bool = True) -> str | None:
    """The sides of the comparison for the page, as text in base64; None where that would take more
    than MAX_BYTES, also without call stacks. With `private` they have no user names, host names and
    absolute paths."""
    sides = comparison.given
    if _calls(sides) > _MAX_CALLS:
        return None
    if private:
        sides = redacted_sides(*sides)
    for given in (sides, _without_stacks(sides)):
        text = base64.b64encode(_packed(given, comparison)).decode("ascii")
        if len(text) <= MAX_BYTES:
            return text
    return None


def _without_stacks(sides: tuple[Side, Side]) -> tuple[Side, Side]:
    """Both sides without call stacks, which are the first to go where a page would be too large."""
    first, second = (
        side if side.trace.stacks is None else replace(side, trace=replace(side.trace, stacks=None))
        for side in sides
    )
    is_one = sides[0].trace is sides[1].trace
    return first, replace(second, trace=first.trace) if is_one else second


def _calls(sides: tuple[Side, Side]) -> int:
    """Executions of everything that would be packed."""
    traces = {
        id(trace): trace
        for side in sides
        for trace in (side.experiment.traces.values() if side.experiment else [side.trace])
    }
    return sum(len(trace.calls) for trace in traces.values())


def _packed(sides: tuple[Side, Side], comparison: Comparison) -> bytes:
    baseline, candidate = sides
    files: dict[str, bytes] = {}
    is_one = baseline.experiment is not None and baseline.experiment is candidate.experiment
    names = [_put(files, baseline, "baseline", sides if is_one else (baseline,))]
    if is_one or (baseline.experiment is None and baseline.trace is candidate.trace):
        names.append(names[0])
    else:
        names.append(_put(files, candidate, "candidate", (candidate,)))
    first, second = (
        report.Side(name, side.label, side.variant.name if side.variant else None)
        for name, side in zip(names, sides, strict=True)
    )
    assumed = report.Assumed(**asdict(comparison.assumptions))
    return report.packed_report(report.Manifest(first, second, assumed), files)


def _put(
    files: dict[str, bytes], side: Side, role: report.Role, compared: tuple[Side, ...]
) -> report.FileName:
    """Adds what a side is of to `files`; under which name."""
    name: report.FileName
    if side.experiment is None:
        name = "baseline.tables" if role == "baseline" else "candidate.tables"
        files[name] = packed_trace(side.trace)
    else:
        name = "baseline.zip" if role == "baseline" else "candidate.zip"
        variants = tuple(one.variant.name for one in compared if one.variant)
        files[name] = _experiment(side.experiment, variants)
    return name


def _experiment(experiment: Experiment, compared: tuple[str, ...]) -> bytes:
    """The experiment as a file, with tables in place of the engine's profiles."""
    files: dict[str, bytes] = {}
    variants = []
    for number, variant in enumerate(experiment.record.variants):
        trace = experiment.traces.get(variant.name)
        if trace is None:
            continue
        places = {"tables": f"tables/{number}", "graph": None, "matches": None}
        files[f"tables/{number}"] = packed_trace(trace)
        graph = experiment.graphs.get(variant.name)
        if graph is not None:
            places["graph"] = f"graphs/{number}.json"
            files[f"graphs/{number}.json"] = graph_json(graph)
        matches = experiment.matches.get(variant.name)
        if matches is not None:
            places["matches"] = f"matches/{number}.json"
            files[f"matches/{number}.json"] = msgspec.json.encode(matches)
        variants.append(msgspec.structs.replace(variant, profiles=[], **places))
    record = msgspec.structs.replace(
        experiment.record,
        variants=variants,
        model_graph=None,
        own_fusions=None,
        compared=compared,
    )
    if experiment.model_graph is not None:
        record = msgspec.structs.replace(record, model_graph="graphs/model.json")
        files["graphs/model.json"] = graph_json(experiment.model_graph)
    if experiment.own_fusions is not None:
        record = msgspec.structs.replace(record, own_fusions="own_fusions.json")
        files["own_fusions.json"] = msgspec.json.encode(experiment.own_fusions)
    return zipped({RECORD_NAME: record_json(record), **files})

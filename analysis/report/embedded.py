"""What a report holds to be opened again: all sides as they were read, packed."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace

import msgspec

from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.side import Side
from fusescope.analysis.experiment import RECORD_NAME, Experiment, record_json
from fusescope.analysis.graph import graph_json
from fusescope.analysis.limits import MIB
from fusescope.analysis.readers.packed import report
from fusescope.analysis.readers.packed.archive import zipped
from fusescope.analysis.readers.packed.tables import packed_trace, packed_within
from fusescope.analysis.redaction import all_redacted
from fusescope.analysis.trace import Trace

MAX_BYTES = 4 * MIB  # in the page
# Not worth packing: an execution takes two bytes or more, most of them four.
_MAX_CALLS = 2_000_000
_MAX_SPANS = 1_000_000  # of the host, as one takes four bytes or more
# The best compression leaves at least this part of what the fastest one does, in ten times as long.
_PACKED_BETTER = 0.5
_MOST = int(MAX_BYTES * 3 / 4 / _PACKED_BETTER)  # bytes as the fastest one leaves them


def embedded(
    sides: Sequence[Side], assumptions: Assumptions, *, private: bool = True
) -> str | None:
    """What is compared for the page, the baseline first, as text in base64; None where that would
    take more than MAX_BYTES, also without what the host did and without call stacks. With `private`
    there are no user names, host names and absolute paths in it."""
    if _calls(sides) > _MAX_CALLS:
        return None
    if private:
        sides = all_redacted(sides)
    for given in _ever_less(sides):
        data = _packed(given, assumptions)
        text = "" if data is None else base64.b64encode(data).decode("ascii")
        if data is not None and len(text) <= MAX_BYTES:
            return text
    return None


def with_data(page: str, data: str) -> str:
    """The page with its data as the last element: of a type that no browser runs."""
    element = f'<script type="application/octet-stream" id="{report.DATA_ID}">{data}</script>'
    before, end, after = page.rpartition("</body>")
    return f"{before}{element}\n{end}{after}"


def _ever_less(sides: Sequence[Side]) -> Iterator[Sequence[Side]]:
    """All sides, then without what the host did, then also without call stacks: what goes first
    where a page would be too large. What the host did is not tried where it cannot fit."""
    if sum(len(host.lanes) for side in sides if (host := side.trace.host)) <= _MAX_SPANS:
        yield sides
    if any(side.trace.host for side in sides):
        sides = _mapped(sides, lambda trace: replace(trace, host=None))
        yield sides
    if any(side.trace.stacks for side in sides):
        yield _mapped(sides, lambda trace: replace(trace, stacks=None))


def _mapped(sides: Sequence[Side], change: Callable[[Trace], Trace]) -> list[Side]:
    """All sides with their traces changed, those of one trace alike."""
    made = {id(side.trace): change(side.trace) for side in sides}
    return [replace(side, trace=made[id(side.trace)]) for side in sides]


def _calls(sides: Sequence[Side]) -> int:
    """Executions of everything that would be packed."""
    traces = {
        id(trace): trace
        for side in sides
        for trace in (side.experiment.traces.values() if side.experiment else [side.trace])
    }
    return sum(len(trace.calls) for trace in traces.values())


def _packed(sides: Sequence[Side], assumptions: Assumptions) -> bytes | None:
    """What goes into the page; None as soon as it is sure to be too large for it."""
    files: dict[str, bytes] = {}
    packed = 0
    names: dict[int, report.FileName] = {}
    told = []
    for place, side in enumerate(sides):
        of = id(side.experiment or side.trace)
        if of not in names:
            names[of] = report.file_name(place, "zip" if side.experiment else "tables")
            data = (
                _experiment(side.experiment, _compared(sides, side.experiment))
                if side.experiment
                else packed_within(side.trace, _MOST - packed)
            )
            if data is None:
                return None
            files[names[of]] = data
            packed += len(zlib.compress(data, 1))
            if packed > _MOST:
                return None
        variant = side.variant.name if side.variant else None
        told.append(report.Side(names[of], side.label, variant))
    manifest = report.Manifest(
        told[0], told[1], msgspec.convert(asdict(assumptions), report.Assumed), tuple(told[2:])
    )
    return report.packed_report(manifest, files)


def _compared(sides: Sequence[Side], experiment: Experiment) -> tuple[str, ...]:
    """Variants of the experiment that a pair compares; of several sides the manifest says it."""
    of = [side.variant.name for side in sides if side.variant and side.experiment is experiment]
    return tuple(of) if len(sides) == 2 else ()


def _experiment(experiment: Experiment, compared: tuple[str, ...]) -> bytes:
    """The experiment as a file, with tables in place of the engine's profiles."""
    files: dict[str, bytes] = {}
    variants = []
    for number, variant in enumerate(experiment.record.variants):
        trace = experiment.traces.get(variant.name)
        if trace is None:
            continue
        places: dict[str, str | None] = dict.fromkeys(("graph", "matches", "not_fused"))
        places |= {"tables": f"tables/{number}"}
        files[f"tables/{number}"] = packed_trace(trace)
        graph = experiment.graphs.get(variant.name)
        if graph is not None:
            places["graph"] = f"graphs/{number}.json"
            files[f"graphs/{number}.json"] = graph_json(graph)
        matches = experiment.matches.get(variant.name)
        if matches is not None:
            places["matches"] = f"matches/{number}.json"
            files[f"matches/{number}.json"] = msgspec.json.encode(matches)
        apart = experiment.not_fused.get(variant.name)
        if apart is not None:
            places["not_fused"] = f"not_fused/{number}.json"
            files[f"not_fused/{number}.json"] = msgspec.json.encode(apart)
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

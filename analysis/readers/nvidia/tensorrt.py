"""TensorRT's `--exportProfile`: mean time of every layer, with what lies beside it.

The file gives the total of N iterations by layer, so its one run is the mean iteration. Beside it
may lie the layer information (`--exportLayerInfo`), run times (`--exportTimes`) and the metadata
files of TensorRT's engine explorer. A graph belongs to it when it holds every layer name; the
others have no content to go by: the name decides, or that there is only one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction

import msgspec
import pandas as pd

from fusescope.analysis.messages import mark
from fusescope.analysis.operators.flops import FROM_SHAPES
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.beside import Beside
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.json_value import decode
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.times import exact_ns
from fusescope.analysis.readers.nvidia.tensorrt_graph import (
    Layer,
    holds_layers,
    layer_of_name,
    members_columns,
    read_layers,
)
from fusescope.analysis.readers.nvidia.tensorrt_rows import decode_rows
from fusescope.analysis.readers.nvidia.tensorrt_times import (
    TOOL,
    Facts,
    holds_facts,
    holds_times,
    read_facts,
    read_times,
    run_columns,
    summary_frame,
)
from fusescope.analysis.readers.nvidia.tensorrt_twice import is_same
from fusescope.analysis.readers.reader import ALWAYS, Reader, anything
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, DiagnosticCode, Severity, Trace, noted, runs_frame

_TOTAL = re.compile(rb'"timeMs"\s*:')
_MEAN = re.compile(rb'"averageMs"\s*:')
_OTHER = re.compile(rb'"(?:ph|cat|traceEvents)"\s*:')
_NO = msgspec.Raw(b"")
_MAX_TIMES = 4  # exports of one recording that are compared
_WITH_GRAPH = mark(
    "Record with --exportLayerInfo and --profilingVerbosity=detailed, and open both files together."
)
# Words of a file name that tell what it is, not of which engine.
_KIND_WORDS = frozenset(
    ["json", "txt", "log", "gz", "profile", "prof", "profiling", "graph", "layer", "layers",
     "layerinfo", "info", "timing", "timings", "times", "time", "trace", "metadata", "meta",
     "engine", "export", "build", "run"]
)  # fmt: skip


class _Row(msgspec.Struct, gc=False):
    count: msgspec.Raw = _NO
    name: msgspec.Raw = _NO
    timeMs: msgspec.Raw = _NO  # trtexec's names
    averageMs: msgspec.Raw = _NO


def _sniff(head: bytes) -> bool:
    """A JSON array of objects with trtexec's names of total and mean time."""
    text = utf8(head).lstrip()
    return (
        text.startswith(b"[")
        and bool(_MEAN.search(text) and _TOTAL.search(text))
        and not _OTHER.search(text)
    )


def _read(source: Source) -> Trace:
    """The trace, with what is known of the engine from the files beside it."""
    rows, notes = decode_rows(source.content, _Row, source.name, source.limits)
    names, times, places = _layers(rows, notes)
    beside = _Beside(source, notes)
    layers = beside.layers(names)
    facts = beside.facts()
    samples = beside.times(facts)
    if samples is None and facts.median_ns is not None:
        samples = summary_frame(facts.median_ns)
        notes.append(Diagnostic("info", "samples_summed"))
    members, kinds = members_columns(layers)
    meta = source.meta(
        TENSORRT_PROFILE.name, TOOL, version=facts.version, device=facts.device, files=beside.files
    )
    runs = None
    if samples is not None:
        mean = {
            "run": 0,
            "kind": "iteration",
            "start_ns": None,
            "dur_ns": sum(ns for ns in times if ns is not None and ns >= 0),
            "profiled": True,
            "warmup": False,
            "block": 0,
        }
        sampled = run_columns(samples, first=1)
        runs = runs_frame(**{name: [mean[name], *rest] for name, rest in sampled.items()})
        if facts.profiled_apart is False:
            notes.append(Diagnostic("warning", "samples_profiled"))
    columns: dict[str, Sequence[object]] = {
        "name": names,
        "op_type": [layer.op_type for layer in layers],
        "op_class": [layer.op_class for layer in layers],
        "provider": [layer.tactic for layer in layers],
        "level": ["graph_layer"] * len(names),
        "inputs": [layer.inputs for layer in layers],
        "outputs": [layer.outputs for layer in layers],
        "bytes_param": [layer.bytes_param for layer in layers],
        "flops": [layer.flops for layer in layers],
        "flops_source": [None if layer.flops is None else FROM_SHAPES for layer in layers],
        "members": members,
        "members_source": kinds,
        "stream": [layer.stream for layer in layers],
        "dur_ns": times,
        "run": [0] * len(names),
        "source_row": places,
    }
    return build_trace(
        meta, columns, runs=runs, run_kind="iteration", notes=notes, limits=source.limits
    )


TENSORRT_PROFILE = Reader(
    name="tensorrt_profile",
    title=mark("TensorRT layer profile, trtexec --exportProfile"),
    fields={
        **dict.fromkeys(("runs", "members"), ALWAYS),
        **dict.fromkeys(("types", "shapes", "dtypes", "flops", "sizes"), _WITH_GRAPH),
        "stream": mark(
            "Record with TensorRT 10 and --exportLayerInfo, and open both files together."
        ),
        "samples": mark(
            "Record with --exportTimes and --separateProfileRun, and open both files together."
        ),
    },
    recording=(
        "`trtexec --loadEngine=model.engine --exportProfile=profile.json "
        "--exportLayerInfo=graph.json --exportTimes=times.json --separateProfileRun "
        "--profilingVerbosity=detailed`, with an engine built with "
        "`--profilingVerbosity=detailed`, too; give the three files together."
    ),
    sniff=_sniff,
    read=_read,
    takes=anything,
)


def _layers(
    rows: Sequence[_Row], notes: list[Diagnostic]
) -> tuple[list[str], list[int | None], list[int]]:
    """Names, mean times in ns (None: no time) and row numbers of the layers; one note on means."""
    count = next((n for n in (_whole(row.count) for row in rows) if n), 0)
    names: list[str] = []
    times: list[int | None] = []
    places: list[int] = []
    unnamed = differing = 0
    example = ""
    for index, row in enumerate(rows):
        name = _text(row.name)
        if name is None:
            unnamed += not bytes(row.count)
            continue
        total, mean = exact_ns(row.timeMs, "ms"), exact_ns(row.averageMs, "ms")
        exact = None
        if total is not None and count > 0:
            exact = round(Fraction(total, count))
        if exact is not None and mean is not None and abs(exact - mean) > max(1, mean // 100):
            differing, example = differing + 1, example or clean_text(name, 80)
            exact = mean
        names.append(name)
        times.append(mean if exact is None else exact)
        places.append(index)
    notes += noted("warning", "bad_event", unnamed)
    notes += noted("warning", "contradiction", differing, example)
    if names:
        notes.append(Diagnostic("info", "averaged", count or 1))
    return names, times, places


class _Beside(Beside):
    """The files beside a profile that belong to its engine."""

    def __init__(self, source: Source, notes: list[Diagnostic]) -> None:
        super().__init__(source, notes)
        self._alone = not self.those(_sniff)

    def layers(self, names: Sequence[str]) -> list[Layer]:
        """What is known of each layer: from the graph that holds them all, else from its name."""
        wanted = set(names)
        best: list[tuple[int, bool, list[Layer], Source]] = []
        for other in self.those(holds_layers):
            layers = self.load(other, read_layers)
            held = len(wanted & {layer.name for layer in layers or ()})
            named = _engine(other) == _engine(self.source)
            if layers and (held == len(wanted) or (named and 2 * held >= len(wanted) > 0)):
                best.append((held, named, layers, other))
        top = max(((held, named) for held, named, _, _ in best), default=None)
        best = [one for one in best if one[:2] == top]
        if len(best) != 1:  # two that fit alike: neither is known to be the one
            return [layer_of_name(name) for name in names]
        held, _, layers, other = best[0]
        self.files.append(other.path)
        known = {layer.name for layer in layers}
        lacks: tuple[tuple[Severity, DiagnosticCode, list[str]], ...] = (
            ("warning", "companion_lacks", [name for name in names if name not in known]),
            ("info", "companion_unmatched", [one.name for one in layers if one.name not in wanted]),
        )
        for severity, code, lacking in lacks:
            if lacking:
                example = clean_text(lacking[0], 80)
                self.notes.append(Diagnostic(severity, code, len(lacking), example))
        waiting: dict[str, list[Layer]] = {}
        for layer in reversed(layers):
            waiting.setdefault(layer.name, []).append(layer)
        return [waiting[name].pop() if waiting.get(name) else layer_of_name(name) for name in names]

    def facts(self) -> Facts:
        """What the metadata files say, together."""
        device = version = warmup_ns = apart = median_ns = None
        for other in self._belonging(holds_facts, maximum=4):
            found = self.load(other, read_facts)
            if found is None:
                continue
            self.files.append(other.path)
            device, version = device or found.device, version or found.version
            warmup_ns = found.warmup_ns if warmup_ns is None else warmup_ns
            apart = found.profiled_apart if apart is None else apart
            median_ns = found.median_ns if median_ns is None else median_ns
        return Facts(device, version, warmup_ns, apart, median_ns)

    def times(self, facts: Facts) -> pd.DataFrame | None:
        """Un-profiled runs of the same engine; None where there are none.

        A second file of the same runs is read with the first and adds nothing.
        """
        candidates = self._belonging(holds_times, maximum=_MAX_TIMES)
        found = [(other, self.load(other, lambda s: read_times(s, facts))) for other in candidates]
        read = [(other, *value) for other, value in found if value is not None]
        if not read:
            return None
        read.sort(key=lambda one: len(one[1]), reverse=True)
        (main, frame, notes), *others = read
        if not all(_is_twin(main, frame, other, its) for other, its, _ in others):
            return None  # two that fit alike: neither is known to be the one
        chosen = {id(other) for other, _, _ in read}
        for other in self.those(holds_times):
            if id(other) not in chosen and self._alone:
                again = self.load(other, lambda s: read_times(s, facts))
                if again is not None and _is_twin(main, frame, other, again[0]):
                    others.append((other, *again))
        self.files += [main.path, *(other.path for other, _, _ in others)]
        self.notes.extend(notes)
        if others:
            count = sum(len(other) for _, other, _ in others)
            example = clean_text(others[0][0].name, 80)
            self.notes.append(Diagnostic("warning", "samples_twice", count, example))
        return frame

    def _belonging(self, holds: Callable[[bytes], bool], maximum: int) -> list[Source]:
        """Files of a kind by the engine in their name, or all where there is one profile alone."""
        found = self.those(holds)
        named = [other for other in found if _engine(other) == _engine(self.source)]
        chosen = named or (found if self._alone else [])
        return chosen if len(chosen) <= maximum else []


def _is_twin(main: Source, frame: pd.DataFrame, other: Source, its: pd.DataFrame) -> bool:
    """True when two files of run times are of the same runs."""
    return main.sha256 == other.sha256 or is_same(_told(frame), _told(its))


def _told(frame: pd.DataFrame) -> list[tuple[object, object]]:
    """Start and length of each run."""
    starts = [None if pd.isna(ns) else int(ns) for ns in frame["start_ns"]]
    return list(zip(starts, frame["dur_ns"].tolist(), strict=True))


def _engine(source: Source) -> tuple[str, ...]:
    """Words of a file name that tell of which engine it is."""
    words = re.split(r"[^a-z0-9]+", source.name.lower())
    return tuple(word for word in words if word and word not in _KIND_WORDS)


def _text(raw: msgspec.Raw) -> str | None:
    return decode(raw, str, None) or None


def _whole(raw: msgspec.Raw) -> int | None:
    number = exact_ns(raw, "ns") if bytes(raw) else None
    return number if number is not None and number > 0 else None

"""The hand-written miniature of every format, and what a trace says as plain values."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd

from fusescope.analysis.readers import find
from fusescope.analysis.readers.formats import READERS
from fusescope.analysis.readers.input.folder import folder_sources
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import Reader
from fusescope.analysis.trace import Trace

FOLDER = Path(__file__).resolve().parents[1] / "sample_traces" / "formats"
FORMATS = tuple(reader for reader in READERS if reader.name != "experiment")


def files(reader: Reader) -> tuple[Source, ...]:
    """Files of the format's sample, without the script that wrote them, compiled or not."""
    found = folder_sources(FOLDER / reader.name)
    return tuple(source for source in found if not source.name.endswith((".py", ".pyc", ".md")))


def main_file(reader: Reader) -> Source:
    """The file of the sample that the reader starts from, with the others beside it."""
    sources = files(reader)
    main = next(source for source in sources if reader.sniff(source.head))
    return main.among(tuple(source for source in sources if source is not main))


def is_text(data: bytes) -> bool:
    """True for text, which may come with a byte order mark and other line ends."""
    try:
        return "\x00" not in data.decode()
    except UnicodeDecodeError:
        return False


def zipped(sources: tuple[Source, ...], prefix: str = "") -> bytes:
    """A zip of these files under their paths."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for source in sources:
            archive.writestr(prefix + source.path, source.data)
    return buffer.getvalue()


def only_trace(sources: tuple[Source, ...]) -> Trace:
    """The one recording among these files."""
    found = find(sources)
    assert len(found.recordings) == 1, (found.recordings, found.failed, found.unknown)
    trace = found.recordings[0].value
    assert isinstance(trace, Trace)
    return trace


def values(trace: Trace) -> dict[str, Any]:
    """Everything that a trace says as plain values, without the name and hash of its file."""
    meta = trace.meta
    return {
        "meta": {
            "format": meta.format,
            "tool": meta.tool,
            "version": meta.version,
            "device": meta.device,
            "files": sorted(meta.files),
            "redactable": dict(meta.redactable),
        },
        "runs": _records(trace.runs),
        "operators": _records(trace.operators),
        "calls": _records(trace.calls),
        "diagnostics": [
            [note.severity, note.code, note.count, str(note.example), dict(note.values)]
            for note in trace.diagnostics
        ],
    }


def tables(trace: Trace) -> dict[str, Any]:
    """Runs, operators and calls as plain values."""
    frames = {"runs": trace.runs, "operators": trace.operators, "calls": trace.calls}
    return {name: _records(frame) for name, frame in frames.items()}


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as dicts without their nulls."""
    columns = [(str(name), frame[name].tolist(), frame[name].isna().tolist()) for name in frame]
    return [
        {name: values[row] for name, values, missing in columns if not missing[row]}
        for row in range(len(frame))
    ]

"""The miniature of every format with text of an attacker wherever its reader lets text stand.

Distinct texts of the files are marked one after the other, and a mark stays where the same reader
still finds as much as before: what is a keyword of the format is left as it is.
"""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import io
import json
import re
import sqlite3
from collections.abc import Callable, Collection, Iterable
from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, unescape

import pytest

from fusescope.analysis.doctor import fields
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import Reader
from fusescope.analysis.readers.recordings import find_recordings
from fusescope.analysis.trace import Trace
from tests import miniatures

Mark = Callable[[str], str]  # a text of the file -> what stands in its place
Texts = frozenset[str]
# Every way to be more than text: HTML, Markdown, Streamlit's colours, formulas, Rich's markup.
MARKUP = (
    "<img src=x onerror=alert(1)> ![a](http://127.0.0.1:9/pix) :red[boo] $x^2$ "
    "[l](javascript:alert(1)) [bold red]loud[/] http://evil.example </script><script>alert(1)"
)
# What disturbs a screen: a colour, a bell, a turned line, no width, half a character.
CONTROLS = "\x1b[31m\x07\r\u202e\u200b\x9b2J\udfff plant"

# What `markable` found: the search takes longer than most tests that need it.
FOUND = Path(__file__).resolve().parents[1] / "golden" / "security" / "plants.json"
# Of each kind of file one format, and the one that holds numbers only.
OF_EACH_KIND = {
    "onnxruntime", "kineto", "ascend_kernel_details", "ascend_db", "openvino_graph", "rocprof",
    "xplane", "tensorrt_times",
}  # fmt: skip

_JSON_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?')
_XML_TEXT = re.compile(r'(=")([^"]*)(")')
_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd]")
_NUMBER = re.compile(r"\s*[+-]?[\d.,:]*(?:[eE][+-]?\d+)?\s*")


def of_each_kind(readers: Iterable[Reader]) -> list[Any]:
    """Parameters of a test: one format of each kind, and with --exhaustive all others."""
    return [
        pytest.param(
            reader,
            id=reader.name,
            marks=() if reader.name in OF_EACH_KIND else pytest.mark.exhaustive,
        )
        for reader in readers
    ]


def planted(reader: Reader, mark: Mark) -> tuple[Source, ...]:
    """The files of the format's sample with every text marked that can be."""
    files, wanted = miniatures.files(reader), _facts(reader, miniatures.files(reader))
    assert wanted is not None, reader.name
    kept = _kept(reader, files, wanted, _texts(reader), mark)
    return _marked(files, kept, mark)


@cache
def suffixed(reader: Reader, text: str) -> tuple[Source, ...]:
    """The sample with `text` at the end of every text."""
    return planted(reader, lambda old: old + text)


@cache
def prefixed(reader: Reader, text: str) -> tuple[Source, ...]:
    """The sample with `text` in front of every text."""
    return planted(reader, lambda old: text + old)


def only_trace(sources: tuple[Source, ...]) -> Trace:
    """The one recording in these files."""
    return miniatures.only_trace(sources)


def texts_of(trace: Trace) -> list[str]:
    """Every text that a trace holds, names of columns among them."""
    meta = trace.meta
    found = [meta.format, meta.tool, meta.version or "", meta.device or "", meta.file_name]
    found += [*meta.files, *meta.redactable, *meta.redactable.values()]
    for frame in (trace.operators, trace.calls, trace.runs):
        found += map(str, frame.columns)
        for column in frame.columns:
            if frame[column].dtype == "category":
                found += map(str, frame[column].cat.categories)
    for note in trace.diagnostics:
        found += [note.code, str(note.example), *note.values, *map(str, note.values.values())]
    return found


@cache
def _texts(reader: Reader) -> list[str]:
    """Texts that can be marked: those found before, or of a sample that changed since, anew."""
    found = json.loads(FOUND.read_text(encoding="utf-8")) if FOUND.exists() else {}
    known: dict[str, Any] = found.get(reader.name, {})
    return known["texts"] if known.get("sample") == digest(reader) else markable(reader)


def digest(reader: Reader) -> str:
    """Of the files of a sample."""
    files = sorted((file.path, file.data) for file in miniatures.files(reader))
    return hashlib.sha256(repr(files).encode()).hexdigest()


def markable(reader: Reader) -> list[str]:
    """Texts of the sample that are not keywords: a mark behind them changes nothing."""
    files = miniatures.files(reader)
    wanted, heads = _facts(reader, files), set(miniatures.only_trace(files).calls.columns)
    found = sorted({text for source in files for text in _changer(source, heads)[1]})
    return sorted(_kept(reader, files, wanted, found, lambda old: f"{old} x"))


def _kept(
    reader: Reader, files: tuple[Source, ...], wanted: object, texts: list[str], mark: Mark
) -> Texts:
    """Those of `texts` that can be marked all at once, found by halves."""
    kept: set[str] = set()

    def try_all(some: list[str], *, are_bad: bool = False) -> bool:
        """Whether all can be marked; `are_bad` where it is known that they cannot."""
        if not some:
            return True
        marked = frozenset(kept | set(some))
        if not are_bad and _facts(reader, _marked(files, marked, mark)) == wanted:
            kept.update(some)
            return True
        if len(some) > 1:
            middle = len(some) // 2
            # With the first half kept, the second one is what has just failed.
            try_all(some[middle:], are_bad=try_all(some[:middle]))
        return False

    try_all(texts)
    return frozenset(kept)


def _marked(files: tuple[Source, ...], chosen: Texts, mark: Mark) -> tuple[Source, ...]:
    # A name must read the same in all files: one of lines that know no quotes ends at a turned one.
    lines = any(source.name.endswith(".txt") for source in files)
    said = (lambda old: mark(old).replace("\r", "")) if lines else mark
    return tuple(
        Source(source.name, _changer(source, ())[0](chosen, said), path=source.path)
        for source in files
    )


def _facts(reader: Reader, sources: tuple[Source, ...]) -> object:
    """How much is in the recording, None where the files hold no single one of this reader."""
    try:
        found = find_recordings(sources, (reader,))
    except FuseScopeError:
        return None
    if len(found.recordings) != 1:
        return None
    trace = found.recordings[0].value
    if not isinstance(trace, Trace) or trace.meta.format != reader.name:
        return None
    return (
        len(trace.runs),
        len(trace.calls),
        len(trace.operators),
        len(trace.meta.files),
        sorted(fields(trace).items()),
        len(trace.calls.columns),
        trace.operators.notna().sum().to_dict(),
        bool(trace.meta.device),
    )


# How texts of a file are found and changed, by what the file is.


def _changer(
    source: Source, heads: Collection[str]
) -> tuple[Callable[[Texts, Mark], bytes], list[str]]:
    """A function that marks the chosen texts of the file, and the texts that it has.

    Of a table's column heads only `heads`, those of counters, may be any text.
    """
    data = source.data
    if data.startswith(b"SQLite format 3\x00"):
        return lambda chosen, mark: _sqlite(data, chosen, mark), _sqlite_texts(data)
    if source.name.endswith(".pb"):
        return _protobuf, _protobuf_texts()
    text = data.decode()
    if text.lstrip().startswith(("{", "[")):
        matches = _JSON_TEXT.finditer(text)
        values = sorted({_json_value(match[1]) for match in matches if not match[2]})
        return lambda chosen, mark: _json(text, chosen, mark), _no_numbers(values)
    if text.lstrip().startswith("<"):
        values = sorted({unescape(match[2]) for match in _XML_TEXT.finditer(text)})
        return lambda chosen, mark: _xml(text, chosen, mark), _no_numbers(values)
    separator = ";" if text.partition("\n")[0].count(";") > 2 else ","
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    cells = sorted({cell for row in rows[1:] for cell in row} | {*heads} & {*rows[0]})
    return lambda chosen, mark: _table(rows, separator, chosen, mark), _no_numbers(cells)


def _no_numbers(texts: list[str]) -> list[str]:
    return [text for text in texts if text.strip() and not _NUMBER.fullmatch(text)]


def _json(text: str, chosen: Texts, mark: Mark) -> bytes:
    def marked(match: re.Match[str]) -> str:
        value = _json_value(match[1])
        return match[0] if match[2] or value not in chosen else json.dumps(mark(value))

    return _JSON_TEXT.sub(marked, text).encode()


def _json_value(inside: str) -> str:
    return str(json.loads(f'"{inside}"', strict=False))


def _xml(text: str, chosen: Texts, mark: Mark) -> bytes:
    def marked(match: re.Match[str]) -> str:
        old = unescape(match[2])
        new = escape(_NO_XML.sub("", mark(old)), {'"': "&quot;"}) if old in chosen else match[2]
        return f"{match[1]}{new}{match[3]}"

    return _XML_TEXT.sub(marked, text).encode("utf-8", "replace")


def _table(rows: list[list[str]], separator: str, chosen: Texts, mark: Mark) -> bytes:
    out = io.StringIO()
    # Cells are quoted for what is in the line end, so a lone \\r needs this one.
    writer = csv.writer(out, delimiter=separator, lineterminator="\r\n")
    writer.writerows([mark(cell) if cell in chosen else cell for cell in row] for row in rows)
    return out.getvalue().encode("utf-8", "replace")


def _sqlite(data: bytes, chosen: Texts, mark: Mark) -> bytes:
    base = sqlite3.connect(":memory:")
    base.deserialize(data)
    for table, column in _sqlite_columns(base):
        for text in chosen:
            change = f'UPDATE "{table}" SET "{column}" = ? WHERE "{column}" = ?'
            base.execute(change, (mark(text).encode("utf-8", "replace").decode(), text))
    base.commit()
    return base.serialize()


def _sqlite_texts(data: bytes) -> list[str]:
    base = sqlite3.connect(":memory:")
    base.deserialize(data)
    found = set()
    for table, column in _sqlite_columns(base):
        query = f'SELECT DISTINCT "{column}" FROM "{table}" WHERE typeof("{column}") = \'text\''
        found |= {row[0] for row in base.execute(query)}
    return _no_numbers(sorted(found))


def _sqlite_columns(base: sqlite3.Connection) -> list[tuple[str, str]]:
    tables = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return [
        (table, row[1])
        for (table,) in tables
        for row in base.execute(f'PRAGMA table_info("{table}")')
    ]


def _protobuf(chosen: Texts, mark: Mark) -> bytes:
    return _xplane(lambda text: mark(text) if text in chosen else text)


def _protobuf_texts() -> list[str]:
    found: set[str] = set()

    def seen(text: str) -> str:
        found.add(text)
        return text

    _xplane(seen)
    return _no_numbers(sorted(found))


def _xplane(mark: Mark) -> bytes:
    """The sample of XLA's format, written by its own script with other texts."""
    path = miniatures.FOLDER / "xplane" / "make.py"
    spec = importlib.util.spec_from_file_location("planted_xplane", path)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    write = script.message

    def message(*parts: tuple[int, object]) -> bytes:
        changed = (
            (number, mark(value).encode("utf-8", "replace") if isinstance(value, str) else value)
            for number, value in parts
        )
        made: bytes = write(*changed)
        return made

    script.message = message
    sample: bytes = script.sample()
    return sample

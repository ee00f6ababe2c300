"""What every reader must stand, whatever its format: the miniature of each, in every wrapping."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.formats import READERS
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import FIELDS, Reader
from fusescope.analysis.trace import Trace
from tests import miniatures

every_format = pytest.mark.parametrize(
    "reader", miniatures.FORMATS, ids=lambda reader: str(reader.name)
)
TEXT_FORMATS = [
    reader
    for reader in miniatures.FORMATS
    if miniatures.is_text(miniatures.main_file(reader).content)
]


@every_format
def test_the_miniature_reads_as_before(reader: Reader, golden: Callable[[str, Any], None]) -> None:
    trace = miniatures.only_trace(miniatures.files(reader))
    assert trace.meta.format == reader.name
    golden(f"formats/{reader.name}.json", miniatures.values(trace))


@every_format
def test_nobody_else_takes_its_main_file(reader: Reader) -> None:
    head = miniatures.main_file(reader).head
    takers = [other.name for other in READERS if other.sniff(head)]
    assert takers[0] == reader.name
    others = {"chrome_trace"}  # which takes any trace of that form
    if reader.name in ("ascend_db", "nsys_db"):
        others |= {"nsys_db", "rocpd"}  # the head of a database may name no table: reading tells
    assert set(takers) <= {reader.name, *others}


@every_format
def test_it_says_what_it_can_hold_and_how_to_record_it(reader: Reader) -> None:
    assert reader.fields and set(reader.fields) <= set(FIELDS)
    assert reader.title and reader.recording
    names = [other.name for other in READERS]
    assert set(reader.covers) <= set(names)
    later = names[names.index(reader.name) :]
    assert set(reader.covers) <= set(later), "a reader covers only those after it"


@every_format
def test_the_name_of_the_file_does_not_matter(reader: Reader) -> None:
    main = miniatures.main_file(reader)
    renamed = Source("unknown", main.data, beside=main.beside)
    assert _tables(renamed) == plain(reader)


@every_format
@pytest.mark.parametrize(
    "name",
    [
        "{} of my run",
        pytest.param("mine_{}.txt", marks=pytest.mark.exhaustive),
        pytest.param("run{}_detail.csv", marks=pytest.mark.exhaustive),
    ],
)
def test_names_of_ones_own_change_nothing_in_a_folder(reader: Reader, name: str) -> None:
    sources = miniatures.files(reader)
    renamed = []
    for number, source in enumerate(sources):
        folder = source.path.rpartition("/")[0]
        path = "/".join(filter(None, (folder, name.format(number))))
        renamed.append(Source(name.format(number), source.load, path=path))
    known, found = miniatures.only_trace(sources), miniatures.only_trace(tuple(renamed))
    assert miniatures.tables(found) == miniatures.tables(known)
    assert len(found.meta.files) == len(known.meta.files)


@every_format
def test_gzipped_it_says_the_same(reader: Reader) -> None:
    main = miniatures.main_file(reader)
    packed = Source("unknown", gzip.compress(main.content), beside=main.beside)
    assert _tables(packed) == plain(reader)


@every_format
def test_a_zip_says_the_same_as_the_folder(reader: Reader) -> None:
    sources = miniatures.files(reader)
    trace = read(Source("recording.zip", miniatures.zipped(sources, "deep/down/")))
    assert isinstance(trace, Trace)
    folder = read_path(miniatures.FOLDER / reader.name)
    assert isinstance(folder, Trace)
    assert miniatures.tables(trace) == miniatures.tables(folder)
    assert len(trace.meta.files) == len(folder.meta.files)


@pytest.mark.parametrize("reader", TEXT_FORMATS, ids=lambda reader: reader.name)
def test_byte_order_mark_and_other_line_ends_change_nothing(reader: Reader) -> None:
    main = miniatures.main_file(reader)
    data = main.content
    unix = data.replace(b"\r\n", b"\n")
    for changed in (b"\xef\xbb\xbf" + data, unix, unix.replace(b"\n", b"\r\n")):
        assert _tables(Source("unknown", changed, beside=main.beside)) == plain(reader)


@every_format
@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_a_file_cut_anywhere_is_a_trace_or_one_sentence(reader: Reader, step: int) -> None:
    main = miniatures.main_file(reader)
    data = main.content
    for part in range(1, 21, step):
        cut = Source("cut", data[: len(data) * part // 21], beside=main.beside)
        try:
            value = read(cut)
        except FuseScopeError as error:
            assert error.what and error.hint
        else:
            assert isinstance(value, Trace) and len(value.calls) + len(value.runs) > 0


@every_format
def test_a_damaged_file_beside_it_costs_only_what_that_says(reader: Reader) -> None:
    main = miniatures.main_file(reader)
    whole = read(main)
    assert isinstance(whole, Trace)
    for place, source in enumerate(main.beside):
        half = Source(source.name, source.data[: len(source.data) // 2], path=source.path)
        noise = Source(source.name, source.head[:40] + bytes(range(256)), path=source.path)
        for damaged in (half, noise):
            beside = (*main.beside[:place], damaged, *main.beside[place + 1 :])
            trace = read(main.among(beside))
            assert isinstance(trace, Trace)
            assert trace.calls["dur_ns"].sum() == whole.calls["dur_ns"].sum()


@cache
def plain(reader: Reader) -> dict[str, Any]:
    """What the miniature says as it is."""
    return _tables(miniatures.main_file(reader))


def _tables(source: Source) -> dict[str, Any]:
    trace = read(source)
    assert isinstance(trace, Trace)
    return miniatures.tables(trace)

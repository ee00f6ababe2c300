"""Hostile reports that are opened again: bounded, told in one sentence, nothing of them is run."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers import read, read_all
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.packed.tables import MAGIC, packed_trace
from fusescope.analysis.report.exports.comparison_json import comparison_json
from fusescope.analysis.report.exports.inspection import inspection_json
from fusescope.analysis.report.html import report_html
from fusescope.analysis.trace import Trace
from tests import miniatures
from tests.report.enclosed import data_of, files_of, page_with
from tests.report.test_html import of_experiment, of_profiles
from tests.security.mutations import mutated


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


@cache
def files() -> dict[str, bytes]:
    """What the report of two profiles holds."""
    return files_of(data_of(report_html(of_profiles())))


def refusal(data: bytes, limits: Limits | None = None) -> str:
    """The one sentence that a report is refused with, wherever it is opened."""
    with pytest.raises(FuseScopeError) as caught:
        read(Source("r.html", data, limits or Limits()))
    assert caught.value.hint and "\n" not in caught.value.text
    found = read_all([Source("r.html", data, limits or Limits())])
    assert len(found.recordings) < 2 and [path for path, _ in found.failed]
    return caught.value.text


def manifest(**changes: Any) -> bytes:
    return json.dumps({**json.loads(files()["report.json"]), **changes}).encode()


BOMB = zipped({"report.json": b"{}", "baseline.tables": b"\0" * 40_000_000})
SIDE = {"file": "baseline.tables", "label": "a"}


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: b"no zip", "This zip is damaged"),
        (lambda: BOMB, "more than the limit of 200 times"),
        (lambda: zipped({}), "report.json is missing"),
        (lambda: zipped({"report.json": b"[" * 100_000}), "damaged"),
        (lambda: zipped({"report.json": manifest(version=9)}), "version 9"),
        (lambda: zipped({"report.json": manifest()}), "baseline.tables is missing"),
        (lambda: zipped({"report.json": manifest(baseline={**SIDE, "file": "../x"})}), "damaged"),
        (lambda: zipped({**files(), "report.json": manifest(assumed={"tau_ns": -1})}), "damaged"),
        (lambda: zipped({**files(), "candidate.tables": MAGIC + b"{}\n"}), "damaged"),
    ],
    ids=range(9),
)
def test_r30_data_that_are_none(made: Callable[[], bytes], told: str) -> None:
    assert told in refusal(page_with(made()))


def test_r30_archives_in_archives_and_pages_in_pages_end_somewhere() -> None:
    """A report whose side is a zip of reports of zips, and one that holds itself."""
    inner = page_with(zipped(files()))
    for _ in range(3):
        side = {"file": "baseline.zip", "label": "a"}
        told = manifest(baseline=side, candidate=side)
        inner = page_with(zipped({"report.json": told, "baseline.zip": zipped({"x.html": inner})}))
    assert "experiment" in refusal(inner) or "profile" in refusal(inner)


def test_r30_base64_that_is_none_and_more_than_the_limit() -> None:
    start, _, end = page_with(b"").rpartition(b"</script>")
    assert "damaged" in refusal(start + b"A" * 1_000_001 + b"</script>" + end)
    assert "damaged" in refusal(start + b"!" * 1000)
    assert "limit" in refusal(page_with(zipped(files())), Limits(unpacked_bytes=2000))
    assert "limit" in refusal(page_with(zipped(files())), Limits(events=3))


def test_r30_scripts_of_a_report_are_text_that_nobody_reads() -> None:
    """Only the data are looked at: what else stands in the page changes nothing."""
    page = report_html(of_experiment())
    hostile = "<script>fetch('https://evil.example')</script><script src=x.js></script>"
    value = read(Source("r.html", page.replace("<main", f"{hostile}<main", 1).encode()))
    assert inspection_json(value) == inspection_json(read(Source("r.html", page.encode())))
    again = report_html(of_experiment())
    assert "evil.example" not in again


@pytest.mark.parametrize("count", [24, pytest.param(400, marks=pytest.mark.exhaustive)])
def test_r30_damaged_tables_give_a_trace_or_one_sentence(count: int) -> None:
    """Of formats with the most columns, and with counters; whole pages, too."""
    chosen = ("onnxruntime", "kineto", "ascend_kernel_details", "tensorrt_times")
    traces = [
        miniatures.only_trace(miniatures.files(reader))
        for reader in miniatures.FORMATS
        if reader.name in chosen
    ]
    assert len(traces) == len(chosen)
    read_again = 0
    for place, trace in enumerate(traces):
        whole = packed_trace(trace)
        for seed in range(count):
            source = Source("a.tables", mutated(whole, seed * 109 + place))
            try:
                value = read(source)
            except FuseScopeError as error:
                assert error.what and error.hint
                continue
            assert isinstance(value, Trace)
            inspection_json(value)
            if value.ends_early:
                with pytest.raises(FuseScopeError, match="ends early"):
                    compare(*choose_sides(value, trace))
                continue
            comparison_json(compare(*choose_sides(value, trace)))
            read_again += 1
    assert read_again > count / 10
    page = report_html(of_experiment()).encode()
    for seed in range(count // 4):
        try:
            read(Source("r.html", mutated(page, seed)))
        except FuseScopeError as error:
            assert error.what and error.hint


def header_of(trace: Trace) -> tuple[dict[str, Any], bytes]:
    data = packed_trace(trace)
    line, _, cells = data[len(MAGIC) :].partition(b"\n")
    return json.loads(line), cells


def test_r30_what_tables_say_is_made_fit_to_be_shown_and_their_notes_are_foreign() -> None:
    trace = miniatures.only_trace(
        miniatures.files(next(r for r in miniatures.FORMATS if r.name == "onnxruntime"))
    )
    header, cells = header_of(trace)
    name = next(c for c in header["operators"]["columns"] if c["name"] == "name")
    name["texts"][0] = "a\x1b[31m\u202eb"
    header["meta"]["tool"] = "t\x00ool"
    sentence = {"type": "Sentence", "one": "{a:nothing}", "many": "", "values": {"a": 1}}
    noted = {"severity": "warning", "count": 2, "example": "x\x07"}
    header["notes"] = [
        {**noted, "code": "bad_time", "values": {}},
        {**noted, "code": "recorded_with", "values": {"side": "nobody", "x": sentence}},
        {**noted, "code": "levels_differ", "values": {"before": "\x1b", "after": 3}},
        {**noted, "code": "no_such_code", "values": {}},
    ]
    data = MAGIC + json.dumps(header).encode() + b"\n" + cells
    value = read(Source("a.tables", data))
    assert isinstance(value, Trace)
    shown = inspection_json(value).decode()
    assert "\\u001b" not in shown and "\u202e" not in shown and "\\u0007" not in shown
    assert "A note in this report is damaged (levels_differ)." in shown
    assert "1 note in this report is of another version" in shown
    for column, words in (("op_class", ["<b>"]), ("level", ["x"])):
        header, cells = header_of(trace)
        found = next(c for c in header["operators"]["columns"] if c["name"] == column)
        found["texts"] = words * len(found["texts"])
        with pytest.raises(FuseScopeError, match="an unknown word"):
            read(Source("a.tables", MAGIC + json.dumps(header).encode() + b"\n" + cells))

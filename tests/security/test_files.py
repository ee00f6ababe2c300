"""Hostile files, rows R1 to R24 of the list of cases: bounded, told, never a stack trace."""

from __future__ import annotations

import gzip
import io
import json
import re
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import pandas as pd
import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import MIB, Limits, parse_limits
from fusescope.analysis.metrics.breakdown import by_type
from fusescope.analysis.readers import find, read, read_all, read_path
from fusescope.analysis.readers.input.folder import folder_sources
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.exports.inspection import inspection, inspection_json
from fusescope.analysis.trace import Trace
from tests.security.documents import KINDS, Kind

ROOT = Path(__file__).resolve().parents[2]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.reader))
json_kinds = pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.is_json], ids=lambda kind: str(kind.reader)
)


def read_bytes(data: bytes, limits: Limits | None = None, name: str = "a file") -> Trace:
    value = read(Source(name, data, limits or Limits()))
    assert isinstance(value, Trace)
    inspection_json(value)
    return value


def refusal(data: bytes, limits: Limits | None = None) -> str:
    with pytest.raises(FuseScopeError) as caught:
        read(Source("a file", data, limits or Limits()))
    assert caught.value.hint and "\n" not in caught.value.text
    assert "a file" in caught.value.text
    return caught.value.text


def codes(trace: Trace) -> dict[str, int]:
    return {note.code: note.count for note in trace.diagnostics}


@every_kind
def test_every_kind_is_read_by_its_own_reader(kind: Kind) -> None:
    trace = read_bytes(kind.file())
    assert trace.meta.format == kind.reader
    assert trace.operators["name"].tolist() == ["first", "second"]


# Size and shape.


def test_r1_a_gzip_bomb_takes_no_memory() -> None:
    """1 GiB of zeros in 1 MB: refused at the limit; memory grows by less than twice the limit."""
    script = (
        "import gzip, resource, zlib\n"
        "from fusescope.analysis.errors import FuseScopeError\n"
        "from fusescope.analysis.limits import MIB, Limits, parse_limits\n"
        "from fusescope.analysis.readers import read\n"
        "from fusescope.analysis.readers.input.source import Source\n"
        "packer = zlib.compressobj(9, wbits=-15)\n"
        "zeros = packer.compress(bytes(16 * MIB)) + packer.flush(zlib.Z_FULL_FLUSH)\n"
        "bomb = gzip.compress(b'')[:10] + 64 * zeros + packer.flush() + bytes(8)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n"
        "    read(Source('bomb', bomb, Limits(unpacked_bytes=256 * MIB)))\n"
        "except FuseScopeError as error:\n"
        "    print(error.what)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    said, grown_kib = done.stdout.strip().splitlines()
    assert said == "This file unpacks to more than the limit of 256 MiB"
    assert int(grown_kib) * 1024 < 2 * 256 * MIB


@every_kind
def test_r2_only_one_layer_of_gzip_is_peeled(kind: Kind) -> None:
    once = gzip.compress(kind.file())
    assert len(read_bytes(once).calls) == 2
    assert "compressed twice" in refusal(gzip.compress(once))
    assert "compressed twice" in refusal(gzip.compress(gzip.compress(once)))


def _zip(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def test_r3_zip_bombs_are_refused_by_what_they_say_and_by_what_they_hold() -> None:
    bomb = _zip({"a.json": bytes(30 * MIB)})
    assert "would unpack to" in refusal(bomb)
    assert "members, which is more than the limit" in refusal(
        _zip({f"{i}.json": b"" for i in range(30)}), Limits(zip_members=20)
    )
    # Both heads say 100 bytes; there are 30 MiB.
    lying = bomb.replace((30 * MIB).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    assert lying != bomb
    assert refusal(lying)
    assert refusal(_zip({"inner.zip": bomb}))


def test_r3_members_that_overlap_are_read_once() -> None:
    """A quoted overlap: many heads that point at one body."""
    plain = _zip({"a.json": KINDS[0].file()})
    end = plain.rindex(b"PK\x05\x06")
    start = plain.index(b"PK\x01\x02")
    entry = plain[start:end]
    count = 50
    tail = bytearray(plain[end:])
    tail[8:10] = tail[10:12] = count.to_bytes(2, "little")
    tail[12:16] = (len(entry) * count).to_bytes(4, "little")
    overlapping = plain[:start] + entry * count + bytes(tail)
    found = read_all([Source("overlap.zip", overlapping)])
    assert len(found.recordings) == 1


@json_kinds
@pytest.mark.parametrize("nest", [b"[", b'{"a":'], ids=["arrays", "objects"])
def test_r4_deep_nesting_is_one_sentence(kind: Kind, nest: bytes) -> None:
    assert refusal(nest * 200_000)
    deep = kind.file().replace(b'"first', b'"x":' + nest * 100_000 + b',"first', 1)
    assert refusal(deep)
    value = kind.write([("first", "1000", (nest * 100_000).decode())])
    assert refusal(value)


def test_r6_nothing_in_a_file_is_told_apart() -> None:
    said = [refusal(data) for data in (b"", b"  \n\t ", b"null", b"42", b"[]", b"{}")]
    assert "This file is empty" in said[0]
    assert "has no content" in said[1]
    assert all("not a trace" in text for text in said[2:4])
    assert all("JSON, but not in a format" in text for text in said[4:])


@every_kind
def test_r7_a_name_of_ten_megabytes_is_cut_and_counted(kind: Kind) -> None:
    trace = read_bytes(kind.file(("x" * 10_000_000, "1020", "3")))
    names = trace.operators["name"].tolist()
    assert [len(name) for name in names] == [5, 6, 512]
    assert names[2].endswith("…")
    assert codes(trace).get("long_text") == 1


@every_kind
def test_r8_more_events_than_the_limit_are_refused(kind: Kind) -> None:
    rows = [(f"op{i}", str(2000 + i), "1") for i in range(300)]
    assert "than the limit of 200" in refusal(kind.write(rows), Limits(events=200))
    assert len(read_bytes(kind.write(rows), Limits(events=400)).calls) == 300


def _named(error: FuseScopeError) -> Limits:
    """The limits that the hint of a refusal says to give."""
    told = re.search(r"`fusescope --limit (\w+=\w+) …`", error.hint)
    assert told, error.text
    return parse_limits(told[1])


@every_kind
def test_r8_a_refusal_names_the_option_that_lifts_it(kind: Kind) -> None:
    data = kind.write([(f"op{i}", str(2000 + i), "1") for i in range(300)])
    with pytest.raises(FuseScopeError) as caught:
        read_bytes(data, Limits(events=200))
    assert len(read_bytes(data, _named(caught.value)).calls) == 300


def test_a_refusal_for_size_or_number_names_the_option_that_lifts_it(tmp_path: Path) -> None:
    big = KINDS[0].write([(f"op{i}", str(1000 + i), "5") for i in range(20_000)])
    plain = tmp_path / "plain.json"
    plain.write_bytes(big)
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(big))
    alike = tmp_path / "alike.zip"
    alike.write_bytes(_zip({"a.json": big[:-1] + b" " * 30 * MIB + b"]"}))
    many = tmp_path / "many"
    many.mkdir()
    for number in range(30):
        (many / f"{number:02}.json").write_bytes(KINDS[number % 2].file())
    zipped = tmp_path / "many.zip"
    zipped.write_bytes(_zip({str(number): b"x" for number in range(29)} | {"a": big}))

    tried = [
        (plain, Limits(file_bytes=MIB)),
        (packed, Limits(unpacked_bytes=3 * MIB)),
        (alike, Limits(zip_ratio=5)),
        (zipped, Limits(unpacked_bytes=MIB)),
        (zipped, Limits(zip_members=20)),
        (many, Limits(zip_members=20)),
    ]
    for path, limits in tried:
        with pytest.raises(FuseScopeError) as caught:
            read_path(path, limits)
        lifted = _named(caught.value)
        if path is many:
            with pytest.raises(FuseScopeError, match="30 recordings"):
                read_path(path, lifted)
        else:
            assert isinstance(read_path(path, lifted), Trace)
    with pytest.raises(FuseScopeError) as caught:
        find(folder_sources(many, Limits(recordings=20)))
    assert len(find(folder_sources(many, _named(caught.value))).recordings) == 30


def test_r9_a_hundred_thousand_op_types_stay_a_table() -> None:
    events = [
        f'{{"cat":"Node","pid":1,"tid":1,"dur":1,"ts":{1000 + i},"ph":"X","name":"n_kernel_time",'
        f'"args":{{"op_name":"T{i}","provider":"CPUExecutionProvider"}}}}'
        for i in range(100_000)
    ]
    trace = read_bytes(("[" + ",".join(events) + "]").encode())
    assert len(by_type(trace)) == 100_000
    assert len(inspection(trace)["by_type"]) == 100_000


# Numbers.


@json_kinds
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_r10_what_is_no_json_number_drops_its_row(kind: Kind, number: str) -> None:
    trace = read_bytes(kind.file(("bad", "1020", number)))
    assert trace.operators["name"].tolist() == ["first", "second"]
    assert _dropped(trace) == 1
    if kind.reader != "tensorrt_profile":  # whose tool writes -nan itself
        assert [n.count for n in trace.diagnostics if n.code == "json_mended"] == [1]


@every_kind
@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 400, "9" * 5000, "1e30", "-1e30"])
def test_r11_to_r13_numbers_beyond_every_range_drop_their_row(kind: Kind, number: str) -> None:
    trace = read_bytes(kind.file(("bad", "1020", number)))
    assert trace.operators["name"].tolist() == ["first", "second"]
    assert _dropped(trace) == 1
    if kind.has_start:
        trace = read_bytes(kind.file(("bad", number, "3")))
        assert trace.operators["name"].tolist() == ["first", "second"]
        assert trace.calls["start_ns"].isna().tolist() == [False, False]
        assert _dropped(trace) == 1


@every_kind
@pytest.mark.parametrize("number", ["-5", "true", '"soon"', "null", "[]", '""'])
def test_r14_a_duration_that_is_none_drops_its_row(kind: Kind, number: str) -> None:
    if not kind.is_json and number == "[]":
        number = "N/A"
    trace = read_bytes(kind.file(("bad", "1020", number)))
    assert trace.operators["name"].tolist() == ["first", "second"]
    assert _dropped(trace) == 1


@json_kinds
def test_r14_a_number_in_quotes_is_a_number(kind: Kind) -> None:
    trace = read_bytes(kind.file(("quoted", "1020", '"12"')))
    assert trace.operators["name"].tolist()[2] == "quoted"


@every_kind
def test_r15_time_going_backwards_and_overlaps_are_kept(kind: Kind) -> None:
    trace = read_bytes(kind.file(("late", "5000", "9"), ("early", "5", "9"), ("same", "5004", "9")))
    assert len(trace.calls) == 5
    if kind.has_start:
        starts = trace.calls["start_ns"].dropna().tolist()
        assert starts == sorted(starts)


@every_kind
def test_r16_durations_of_zero_give_no_infinity(kind: Kind) -> None:
    trace = read_bytes(kind.write([("a", "10", "0"), ("b", "10", "0")]))
    text = inspection_json(trace).decode().lower()
    assert re.search(r"(?<![a-z])(?:nan|inf|infinity)(?![a-z])", text) is None
    assert trace.calls["dur_ns"].tolist() == [0, 0]


def _five(kind: Kind) -> int:
    """What '5' in the place of a duration means, in ns: µs, ns or ms."""
    return {"rocprof": 5, "tensorrt_profile": 5_000_000}.get(kind.reader, 5000)


def _dropped(trace: Trace) -> int:
    found = codes(trace)
    return found.get("bad_time", 0) + found.get("bad_event", 0)


# Text.


@every_kind
def test_r17_broken_utf8_is_replaced_and_counted(kind: Kind) -> None:
    trace = read_bytes(kind.file().replace(b"second", b"sec\xff\xfeond"))
    assert trace.operators["name"].tolist() == ["first", "sec\ufffd\ufffdond"]
    assert codes(trace)["bad_unicode"] >= 1


@every_kind
def test_r18_utf16_reads_as_utf8_does(kind: Kind) -> None:
    text = kind.file().decode()
    plain = read_bytes(kind.file())
    for data in (text.encode("utf-16"), b"\xfe\xff" + text.encode("utf-16-be")):
        pd.testing.assert_frame_equal(read_bytes(data).calls, plain.calls)


@json_kinds
def test_r19_lone_surrogates_become_the_replacement_character(kind: Kind) -> None:
    trace = read_bytes(kind.file(("a\ud800b", "1020", "3"), ("\udfff", "1030", "3")))
    assert trace.operators["name"].tolist()[2:] == ["a\ufffdb", "\ufffd"]


@every_kind
def test_r20_control_and_direction_characters_are_shown_or_gone(kind: Kind) -> None:
    trace = read_bytes(kind.file(("a\x1b[31m\x07", "1020", "3"), ("\u202egnp\u200b", "1030", "3")))
    assert trace.operators["name"].tolist()[2:] == ["a\\x1b[31m\\x07", "gnp"]


@json_kinds
def test_r21_of_two_equal_keys_the_last_counts(kind: Kind) -> None:
    twice = kind.file().replace(b'"name":"second', b'"name":"x","name":"second', 1)
    trace = read_bytes(twice)
    assert trace.operators["name"].tolist() == ["first", "second"]


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.exhaustive)])
@every_kind
def test_r22_a_file_cut_anywhere_keeps_whole_rows_or_is_one_sentence(kind: Kind, step: int) -> None:
    data = kind.write([(f"op{i}", str(1000 + 10 * i), "5") for i in range(40)])
    kept = []
    for part in range(1, 20, step):
        end = len(data) * part // 20
        for cut in (data[:end], gzip.compress(data[:end])[:-4]):
            try:
                trace = read_bytes(cut)
            except FuseScopeError:
                continue
            kept.append(len(trace.calls))
            assert trace.calls["dur_ns"].sum() == len(trace.calls) * _five(kind)
            if cut[:2] == b"\x1f\x8b":
                assert "gzip_cut_short" in codes(trace)
    assert max(kept) >= 36


@every_kind
def test_r23_gzip_members_join_and_junk_behind_is_told(kind: Kind) -> None:
    data = kind.file()
    half = len(data) // 2
    members = gzip.compress(data[:half]) + gzip.compress(data[half:])
    assert len(read_bytes(members).calls) == 2
    junk = read_bytes(members + b"junk behind the end")
    assert codes(junk)["gzip_junk"] == len(b"junk behind the end")
    assert "gzip_junk" not in codes(read_bytes(members + bytes(512)))  # padding


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\x89PNG\r\n\x1a\nrest", "a PNG image"),
        (b"\x80\x04\x95\x10\x00cos\nsystem\n", "a Python pickle"),
        (b"%PDF-1.7", "a PDF document"),
        (b"\x7fELF\x02\x01", "a program"),
        (b"<html><body>", "an HTML page"),
        (gzip.compress(b"\x89PNG\r\n\x1a\nrest", mtime=0), "a PNG image"),
    ],
)
def test_r24_other_files_are_named_whatever_they_are_called(data: bytes, says: str) -> None:
    assert says in refusal(data)


def test_r24_no_reader_unpickles() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "analysis").rglob("*.py")]
    assert len(sources) > 100
    assert not [text for text in sources if re.search(r"^\s*(import|from) (pickle|shelve)", text)]
    assert not [text for text in sources if "read_pickle" in text or "yaml.load(" in text]


@every_kind
def test_gzip_by_content_and_zip_by_content(kind: Kind) -> None:
    data = kind.file()
    for wrapped in (gzip.compress(data), _zip({"any name": data})):
        pd.testing.assert_frame_equal(read_bytes(wrapped).calls, read_bytes(data).calls)
    assert zlib.crc32(data)  # the file is not empty
    assert json.dumps(kind.reader)


# Names and paths.


@pytest.mark.parametrize(
    "name",
    ["../../x.json", "..\\..\\x.json", "C:\\x.json", "\\\\host\\share\\x.json", "/abs/x.json"],
)
def test_r26_to_r28_names_of_files_are_labels(name: str) -> None:
    trace = read_bytes(KINDS[0].file(), name=name)
    assert trace.meta.file_name == name
    data = _zip({name: KINDS[0].file()})
    found = read_all([Source("up.zip", data)])
    assert [r.value.meta.file_name for r in found.recordings if isinstance(r.value, Trace)] == [
        "x.json"
    ]


def test_r28_links_and_second_members_of_a_name_are_left_out() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        link = zipfile.ZipInfo("link.json")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("a.json", KINDS[0].file())
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.json", KINDS[0].file(("other", "1", "1")))
    found = read_all([Source("up.zip", buffer.getvalue())])
    assert len(found.recordings) == 1
    assert not [path for path in found.unknown if "link" in path]


def test_r28_nothing_is_ever_extracted() -> None:
    for folder in ("analysis", "app", "collectors"):
        paths = list((ROOT / folder).rglob("*.py"))
        assert paths
        for path in paths:
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"\.extract(all)?\(", text), path.name

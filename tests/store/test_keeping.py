"""Files that are read through the store: parsed once, and never answered with something old."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import DEFAULT_LIMITS, MIB
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from fusescope.app.store import keeping, settings
from fusescope.app.store.store import Store
from tests import two_processes
from tests.factories import (
    FUSED_OPERATORS,
    UNFUSED_OPERATORS,
    node_event,
    profile_json,
    session_event,
)

pytestmark = pytest.mark.usefixtures("settled")


def profile(path: Path, first_us: int = 100) -> Path:
    """A profile of ONNX Runtime that has been there for an hour."""
    events = [session_event("model_run", 0, 9000)]
    events += [node_event(one, first_us * (at + 1)) for at, one in enumerate(UNFUSED_OPERATORS)]
    data = json.dumps(events).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return aged(path)


def aged(path: Path) -> Path:
    facts = path.stat()
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns - 3600 * 10**9))
    return path


def assert_equal(one: object, other: object) -> None:
    assert isinstance(one, Trace) and isinstance(other, Trace)
    for name in ("runs", "operators", "calls"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name), check_exact=True)
    assert (one.meta, one.diagnostics) == (other.meta, other.diagnostics)


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_a_file_is_parsed_once(tmp_path: Path, parsed: list[str], name: str) -> None:
    path = profile(tmp_path / name)
    first = keeping.read_through(path)
    assert str(first.said) == (
        f"{name} was kept in the library, so that it opens faster next time. "
        "FUSESCOPE_LIBRARY=off turns this off."
    )
    again = keeping.read_through(path)
    assert parsed == [name] and again.said is None
    assert_equal(first.value, again.value)
    assert_equal(again.value, read_path(path))


def test_a_file_of_several_processes_is_kept_whole(tmp_path: Path, parsed: list[str]) -> None:
    """Under a new name each process says that; a damaged table of any of them costs the entry."""
    path = aged(two_processes.write(tmp_path / "ranks.sqlite"))
    first, again = keeping.read_through(path), keeping.read_through(path)
    assert first.said is not None and again.said is None and parsed == ["ranks.sqlite"]
    assert isinstance(first.value, Trace) and isinstance(again.value, Trace)
    assert list(again.value.units) == ["process:40", "process:41"]
    for one, other in zip(first.value.units.values(), again.value.units.values(), strict=True):
        assert_equal(one, other)
    (other,) = keeping.renamed(again.value, "named.sqlite").others
    assert other.meta.file_name == "named.sqlite"
    kept = keeping.store()
    assert kept is not None
    (held,) = kept.held()
    (held.folder / "1.calls.parquet").write_bytes(b"PAR1")
    keeping.read_through(path)
    assert len(parsed) == 2


def test_what_changed_is_parsed_anew(tmp_path: Path, parsed: list[str]) -> None:
    path = profile(tmp_path / "trace.json")
    keeping.read_through(path)
    profile(path, first_us=200)  # of the same size
    value = keeping.read_through(path).value
    assert isinstance(value, Trace) and len(parsed) == 2
    assert_equal(value, read_path(path))
    keeping.read_through(path, replace(DEFAULT_LIMITS, text_chars=20))
    assert len(parsed) == 3  # names are cut elsewhere
    with pytest.raises(FuseScopeError, match="more than the limit"):
        keeping.read_through(path, replace(DEFAULT_LIMITS, events=2))


def test_the_same_content_elsewhere_is_parsed_where_its_name_or_neighbours_matter(
    tmp_path: Path, parsed: list[str]
) -> None:
    path = profile(tmp_path / "trace.json")
    keeping.read_through(path)
    (tmp_path / "copy").mkdir()
    copy = profile(tmp_path / "copy" / "trace.json")
    keeping.read_through(copy)
    stamped = profile(tmp_path / "copy" / "ort_2026-01-01_10-00-00.json")
    value = keeping.read_through(stamped).value
    assert isinstance(value, Trace)
    assert value.meta.started_ns is not None  # which ONNX Runtime tells in the name alone
    assert parsed[-1] == stamped.name


def test_a_new_neighbour_is_asked_for(
    tmp_path: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a reader looks at what lies beside a file, what comes there counts."""
    read = keeping.read

    def looking(source: Source, *rest: object) -> object:
        assert source.beside is not None
        return read(source, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(keeping, "read", looking)
    path = profile(tmp_path / "trace.json")
    other = profile(tmp_path / "other.json")
    for count in (1, 1):
        keeping.read_through(path)
        assert len(parsed) == count
    profile(tmp_path / "new.json")
    keeping.read_through(path)
    assert len(parsed) == 2
    other.unlink()
    keeping.read_through(path)
    assert len(parsed) == 3
    assert keeping.of_upload(Source("trace.json", path.read_bytes())) is None


def test_an_upload_that_came_alone_is_parsed_once(tmp_path: Path, parsed: list[str]) -> None:
    source = Source("trace.json", profile(tmp_path / "trace.json").read_bytes())
    assert keeping.of_upload(source) is None
    value = keeping.read(source)
    assert isinstance(value, Trace)
    keeping.keep_uploads([(source, value)])
    assert_equal(keeping.of_upload(source), value)


def test_of_files_that_came_together_all_are_kept_or_none(
    tmp_path: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pair of which one is just large enough: the library has both of it."""
    sources = [
        Source("short.json", profile_json(FUSED_OPERATORS, runs=2)),
        Source("long.json", profile_json(FUSED_OPERATORS, runs=40)),
    ]
    values = [(source, value) for source in sources if isinstance(value := read(source), Trace)]
    held = Store(settings.folder(), 10**9).held
    for least, kept in ((sources[1].size + 1, 0), (sources[1].size, 2)):
        monkeypatch.setattr(keeping, "MIN_BYTES", least)
        keeping.keep_uploads(values)
        assert len(held()) == kept


def test_small_files_and_experiments_are_not_kept(
    tmp_path: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = profile(tmp_path / "trace.json")
    for least in (10**6, 1000):
        monkeypatch.setattr(keeping, "MIN_BYTES", least)
        assert (keeping.read_through(path).said is None) == (least == 10**6)
    sample = Path(__file__).parents[2] / "sample_traces" / "mul_add.zip"
    samples = sorted((Path(__file__).parents[2] / "sample_traces").glob("*.zip"))
    path = sample if sample.exists() else samples[0]
    assert keeping.read_through(path, wanted=lambda record: record.names[:1]).said is None
    assert len(Store(settings.folder(), 10**9).held()) == 1


def test_off_is_off(tmp_path: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.FOLDER_VARIABLE, "OFF")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    path = profile(tmp_path / "trace.json")
    assert keeping.read_through(path).said is None
    assert keeping.store() is None and not (tmp_path / "data").exists()


def test_what_cannot_be_kept_is_read_and_said(
    tmp_path: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = profile(tmp_path / "trace.json")
    monkeypatch.setenv(settings.SIZE_VARIABLE, "1K")
    assert str(keeping.read_through(path).said) == (
        "trace.json was not kept in the library, which may take 1.02 kB at most."
    )
    monkeypatch.setenv(settings.SIZE_VARIABLE, "1G")
    (tmp_path / "library").rename(tmp_path / "was")
    (tmp_path / "library").write_text("a file")
    said = str(keeping.read_through(path).said)
    assert said.startswith("trace.json was not kept in the library: ")
    monkeypatch.setenv(settings.SIZE_VARIABLE, "much")
    with pytest.raises(FuseScopeError) as wrong:
        keeping.read_through(path)
    assert wrong.value.text == (
        "FUSESCOPE_LIBRARY_SIZE is 'much', which is not a size. Write 500M or 20G."
    )


def test_no_more_is_unpacked_than_says_that_keeping_is_worth_it(
    tmp_path: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    values = []
    for name, first_us in (("a.json", 100), ("b.json", 200)):
        text = profile(tmp_path / name, first_us).read_bytes()
        packed = gzip.compress(text + b" " * (8 * MIB))
        source = Source(f"{name}.gz", packed)
        value = read(source)
        assert isinstance(value, Trace)
        values.append((Source(f"{name}.gz", packed), value))
    monkeypatch.setattr(keeping, "MIN_BYTES", 2 * MIB)
    unpacked: list[int] = []
    whole = Source.blocks

    def counted(source: Source, size: int) -> Iterator[bytes]:
        for block in whole(source, size):
            unpacked.append(len(block))
            yield block

    monkeypatch.setattr(Source, "blocks", counted)
    keeping.keep_uploads(values)
    assert len(Store(settings.folder(), 10**9).held()) == 2
    assert 2 * MIB <= sum(unpacked) <= 4 * MIB
    assert not any("content" in vars(source) for source, _ in values)

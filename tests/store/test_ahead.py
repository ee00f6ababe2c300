"""Several large files: read at once by processes, and the same where one of these fails."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from fusescope.analysis.limits import DEFAULT_LIMITS
from fusescope.analysis.readers import read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from fusescope.app.store import ahead, keeping, known, settings
from tests.factories import UNFUSED_OPERATORS, node_event, session_event


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Names of files that this process parsed, with cores for more than one process."""
    seen: list[str] = []
    read = keeping.read

    def counted(source: Source, *rest: object) -> object:
        seen.append(source.name)
        return read(source, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(keeping, "read", counted)
    monkeypatch.setattr(ahead, "MIN_BYTES", keeping.MIN_BYTES)
    monkeypatch.setattr(ahead, "_cores", lambda: 2)
    monkeypatch.setattr(ahead, "_in_vain", set())
    monkeypatch.setenv(settings.FOLDER_VARIABLE, str(tmp_path / "library"))
    return seen


def profiles(folder: Path, count: int) -> list[Path]:
    """Profiles of ONNX Runtime just as large as is kept."""
    folder.mkdir()
    paths = [folder / f"{number}.json" for number in range(count)]
    for number, path in enumerate(paths):
        events = [session_event("model_run", 0, 9000)]
        events += [node_event(one, 100 + number) for one in UNFUSED_OPERATORS]
        text = json.dumps(events)
        path.write_text(text + " " * (keeping.MIN_BYTES - len(text)))
    return paths


def settle(path: Path) -> None:
    """Wait until the file is not taken for one that is being written; another process asks, too."""
    age_ns = time.time_ns() - path.stat().st_ctime_ns
    time.sleep(max(0.0, (known._SETTLED_NS - age_ns) / 1e9))


def values(paths: list[Path]) -> list[object]:
    return [keeping.read_through(path, above=False) for path in paths]


def assert_read(found: list[object], paths: list[Path]) -> None:
    for one, path in zip(found, paths, strict=True):
        assert isinstance(one, keeping.Read) and isinstance(one.value, Trace)
        whole = read_path(path, above=False)
        assert isinstance(whole, Trace)
        assert one.value.calls.equals(whole.calls)
        assert one.value.meta == whole.meta


def test_every_second_file_is_read_by_another_process(tmp_path: Path, parsed: list[str]) -> None:
    paths = profiles(tmp_path / "files", 3)
    settle(paths[-1])
    with keeping.reading_ahead(paths, above=False):
        assert len(ahead._pending) == 1
        found = values(paths)
    assert parsed == ["0.json", "2.json"]
    assert not ahead._pending
    assert_read(found, paths)
    assert all(isinstance(one, keeping.Read) and one.said for one in found)  # that it was kept
    with keeping.reading_ahead(paths, above=False):
        assert not ahead._pending  # all of them are kept now
    values(paths)
    assert len(parsed) == 2


def test_what_a_process_did_not_read_is_read_here(tmp_path: Path, parsed: list[str]) -> None:
    paths = profiles(tmp_path / "files", 2)
    with keeping.reading_ahead(paths, above=False):
        (process,) = ahead._pending.values()
        process._process.kill()
        found = values(paths)
    assert parsed == ["0.json", "1.json"]
    assert_read(found, paths)


def test_no_process_starts_where_none_can(
    tmp_path: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise BlockingIOError

    paths = profiles(tmp_path / "files", 2)
    monkeypatch.setattr(ahead.subprocess, "Popen", refused)
    with keeping.reading_ahead(paths, above=False):
        assert not ahead._pending
        assert_read(values(paths), paths)
    assert parsed == ["0.json", "1.json"]


@pytest.mark.parametrize("why", ["off", "one core", "one file", "small"])
def test_no_process_starts_where_it_would_not_help(
    tmp_path: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    paths = profiles(tmp_path / "files", 2)
    if why == "off":
        monkeypatch.setenv(settings.FOLDER_VARIABLE, settings.OFF)
    elif why == "one core":
        monkeypatch.setattr(ahead, "_cores", lambda: 1)
    elif why == "one file":
        paths = [*paths[:1], *paths[:1], tmp_path / "missing.json"]
    else:
        monkeypatch.setattr(ahead, "MIN_BYTES", keeping.MIN_BYTES + 1)
    with keeping.reading_ahead(paths, DEFAULT_LIMITS, above=False):
        assert not ahead._pending


def test_an_end_before_its_turn_ends_the_process(tmp_path: Path, parsed: list[str]) -> None:
    paths = profiles(tmp_path / "files", 2)
    with keeping.reading_ahead(paths, above=False):
        (process,) = ahead._pending.values()
    assert process._process.returncode is not None
    assert not parsed

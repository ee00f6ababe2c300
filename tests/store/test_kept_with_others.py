"""Traces that are read with files beside them: what those hold decides, and nothing else there."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from fusescope.analysis.limits import DEFAULT_LIMITS
from fusescope.analysis.readers import read_path
from fusescope.analysis.trace import Trace
from fusescope.app.library import changes, items
from fusescope.app.store import keeping, known, settings
from tests import compiled_logs as logs
from tests.miniatures import FOLDER
from tests.readers.pytorch.test_compiled_calls import GIVEN, LOG, OPTIMISED, RAN, SOURCES, STEPS

pytestmark = pytest.mark.usefixtures("settled")
OTHER_LOG = logs.log_text({**GIVEN, "norm": GIVEN["relu"]}, OPTIMISED, STEPS, SOURCES)
OTHER_STEPS = logs.compiled_steps(RAN, steps=3)


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A trace of compiled kernels in a folder of its own."""
    folder = tmp_path / "recorded"
    folder.mkdir()
    (folder / "trace.json").write_bytes(logs.compiled_steps(RAN))
    return folder / "trace.json"


def opened(path: Path) -> Trace:
    """The trace through the store, which is what is read without it."""
    value, fresh = keeping.read_through(path).value, read_path(path)
    assert isinstance(value, Trace) and isinstance(fresh, Trace)
    for name in ("runs", "operators", "calls"):
        assert getattr(value, name).equals(getattr(fresh, name))
    told = (value.meta, value.diagnostics, value.originals)
    assert told == (fresh.meta, fresh.diagnostics, fresh.originals)
    return value


def test_what_does_not_belong_to_it_changes_nothing(recorded: Path, parsed: list[str]) -> None:
    (recorded.parent / "torch.log").write_text(LOG)
    assert opened(recorded).meta.files == ("torch.log",)
    (recorded.parent / "notes.txt").write_text("Faster since Monday.")
    (recorded.parent / "next.json").write_bytes(OTHER_STEPS)
    opened(recorded)
    (recorded.parent / "notes.txt").write_text("Slower since Tuesday.")
    (recorded.parent / "next.json").unlink()
    opened(recorded)
    os.utime(recorded.parent / "torch.log")
    opened(recorded)
    assert parsed == ["trace.json"] and not keeping.is_cold(recorded)


def test_every_file_that_may_belong_to_it_counts(recorded: Path, parsed: list[str]) -> None:
    log = recorded.parent / "torch.log"
    assert opened(recorded).meta.files == ()
    log.write_text(LOG)  # is there now
    assert opened(recorded).originals and len(parsed) == 2
    log.write_text(OTHER_LOG)  # says something else
    other = opened(recorded)
    assert len(parsed) == 3
    log.write_text(LOG)  # says what it said before, which is still kept
    assert opened(recorded).originals != other.originals and len(parsed) == 3
    log.rename(recorded.parent / "renamed.log")
    assert opened(recorded).meta.files == ("renamed.log",) and len(parsed) == 4
    (recorded.parent / "another.log").write_text(OTHER_LOG)  # may fit, too
    opened(recorded)
    assert len(parsed) == 5
    for one in ("another.log", "renamed.log"):
        (recorded.parent / one).unlink()
    assert opened(recorded).meta.files == () and len(parsed) == 5


def test_a_file_of_the_same_length_and_time_counts(recorded: Path, parsed: list[str]) -> None:
    log = recorded.parent / "torch.log"
    log.write_text(LOG)
    before = log.stat()
    opened(recorded)
    log.write_text(LOG.replace("relu", "selu"))
    os.utime(log, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert log.stat().st_size == before.st_size
    opened(recorded)
    assert len(parsed) == 2


def test_a_file_that_cannot_be_read_counts_once_it_can(recorded: Path, parsed: list[str]) -> None:
    limits = replace(DEFAULT_LIMITS, file_bytes=recorded.stat().st_size + len(LOG))
    log = recorded.parent / "torch.log"
    for text, files in ((LOG + limits.file_bytes * "\n", ()), (LOG, ("torch.log",))):
        log.write_text(text)
        value = keeping.read_through(recorded, limits).value
        assert isinstance(value, Trace) and value.meta.files == files
    assert len(parsed) == 2


def test_a_copy_of_the_folder_is_not_parsed_again(recorded: Path, parsed: list[str]) -> None:
    (recorded.parent / "torch.log").write_text(LOG)
    opened(recorded)
    copy = recorded.parent.parent / "copy"
    shutil.copytree(recorded.parent, copy)
    (copy / "notes.txt").write_text("A copy.")
    opened(copy / "trace.json")
    assert len(parsed) == 1
    (copy / "trace.json").rename(copy / "other.json")  # readers may go by its name
    assert opened(copy / "other.json").meta.file_name == "other.json" and len(parsed) == 2


def test_the_same_trace_alone_is_not_what_it_is_with_others(
    recorded: Path, parsed: list[str], tmp_path: Path
) -> None:
    (recorded.parent / "torch.log").write_text(LOG)
    changes.add(recorded, DEFAULT_LIMITS)
    (tmp_path / "alone").mkdir()
    alone = Path(shutil.copy(recorded, tmp_path / "alone" / "trace.json"))
    assert opened(alone).meta.files == () and len(parsed) == 1
    changes.add(recorded, DEFAULT_LIMITS)  # in place of it, under the same hash
    assert opened(alone).meta.files == () and len(parsed) == 2


def test_what_was_added_need_not_be_parsed_to_be_opened(recorded: Path, parsed: list[str]) -> None:
    (recorded.parent / "notes.txt").write_text("Alone.")
    changes.add(recorded, DEFAULT_LIMITS)
    opened(recorded)
    assert parsed == [] and len(items.items()) == 1


def test_a_copy_under_another_name_keeps_its_name(parsed: list[str], tmp_path: Path) -> None:
    """Also the second time, when the path is known."""
    sample = FOLDER / "chrome_trace"
    first = next(path for path in sample.iterdir() if path.suffix == ".json")
    for name in ("a.json", "b.json", "b.json"):
        target = tmp_path / name
        if not target.exists():
            shutil.copy(first, target)
        assert opened(target).meta.file_name == name
    assert parsed == ["a.json"]


def test_what_changes_while_it_is_read_is_not_kept(
    recorded: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = recorded.parent / "torch.log"
    log.write_text(LOG)
    read = keeping.read

    def changing(*given: object) -> object:
        value = read(*given)  # type: ignore[arg-type]
        log.write_text(OTHER_LOG)
        return value

    monkeypatch.setattr(keeping, "read", changing)
    keeping.read_through(recorded)
    log.write_text(LOG)
    monkeypatch.setattr(keeping, "read", read)
    opened(recorded)
    assert len(parsed) == 2


def test_a_folder_that_changed_just_now_is_looked_at_again(
    recorded: Path, parsed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within one tick of its clock a file may change twice, and look as it did."""
    monkeypatch.setattr(known, "_SETTLED_NS", 3600 * 10**9)
    (recorded.parent / "torch.log").write_text(LOG)
    opened(recorded)
    opened(recorded)
    assert len(parsed) == 1 and not (settings.folder() / known.FOLDER).exists()

"""What is in the library: found, named, changed, removed."""

from __future__ import annotations

from pathlib import Path

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import DEFAULT_LIMITS
from fusescope.analysis.messages.language import speaking
from fusescope.app.library import changes
from fusescope.app.library.items import Item, items, last_used, matching, named, ordered
from fusescope.app.sources import places
from fusescope.app.store import entries, keeping, records, settings
from fusescope.app.store.store import Store
from tests.factories import experiment_zip
from tests.library.conftest import BLOCKS
from tests.step_traces import Kernel, steps_of
from tests.store.test_store import key, put


def names(found: list[Item]) -> list[str]:
    return [item.name for item in found]


def test_traces_and_recordings_are_listed_with_what_they_say(library: Store) -> None:
    found = items()
    assert sorted(names(found)) == ["1.json", "2.json", "small.zip"]
    recorded = named("small.zip")
    assert (recorded.kind, recorded.model) == ("experiment", "mobilenetv2")
    assert recorded.pair == ("recorded:small.zip/unfused", "recorded:small.zip/fused")
    assert recorded.headline == "fused is 2.00× faster than unfused"
    trace = named(f"library:{key(1)}")
    assert (trace.kind, trace.headline) == ("trace", "1.00 µs a run, profiled")
    assert names(ordered(found, "name")) == ["1.json", "2.json", "small.zip"]
    sizes = [item.bytes for item in ordered(found, "bytes")]
    assert sizes == sorted(sizes, reverse=True) and min(sizes) > 500


def test_the_time_of_a_trace_is_that_of_the_page_trace(library: Store) -> None:
    """12 repetitions of 8 kernels of 10 us that no step marks, and 80 us that repeat nothing."""
    step = [Kernel(f"k{at}", 10, "elementwise") for at in range(8)]
    keeping.keep(library, key(3), steps_of([step] * 12, marked=False, name="repeats"))
    once = [Kernel(f"k{at}", 10 * at, "elementwise") for at in (1, 3, 4)]
    keeping.keep(library, key(4), steps_of([once], marked=False, name="once"))
    told = [named(f"library:{key(at)}").headline for at in (3, 4)]
    assert told == ["80.0 µs a repetition, profiled", "80.0 µs in all operators of the file"]


def test_what_has_not_changed_is_not_read_again(
    library: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, translations: Path
) -> None:
    """A page asks for all items at each click."""
    before = items()
    read: list[str] = []
    described, record_at = entries.described, records.record_at
    monkeypatch.setattr(entries, "described", lambda at: read.append(at.name) or described(at))
    monkeypatch.setattr(records, "record_at", lambda at: read.append(at.name) or record_at(at))
    assert items() == before and read == []
    changes.note(named("1.json"), "seen")
    assert named("1.json").facts.note == "seen" and read == []
    put(library, 2, calls=70)
    (tmp_path / "recordings" / "small.zip").write_bytes(experiment_zip(BLOCKS, model_name="vgg"))
    after = {item.name: item for item in items()}
    assert after["small.zip"].model == "vgg" and after["1.json"].facts.note == "seen"
    assert sorted(set(read)) == [f"hash={key(2)}", "small.zip"]
    library.remove(key(2))
    assert sorted(names(items())) == ["1.json", "small.zip"]
    with speaking("zh"):
        assert {item.headline for item in items()}.isdisjoint(item.headline for item in before)


def test_words_are_found_in_everything_that_was_said(library: Store) -> None:
    changes.tag(named("1.json"), ["A100", "before fusion"])
    changes.note(named("2.json"), "the new kernel")
    assert names(matching(items(), "a100 FUSION")) == ["1.json"]
    assert names(matching(items(), "kernel")) == ["2.json"]
    assert names(matching(items(), "mobilenet")) == ["small.zip"]
    assert matching(items(), "a100 kernel") == []
    assert len(matching(items(), " ")) == 3


def test_names_of_traces_are_told_apart(library: Store) -> None:
    changes.rename(named("1.json"), "before", items())
    assert named("before").hash == key(1)
    for wrong, code in (("before", "kept_name_taken"), ("small.zip", "kept_name_taken")):
        with pytest.raises(FuseScopeError) as refused:
            changes.rename(named("2.json"), wrong, items())
        assert refused.value.code == code
    with pytest.raises(FuseScopeError) as unknown:
        named("nothing")
    assert unknown.value.text == (
        "There is no 'nothing' in the library. See what there is with `fusescope library`."
    )
    with pytest.raises(FuseScopeError) as ambiguous:
        named("0000")  # both hashes begin so
    assert ambiguous.value.values["n"] == 2


def test_a_recording_keeps_what_was_said_of_it_under_another_name(library: Store) -> None:
    changes.describe(named("small.zip"), ["good"], "first one")
    assert changes.rename(named("small.zip"), "best", items()) == "recorded:best.zip"
    found = named("best.zip")
    assert (found.facts.tags, found.facts.note) == (("good",), "first one")
    assert (places.experiments_folder() / "best.zip").is_file()


def test_what_is_deleted_is_gone(library: Store) -> None:
    changes.tag(named("1.json"), ["x"])
    changes.delete(named("1.json"))
    changes.delete(named("small.zip"))
    assert names(items()) == ["2.json"]
    assert list(places.experiments_folder().iterdir()) == []
    assert changes.clear() > 0
    assert items() == []


def test_files_are_added_however_small(library: Store, tmp_path: Path) -> None:
    formats = Path(__file__).parents[2] / "sample_traces" / "formats"
    profile = next((formats / "onnxruntime").glob("*.json"))
    assert changes.add(profile, DEFAULT_LIMITS) == profile.name
    assert named(profile.name).kind == "trace"
    other = tmp_path / "other.zip"
    other.write_bytes(experiment_zip(BLOCKS, model_name="other"))
    assert [changes.add(other, DEFAULT_LIMITS) for _ in range(2)] == ["other.zip", "other.zip"]
    assert named("other.zip").model == "other"
    assert len(items()) == 5


def test_off_says_so(library: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.FOLDER_VARIABLE, "off")
    with pytest.raises(FuseScopeError) as refused:
        items()
    assert refused.value.text == (
        "The library is off, because FUSESCOPE_LIBRARY is 'off'. Unset it to use the library."
    )


def test_traces_used_last_stand_in_front(library: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recordings are not among them; nothing is said where the library is off."""
    library.trace(key(1))
    found = last_used(5)
    assert [name for _, name, *_ in found] == ["1.json", "2.json"]
    assert found[0][0] == f"library:{key(1)}" and found[0][3] == library.trace(key(1)).meta.sha256
    assert [name for _, name, *_ in last_used(1)] == ["1.json"]
    monkeypatch.setenv(settings.FOLDER_VARIABLE, settings.OFF)
    assert last_used(5) == []

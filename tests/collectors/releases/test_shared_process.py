"""Releases in one process, each by its library: here the installed engine's, under other names."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import onnx
import onnxruntime as ort
import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read_path
from fusescope.collectors.recording.sharing import Sharing, sharing
from fusescope.collectors.releases import fetching, kept
from fusescope.collectors.runtimes.c_interface import Library, LibrarySession
from fusescope.collectors.workers.jobs import BlockJob, BlockMeasured, SessionSettings
from tests.collectors.short_recordings import run, short
from tests.pattern_cases import gelu
from tests.stand_in_releases import use_as_index, write_wheel

OLD, NEW = "onnxruntime==9.1.0", "onnxruntime==9.2.0"
CAPI = Path(ort.__file__).parent / "capi"
INSTALLED = next(iter(sorted(CAPI.glob("libonnxruntime.*"))), None)
needs_library = pytest.mark.skipif(INSTALLED is None, reason="the wheel has no library of its own")


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Two releases that were fetched; the second one is the installed engine less a fusion, in
    Python alone."""
    write_wheel(tmp_path / "links", "9.1.0")
    write_wheel(tmp_path / "links", "9.2.0", ["GeluFusionL1", "GeluFusionL2", "BiasGeluFusion"])
    use_as_index(monkeypatch, tmp_path / "links", tmp_path / "cache")
    for version in ("9.1.0", "9.2.0"):
        assert fetching.fetch(version, lambda said: None)
    onnx.save(gelu(), str(tmp_path / "model.onnx"))
    return str(tmp_path / "model.onnx")


def put_library(version: str, content: bytes | None = None) -> None:
    """The installed library as that of the release, or these bytes."""
    folder = kept.folder_of(version) / "onnxruntime" / "capi"
    folder.mkdir()
    path = folder / f"libonnxruntime.so.{version}"
    if content is None:
        assert INSTALLED is not None
        path.symlink_to(INSTALLED)
    else:
        path.write_bytes(content)


@needs_library
def test_releases_share_a_process_two_copies_each(model: str, tmp_path: Path) -> None:
    for version in ("9.1.0", "9.2.0"):
        put_library(version)
    asked = short(model, tmp_path, variants=(OLD, NEW), baseline=OLD, blocks=2)
    file, _ = run(asked)
    for one in file.record.variants:
        assert one.settings["releases_share_process"] is True
        assert set(zip(one.samples.block, one.samples.copy, strict=True)) == {
            (0, 1), (0, 2), (1, 1), (1, 2),
        }  # fmt: skip
        assert len(one.samples.wall_ns) == 2 * 2 * 3 and min(one.samples.wall_ns) > 0
    # Both run the installed library, which fuses the Gelu, whatever the stand-in did alone.
    ran = [
        Counter(
            event["args"]["op_name"]
            for event in file.events(one.profiles[0].file)
            if event["cat"] == "Node" and event["name"].endswith("_kernel_time")
        )
        for one in file.record.variants
    ]
    assert ran[0] == ran[1] and any("Gelu" in name for name in ran[0])
    value = read_path(file.path)
    assert isinstance(value, Experiment) and value.record.releases_share_process
    comparison = compare(*(side_of_variant(value, name) for name in (OLD, NEW)))
    codes = {note.code for note in comparison.diagnostics}
    assert "paired" in codes and "paired_releases" not in codes


def test_what_keeps_releases_from_sharing_is_said(model: str, tmp_path: Path) -> None:
    def refuse(job: BlockJob) -> BlockMeasured:
        assert set(job.libraries) == {OLD, NEW} and len(job.lanes) == 4
        raise FuseScopeError("engine_refused", reason="none of this")

    def found(**changes: Any) -> Sharing:
        asked = short(model, tmp_path, **{"variants": (OLD, NEW), **changes})
        settings = SessionSettings(model, "", (), threads=1, spin=False)
        return sharing(asked, asked.plan(), settings, tmp_path / "shared", refuse)

    def told(**changes: Any) -> object:
        made = found(**changes)
        assert not made.libraries
        plan = short(model, tmp_path, variants=(OLD, NEW)).plan()
        assert [lane.variant for lane in made.lanes(plan)] == [OLD, NEW, OLD]
        return made.settings.get("releases_alone_because")

    assert told(variants=("unfused", "fused")) is None
    assert told() == "the package of a release has no library of its own"
    for version in ("9.1.0", "9.2.0"):
        put_library(version, b"none")
    assert told(variants=(OLD, "fused")) == "a variant is not a release of the engine"
    assert told(spin=True) == "idle threads spin"
    assert told() == "The engine refused the model: none of this"


@needs_library
def test_a_session_of_a_library(tmp_path: Path) -> None:
    """What the interface refuses is an error of ours."""
    assert INSTALLED is not None
    library = Library(INSTALLED)
    assert library.version == ort.__version__
    none = SessionSettings(str(tmp_path / "none.onnx"), "", (), threads=1, spin=False)
    with pytest.raises(FuseScopeError, match="none.onnx") as refused:
        LibrarySession(library, none)
    assert refused.value.code == "engine_refused"
    with pytest.raises(FuseScopeError):
        Library(Path(__file__))

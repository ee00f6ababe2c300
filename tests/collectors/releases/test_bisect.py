"""Releases optimise a model in workers of their own; a planted change is found and named."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest
import typer
from typer.testing import CliRunner

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.graph import graph_json
from fusescope.analysis.releases.changes import changes
from fusescope.analysis.releases.history import History
from fusescope.analysis.wording.releases import skipped_text
from fusescope.app.cli.releases.bisect import bisect as bisect_verb
from fusescope.collectors import bisect
from fusescope.collectors.recording.request import Recording
from fusescope.collectors.releases import kept
from fusescope.collectors.releases.version import Span
from tests.pattern_cases import gelu
from tests.stand_in_releases import ANOTHER_PYTHON, use_as_index, write_wheel


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[History]:
    """Six releases: the third fuses no Gelu, the fourth cannot run the model, one has no wheel, and
    the last fuses again."""
    folder = tmp_path_factory.mktemp("releases")
    links = folder / "links"
    write_wheel(links, "9.1.0")
    write_wheel(links, "9.1.1")
    write_wheel(links, "9.2.0", ["GeluFusionL1", "GeluFusionL2", "BiasGeluFusion"])
    write_wheel(links, "9.3.0", refused=True)
    write_wheel(links, "9.4.0", tag=ANOTHER_PYTHON)
    write_wheel(links, "9.5.0")
    with pytest.MonkeyPatch.context() as patch:
        use_as_index(patch, links, folder / "cache")
        model = folder / "model.onnx"
        onnx.save(gelu(), str(model))
        found = bisect.find(Span("9.1.0", "9.5.0"))
        told = collections.Counter[str]()
        recording = Recording(model=str(model), variants=("fused",), command="fusescope bisect")
        yield bisect.optimise(recording, found, lambda said, done, of: told.update([str(said)]))
        assert len(kept.all_kept()) == 5
        assert told["9.1.0 optimises the model"] == 1


def test_every_release_is_told_of(history: History) -> None:
    assert [(one.version, one.reason) for one in history.releases] == [
        ("9.1.0", None), ("9.1.1", None), ("9.2.0", None), ("9.3.0", "refused"),
        ("9.4.0", "no_wheel"), ("9.5.0", None),
    ]  # fmt: skip
    assert history.find("9.3.0").said == (
        "The model's format (IR version 10) is too new for this ONNX Runtime, which knows those "
        "up to 9"
    )
    assert len(history.made) == 2


def test_a_planted_change_is_found_and_named(history: History) -> None:
    lost, won = changes(history)
    assert (lost.older, lost.newer, won.older, won.newer) == ("9.1.1", "9.2.0", "9.2.0", "9.5.0")
    assert set(lost.lost) == set(won.won) and "Gelu" in next(iter(lost.lost))
    assert lost.won == won.lost == {}
    assert lost.nodes == won.nodes[::-1] and lost.nodes[1] > lost.nodes[0]
    assert (lost.lasts, won.lasts) == (False, True)
    (group,) = lost.groups
    assert group.what == "lost" and "Erf" in [one.op_type for one in group.group.original]


def test_every_operator_is_in_one_group(history: History) -> None:
    from fusescope.analysis.compare.groups.lineage import lineage

    for made in history.made:
        found = lineage(history.graph, made.graph, made.matches)
        placed = [name for group in found.groups for name in group.original]
        assert sorted(placed) == sorted(node.name for node in history.graph.nodes)
        assert found.unexplained == () and found.mismatches == ()


def test_a_release_that_needs_other_packages_says_so() -> None:
    error = FuseScopeError("package_missing", package="", extra="collect")
    told = skipped_text(bisect.left_out("9.1.0", error))
    assert told == "it cannot be imported with the packages that are installed here"


def test_graphs_hold_no_weights(history: History) -> None:
    assert all(len(graph_json(made.graph)) < 20_000 for made in history.made)


def test_what_is_no_model_is_refused_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = tmp_path / "links"
    write_wheel(links, "9.1.0")
    use_as_index(monkeypatch, links, tmp_path / "cache")
    (tmp_path / "model.onnx").write_bytes(b"no model")
    recording = Recording(model=str(tmp_path / "model.onnx"), variants=("fused",))
    found = bisect.find(Span("9.1.0", "9.1.0"))
    with pytest.raises(FuseScopeError, match="model"):
        bisect.optimise(recording, found, lambda said, done, of: None)
    assert kept.all_kept() == ()


def test_the_smallest_model_around_a_lost_group_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the command line: the cut has the Gelu alone, and neither its weights nor the rest."""
    links = tmp_path / "links"
    write_wheel(links, "9.1.0")
    write_wheel(links, "9.2.0", ["GeluFusionL1", "GeluFusionL2", "BiasGeluFusion"])
    use_as_index(monkeypatch, links, tmp_path / "cache")
    onnx.save(gelu(), str(tmp_path / "model.onnx"))
    monkeypatch.chdir(tmp_path)
    app = typer.Typer()
    app.command()(bisect_verb)
    asked = ["--engine", "onnxruntime==9.1.0..9.2.0", "--issue", "i.md", "--report", "r.html"]
    result = CliRunner().invoke(app, ["model.onnx", *asked])
    assert result.exit_code == 0, (result.output, result.exception)
    cut = onnx.load("i.onnx")
    assert [node.op_type for node in cut.graph.node] == ["Div", "Erf", "Add", "Mul", "Mul"]
    text = Path("i.md").read_text()
    assert "no longer fused since 9.2.0" in text and "`i.onnx` has 5 operators" in text
    assert "1 operator" not in text.split("###")[1]
    assert Path("r.html").read_text().count("<h1") == 1

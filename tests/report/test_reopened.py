"""A report is opened again: what it holds is what it was made of, and says the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.multiple.comparison import compare_several
from fusescope.analysis.compare.side import side_of_trace, side_of_variant
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.host_activity import HostActivity
from fusescope.analysis.host_waits import HostWaits
from fusescope.analysis.limits import Limits
from fusescope.analysis.memory import MemoryUse
from fusescope.analysis.metrics.hierarchy import hierarchies
from fusescope.analysis.originals import Original
from fusescope.analysis.readers import experiment, read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.packed.context import context_of, frames_of
from fusescope.analysis.readers.packed.report import contents
from fusescope.analysis.readers.packed.tables import packed_trace, packed_within, parse_trace
from fusescope.analysis.report import embedded
from fusescope.analysis.report.exports.comparison_json import comparison_json
from fusescope.analysis.report.exports.multiple_json import multiple_json
from fusescope.analysis.report.html import report_html
from fusescope.analysis.report.multiple.html import multiple_html
from fusescope.analysis.stacks import Stacks
from fusescope.analysis.trace import Trace
from fusescope.app.cli import advise, inspect
from fusescope.app.cli import compare as compare_verb
from fusescope.app.cli.given import reports
from tests import miniatures
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip, profile_json
from tests.report.enclosed import data_of, files_of
from tests.report.test_html import TIMES, of_experiment

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"


def told(capsys: pytest.CaptureFixture[str], verb: Any, *paths: Path, **options: Any) -> Any:
    """The JSON that a verb prints."""
    verb(*paths, json=True, **options)
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "sample",
    [
        "recipes/conv_bn.zip",
        pytest.param("mobilenetv2.zip", marks=pytest.mark.exhaustive),
        pytest.param("resnet50.zip", marks=pytest.mark.exhaustive),
        pytest.param("recipes/conv3x3.zip", marks=pytest.mark.exhaustive),
    ],
)
def test_the_report_of_a_recording_says_what_the_recording_says(
    sample: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, page, again = SAMPLES / sample, tmp_path / "r.html", tmp_path / "r2.html"
    before = told(capsys, compare_verb.compare, path, html=page)
    assert told(capsys, compare_verb.compare, page, html=again) == before
    assert again.read_bytes() == page.read_bytes()
    for verb in (advise.advise, inspect.inspect):
        assert told(capsys, verb, page) == told(capsys, verb, path)
    names = {"baselines": [before["candidate"]["label"]], "candidates": ["unfused"]}
    assert told(capsys, compare_verb.compare, page, **names) == told(
        capsys, compare_verb.compare, path, **names
    )


def test_an_older_report_of_jax_has_the_op_types_of_its_graph(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its tables have XLA's names, such as `wrapped_add`."""
    path, page = SAMPLES / "cases" / "jax_twice_read.zip", tmp_path / "r.html"
    with monkeypatch.context() as older:
        older.setattr(experiment, "_typed_as_graph", lambda trace, graph: trace)
        before = told(capsys, compare_verb.compare, path, html=page)
    types = {row["op_type"] for row in before["by_type"]}
    assert "wrapped_add" in types
    now = told(capsys, compare_verb.compare, path)
    assert told(capsys, compare_verb.compare, page)["by_type"] == now["by_type"]
    assert "add" in {row["op_type"] for row in now["by_type"]}


def test_every_format_comes_back_from_a_report_as_it_was() -> None:
    for reader in miniatures.FORMATS:
        trace = miniatures.only_trace(miniatures.files(reader))
        again = parse_trace(packed_trace(trace), "a", Limits())
        assert again.meta == trace.meta, reader.name
        assert miniatures.values(again) == miniatures.values(trace), reader.name
        assert packed_trace(again) == packed_trace(trace)
        assert packed_within(trace, 10_000_000) == packed_trace(trace)
        assert packed_within(trace, -1) is None


def test_the_report_of_a_compiled_model_has_its_groups_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, folder = tmp_path / "r.html", SAMPLES / "torch_compile"
    files = (folder / "eager.json.gz", folder / "compiled.json.gz")
    before = told(capsys, compare_verb.compare, *files, html=page)
    assert {group["known_by"] for group in before["fusion"]["groups"]} == {"compiler", "merged"}
    again = told(capsys, compare_verb.compare, page)
    for comparison in (before, again):  # lines of code are redacted: q@k.transpose() is an address
        for group in comparison["fusion"]["groups"]:
            for operator in group["original"]:
                operator.pop("source", None)
    assert again["fusion"] == before["fusion"]


def with_context(trace: Trace) -> Trace:
    """Two calls in Python code of a user, one wait in it, and the memory of two devices."""
    user = "/home/alice/secret/train.py(3): step"
    rows = np.sort(trace.calls["source_row"].dropna().unique().astype("int64"))[:2]
    return replace(
        trace,
        stacks=Stacks(
            (user, "aten::mm"), np.array([-1, 0]), rows, np.array([1, -1]), np.array([-1, 0])
        ),
        host_waits=HostWaits(
            (user, "b"), np.array([0, 1, 0]), np.array([-5, 2, 9]), np.array([0, 2, 20])
        ),
        host=HostActivity(
            ("b", user, "launch"),
            (f"{user} 1", "thread 2"),
            *(np.array(column, dtype="int32") for column in ([0, 0, 1],)),
            *(np.array(column) for column in ([-4, 2, 1], [9, 2, 7])),
            np.array([1, 0, 2], dtype="int32"),
            np.array([1, 0, 3], dtype="int8"),
            rows,
            np.array([0, 1], dtype="int32"),
            np.array([3, 2]),
        ),
        memory=(
            MemoryUse("GPU", np.array([1, 5]), np.array([7, 3]), np.array([9, 9]), user),
            MemoryUse("CPU", np.array([2]), np.array([4])),
        ),
    )


def test_call_stacks_memory_and_waits_come_back_without_paths(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trace = with_context(miniature_pair()[0])
    page = report_html(compare(*choose_sides(trace, trace)))
    assert "secret" not in page
    held = read(Source("r.html", page.encode()))
    assert isinstance(held, Trace), "a file beside itself is one file"
    stacks, waits, (gpu, cpu) = held.stacks, held.host_waits, held.memory
    assert stacks is not None and waits is not None and trace.stacks is not None
    assert stacks.names == ("<path>/train.py(3): step", "aten::mm")
    assert [list(column) for column in (stacks.parents, stacks.nodes)] == [[-1, 0], [1, -1]]
    assert list(stacks.rows) == list(trace.stacks.rows)
    assert stacks.forward is not None and list(stacks.forward) == [-1, 0]
    assert [waits.names[place] for place in waits.name_of] == [
        "<path>/train.py(3): step", "b", "<path>/train.py(3): step",
    ]  # fmt: skip
    assert (list(waits.starts_ns), list(waits.ends_ns)) == ([-5, 2, 9], [0, 2, 20])
    assert (gpu.device, gpu.peak, gpu.peak_in) == ("GPU", 7, "<path>/train.py(3): step")
    assert (cpu.device, cpu.reserved, cpu.peak_in) == ("CPU", None, "")
    host = held.host
    assert host is not None and host.names == ("b", "<path>/train.py(3): step", "launch")
    assert host.lane_names == ("<path>/train.py(3): step 1", "thread 2")
    columns = (host.lanes, host.starts_ns, host.ends_ns, host.name_of, host.kind_of, host.launch_ns)
    assert [list(column) for column in columns] == [
        [0, 0, 1], [-4, 2, 1], [9, 2, 7], [1, 0, 2], [1, 0, 3], [3, 2],
    ]  # fmt: skip
    kinds = hierarchies(held, None)
    assert "stack" in kinds, kinds
    monkeypatch.setattr(embedded, "MAX_BYTES", len(data_of(page)) * 4 // 3 - 50)
    less = read(Source("r.html", report_html(compare(*choose_sides(trace, trace))).encode()))
    assert isinstance(less, Trace)
    assert less.host is None and less.stacks is not None
    smaller = data_of(report_html(compare(*choose_sides(less, less))))
    monkeypatch.setattr(embedded, "MAX_BYTES", len(smaller) * 4 // 3 - 50)
    less = read(Source("r.html", report_html(compare(*choose_sides(trace, trace))).encode()))
    assert isinstance(less, Trace)
    assert less.host is None and less.stacks is None and less.host_waits is not None


def test_originals_come_back_without_paths() -> None:
    line = "/home/alice/secret/model.py:3: add(x)"
    given = (Original("add", "add", line, False, True, False), Original("b", ""))
    trace = replace(miniature_pair()[0], originals=given)
    page = report_html(compare(*choose_sides(trace, trace)))
    assert "secret" not in page
    held = read(Source("r.html", page.encode()))
    assert isinstance(held, Trace)
    assert held.originals == (replace(given[0], place="<path>/model.py:3: add(x)"), given[1])


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("nodes", "parent", 2), ("nodes", "parent", -1), ("placed", "node", 9),
        ("placed", "source_row", 0), ("waits", "dur_ns", -1), ("waits", "start_ns", 7),
        ("memory", "start_ns", 8), ("host", "dur_ns", -1), ("host", "start_ns", 3),
        ("launches", "source_row", 2**40), ("backward", "forward", 9),
        ("backward", "source_row", 2**40),
    ],
)  # fmt: skip
def test_context_that_no_trace_has_is_damage(table: str, column: str, value: int) -> None:
    """A node before its parent, one below none, places that are not there, times that go back."""
    frames = frames_of(with_context(miniature_pair()[0]))
    frames[table].loc[frames[table].index[0], column] = value
    if (table, column) == ("placed", "source_row"):
        frames[table][column] = 3
    with pytest.raises(ValueError):
        context_of(frames)


def test_two_profiles_come_back_with_their_names_and_what_was_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that marks no runs beside one that does, and runs that were entered for it."""
    for folder, operators in (("old", UNFUSED_OPERATORS), ("new", FUSED_OPERATORS)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "p.json").write_bytes(profile_json(operators, runs=6))
    events = json.loads((tmp_path / "old" / "p.json").read_bytes())
    bare = [event for event in events if event["name"] != "model_run"]
    (tmp_path / "old" / "p.json").write_text(json.dumps(bare))
    page = tmp_path / "r.html"
    given = (tmp_path / "old" / "p.json", tmp_path / "new" / "p.json")
    before = told(capsys, compare_verb.compare, *given, html=page, baseline_runs=6)
    assert before["baseline"]["label"] == "old/p.json"
    codes = {note["code"] for note in before["diagnostics"]}
    assert codes & {"runs_entered", "runs_averaged"}
    assert told(capsys, compare_verb.compare, page) == before
    sides = told(capsys, inspect.inspect, page)["sides"]
    assert [side["name"] for side in sides] == ["old/p.json", "new/p.json"]
    for side, path in zip(sides, given, strict=True):
        assert {k: v for k, v in side.items() if k != "name"} == told(capsys, inspect.inspect, path)
    found = told(capsys, advise.advise, page)
    assert (found["label"], found["findings"]) == ("new/p.json", before["findings"])
    with pytest.raises(FuseScopeError, match="2 recordings"):
        read_path(page)


def test_what_the_reader_of_a_page_had_set_comes_with_the_report() -> None:
    assumed = Assumptions(2e4, 1e11, 2**20, 3e10)
    first, second = miniature_pair()
    comparison = compare(side_of_trace(first), side_of_trace(second), assumed)
    held = contents(Source("r.html", report_html(comparison).encode()))
    assert reports.assumptions_of(held) == assumed
    again = compare(*reports.sides_of(held), reports.assumptions_of(held))
    assert comparison_json(again) == comparison_json(comparison)


def test_the_report_of_several_variants_says_what_the_recording_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, page, again = tmp_path / "e.zip", tmp_path / "r.html", tmp_path / "r2.html"
    path.write_bytes(experiment_zip({**TIMES, "eager": [20.0] * 8}, model_name="m"))
    before = told(capsys, compare_verb.compare, path, variants="eager,unfused,fused", html=page)
    assert len(before["variants"]) == 3
    assert told(capsys, compare_verb.compare, page, html=again) == before
    assert again.read_bytes() == page.read_bytes()
    # Another baseline, a pair of them, and a finding of the most optimised one.
    named = {"baselines": ["fused"]}
    assert told(capsys, compare_verb.compare, page, **named)["baseline"] == "fused"
    with pytest.raises(FuseScopeError, match="eeger"):
        compare_verb.compare(page, baselines=["eeger"])
    pair = {"baselines": ["eager"], "candidates": ["unfused"]}
    assert told(capsys, compare_verb.compare, page, **pair) == told(
        capsys, compare_verb.compare, path, **pair
    )
    for verb in (advise.advise, inspect.inspect):
        assert told(capsys, verb, page) == told(capsys, verb, path)


def test_the_report_of_several_files_keeps_their_names_order_and_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["c/p.json", "a/p.json", "b/p.json"]
    for runs, name in enumerate(names, 6):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(profile_json(FUSED_OPERATORS, runs=runs))
    page, again = tmp_path / "r.html", tmp_path / "r2.html"
    paths = [tmp_path / name for name in names]
    before = told(capsys, compare_verb.compare, *paths[:2], paths[2:], html=page)
    assert [row["label"] for row in before["variants"]] == names
    assert told(capsys, compare_verb.compare, page, html=again) == before
    assert again.read_bytes() == page.read_bytes()
    assert [one["name"] for one in told(capsys, inspect.inspect, page)["sides"]] == names
    with pytest.raises(FuseScopeError, match="compares 3 files"):
        advise.advise(page)
    assumed = Assumptions(tau_ns=5e4, cache_bytes=2**20)
    sides = [replace(side_of_trace(read_path(path)), label=path.name) for path in paths]
    html = multiple_html(compare_several(sides, assumed))
    held = contents(Source("r.html", html.encode()))
    assert reports.assumptions_of(held) == assumed and len(held.manifest.sides) == 3


def test_recordings_in_a_report_of_several_are_held_once_each() -> None:
    first, second = (read(Source(f"{n}.zip", experiment_zip(TIMES, model_name="m"))) for n in "ab")
    assert isinstance(first, Experiment) and isinstance(second, Experiment)
    of = ((first, "unfused"), (second, "fused"), (first, "fused"))
    multiple = compare_several([side_of_variant(one, name) for one, name in of])
    page = multiple_html(multiple)
    held = contents(Source("r.html", page.encode()))
    assert [source.role for source in held.sources] == ["baseline", "candidate"]
    again = compare_several(reports.several_of(held))
    assert multiple_json(again) == multiple_json(multiple)
    assert list(reports.values_of(held)) == ["a.zip", "b.zip"]


def test_a_report_of_several_that_holds_nothing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    sides = [side_of_trace(trace) for trace in (*miniature_pair(), miniature_pair()[0])]
    multiple = compare_several(sides)
    assert "This report holds the data of its comparison" in multiple_html(multiple)
    monkeypatch.setattr(embedded, "MAX_BYTES", 1000)
    page = multiple_html(multiple)
    assert "The data of this comparison are not in this report" in page
    with pytest.raises(FuseScopeError, match="does not contain its data"):
        read(Source("r.html", page.encode()))


def test_what_does_not_fit_is_packed_again_only_without_call_stacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sides = [side_of_trace(trace) for trace in miniature_pair()]
    given: list[object] = []
    monkeypatch.setattr(embedded, "_packed", lambda sides, _: given.append(sides) or b"x" * 2000)
    monkeypatch.setattr(embedded, "MAX_BYTES", 1000)
    assert embedded.embedded(sides, Assumptions(), private=False) is None
    assert given == [sides]


def miniature_pair() -> tuple[Trace, Trace]:
    found = []
    for operators in (UNFUSED_OPERATORS, FUSED_OPERATORS):
        value = read(Source(f"{len(operators)}.json", profile_json(operators, runs=2)))
        assert isinstance(value, Trace)
        found.append(value)
    return found[0], found[1]


def test_two_recordings_are_two_files_in_the_report_and_one_is_one() -> None:
    values = [read(Source(f"{n}.zip", experiment_zip(TIMES, model_name="m"))) for n in "ab"]
    comparison = compare(*choose_sides(values[0], values[1], "unfused", "fused"))
    held = contents(Source("r.html", report_html(comparison).encode()))
    assert [source.name for source in held.sources] == ["unfused", "fused"]
    assert comparison_json(compare(*reports.sides_of(held))) == comparison_json(comparison)
    alone = report_html(of_experiment())
    assert sorted(name for name in files_of(data_of(alone)) if "/" not in name) == [
        "baseline.zip",
        "report.json",
    ]
    value = read(Source("r.html", alone.encode()))
    assert isinstance(value, Experiment)
    assert (value.file_name, value.record.compared) == ("e.zip", ("unfused", "fused"))
    wanted = read(Source("r.html", alone.encode()), lambda record: ("fused",))
    assert isinstance(wanted, Experiment) and list(wanted.traces) == ["fused"]


def test_a_report_that_holds_nothing_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = report_html(of_experiment())
    assert "This report holds the data of its comparison" in whole
    for name, limit in (("MAX_BYTES", 1000), ("_MAX_CALLS", 3)):
        with monkeypatch.context() as patch:
            patch.setattr(embedded, name, limit)
            page = report_html(of_experiment())
        assert "The data of this comparison are not in this report" in page
        assert "fusescope-data" not in page and len(page) < len(whole)
        with pytest.raises(FuseScopeError, match="does not contain its data"):
            read(Source("r.html", page.encode()))


def test_a_folder_is_read_by_its_recordings_and_not_by_their_report(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(profile_json(FUSED_OPERATORS, runs=2))
    (tmp_path / "r.html").write_text(report_html(of_experiment()), encoding="utf-8")
    value = read_path(tmp_path)
    assert isinstance(value, Trace) and value.meta.file_name == "a.json"
    (tmp_path / "a.json").unlink()
    assert isinstance(read_path(tmp_path), Experiment)

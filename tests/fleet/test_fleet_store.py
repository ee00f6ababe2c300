"""The store: each file is read once, appears whole or not at all, and what is wrong is said."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from benchmarks.fleet_job import Job, write
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.fleet.examined import Examined
from fusescope.analysis.fleet.fleet import Fleet
from fusescope.analysis.fleet.tables import ROWS, SMALL
from fusescope.analysis.limits import DEFAULT_LIMITS
from fusescope.analysis.messages import language
from fusescope.analysis.ranks.pair import rank_pair
from fusescope.analysis.readers import read_path
from fusescope.analysis.text import distinct_names
from fusescope.analysis.trace import Trace
from fusescope.app.fleet import ingesting, store
from fusescope.app.fleet.place import Place
from fusescope.app.sources.places import SAMPLES
from tests.command_line import app
from tests.factories import experiment_zip

JOB = Job(nodes=3, devices=2, steps=2, layers=2)


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job")
    write(JOB, folder)
    return folder


@pytest.fixture(scope="module")
def filled(traces: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    done = ingesting.ingest([str(traces)], str(folder), DEFAULT_LIMITS)
    assert (len(done.read), done.known, done.failed) == (6, 0, ())
    return folder


def ingest(*given: Path, to: Path, pattern: str | None = None) -> ingesting.Ingested:
    return ingesting.ingest([str(path) for path in given], str(to), DEFAULT_LIMITS, pattern=pattern)


def refused(*given: Path, to: Path, pattern: str | None = None) -> str:
    with pytest.raises(FuseScopeError) as error:
        ingest(*given, to=to, pattern=pattern)
    return error.value.code


def test_a_rank_is_a_partition_of_each_table(filled: Path) -> None:
    for table in (ROWS, *SMALL):
        assert sorted(path.name for path in (filled / table).iterdir()) == [
            f"rank={rank}" for rank in range(6)
        ]
        assert [path.suffix for path in filled.glob(f"{table}/*/*")] == [".parquet"] * 6
    assert not [path for path in filled.rglob("*") if "partial" in path.name]


def test_a_second_ingest_reads_nothing(
    filled: Path, traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingesting, "read_unit", lambda *_: pytest.fail("a file is read"))
    done = ingest(traces, to=filled)
    assert (done.read, done.known) == ((), 6)


def test_the_same_content_under_another_name_is_not_parsed_again(
    filled: Path, traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = shutil.copytree(filled, tmp_path / "store")
    copy = shutil.copy(traces / "rank3.json", tmp_path / "other.json")
    monkeypatch.setattr(
        "fusescope.app.fleet.reading.ingest_source", lambda *_: pytest.fail("parsed")
    )
    [entry] = ingest(Path(copy), to=own).read
    assert entry.facts is not None and entry.facts.rank == 3
    assert len(store.fleet(store.opened(str(own))).ranks) == 6


def test_a_trace_out_of_the_store_is_the_one_that_was_read(filled: Path, traces: Path) -> None:
    place = store.opened(str(filled))
    found = store.fleet(place)
    kept = store.trace_of(place, store.facts_of(found, 4))
    read = read_path(traces / "rank4.json")
    assert isinstance(read, Trace)
    pd.testing.assert_frame_equal(kept.runs, read.runs)
    for one, other in ((kept.calls, read.calls), (kept.operators, read.operators)):
        assert list(one.columns) == list(other.columns)
        for name in one.columns:
            assert one[name].dtype == other[name].dtype or str(one[name].dtype) == "category"
            assert one[name].astype(object).where(one[name].notna(), None).tolist() == (
                other[name].astype(object).where(other[name].notna(), None).tolist()
            ), name
    other_rank = store.trace_of(place, store.facts_of(found, 1))
    pair = rank_pair(other_rank, kept)
    assert pair is not None and pair.is_one_job and pair.is_named and pair.ranks == (1, 4)
    with pytest.raises(FuseScopeError, match="Rank 6 is not in this store"):
        store.facts_of(found, 6)


def test_a_full_disk_leaves_whole_ranks_and_the_next_ingest_goes_on(
    traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_whole, count = Place.write, 0

    def full(self: Place, name: str, data: bytes) -> None:
        nonlocal count
        count += 1
        if count > 10:  # in the middle of the second rank
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_whole(self, name, data)

    monkeypatch.setattr(Place, "write", full)
    with pytest.raises(FuseScopeError, match="no space left"):
        ingest(traces, to=tmp_path / "store")
    monkeypatch.undo()
    place = store.opened(str(tmp_path / "store"))
    assert [facts.rank for facts in store.fleet(place).ranks] == [0]
    done = ingest(traces, to=tmp_path / "store")
    assert (len(done.read), done.known) == (5, 1)


def test_bad_input_is_said_in_a_sentence_each(filled: Path, traces: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert refused(tmp_path / "empty", to=tmp_path / "s") == "fleet_without_files"
    assert refused(tmp_path / "missing", to=tmp_path / "s") == "no_such_file"
    assert refused(traces, to=traces) == "store_is_other_folder"
    assert refused(traces, to=tmp_path / "s", pattern="(") == "rank_pattern_invalid"
    assert refused(traces, to=tmp_path / "s", pattern="no group") == "rank_pattern_invalid"
    with store.prepared(str(tmp_path / "s")).writing():
        assert refused(traces, to=tmp_path / "s") == "store_being_written"
        assert store.opened(str(tmp_path / "s")).is_being_written()
    assert not store.opened(str(tmp_path / "s")).is_being_written()
    for text, code in (
        ('{"format":"fusescope fleet","version":99}', "fleet_store_newer"),
        ('{"format":"other","version":1}', "no_fleet_store"),
        ("{", "fleet_store_damaged"),
    ):
        (tmp_path / "s" / store.MARK).write_text(text)
        with pytest.raises(FuseScopeError) as error:
            store.opened(str(tmp_path / "s"))
        assert error.value.code == code
    with pytest.raises(FuseScopeError) as error:
        store.opened(str(traces))
    assert error.value.code == "no_fleet_store"


def test_why_a_file_was_not_read_is_said_in_the_language_of_who_reads_the_store(
    traces: Path, tmp_path: Path, translations: Path
) -> None:
    """Also what such a sentence quotes: the kind of a file of another kind."""
    shutil.copytree(traces, tmp_path / "job")
    (tmp_path / "job" / "picture.json").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(64))
    with language.speaking("zh"):
        ingest(tmp_path / "job", to=tmp_path / "store")
    [damaged] = store.fleet(store.opened(str(tmp_path / "store"))).damaged
    assert str(damaged.said) == "This is a PNG image, not a trace"
    with language.speaking("zh"):
        assert "PNG 图片" in str(damaged.said)


def test_damaged_missing_and_foreign_ranks_are_told_first(
    filled: Path, traces: Path, tmp_path: Path
) -> None:
    own = shutil.copytree(filled, tmp_path / "store")
    folder = tmp_path / "more"
    folder.mkdir()
    data = (traces / "rank2.json").read_bytes()
    (folder / "again.json").write_bytes(data.replace(b"ProfilerStep#5", b"ProfilerStep#4"))
    other = data.replace(b'"world_size":6', b'"world_size":8')
    (folder / "job.json").write_bytes(other)
    (folder / "notes.txt").write_text("nothing")
    (folder / "run.zip").write_bytes(experiment_zip({"unfused": [1.0] * 8}))
    nameless = data.replace(b'"rank":2', b'"what":2').replace(b"rank2.json", b"x")
    (folder / "node-x_4.json").write_bytes(nameless)
    (folder / "cut.json").write_bytes((traces / "rank5.json").read_bytes()[:9_000])
    [other] = (SAMPLES / "formats" / "onnxruntime").glob("*.json")
    shutil.copy(other, folder / "rank1.json")
    ingest(folder, to=own)
    shutil.rmtree(own / "rows" / "rank=1")
    (next((own / "steps" / "rank=0").iterdir())).write_bytes(b"PAR1 no more")
    found = store.fleet(store.opened(str(own)))
    assert {(one.file, one.code, one.rank) for one in found.damaged} == {
        ("again.json", "rank_twice", 2),
        ("job.json", "other_job", 2),
        ("notes.txt", "unreadable", None),
        ("run.zip", "unreadable", None),
        ("node-x_4.json", "unreadable", None),
        ("cut.json", "truncated", 5),
        ("more/rank1.json", "other_format", 1),
        ("rank0.json", "unreadable", None),
    }
    assert [facts.rank for facts in found.ranks] == [1, 2, 3, 4, 5] and found.missing == (0,)
    with pytest.raises(FuseScopeError, match="is damaged"):
        found.rows(1, ())
    done = ingest(folder, to=own, pattern=r"node-x_(\d+)")  # asks again for that one alone
    assert [entry.facts.rank for entry in done.read if entry.facts] == [4] and done.known == 6


def test_what_the_verbs_print(filled: Path, traces: Path) -> None:
    runner = CliRunner()
    told = runner.invoke(app, ["ingest", str(traces), "--to", str(filled)])
    assert told.exit_code == 0 and told.output == "Read 0 ranks; 6 files had been read before.\n"
    told = runner.invoke(app, ["fleet", str(filled)])
    assert told.exit_code == 0
    assert "6 of 6 ranks can be compared: 2 steps each" in " ".join(told.output.split())
    assert "No rank is slow" in told.output


def test_files_of_unknown_ranks_are_told_with_what_to_do(traces: Path, tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    for rank, letter in enumerate("xy"):
        data = (traces / f"rank{rank}.json").read_bytes()
        nameless = data.replace(b'"rank":', b'"what":').replace(b'"world_size":', b'"size":')
        (tmp_path / "job" / f"{letter}-4.json").write_bytes(nameless)
    given = ["ingest", str(tmp_path / "job"), "--to", str(tmp_path / "ranks")]
    unknown = "Nothing tells which rank this is: neither the trace nor the name of the file."
    assert CliRunner().invoke(app, given).output.splitlines() == [
        "Read 0 ranks; 0 files had been read before.",
        f"! x-4.json: {unknown}",
        f"! y-4.json: {unknown}",
        "Say where the name has it: --rank-pattern 'node-(\\d+)'.",
    ]
    runner = CliRunner()
    assert runner.invoke(app, [*given, "--rank-pattern", r"x-(\d)"]).exit_code == 0
    told = runner.invoke(app, ["fleet", str(tmp_path / "ranks")])
    assert told.output.startswith("1 rank can be compared: 2 steps each")


def test_files_of_one_name_are_told_apart_by_their_folders(traces: Path, tmp_path: Path) -> None:
    for name, rank in (("one/a", 0), ("two/a", 0), ("one/b", 1)):
        (tmp_path / "job" / name).mkdir(parents=True)
        data = (traces / f"rank{rank}.json").read_bytes()
        spaces = b" " * len(name) * (name[0] == "t")
        (tmp_path / "job" / name / "trace.json").write_bytes(data + spaces)
    assert distinct_names(["/x/one/a/t.json", "/x/two/a/t.json", "/x/u.json"]) == {
        "/x/one/a/t.json": "one/a/t.json",
        "/x/two/a/t.json": "two/a/t.json",
        "/x/u.json": "u.json",
    }
    ingest(tmp_path / "job", to=tmp_path / "ranks")
    [twice] = store.fleet(store.opened(str(tmp_path / "ranks"))).damaged
    assert (twice.file, twice.other) == ("two/a/trace.json", "one/a/trace.json")


def test_json(filled: Path) -> None:
    told = CliRunner().invoke(app, ["fleet", str(filled), "--against", str(filled), "--json"])
    values = json.loads(told.output)
    assert list(values) == [
        "schema_version", "ranks", "world", "missing", "damaged", "is_being_written", "steps",
        "collectives", "slow_ranks", "causes", "waits", "slow_links", "differing_ranks",
        "transfers", "step_split", "outliers", "delays", "straggler_free", "sentences", "formulas",
        "against",
    ]  # fmt: skip
    assert values["schema_version"] == 1 and values["world"] == 6 and values["steps"] == 2
    assert [rank["rank"] for rank in values["ranks"]] == list(range(6))
    assert values["slow_ranks"] == values["damaged"] == [] and values["straggler_free"] is None
    assert [len(values["step_split"][part]) for part in ("stages", "ranks")] == [1, 6]
    assert {change["ratio"] for change in values["against"]["changes"]} == {1.0}


@pytest.mark.parametrize("kind", [store.FILES, ROWS, *SMALL])
def test_a_changed_bit_anywhere_costs_its_rank_and_is_named(
    filled: Path, tmp_path: Path, kind: str
) -> None:
    """Each flip is of one bit, in places all over the file; no figure rests on what is changed."""
    own = shutil.copytree(filled, tmp_path / "store")
    whole = store.examined(store.opened(str(own)))
    assert whole.fleet.damaged == () and whole.fleet.numbers == tuple(range(6))
    [path, *_] = sorted(path for path in (own / kind).rglob("*") if path.is_file())
    data = path.read_bytes()
    places = sorted({*range(0, len(data), max(1, len(data) // 40)), len(data) - 1})
    for at in places:
        for changed in (
            data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :],
            data[:at],
        ):
            path.write_bytes(changed)
            if kind == ROWS:
                place = store.opened(str(own))
                with pytest.raises(FuseScopeError, match="is damaged"):
                    store.trace_of(place, store.facts_of(store.fleet(place), 0))
                continue
            found = store.examined(store.opened(str(own)))
            if kind == store.FILES and found.fleet.ranks == whole.fleet.ranks:
                continue  # the name of a field whose value is the usual one
            assert len(found.fleet.numbers) == 5, (at, found.fleet.damaged)
            assert [one.code for one in found.fleet.damaged] == ["unreadable"]
    path.write_bytes(data)
    assert store.fleet(store.opened(str(own))).numbers == tuple(range(6))


def test_raw_rows_that_turn_out_to_be_damaged_cost_their_rank_alone(
    filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Questions read raw rows of some ranks late: the others are answered all the same."""
    own = shutil.copytree(filled, tmp_path / "store")
    [path] = (own / ROWS / "rank=2").iterdir()
    path.write_bytes(path.read_bytes()[:-40])
    examine = store.examine

    def of_all_rows(found: Fleet) -> Examined:
        for rank in found.numbers:
            found.rows(rank, ("name",))
        return examine(found)

    monkeypatch.setattr(store, "examine", of_all_rows)
    found = store.examined(store.opened(str(own)))
    assert found.fleet.numbers == (0, 1, 3, 4, 5)
    assert [(one.file, one.code) for one in found.fleet.damaged] == [("rank2.json", "unreadable")]
    assert found.fleet.missing in ((), (2,))


def test_a_store_of_an_older_version_has_no_checksums_and_is_read(
    filled: Path, tmp_path: Path
) -> None:
    own = shutil.copytree(filled, tmp_path / "store")
    for path in (own / store.FILES).iterdir():
        value = json.loads(path.read_bytes())
        del value["seal"], value["facts"]["checks"]
        path.write_text(json.dumps(value))
    assert store.examined(store.opened(str(own))).fleet.numbers == tuple(range(6))

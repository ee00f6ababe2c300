"""The Fusion page: the sentence, the ledger with its groups, links, and files that say little."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from fusescope.analysis.advice import Unjudged
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.graph import Graph, Node, Tensor, graph_json
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.app.parts import exports, ledger
from fusescope.app.sources import comparisons
from tests.app.conftest import BLOCKS
from tests.app.pages import address, headline, is_clean, markdown_texts, texts
from tests.app.test_runs_page import on_a_gpu
from tests.compare.groups.test_own_parts import recorded
from tests.compare.timing.raw_times import paused, rewritten
from tests.factories import Operator, experiment_zip, profile_json

Start = Callable[..., AppTest]
HOSTILE = "<img src=x onerror=alert(1)> ![a](http://127.0.0.1:9/pix) :red[boo] [l](javascript:a())"
DANGEROUS = ("<img", "![a]", ":red[boo]", "javascript:")
SHAPE = [(1, 4, 8, 8)]
TWO = ("first", "second")


def operators(*, is_fused: bool, types: Mapping[str, str] | None = None) -> list[Operator]:
    """Two blocks of Conv, BatchNormalization and Relu, fused or not, and a Gemm behind."""
    named = dict(types or {})
    rows: list[Operator] = []
    for block, slower in zip(TWO, (0, 10), strict=True):
        if is_fused:
            rows.append((f"{block}/Conv", "FusedConv", 110 + slower, SHAPE, SHAPE))
            continue
        for op_type, dur in (("Conv", 100 + slower), ("BatchNormalization", 30), ("Relu", 20)):
            rows.append((f"{block}/{op_type}", named.get(op_type, op_type), dur, SHAPE, SHAPE))
    return [*rows, ("head/Gemm", "Gemm", 50, SHAPE, [(1, 10)])]


def graph(rows: list[Operator], *, is_fused: bool) -> Graph:
    """The chain of these operators; tensors keep the model's names where fusion keeps them."""
    written = [f"t{3 * (i + 1)}" if is_fused else f"t{i + 1}" for i in range(len(rows) - 1)]
    names = ["t0", *written, "logits"]
    nodes = tuple(
        Node(name, op_type, (names[i],), (names[i + 1],), scope=name.rpartition("/")[0])
        for i, (name, op_type, *_) in enumerate(rows)
    )
    tensors = tuple(Tensor(name, "float32", (1, 4, 8, 8)) for name in names)
    return Graph(nodes, tensors, ("t0",), ("logits",))


def fused_zip(types: Mapping[str, str] | None = None, **changes: object) -> bytes:
    """An experiment whose graphs say what became of what."""
    rows = {
        "unfused": operators(is_fused=False, types=types),
        "fused": operators(is_fused=True),
    }
    made = {name: graph(ops, is_fused=name == "fused") for name, ops in rows.items()}
    made["model"] = made["unfused"]
    written = zipfile.ZipFile(io.BytesIO(experiment_zip(BLOCKS, rows, changes=changes)))
    buffer = io.BytesIO()
    with written, zipfile.ZipFile(buffer, "w") as archive:
        for name in written.namelist():
            kept = name.removeprefix("graphs/").removesuffix(".json")
            is_graph = name.startswith("graphs/")
            archive.writestr(name, graph_json(made[kept]) if is_graph else written.read(name))
    return buffer.getvalue()


@pytest.fixture
def open_fusion(tree: Path, start: Start) -> Start:
    """`open_fusion(baseline=…, group=…)` opens the groups on the page Compare at that address."""
    (tree / "samples" / "mobilenetv2.zip").write_bytes(fused_zip())
    return lambda **at: start(folded=True, groups="true", **at)


def cells(page: AppTest) -> dict[str, list[object]]:
    """Column -> cells of the ledger."""
    frame = page.dataframe(key="ledger_table").value
    return {" ".join(filter(None, name)): list(frame[name]) for name in frame.columns}


def compared(data: bytes) -> Comparison:
    experiment = read(Source("e.zip", data))
    assert isinstance(experiment, Experiment)
    return compare(side_of_variant(experiment, "unfused"), side_of_variant(experiment, "fused"))


def pictures(page: AppTest) -> list[str]:
    return [
        base64.b64decode(url.partition("base64,")[2]).decode()
        for image in page.image
        for url in image.value
    ]


MISSED: list[Operator] = [
    ("a/Mul", "Mul", 40, SHAPE, SHAPE), ("a/Add", "Add", 30, SHAPE, SHAPE),
    ("head/Gemm", "Gemm", 50, SHAPE, [(1, 10)]),
]  # fmt: skip


@pytest.mark.parametrize("tried", [True, False])
def test_what_our_own_pass_would_fuse_is_offered(
    tried: bool, tree: Path, open_fusion: Start
) -> None:
    rows = {"unfused": MISSED, "fused": MISSED}
    changes = {"own_fusions": "own_fusions.json" if tried else None}
    data = io.BytesIO(experiment_zip(BLOCKS, rows, model_name="mul_add", changes=changes))
    if tried:
        with zipfile.ZipFile(data, "a") as archive:
            own = [{"pattern": "Mul + Add", "operators": ["a/Mul", "a/Add"]}]
            archive.writestr("own_fusions.json", json.dumps(own))
    (tree / "samples" / "mobilenetv2.zip").write_bytes(data.getvalue())
    page = open_fusion()
    assert is_clean(page)
    shown = "\n".join(texts(page))
    offered = [button for button in page.button if button.key == "record_own_pass"]
    if tried:
        assert "FuseScope's own pass turns 1 of these places into a single operator" in shown
        assert "fusescope collect mul_add --variants unfused,fused,rules:O3" in shown
        assert [button.label for button in offered] == ["Record with rules:O3"]
    else:
        assert "fusescope fuse mul_add --explain" in shown and not offered


def test_a_ledger_whose_gains_are_not_known_is_not_drawn(tree: Path, open_fusion: Start) -> None:
    (tree / "open" / "bare.json").write_bytes(on_a_gpu(6, "implicit_gemm_a", marked=False))
    (tree / "open" / "steps.json").write_bytes(on_a_gpu(8, "implicit_gemm_b", marked=True))
    pair = {"baseline": "file:bare.json", "candidate": "file:steps.json"}
    for runs, is_drawn in (({}, False), ({"baseline_runs": "6"}, True)):
        page = open_fusion(**pair, **runs)
        assert is_clean(page)
        assert ("Ledger" in [head.value for head in page.subheader]) is is_drawn
        assert any(("", "Pattern") in one.value for one in page.dataframe) is is_drawn


def test_time_spent_and_time_to_win_are_apart_and_attention_is_named(
    tree: Path, open_fusion: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {"unfused": MISSED, "fused": MISSED}
    data = experiment_zip(BLOCKS, rows, model_name="mul_add")
    (tree / "samples" / "mobilenetv2.zip").write_bytes(data)
    unjudged = Unjudged((("q", "softmax", "v"),), 33_000.0)
    monkeypatch.setattr(comparisons.Shown, "attention", unjudged)
    page = open_fusion()
    [missed] = [one.value for one in page.dataframe if "What blocked it" in one.value]
    # Mul and Add take 40 and 30 µs. How the two differ is in tests/advice/test_own_pass.py.
    assert missed["Time spent, µs"].tolist() == [70.0]
    assert missed["Time to fuse, µs"].tolist() == [70.0]
    captions = [caption.value for caption in page.caption]
    assert any(text.startswith("Attention runs as separate operators in 1 place, 33.0 µs")
               for text in captions)  # fmt: skip


def led(page: AppTest) -> list[str]:
    """Return the sentence that leads the groups, and what the page has as text, plain."""
    shown = [page.subheader[1].value, *(one.value for one in page.markdown)]
    return [re.sub(r":\w+\[([^\]]*)\]", r"\1", text).replace("\\", "") for text in shown]


def test_the_page_says_what_fusion_bought_and_how_sure_that_is(open_fusion: Start) -> None:
    page = open_fusion()
    assert is_clean(page) and not page.error
    lead, *others = led(page)
    assert lead == (
        "The whole run takes 5.17 ms less. The largest term is profiler bias, 5.09 ms less."
    )
    rest = (
        "All groups together take 80.0 µs less. Operators explain only part of the change. All of "
        "what faster groups save comes from 2 Conv + BatchNormalization + Relu groups. They run as "
        "one operator each."
    )
    assert rest in others
    captions = "\n".join(caption.value for caption in page.caption).replace("\\", "")
    assert (
        "accounted for: 7 of 7. 0 boundary mismatches. The largest group has 3 operators"
        in captions
    )
    assert headline(page) == "fused is 2.00× faster than unfused"
    assert page.get("plotly_chart")
    assert address(page)["baseline"] == "sample:mobilenetv2/unfused"


def test_the_ledger_folds_by_pattern_and_unfolds(open_fusion: Start) -> None:
    page = open_fusion()
    folded = cells(page)
    assert folded["Pattern"] == ["▸ Conv + BatchNormalization + Relu", "Gemm"]
    assert folded["Becomes"] == ["FusedConv", "Gemm"]
    assert folded["Groups"] == [2.0, 1.0]
    assert folded["Profiled time per run, µs baseline"] == [310.0, 50.0]
    assert folded["Profiled time per run, µs candidate"] == [230.0, 50.0]
    assert folded["Profiled time per run, µs change"] == [-80.0, 0.0]
    page = page.button(key="fold").click().run()
    unfolded = cells(page)
    assert [str(text).strip("\u2003└ ") for text in unfolded["Pattern"]] == [
        "▾ Conv + BatchNormalization + Relu",
        "first",
        "second",
        "Gemm",
    ]
    assert unfolded["Profiled time per run, µs baseline"] == [310.0, 150.0, 160.0, 50.0]
    page = page.button(key="fold").click().run()
    assert cells(page) == folded


def test_six_columns_of_the_ledger_first_and_the_rest_by_choice(open_fusion: Start) -> None:
    page = open_fusion()
    assert len(cells(page)) == 6
    page.session_state["ledger_columns"] = ["Interval of change, µs", "Known by"]
    chosen = cells(page.run())
    assert list(chosen)[6:] == [
        "Interval of change, µs low",
        "Interval of change, µs high",
        "Known by",
    ]


def test_search_finds_groups_by_what_is_inside(open_fusion: Start) -> None:
    page = open_fusion()
    page = page.text_input(key="group_search").input("SECOND/batch").run()
    assert [str(text)[-6:] for text in cells(page)["Pattern"]] == ["+ Relu", "second"]
    assert "1 of 3 groups" in [caption.value for caption in page.caption]
    page = page.text_input(key="group_search").input("no such thing").run()
    assert "No group matches." in [caption.value for caption in page.caption]


def test_a_link_opens_a_group_with_its_operators_before_and_after(open_fusion: Start) -> None:
    page = open_fusion(group="1")
    shown = {card.label: card.value for card in page.metric}
    assert shown["baseline"] == "150 µs" and shown["candidate"] == "110 µs"
    assert shown["change per run"] == "−40.0 µs"
    assert shown["bytes removed"] == "2.05 kB"  # two tensors of 1 × 4 × 8 × 8 floats
    before, after = pictures(page)
    assert all(f">{name}<" in before for name in ("Conv", "BatchNormalization", "Relu"))
    assert ">FusedConv<" in after and "BatchNormalization" not in after
    assert "float32 1×4×8×8" in after
    assert address(page)["group"] == "1"
    names = page.dataframe[1].value
    assert list(names["name"])[:3] == ["first/Conv", "first/BatchNormalization", "first/Relu"]
    # The times of what ran on either side add up to those of the group.
    times = names.groupby("where")["time"].sum()
    assert (times["baseline"], times["candidate"]) == (150.0, 110.0)
    assert names[names["where"] == "model"]["time"].isna().all()


def test_a_group_that_is_several_on_both_sides_lists_those_of_either(
    open_fusion: Start, tree: Path
) -> None:
    def own_groups(page: AppTest) -> list[object]:
        tables = [frame.value for frame in page.dataframe]
        return [t.to_numpy().tolist() for t in tables if "after_time" in t.columns]

    assert own_groups(open_fusion(group="1")) == []
    data = recorded(unfused=(100, 60, 20), fused=(40, 50, 7, 30))
    (tree / "samples" / "mobilenetv2.zip").write_bytes(data)
    page = open_fusion(group="1")
    is_clean(page)
    [table] = own_groups(page)
    assert table == [
        ["M1", "1. B2", "100.0 µs", "1. A1", "40.0 µs"],
        ["M1", "1, as above", "", "2. A2", "50.0 µs"],
        ["M1", "2. B2", "60.0 µs", "2, as above", ""],
        ["M1", "2, as above", "", "3. A1", "7.0 µs"],
        ["Whole group", "", "160.0 µs", "", "97.0 µs"],
    ]


@pytest.mark.parametrize("number", ["99", "-1", "x", "9" * 400, "٣"])
def test_a_link_to_no_group_shows_none(open_fusion: Start, number: str) -> None:
    page = open_fusion(group=number)
    assert is_clean(page) and not page.error
    assert "group" not in address(page)
    assert not pictures(page)


def test_another_pair_forgets_the_group(open_fusion: Start) -> None:
    page = open_fusion(group="1")
    page = page.button(key="swap").click().run()
    assert "group" not in address(page)
    assert "All of what slower groups add comes from 2 Conv" in " ".join(led(page))


def test_the_same_variant_on_both_sides_says_that_nothing_was_fused(open_fusion: Start) -> None:
    page = open_fusion(baseline="sample:mobilenetv2/fused", candidate="sample:mobilenetv2/fused")
    assert is_clean(page) and not page.error
    assert led(page)[0].startswith("Nothing was fused: both sides ran the same operators.")


def test_two_profiles_give_inferred_groups_and_no_pictures(open_fusion: Start) -> None:
    page = open_fusion()
    files = [
        (f"net_{name}.json", profile_json(operators(is_fused=name == "fused"), 6), "")
        for name in ("unfused", "fused")
    ]
    page = page.file_uploader[0].set_value(files).run()
    assert is_clean(page) and not page.error
    captions = "\n".join(caption.value for caption in page.caption).replace("\\", "")
    assert "inferred from the order of operators" in captions
    assert "This needs the model's graph" in captions
    page.query_params["group"] = "0"
    page = page.run()
    assert not pictures(page)


def test_of_two_models_the_page_says_so_and_what_to_do_and_nothing_else(
    open_fusion: Start,
) -> None:
    other: list[Operator] = [("x/Gemm", "Gemm", 70, SHAPE, SHAPE), ("x/Erf", "Erf", 9, [], [])]
    files = [
        ("unfused.json", profile_json(operators(is_fused=False), 6), ""),
        ("bert.json", profile_json(other, 6), ""),
    ]
    page = open_fusion().file_uploader[0].set_value(files).run()
    assert is_clean(page) and not page.error
    assert "The two files have hardly a kernel in common" in " ".join(markdown_texts(page))
    assert "Compare two recordings of one model" in "".join(c.value for c in page.caption)
    assert [one.value for one in page.subheader] == ["Timelines"]


def test_hostile_op_types_are_shown_as_they_are(tree: Path, open_fusion: Start) -> None:
    (tree / "samples" / "mobilenetv2.zip").write_bytes(fused_zip({"Conv": HOSTILE}))
    page = open_fusion(group="1")
    assert is_clean(page) and not page.error
    assert HOSTILE in str(cells(page)["Pattern"][0])
    for text in markdown_texts(page):
        assert not any(piece in text for piece in DANGEROUS), text
    drawn = pictures(page)
    assert drawn and all("<img" not in picture for picture in drawn)


def test_without_files_the_page_says_what_to_do(tree: Path, open_fusion: Start) -> None:
    (tree / "samples" / "mobilenetv2.zip").unlink()
    page = open_fusion()
    assert is_clean(page)
    assert page.subheader[0].value == "Nothing to compare yet"


def test_why_not_fused_says_what_blocked_it_or_that_nothing_did(open_fusion: Start) -> None:
    page = open_fusion()
    assert any("was fused." in caption.value for caption in page.caption)
    page = page.button(key="swap").click().run()
    table = page.dataframe[-1].value
    assert list(table["What blocked it"]) == [
        "Optimisation is off in the variant 'unfused', so nothing is fused."
    ]
    assert table["What to change"].str.len().min() > 0
    assert "Operators" not in table, "what is blocked everywhere names no place"
    assert not any("µs" in head for head in table)


def test_without_ablation_the_page_says_how_to_record_it(open_fusion: Start) -> None:
    captions = "\n".join(caption.value for caption in open_fusion().caption).replace("\\", "")
    assert "fusescope collect MODEL --ablate" in captions


def test_ablations_are_a_table_of_speedups(tree: Path, open_fusion: Start) -> None:
    ms = {"unfused": [10.0] * 8, "fused": [5.0] * 8}
    ms |= {"without:ConvFusion": [8.0] * 8, "only:ConvFusion": [6.25] * 8}
    (tree / "samples" / "mobilenetv2.zip").write_bytes(experiment_zip(ms))
    page = open_fusion()
    assert is_clean(page) and not page.error
    table = page.dataframe[-1].value
    cells_of = {" ".join(filter(None, name)): table[name].iloc[0] for name in table.columns}
    assert cells_of["Optimizer"] == "ConvFusion"
    assert cells_of["Slower without it"].startswith("1.60×")
    assert cells_of["Faster with it alone"].startswith("1.60×")
    assert cells_of["Operators in the graph fused"] == 2.0
    assert any("do not add up" in text for text in texts(page))


def test_names_of_optimizers_from_the_file_are_no_markup(tree: Path, open_fusion: Start) -> None:
    ms = {"unfused": [10.0] * 8, "fused": [5.0] * 8, "without:ConvFusion": [8.0] * 8}
    hostile = "www.evil.example"  # Markdown makes a link of it without any mark

    def left_out(name: str, content: bytes) -> bytes:
        if name != "experiment.json":
            return content
        record = json.loads(content)
        record["variants"][1]["settings"]["optimizers_left_out"] = hostile
        return json.dumps(record).encode()

    (tree / "samples" / "mobilenetv2.zip").write_bytes(rewritten(experiment_zip(ms), left_out))
    page = open_fusion()
    assert any(hostile in text for text in texts(page))
    interpreted = [*markdown_texts(page), *(caption.value for caption in page.caption)]
    assert not any(hostile in text for text in interpreted)


def test_an_optimizer_that_does_nothing_alone_says_so(tree: Path, open_fusion: Start) -> None:
    """The recording found that it acts, and did not measure it where the graph stays the same."""
    ms = {"unfused": [10.0] * 8, "fused": [5.0] * 8, "without:ConvActivationFusion": [8.0] * 8}
    data = experiment_zip(ms)

    def found(name: str, content: bytes) -> bytes:
        if name != "experiment.json":
            return content
        record = json.loads(content)
        record["variants"][1]["settings"]["optimizers_found"] = "ConvActivationFusion"
        return json.dumps(record).encode()

    (tree / "samples" / "mobilenetv2.zip").write_bytes(rewritten(data, found))
    page = open_fusion()
    assert is_clean(page) and not page.error
    table = page.dataframe[-1].value
    cells_of = {" ".join(filter(None, name)): table[name].iloc[0] for name in table.columns}
    assert cells_of["Slower without it"].startswith("1.60×")
    assert cells_of["Faster with it alone"] == "same graph as unfused"
    assert cells_of["Operators in the graph only it"] == 4.0  # as unfused


# The lines of the table.


def test_hurting_groups_come_first_when_asked() -> None:
    comparison = compared(fused_zip())
    made = comparison.ledger
    rows, patterns = made.rows.copy(), made.patterns.copy()
    rows["hurts"] = rows["pattern"] == "Gemm"
    patterns["hurts"] = (patterns["pattern"] == "Gemm").astype(int)
    hurt = type(made)(rows, patterns, made.ungrouped, made.reconciliation, made.alpha, made.blocks)
    by_gain, hurting_first = (
        [line.group for line in ledger.lines(hurt, order, unfolded=())] for order in ledger.orders()
    )
    assert by_gain == [None, 3]
    assert hurting_first == [3, None]


def test_the_csv_has_every_group_and_no_formula() -> None:
    data = exports.ledger_csv(compared(fused_zip({"Conv": "=1+1"})))
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
    assert [row["group"] for row in rows if row["line"] == "group"] == ["1", "2", "3"]
    assert rows[0]["pattern"].startswith("'=1+1 + BatchNormalization")
    assert rows[0]["original"] == "first/Conv; first/BatchNormalization; first/Relu"
    assert rows[0]["gain_ns"] == "40000"


def test_shares_are_left_out_where_they_say_nothing(tree: Path, open_fusion: Start) -> None:
    """A pause in a profiled run and the bias that takes it back: both larger than the change."""
    data = paused(fused_zip(), "fused", 3, "head/Gemm", 500_000)
    (tree / "samples" / "mobilenetv2.zip").write_bytes(data)
    page = open_fusion(group="3")
    assert is_clean(page)
    cards = {card.label: card.value for card in page.metric}
    assert (cards["baseline"], cards["candidate"], cards["change per run"]) == (
        "50.0 µs",
        "50.0 µs",
        "0 ns",
    )
    bases = [caption.value for caption in page.caption]
    assert "median 50.0 µs; measured; slow executions add 20.8 ms" in bases
    table = next(one.value for one in page.dataframe if ("", "Pattern") in one.value)
    assert not [name for _, name in table.columns if "Share" in name]
    captions = [caption.value for caption in page.caption]
    said = [text for text in captions if text.startswith("Shares of the change are not shown")]
    assert len(said) == 1


def rows_drawn(page: AppTest) -> list[dict[str, Any]]:
    """What the rows above the timelines draw."""
    return [
        json.loads(component.proto.json)
        for component in page.get("bidi_component")
        if component.proto.component_name == "fusescope_changes"
    ]


def test_the_patterns_lead_the_page_and_open_to_their_groups(
    tree: Path, open_fusion: Start
) -> None:
    (tree / "samples" / "mobilenetv2.zip").write_bytes(
        paused(fused_zip(), "fused", 3, "head/Gemm", 20_000)
    )
    page = open_fusion()
    [rows] = rows_drawn(page)
    [fused] = rows["rows"]
    assert "".join(text for _, text in fused["parts"]) == (
        "2 groups of Conv + BatchNormalization + Relu run as FusedConv: −80.0 µs per run."
    )
    assert [each["name"] for each in fused["kernels"]] == ["first", "second"]
    assert fused["kernels"][1]["cells"] == [["160 µs", ""], ["120 µs", ""], ["−40.0 µs", ""]]
    assert rows["moreTitle"] == "1 other pattern"
    captions = [caption.value for caption in page.caption]
    assert any("groups −80.0 µs, slow executions +831 µs" in text for text in captions), captions
    slow = next(text for text in captions if text.startswith("Slow executions"))
    assert "` head/Gemm ` took 20.0 ms, its median is 50.0 µs" in slow

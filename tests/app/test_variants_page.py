"""The Variants page: several sides against one baseline, kept in the address."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from fusescope.analysis.compare.multiple.choice import several_sides
from fusescope.analysis.compare.multiple.comparison import compare_several
from fusescope.analysis.report.exports.multiple_json import multiple_json
from fusescope.analysis.report.exports.perfetto import several_perfetto_json
from fusescope.analysis.report.multiple.html import multiple_html
from fusescope.app.parts.exports import several_bytes
from fusescope.app.sources import places
from tests.app.pages import is_clean, markdown_texts, texts
from tests.compare.test_comparison import experiment_of
from tests.factories import UNFUSED_OPERATORS, experiment_zip, profile_json

HOSTILE = "![a](http://127.0.0.1:9/pix) :red[boo]"
TIMES = {
    "unfused": [10.0 + b / 10 for b in range(8)],
    HOSTILE: [5.0 + b / 20 for b in range(8)],
    "extended": [5.1, 4.9, 5.2, 5.3, 5.0, 5.4, 5.2, 5.4],
    "eager": [20.0 + b / 5 for b in range(8)],
}
Open = Callable[..., AppTest]


@pytest.fixture
def open_variants(tree: Path, start: Callable[..., AppTest]) -> Open:
    """`open_variants(ids…)` opens these on the page Compare."""
    (tree / "recordings" / "four.zip").write_bytes(experiment_zip(TIMES))

    def run(*ids: str) -> AppTest:
        return start(folded=True, several="true", **({"variant": list(ids)} if ids else {}))

    return run


def fastest(page: AppTest) -> str:
    """The sentence that leads the table, as plain text."""
    text = page.subheader[1].value
    return re.sub(r":\w+\[([^\]]*)\]", r"\1", text).replace("`", "").replace("\\", "")


def table(page: AppTest) -> dict[str, list[object]]:
    [frame] = [one.value for one in page.dataframe if "Variant" in one.value]
    return {head: list(frame[head]) for head in frame}


def test_the_variants_of_the_first_sample(open_variants: Open) -> None:
    page = open_variants()
    assert is_clean(page)
    assert fastest(page) == "fused is 2.00× faster than unfused", "as the page says of the pair"
    assert "variant" not in page.query_params, "as everybody sees them who opens this pair"
    found = table(page)
    assert found["Variant"] == ["unfused", "fused"] and found["Against the baseline"] == [
        "baseline",
        "faster",
    ]
    assert found["Speedup"][1] == pytest.approx(2.0)
    assert found["Peak memory"] == [10_000_000, 8_000_000]
    assert found["Pareto front"] == ["beaten by fused", "on it"]
    heads = [head.value for head in page.subheader]
    assert heads[-1] == "Timelines of all"
    shown = [(one.type, str(getattr(one, "value", ""))) for one in page.main]
    kinds = ("subheader", "markdown", "dataframe", "text")
    start = next(at for at, (_, text) in enumerate(shown) if text.endswith("than unfused"))
    [*order] = [
        kind
        for kind, text in shown[start:]
        if kind in kinds and (kind != "markdown" or "Can I trust" in text)
    ]
    said = [text for kind, text in shown[start:] if kind == "text"]
    assert order[:2] == ["subheader", "markdown"], "the answer, its doubts"
    assert order.index("dataframe") < len(order) - 1 - order[::-1].index("text")
    assert not said[0].startswith("Un-profiled"), "the method stands behind the table"


def test_profiles_that_are_open_come_before_samples(
    tree: Path, monkeypatch: pytest.MonkeyPatch, open_variants: Open
) -> None:
    paths = [tree / name for name in ("before.json", "after.json", "other.json")]
    for path in paths:
        path.write_bytes(profile_json(UNFUSED_OPERATORS, runs=len(path.name)))
    monkeypatch.setenv(places.FILES_VARIABLE, os.pathsep.join(map(str, paths)))
    page = open_variants()
    assert is_clean(page)
    assert len(table(page)["Variant"]) == 3
    assert table(page)["Variant"][0] == "before.json"
    # Each name is told whole: together they are longer than a name may be.
    assert all(f"{name}.json" in fastest(page) for name in ("before", "after", "other"))


def test_settings_of_the_compare_page_hold_here_and_what_is_taken_away(
    open_variants: Open,
) -> None:
    ids = [f"recorded:four.zip/{name}" for name in TIMES]
    page = open_variants(*ids)
    # Of 200 µs of operators unfused has 0 below 10 µs, and all of them below 1 ms.
    assert set(table(page)["Short-op ratio (time)"]) == {0.0}
    page.number_input(key="tau_us").set_value(1000.0).run()
    assert is_clean(page) and set(table(page)["Short-op ratio (time)"]) == {1.0}
    assert any("τ 1.00 ms (assumed)" in str(one.value) for one in page.caption)
    used = []
    for peak in (1.0, 0.5):
        page.number_input(key="peak_gflops").set_value(peak).run()
        used.append(table(page)["Compute utilisation"][0])
    assert used[1] == pytest.approx(2 * used[0]) and used[0] > 0  # type: ignore[operator]
    labels = [button.proto.label for button in page.get("download_button")]
    assert labels[-5:] == [
        "Table as Markdown", "Table as CSV", "Comparison as JSON", "Timelines for Perfetto",
        "Report",
    ]  # fmt: skip


def test_names_of_users_are_left_out_of_what_is_taken_away() -> None:
    times = {"unfused": [10.0] * 6, "rules:/home/jane/a.toml": [5.0] * 6, "eager": [20.0] * 6}
    data = experiment_zip(times)
    multiple = compare_several(several_sides([experiment_of(data, "/home/jane/e.zip")]))
    for write in (multiple_json, several_perfetto_json, lambda one: multiple_html(one).encode()):
        assert b"jane" in several_bytes(multiple, False, write)
        assert b"jane" not in several_bytes(multiple, True, write)


def test_choices_follow_and_names_are_not_markup(open_variants: Open) -> None:
    ids = [f"recorded:four.zip/{name}" for name in TIMES]
    page = open_variants(*ids)
    assert is_clean(page)
    assert fastest(page).startswith("The fastest of the 4 is one of these: ")
    assert not any("![a]" in text or ":red[boo]" in text for text in markdown_texts(page))
    assert any(str(name).startswith("![a](http") for name in table(page)["Variant"])
    page.selectbox(key="choose_several_baseline").set_value(ids[3]).run()
    assert page.query_params["variant"] == [ids[3], *ids[:3]]
    assert table(page)["Variant"][0] == "eager" and set(
        table(page)["Against the baseline"][1:]
    ) == {"faster"}
    page.multiselect(key="choose_several").set_value([ids[0], ids[3]]).run()
    assert page.query_params["variant"] == [ids[3], ids[0]]
    assert table(page)["Variant"] == ["eager", "unfused"]
    page.multiselect(key="choose_several").set_value([ids[0]]).run()
    assert "Choose two variants or files, or more" in texts(page)
    assert is_clean(page)


def test_too_many_and_what_is_not_here_are_said(open_variants: Open, tree: Path) -> None:
    many = {f"v{n}": [5.0 + n] * 5 for n in range(9)}
    (tree / "recordings" / "nine.zip").write_bytes(experiment_zip(many))
    (tree / "open" / "p.json").write_bytes(profile_json(UNFUSED_OPERATORS, runs=6))
    page = open_variants(*(f"recorded:nine.zip/{name}" for name in many), "sample:gone/fused")
    assert is_clean(page)
    said = "\n".join(markdown_texts(page))
    assert "9 are too many to compare at once: the first 8 are shown." in said
    assert any("names something that is not here" in text for text in texts(page))
    assert len(table(page)["Variant"]) == 8
    page = open_variants("recorded:four.zip/unfused", "file:p.json")
    assert is_clean(page)
    assert any("p.json: recorded apart from unfused" in text for text in texts(page))


def test_what_each_step_of_an_engine_brings(open_variants: Open) -> None:
    """By 20, 10 and 5 ms in every block; extended on the way is 0.1 ms off at most."""
    page = open_variants(
        *(f"recorded:four.zip/{name}" for name in ("unfused", "extended", "eager"))
    )
    assert is_clean(page)
    shown = [one.value for one in page.markdown]
    assert "What each step from eager to extended brings" in [one.value for one in page.subheader]
    [answer] = [text for text in shown if "extended saves" in text.replace("*", "")]
    assert "one graph brings 10.3 ms and basic with extended optimisation brings" in answer
    assert any(text.startswith("**one graph** :gray[eager → unfused]") for text in shown)
    assert not any(one.value.startswith("What each step") for one in open_variants().subheader)

"""Several files a side on the Compare page: dropped together, or ticked into A and B."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from fusescope.analysis.compare.multiple.comparison import compare_several
from fusescope.analysis.errors import FuseScopeError
from fusescope.app.sources import choices, loading, sides
from fusescope.app.state.opened import Opened
from tests.app.pages import address, headline, is_clean, markdown_texts, options, texts
from tests.app.sources.test_uploads import opened
from tests.app.test_compare_page import upload
from tests.app.test_trace_page import SCRIPT as TRACE
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, profile_json, profiles
from tests.patience import GIVE_UP_S

Start = Callable[..., AppTest]
DRIFT = (1.0, 1.2, 1.5, 1.4, 1.1)
BEFORE = {
    name.replace("run", "unfused"): data
    for name, data in profiles(UNFUSED_OPERATORS, DRIFT).items()
}
AFTER = {
    name.replace("run", "fused"): data for name, data in profiles(FUSED_OPERATORS, DRIFT, 1).items()
}


def said(page: AppTest) -> str:
    return " ".join([*texts(page), *markdown_texts(page)])


def test_files_of_two_sides_dropped_together_and_a_link_to_them(start: Start) -> None:
    page = upload(start(), *AFTER.items(), *BEFORE.items())
    assert is_clean(page)
    assert headline(page) == "fused is 1.26× faster than unfused"
    assert options(page, "baseline")[:2] == ["unfused · 5 files", "fused · 5 files"]
    whole = said(page)
    assert "5 pairs of files recorded alternately" in whole
    for names in (BEFORE, AFTER):  # the page lists what stands behind either side
        assert ", ".join(list(names)[:4]) in whole
    page.button(key="swap").click().run()
    assert headline(page) == "unfused is 1.26× slower than fused"
    link = address(page)
    assert link["baseline"].startswith("several:upload:") and link["baseline"].count(",") == 4
    again = start(**link)
    assert is_clean(again) and headline(again) == headline(page)
    for nobody in ("several:", "several:,,", "several:sample:mobilenetv2/unfused,x%00<b>"):
        lost = start(**{**link, "baseline": nobody})
        assert is_clean(lost) and "The link names something that is not here." in said(lost)
    gone = start(**{**link, "baseline": f"{link['baseline']},upload:0123456789ab"})
    assert is_clean(gone) and any("no longer here" in text for text in markdown_texts(gone))


def test_the_pages_variants_and_trace_take_sides_of_several_files(start: Start) -> None:
    """Two groups of five files that were dropped together, on the pages that show any number."""
    before, after = (
        opened(**{name.replace(".", "__"): data for name, data in files.items()})[0]
        for files in (BEFORE, AFTER)
    )
    files = {file.id: file for file in (*before, *after)}
    both = sides.groups(files.values())
    assert both == [sides.id_of([file.id for file in side]) for side in (before, after)]
    labels = [choice.label for choice in choices.of_all(files, ())]
    assert labels[:2] == ["unfused · 5 files", "fused · 5 files"] and len(labels) > 10
    multiple = compare_several(loading.several(both, files))
    assert [side.name for side in multiple.sides] == ["unfused", "fused"]
    assert multiple.comparisons[0].verdict.pairing == "paired_files"
    one = sides.id_of([before[0].id, after[0].id])
    with pytest.raises(FuseScopeError) as refused:
        loading.several([both[0], one], files)
    assert refused.value.code == "file_on_both_sides"

    page = upload(start(), *AFTER.items(), *BEFORE.items())
    link = address(page)
    asked = [link["baseline"], link["candidate"]]
    table = start(folded=True, several="true", variant=asked)
    assert is_clean(table) and "names something that is not here" not in said(table)
    heads = [head.value for head in table.subheader]
    assert "fused is :blue[1.26× faster] than unfused" in heads
    other = AppTest.from_string(TRACE, default_timeout=GIVE_UP_S)
    other.query_params["trace"] = asked[0]
    other.run()
    assert is_clean(other) and "names something that is not here" not in said(other)
    assert headline(other).startswith("A run of unfused takes ")


def test_one_recording_that_is_opened_twice_makes_no_side_of_several_files() -> None:
    """As a sample that is dropped and then opened by its card."""
    data = next(iter(BEFORE.values()))
    other = next(iter(AFTER.values()))
    [file] = opened(eager__json=data)[0]
    sample = replace(file, id="example:eager.json", name="eager.json")
    assert sides.groups([file, sample]) == []
    [second] = opened(eager2__json=other)[0]
    assert sides.groups([file, sample, second]) == [sides.id_of([file.id, second.id])]


def test_files_are_ticked_into_a_and_b(start: Start) -> None:
    other = profile_json((("x/Lstm", "LSTM", 900, [(9, 1, 77)], [(9, 1, 78)]),))
    names = (f"{letter}x.json" for letter in "abcdefghijk")
    files = dict(zip(names, itertools.chain(*zip(BEFORE.values(), AFTER.values())), strict=False))
    page = upload(start(), *files.items(), ("other.json", other))
    ticks = [group for group in page.segmented_control if (group.key or "").startswith("tick_")]
    assert len(ticks) == 11
    for number, group in enumerate(ticks[:10]):
        group.set_value("A" if number % 2 == 0 else "B")
    ticks[10].set_value(None)  # it was the candidate, being the last by name
    page.button(key="ticked").click().run()
    assert is_clean(page)
    assert "5 and 5 files, not paired" in said(page)  # their names do not say when
    assert "do not say when they were recorded" in said(page)
    ticks = [group for group in page.segmented_control if (group.key or "").startswith("tick_")]
    ticks[10].set_value("A")
    page.button(key="ticked").click().run()
    assert is_clean(page)
    assert "The files of one side are of different models" in said(page)


def of(*names: str) -> list[Opened]:
    """Opened profiles of these names."""
    files, _ = opened(p__json=profile_json(FUSED_OPERATORS))
    return [Opened(f"upload:{name}", name, files[0].value) for name in names]


def test_what_is_dropped_together_falls_into_two_sides_by_folder_or_name() -> None:
    def two(*names: str) -> list[list[str]] | None:
        found = sides.two_sides(of(*names))
        return found and [[file.name for file in side] for side in found]

    assert two("b.zip/1.json", "a.zip/1.json", "a.zip/2.json", "b.zip/2.json") == [
        ["a.zip/1.json", "a.zip/2.json"],
        ["b.zip/1.json", "b.zip/2.json"],
    ]
    assert two("new_1.json", "old_1.json", "new_2.json", "old_2.json") is not None
    for names in (
        ("old_1.json", "old_2.json", "new_1.json"),
        ("a.json", "b.json", "c.json", "d.json"),
        ("old_1.json", "old_2.json", "mid_1.json", "mid_2.json", "new_1.json", "new_2.json"),
    ):
        assert two(*names) is None
    baseline, candidate = choices.suggested(
        of("fused_1.json", "fused_2.json", "unfused_1.json", "unfused_2.json")
    )
    assert baseline is not None and candidate is not None
    assert sides.members(baseline) == ("upload:unfused_1.json", "upload:unfused_2.json")
    assert sides.members("several:a%2Cb,c,,c") == ("a,b", "c")
    assert loading.is_upload("several:file:a.json,upload:0123456789ab")

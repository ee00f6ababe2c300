"""The HTML report of one trace: what it says of steps that are known, and that nothing in it can
run or be loaded."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from fusescope.analysis.advice import Subject
from fusescope.analysis.advice.sides import advised
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.report import tables
from fusescope.analysis.report.one_trace.html import trace_html, trace_report_name
from fusescope.analysis.trace import Diagnostic, Meta, Trace
from tests.brackets import untold_words
from tests.factories import UNFUSED_OPERATORS
from tests.report.test_html import COMMENT, IMAGE, SCRIPT, Page, experiment, profile
from tests.report.test_report_languages import Shown
from tests.step_traces import Kernel, steps_of

NORM = Kernel("layer_norm_kernel", 5, "normalisation")
MLP = Kernel("gemm_mlp", 80, "matrix_product")
SLOW = replace(MLP, us=400)


def of_trace(trace: Trace) -> str:
    return trace_html(Subject(side_of_trace(trace)))


@cache
def steps() -> str:
    """Four steps of eight pairs of 85 us; one product takes 400 us once, 320 longer than 31."""
    layers = [[NORM, MLP] * 8, [NORM, MLP] * 3 + [NORM, SLOW] + [NORM, MLP] * 4]
    return of_trace(steps_of([layers[0], layers[1], layers[0], layers[0]]))


def test_what_need_not_be_stands_before_timeline_findings_and_tables() -> None:
    page = Page(steps())
    assert "This is about one trace by itself, " in page.text
    assert "one takes 400 µs, the others 80.0 µs" in page.text, "320 µs in 4 steps are 80 a step"
    [bar] = re.findall(r'<i class="same" style="left:0.00%;width:([\d.]+)%">', steps())
    assert float(bar) == pytest.approx(100 * 80 / (8 * 85 + 80), abs=0.01)
    assert "What cannot be answered" in page.text


def test_a_sample_that_nothing_recorded_is_said_to_be_invented() -> None:
    """The same trace as one of the user's own is said to be recorded, on a day, with a tool."""
    trace = steps_of([[NORM, MLP]])
    side = side_of_trace(replace(trace, meta=replace(trace.meta, started_ns=1_751_000_000 * 10**9)))
    invented = "written by hand to show the format. Its date, profiler and times are invented."
    own, made = (Page(trace_html(Subject(side), is_made=made)).text for made in (False, True))
    assert "It was recorded 2025-06-27 04:53 UTC with " in own and "invented" not in own
    assert invented in made and "It was recorded" not in made


def test_tables_have_the_time_of_a_step_longest_first() -> None:
    page = steps()
    operators = page[page.index('id="operators"') : page.index('id="types"')]
    rows = re.findall(r'title="([^"]+)">[^<]*</th><td class="before">([^<]+)</td>', operators)
    assert rows == [("gemm_mlp", "720"), ("layer_norm_kernel", "40")]
    assert "Total, µs" in operators
    assert "94.7\N{NO-BREAK SPACE}%" in operators, "720 of 760"


def test_rows_are_cut_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fusescope.analysis.report.one_trace.tables.MAX_ROWS", 30)
    many = [Kernel(f"kernel_{number}", 100 - number) for number in range(40)]
    page = Page(of_trace(steps_of([many] * 3)))
    rows = [attributes for attributes in page.of("tr") if "data-row" in attributes]
    assert len(rows) == 30 and tables.VISIBLE_ROWS == 20
    assert "10 more operators" in page.text and "10 more with less time" in page.text


def test_policy_names_exactly_the_scripts_and_nothing_is_loaded() -> None:
    page = Page(steps())
    [policy] = [
        str(meta["content"])
        for meta in page.of("meta")
        if meta.get("http-equiv") == "Content-Security-Policy"
    ]
    run = [text for attributes, text in page.scripts if attributes.get("type") is None]
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in run]
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes and len(hashes) == 3
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    for _, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")]
        assert attributes.get("src") is None
        href = attributes.get("href")
        assert href is None or href.startswith(("#", "data:,"))
    without_namespaces = steps().replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", without_namespaces)


@pytest.mark.parametrize("hostile", [SCRIPT, IMAGE, COMMENT, "\u202egpj.exe", "a\x1b[31m\x7fb"])
def test_hostile_names_stay_text(hostile: str) -> None:
    kernels = [replace(MLP, name=f"{hostile}{number}") for number in range(3)]
    trace = steps_of([kernels] * 3)
    trace = replace(trace, meta=replace(trace.meta, file_name=hostile, device=hostile))
    html = of_trace(trace)
    page = Page(html)
    assert len(page.scripts) == len(Page(steps()).scripts)
    assert not page.of("img") and page.of("title") == [{}]
    assert "\u202e" not in html and "\x1b" not in html
    if hostile in (SCRIPT, IMAGE):
        assert hostile in page.text  # shown as it is


def test_both_languages_are_in_the_file_and_equal_traces_give_equal_bytes(pseudo: Path) -> None:
    page = of_trace(steps_of([[NORM, MLP] * 8] * 3))
    assert page == of_trace(steps_of([[NORM, MLP] * 8] * 3))
    english, other = Shown(page, "en"), Shown(page, "pseudo")
    assert "This is about one trace by itself" in english.text
    assert "⟦" not in english.text and other.text.count("⟦") > 40
    known = "layer_norm_kernel gemm_mlp tSHA µs"
    assert sorted(untold_words([other.text, *filter(None, other.tooltips)], known)) == []


def test_a_variant_is_told_with_its_model_and_beside_its_baseline() -> None:
    page = Page(trace_html(advised(experiment())))
    assert "This is about one variant of " in page.text
    assert page.of("h1") and "A run of fused takes 5.00 ms" in page.text


def test_a_profile_without_start_times_has_no_timeline() -> None:
    trace = profile(UNFUSED_OPERATORS, 3)
    bare = replace(trace, calls=trace.calls.assign(start_ns=None).astype(trace.calls.dtypes))
    html = of_trace(bare)
    assert 'id="timelines"' not in html and 'href="#timelines"' not in html
    assert "a/Conv" in Page(html).text


def test_a_file_that_ends_early_has_no_sums() -> None:
    whole = profile(UNFUSED_OPERATORS, 3)
    trace = replace(whole, diagnostics=(Diagnostic("warning", "cut_short", 1),))
    assert trace.ends_early
    page = Page(of_trace(trace))
    sections = [attributes["id"] for attributes in page.of("section")]
    assert sections == ["verdict", "timelines", "files"]


def test_file_name_is_a_slug() -> None:
    side = side_of_trace(
        replace(profile(UNFUSED_OPERATORS), meta=Meta("x", "t", file_name="../A b.json"))
    )
    assert trace_report_name(side) == "a-b-fusescope.html"

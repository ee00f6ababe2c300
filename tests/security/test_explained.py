"""Hostile names of kernels, frames and annotations in what is said of two traces: rows E1 to E3."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.explanation import explain
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.redaction import redacted_sides
from fusescope.analysis.report.exports.comparison_json import comparison_json
from fusescope.analysis.report.exports.comparison_markdown import comparison_markdown
from fusescope.analysis.report.html import report_html
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame
from fusescope.app.cli.printing.comparison import print_comparison
from tests.app.conftest import start, tree  # noqa: F401
from tests.explained_files import baseline, candidate
from tests.security.planted import CONTROLS, MARKUP
from tests.security.test_pages import assert_no_markup, upload

FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u200b\ud800-\udfff]")
MARKS = {"markup": MARKUP, "controls": CONTROLS, "long": "x" * 100_000, "plain": ""}
each_mark = pytest.mark.parametrize("mark", list(MARKS))


def compared(mark: str) -> Comparison:
    sides = [
        side_of_trace(trace_of(Source(name, data)))
        for name, data in (("a.json", baseline(mark)), ("b.json", candidate(mark)))
    ]
    return compare(*sides)


def trace_of(source: Source) -> Trace:
    value = read(source)
    assert isinstance(value, Trace)
    return value


@each_mark
def test_e1_whatever_names_say_the_changes_are_found(mark: str) -> None:
    explanation = compared(MARKS[mark]).explanation
    assert explanation is not None
    changes = {change.code: change for change in explanation.changes}
    assert changes["added"].change_ns == 8 * 9_000
    assert changes["added"].repeats == 8
    total = sum(change.change_ns for change in explanation.changes) + explanation.rest_ns
    assert total == explanation.unit.change_ns


@pytest.mark.parametrize("mark", ["markup", "controls"])
def test_e1_pages_show_names_as_text(start: Callable[..., AppTest], mark: str) -> None:  # noqa: F811
    page = upload(start(), ("a.json", baseline(MARKS[mark])), ("b.json", candidate(MARKS[mark])))
    assert_no_markup(page)
    # The rows of what changed are drawn by a script of ours, which sets every text as text.
    [drawn] = [
        json.loads(component.proto.json)
        for component in page.get("bidi_component")
        if component.proto.component_name == "fusescope_changes"
    ]
    said = list(strings(drawn))
    assert any("new kernel" in text for text in said) and all(len(text) < 2_000 for text in said)
    assert FORBIDDEN.search("".join(said)) is None


@each_mark
def test_e1_files_that_are_taken_away_hold_no_markup_of_theirs(
    mark: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    comparison = compared(MARKS[mark])
    report = report_html(comparison)
    assert "<img" not in report.split("<script", 1)[0] or mark != "markup"
    markdown = comparison_markdown(comparison)
    assert "<img" not in markdown and "](http" not in markdown
    assert len(markdown) < 60_000
    monkeypatch.setenv("COLUMNS", "2000")
    print_comparison(comparison, [], is_brief=True)
    printed = capsys.readouterr().out
    assert FORBIDDEN.search(printed.replace("\n", "")) is None
    assert printed.count("loud[/]") == printed.count("[bold red]loud")
    assert "new kernel" in printed and len(printed) < 60_000


@each_mark
def test_e1_json_is_bounded_and_without_controls(mark: str) -> None:
    explanation = json.loads(comparison_json(compared(MARKS[mark])))["explanation"]
    texts = list(strings(explanation))
    assert texts and max(map(len, texts)) < 5_000
    assert not [text for text in texts if FORBIDDEN.search(text)]


def strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in strings(each)]
    if isinstance(value, list):
        return [text for each in value for text in strings(each)]
    return [value] if isinstance(value, str) else []


def test_e2_redacted_explanations_name_no_user_and_no_path() -> None:
    plain = compared("")
    assert "alice" in json.dumps(json.loads(comparison_json(plain))["explanation"])
    redacted = compare(*redacted_sides(plain.baseline, plain.candidate))
    for made in (
        comparison_json(redacted).decode(),
        comparison_markdown(redacted),
        html.unescape(report_html(redacted)),
    ):
        assert "alice" not in made and "/home/" not in made
    first, second = plain.explanation, redacted.explanation
    assert first is not None and second is not None
    assert [each.change_ns for each in first.changes] == [each.change_ns for each in second.changes]


COUNT = 2_000  # kernels
RNG = np.random.default_rng(7)


def many(names: list[str], of: np.ndarray, dur_ns: np.ndarray, starts: np.ndarray) -> Trace:
    """A file of one stream without runs, whose kernels have these names, times and starts."""
    count = len(of)
    return Trace(
        Meta("kineto", "test"),
        runs_frame(
            run=[0], kind=["file"], start_ns=[0], profiled=[True],
            dur_ns=[int((starts + dur_ns).max())],
        ),
        operators_frame(
            operator=list(range(len(names))), name=names, op_type=names,
            level=["device_kernel"] * len(names),
        ),
        calls_frame(
            operator=of, run=np.zeros(count, dtype="int64"), device=["0"] * count,
            stream=["7"] * count, start_ns=starts, dur_ns=dur_ns, source_row=np.arange(count),
        ),
    )  # fmt: skip


def in_order(names: list[str], of: np.ndarray, dur_ns: int = 900) -> Trace:
    return many(names, of, np.full(len(of), dur_ns), np.arange(len(of)) * 1_000)


def one_name(dur_ns: int = 900) -> Trace:
    return in_order(["k"], np.zeros(COUNT, dtype="int64"), dur_ns)


def all_different(stem: str, dur_ns: int = 900) -> Trace:
    return in_order([f"{stem}{at}" for at in range(COUNT)], np.arange(COUNT), dur_ns)


def overlapping() -> Trace:
    starts, lasts = (RNG.integers(1, most, COUNT) for most in (1_000, 1_000_000))
    return many(["a", "b", "c"], RNG.integers(0, 3, COUNT), lasts, starts)


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        (one_name(), one_name(), "no_change"),
        (one_name(), one_name(450), "changed"),
        (all_different("k"), all_different("k"), "no_change"),
        (all_different("k"), all_different("q", 450), "not_comparable"),
        (one_name(), in_order(["k"], np.zeros(1, dtype="int64")), "not_comparable"),
        (overlapping(), overlapping(), None),
    ],
    ids=["one name", "one name, faster", "all different", "two models", "one kernel", "overlap"],
)
def test_e3_sizes_that_suit_nobody_end_in_an_honest_answer(
    before: Trace, after: Trace, outcome: str | None
) -> None:
    found = explain(before, after)
    assert found is not None
    assert outcome is None or found.outcome == outcome
    total = sum(change.change_ns for change in found.changes) + found.rest_ns
    assert total == found.unit.change_ns
    assert len(found.changes) < 500

"""Kernels that a compiler left apart, from the file to every place that shows them."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import msgspec
import pytest
from rich.console import Console

from fusescope.analysis.advice import missed_fusions
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.experiment import DerivedReason, Experiment, NotFused
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report import embedded
from fusescope.analysis.report.exports.fusion_json import fusion_values
from fusescope.analysis.report.html import report_html
from fusescope.analysis.wording.fusion.apart import apart, reason_text
from fusescope.app.cli.printing import ledger
from tests.factories import experiment_zip

ROWS = (
    NotFused("Conv_0", "Relu_1", "engine", "intermediate nodes between node1 & node2"),
    NotFused("Relu_1", "Add_2", "engine", "a new <b>reason</b> (%s)"),
    NotFused("Relu_1", "Mul_3", "derived", "library"),
)


def recorded(rows: bytes) -> Experiment:
    data = experiment_zip({"unfused": [20.0] * 6, "fused": [10.0] * 6})
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "experiment.json":
                record = json.loads(content)
                record["variants"][1]["not_fused"] = "not_fused/fused.json"
                content = json.dumps(record).encode()
            new.writestr(name, content)
        new.writestr("not_fused/fused.json", rows)
    value = read(Source("e.zip", out.getvalue()))
    assert isinstance(value, Experiment)
    return value


@pytest.fixture
def comparison() -> Comparison:
    value = recorded(msgspec.json.encode(ROWS))
    return compare(*choose_sides(value, None, "unfused", "fused"))


def test_known_words_are_sentences_and_others_stay_as_they_are(comparison: Comparison) -> None:
    first, second, third = apart(comparison)
    assert first.why.startswith("Other operators lie between the two")
    assert second.why == "“a new <b>reason</b> (%s)”"
    assert (first.said_by, third.said_by) == ("the compiler", "derived")
    assert "library" in third.why
    assert missed_fusions(comparison) is not None


@pytest.mark.parametrize("reason", DerivedReason.__args__)
def test_every_derived_reason_has_a_sentence(reason: str) -> None:
    silent = reason_text(NotFused("a", "b", "derived", "silent"))
    text = reason_text(NotFused("a", "b", "derived", reason))
    assert text.endswith(".") and (text == silent) == (reason == "silent")


def test_report_json_and_terminal_show_them(comparison: Comparison) -> None:
    html = report_html(comparison)
    assert '<section id="apart">' in html
    assert "a new &lt;b&gt;reason&lt;/b&gt; (%s)" in html and "<b>reason" not in html
    values: list[dict[str, Any]] = fusion_values(comparison)["not_fused"]
    assert [(v["first"], v["by"], v["reason"]) for v in values] == [
        (row.first, row.by, row.reason) for row in ROWS
    ]
    out = io.StringIO()
    ledger._print_misses(Console(file=out, width=200), comparison)
    assert "3 pairs of kernels left apart" in out.getvalue()
    assert "Relu_1 and Mul_3, derived: " in out.getvalue()


def test_a_report_that_is_opened_again_has_them(comparison: Comparison) -> None:
    experiment = comparison.candidate.experiment
    assert experiment is not None
    again = read(Source("e.zip", embedded._experiment(experiment, ("unfused", "fused"))))
    assert isinstance(again, Experiment)
    assert again.not_fused == experiment.not_fused == {"fused": ROWS}


def test_a_damaged_part_is_a_note() -> None:
    value = recorded(b"[{]")
    assert value.not_fused == {}
    notes = {note.code for note in value.traces["fused"].diagnostics}
    assert "part_unreadable" in notes

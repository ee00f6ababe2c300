"""Every code that the analysis can give has its words: none falls back to the code itself."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from analysis.compare.timing.verdict import Interval, Verdict
from analysis.metrics.counters import MEASURES
from analysis.wording import CANNOT_TELL, FIGURES, NOISE_UNKNOWN, REASONS, why_not_told
from analysis.wording.diagnostics import _DIAGNOSTICS

ANALYSIS = Path(__file__).resolve().parents[2] / "analysis"
SOURCES = "\n".join(path.read_text(encoding="utf-8") for path in ANALYSIS.rglob("*.py"))


def test_every_diagnostic_has_a_sentence() -> None:
    notes = re.findall(
        r'(?:_note|Diagnostic)\(\s*(?:"(?:info|warning|error)"|"warning" if [^"]+ else "info"),'
        r'\s*"(\w+)"',
        SOURCES,
    )
    grouping = (ANALYSIS / "compare" / "groups" / "grouping.py").read_text(encoding="utf-8")
    notes += re.findall(r'_note\(\s*"(\w+)"', grouping)
    assert {"graph_missing", "boundary_mismatch"} <= set(notes) and len(set(notes)) > 20
    assert set(notes) - set(_DIAGNOSTICS) == set()


def test_every_reason_and_figure_has_words() -> None:
    verdict = (ANALYSIS / "compare" / "timing" / "verdict.py").read_text(encoding="utf-8")
    reasons = set(re.findall(r'"(\w+_\w+)"(?= if|$|\n| else)', verdict))
    assert {"one_process", "within_noise", "within_process_spread"} <= reasons
    known = {*CANNOT_TELL, *NOISE_UNKNOWN, "cannot_tell", "unprofiled_wall"}
    assert reasons - known == set()
    figures = (ANALYSIS / "compare" / "figures.py").read_text(encoding="utf-8")
    given = set(re.findall(r'"((?:no|not|runs|flops)_\w+)"', figures))
    assert "no_graph" in given and given - set(REASONS) == set()
    shown = set(re.findall(r'Figure\(\s*"(\w+)"', figures))
    assert shown | {measure.code for measure in MEASURES} == set(FIGURES)


def test_an_interval_beside_noise_is_explained_only_where_it_excludes_no_change() -> None:
    verdict = Verdict(
        outcome="cannot_tell",
        reason="within_noise",
        of="unprofiled_wall",
        pairing="blocks",
        speedup=1.02,
        interval=Interval(1.004, 1.04),
        noise_floor=None,
        smallest_detectable=0.03,
        samples=(8, 8),
        alpha=0.0221,
    )
    clause = "(a level of 0.022, for all looks and variants together, takes a wider interval"
    assert clause in why_not_told(verdict)
    inside = replace(verdict, interval=Interval(0.99, 1.04))
    assert why_not_told(inside) == CANNOT_TELL["within_noise"]

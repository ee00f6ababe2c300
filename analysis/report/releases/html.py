"""Releases as one HTML file: the table, and each change with its groups before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from fusescope.analysis import units
from fusescope.analysis.colours import report_sheet
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import say
from fusescope.analysis.releases.changes import Change, GroupChange
from fusescope.analysis.releases.history import History
from fusescope.analysis.report.languages import in_every_language, style, switch
from fusescope.analysis.report.pages import asset, template
from fusescope.analysis.report.pictures.group_svg import group_svg
from fusescope.analysis.report.text import unbroken
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.releases import (
    change_lines,
    change_sentence,
    history_sentence,
    model_text,
    skipped_text,
    what_changed,
)
from fusescope.analysis.wording.releases.costs import cost_lines, cost_sentence

MAX_DRAWN = 6  # groups of one change, one of each kind


def releases_html(
    history: History,
    changes: Sequence[Change],
    measured: Mapping[str, Comparison] | None = None,
) -> str:
    """The page in every language. `measured` are comparisons by the newer release of a change."""
    return in_every_language(lambda codes: _page(history, changes, measured or {}, codes))


def drawn_groups(change: Change) -> tuple[GroupChange, ...]:
    """Groups to be drawn: the first of those that are alike, lost ones first, at most MAX_DRAWN."""
    order = {"lost": 0, "split": 1, "won": 2, "joined": 3, "changed": 4}
    first: dict[tuple[str, ...], GroupChange] = {}
    for group in sorted(change.groups, key=lambda one: order[one.what]):
        sides = (group.group.baseline, group.group.candidate)
        key = tuple(f"{at}{one.op_type}" for at, side in enumerate(sides) for one in side)
        first.setdefault(key, group)
    return tuple(first.values())[:MAX_DRAWN]


def _page(
    history: History,
    changes: Sequence[Change],
    measured: Mapping[str, Comparison],
    codes: Sequence[str],
) -> str:
    newest = history.compared[-1].version
    return template("releases.html").render(
        language=codes[0],
        style=Markup(f"{report_sheet()}\n{asset('report.css')}\n{style(codes)}"),
        switch=switch(codes),
        title=say("What releases of {engine:name} make of a model", engine=history.engine),
        subject=model_text(history),
        answer=history_sentence(history, changes),
        rows=list(_rows(history, changes)),
        changes=[_change(history, change, newest, measured) for change in changes],
        command=clean_text(history.command),
        created=history.created,
    )


def _rows(history: History, changes: Sequence[Change]) -> Iterator[dict[str, Any]]:
    by_version = {change.newer: change for change in changes}
    for release in history.releases:
        change = by_version.get(release.version)
        skipped = skipped_text(release)
        told = what_changed(change) if change else ""
        nodes = history.nodes(release)
        yield {
            "version": release.version,
            "nodes": units.MISSING if nodes is None else str(nodes),
            "told": say("left out: {reason}", reason=skipped) if skipped else told,
            "kind": ("bad" if change.is_worse else "good") if change else "",
        }


def _change(
    history: History, change: Change, newest: str, measured: Mapping[str, Comparison]
) -> dict[str, Any]:
    comparison = measured.get(change.newer)
    graphs = [
        history.made_by(history.find(version)).graph for version in (change.older, change.newer)
    ]
    return {
        "versions": (change.older, change.newer),
        "sentence": change_sentence(change, newest),
        "lines": list(map(unbroken, change_lines(change))),
        "cost": "" if comparison is None else unbroken(cost_sentence(comparison)),
        "costs": [] if comparison is None else list(map(unbroken, cost_lines(change, comparison))),
        "groups": [
            [
                Markup(group_svg(graph, names, one.group.inputs, one.group.outputs))
                for graph, names in zip(graphs, one.ran, strict=True)
            ]
            for one in drawn_groups(change)
        ],
    }

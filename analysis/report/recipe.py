"""A recipe's table as lines of text, JSON, CSV, Markdown and one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import pandas as pd
from markupsafe import Markup

from fusescope.analysis.colours import report_sheet
from fusescope.analysis.compare.timing.verdict import Verdict
from fusescope.analysis.messages import language, say
from fusescope.analysis.recipes import Cell, Recipe, RecipeTable, Step
from fusescope.analysis.recipes.notes import FROM_PROFILE
from fusescope.analysis.report.exports.markdown import plain, table_row
from fusescope.analysis.report.exports.table_csv import table_csv
from fusescope.analysis.report.languages import in_every_language, style, switch
from fusescope.analysis.report.method import without_folders
from fusescope.analysis.report.pages import asset, template
from fusescope.analysis.report.text import unbroken
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording import recipes as words
from fusescope.analysis.wording.sentences import verdict_basis

SCHEMA_VERSION = 2
_GRAPH = "graph"


@dataclass(frozen=True)
class Line:
    """One figure: a text for every step, ours and published, and what either rests on. `values`
    and `intervals` are the two parts of `cells`, `missing` says why ours is empty. Texts can come
    from the file, with controls taken out."""

    code: str
    label: str
    definition: str
    cells: tuple[str, ...]
    values: tuple[str, ...]
    intervals: tuple[str, ...]
    missing: tuple[str, ...]
    published: tuple[str, ...]
    basis: str
    published_basis: str

    @property
    def is_published(self) -> bool:
        """Whether others published it for any step."""
        return any(self.published)


def lines(table: RecipeTable) -> tuple[Line, ...]:
    """The table with figures as lines and steps as columns, which fits a page's width."""
    found = []
    for code in table.columns:
        own = [row.cells[code] for row in table.rows]
        told = [table.published_at(row.step.variant) for row in table.rows]
        found.append(
            Line(
                code=code,
                label=words.COLUMNS[code].label,
                definition=words.COLUMNS[code].definition,
                cells=tuple(clean_text(words.cell_text(code, cell)) for cell in own),
                values=tuple(clean_text(words.value_text(code, cell)) for cell in own),
                intervals=tuple(words.interval_text(cell) for cell in own),
                missing=tuple(words.missing_text(cell) for cell in own),
                published=tuple(
                    words.cell_text(code, row.cells[code]) if row and code in row.cells else ""
                    for row in told
                ),
                basis=words.column_basis(table, code),
                published_basis=words.published_basis(table, code),
            )
        )
    if any(row.graph for row in table.rows):
        graphs = tuple(clean_text(words.graph_text(row.graph)) or "–" for row in table.rows)
        nothing = ("",) * len(graphs)
        found.append(
            Line(
                code=_GRAPH,
                label=say("graph"),
                definition=words.GRAPH_HELP.text(),
                cells=graphs,
                values=graphs,
                intervals=nothing,
                missing=nothing,
                published=nothing,
                basis=say("measured"),
                published_basis="",
            )
        )
    return tuple(found)


def recipe_values(recipe: Recipe) -> dict[str, Any]:
    """A recipe's definition as plain values; its texts are English."""
    with language.speaking(language.ENGLISH):
        return _recipe_values(recipe)


def _recipe_values(recipe: Recipe) -> dict[str, Any]:
    return {
        "name": recipe.name,
        "title": recipe.title,
        "question": recipe.question,
        "model": recipe.model,
        "runtime": recipe.runtime,
        "batch": recipe.batch,
        "threads": recipe.threads,
        "blocks": recipe.blocks,
        "rounds": recipe.rounds,
        "baseline": recipe.baseline,
        "steps": [
            {"variant": step.variant, "label": step.label, "adds": step.adds}
            for step in recipe.steps
        ],
        "published": [
            {
                "figure": published.code,
                "unit": published.unit,
                "basis": published.basis,
                "values": dict(published.values),
                "note": published.note or None,
            }
            for published in recipe.published
        ],
        "published_source": recipe.source or None,
        "why_differ": list(recipe.why_differ),
        "seconds": recipe.seconds(),
    }


def table_values(table: RecipeTable) -> dict[str, Any]:
    """A recipe's table as plain values: times ns, sizes bytes, ratios and changes fractions."""
    record = table.experiment.record
    return {
        "schema_version": SCHEMA_VERSION,
        "recipe": recipe_values(table.recipe),
        "file": table.experiment.file_name,
        "sha256": table.experiment.sha256,
        "created": record.created,
        "model": msgspec.to_builtins(record.model),
        "machine": msgspec.to_builtins(record.machine),
        "engine": msgspec.to_builtins(record.engine),
        "settings": msgspec.to_builtins(record.settings),
        "outcome": msgspec.to_builtins(record.outcome),
        "steps": [
            {
                "variant": row.step.variant,
                "label": row.step.label,
                "figures": {
                    code: _cell(row.cells[code], code in FROM_PROFILE) for code in table.columns
                },
                "verdict_first": _verdict(row.first),
                "verdict_previous": _verdict(row.previous),
                "graph": list(row.graph) or None,
            }
            for row in table.rows
        ],
        "notes": [
            {"code": note.code, "doubt": note.is_doubt, "sentence": words.note_sentence(note)}
            for note in table.notes
        ],
    }


def table_json(table: RecipeTable) -> bytes:
    """`table_values` as indented JSON; its texts are English."""
    with language.speaking(language.ENGLISH):
        return msgspec.json.format(msgspec.json.encode(table_values(table)), indent=2)


def recipe_csv(table: RecipeTable) -> bytes:
    """One line a step and figure, ours and published; values in base units, texts in English."""
    with language.speaking(language.ENGLISH):
        return table_csv(pd.DataFrame(_csv_lines(table)))


def _csv_lines(table: RecipeTable) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for row in table.rows:
        rows += [_csv_line(table, "recorded", row.step, code, row.cells) for code in table.columns]
        if row.graph:
            graph = Cell(text=words.graph_text(row.graph))
            line = _csv_line(table, "recorded", row.step, _GRAPH, {_GRAPH: graph})
            rows.append({**line, "basis": "measured", "profiled": False, "setting": None})
    for step in table.recipe.steps:
        told = table.published_at(step.variant)
        cells = told.cells if told is not None else {}
        rows += [_csv_line(table, "published", step, code, cells) for code in cells]
    return rows


def _csv_line(
    table: RecipeTable, source: str, step: Step, code: str, cells: Mapping[str, Cell]
) -> dict[str, Any]:
    return {
        "recipe": table.recipe.name,
        "source": source,
        "step": step.label,
        "variant": step.variant,
        "figure": code,
        "label": words.COLUMNS[code].label if code in words.COLUMNS else code,
        **_cell(cells[code], code in FROM_PROFILE if source == "recorded" else None),
        "text": _unsigned(clean_text(words.cell_text(code, cells[code]))),
    }


def _unsigned(text: str) -> str:
    """Text that a spreadsheet takes for no formula: '+12.1 %' as '12.1 %', with a true minus."""
    return unbroken(text).removeprefix("+")


def recipe_markdown(table: RecipeTable) -> str:
    """The table for a ticket or a wiki: what comes from the file is not interpreted there."""
    recipe, record = table.recipe, table.experiment.record
    out = [
        f"## {plain(recipe.title)}",
        "",
        plain(recipe.question),
        "",
        f"**{plain(words.answer_text(table))}**",
        "",
        plain(verdict_basis(table.answer)),
        "",
        table_row([say("figure"), *map(words.step_text, recipe.steps), say("basis")]),
        table_row(["---", *(["---:"] * len(recipe.steps)), "---"]),
    ]
    for line in lines(table):
        out.append(table_row([line.label, *line.cells, line.basis]))
        if line.is_published:
            out.append(
                table_row(["\u2003" + say("published"), *line.published, line.published_basis])
            )
    file = f"{table.experiment.file_name}, SHA-256 {table.experiment.sha256[:12]}"
    made = plain(clean_text(f"{words.made_text(record)}; {file}"))
    out += ["", plain(words.how_to_read(table)), "", say("On {made}.", made=made), ""]
    doubt = f"**{say('doubt')}:** "
    sentences = [plain(clean_text(words.note_sentence(note))) for note in table.notes]
    notes = [
        (doubt if note.is_doubt else "") + text
        for note, text in zip(table.notes, sentences, strict=True)
    ]
    told = [plain(words.published_line(recipe, published)) for published in recipe.published]
    told += map(plain, words.published_notes(recipe))
    for title, points in (
        (say("Can I trust this?"), notes),
        (say("Published: {source:name}", source=plain(recipe.source)), told),
        (
            say("Why these differ from the published ones") if told else say("How to read it"),
            list(map(plain, recipe.why_differ)),
        ),
    ):
        if points:
            out += [f"### {title}", "", *(f"- {point}" for point in points), ""]
    return "\n".join(out)


def recipe_html(table: RecipeTable) -> str:
    """One page that loads nothing and runs no script; equal tables give equal bytes."""
    return in_every_language(lambda codes: _page(table, codes))


def _page(table: RecipeTable, codes: Sequence[str]) -> str:
    recipe = table.recipe
    return template("recipe.html").render(
        language=codes[0],
        switch=switch(codes),
        recipe=recipe,
        lines=[
            {
                "line": line,
                "cells": [
                    {"text": unbroken(text), "why": why}
                    for text, why in zip(line.cells, line.missing, strict=True)
                ],
                "published": [unbroken(text) for text in line.published],
            }
            for line in lines(table)
        ],
        answer=unbroken(words.answer_text(table)),
        basis=unbroken(verdict_basis(table.answer)),
        how_to_read=words.how_to_read(table),
        made=words.made_text(table.experiment.record),
        file=table.experiment.file_name,
        sha256=table.experiment.sha256[:12],
        notes=[(note.is_doubt, unbroken(words.note_sentence(note))) for note in table.notes],
        published=[unbroken(words.published_line(recipe, one)) for one in recipe.published],
        published_notes=[unbroken(note) for note in words.published_notes(recipe)],
        command=without_folders(table.experiment.record.settings.command),
        style=Markup("\n".join((report_sheet(), asset("report.css"), style(codes)))),
    )


def _cell(cell: Cell, profiled: bool | None) -> dict[str, Any]:
    """`profiled`: whether it rests on times of the profile, None where that is not known."""
    quantity = cell.quantity
    if quantity is None:
        return {"value": None, "low": None, "high": None, "unit": "text", "basis": None,
                "profiled": None, "reason": None, "setting": cell.text or None}  # fmt: skip
    return {
        "value": quantity.value,
        "low": cell.low,
        "high": cell.high,
        "unit": quantity.unit,
        "basis": quantity.basis,
        "profiled": profiled,
        "reason": words.missing_text(cell) or None,
        "setting": None,
    }


def _verdict(verdict: Verdict | None) -> dict[str, Any] | None:
    if verdict is None:
        return None
    return {"outcome": verdict.outcome, "reason": verdict.reason}

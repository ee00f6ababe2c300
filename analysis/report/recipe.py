"""A recipe's table as lines of text, JSON, CSV, Markdown and one HTML file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
import msgspec
import pandas as pd
from markupsafe import Markup

from analysis.compare.verdict import Verdict
from analysis.readers.source import clean_text
from analysis.recipes import Cell, Recipe, RecipeTable
from analysis.report.method import without_folders
from analysis.report.table_csv import table_csv
from analysis.report.text import minus
from analysis.wording import recipes as words

SCHEMA_VERSION = 1
_MOST_CHARS = 4000
_MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\`*_{}[]<>()#+!|~&"})


@dataclass(frozen=True)
class Line:
    """One figure: a text for every step, ours and published, and what it rests on. `missing` says
    why ours is empty. Texts can come from the file, with controls taken out."""

    code: str
    label: str
    definition: str
    cells: tuple[str, ...]
    missing: tuple[str, ...]
    published: tuple[str, ...]
    basis: str

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
                missing=tuple(words.missing_text(cell) for cell in own),
                published=tuple(
                    words.cell_text(code, row.cells[code]) if row and code in row.cells else ""
                    for row in told
                ),
                basis=words.column_basis(table, code),
            )
        )
    if any(row.graph for row in table.rows):
        graphs = tuple(clean_text(words.graph_text(row.graph)) or "–" for row in table.rows)
        nothing = ("",) * len(graphs)
        found.append(Line("graph", "graph", words.GRAPH_HELP, graphs, nothing, nothing, "measured"))
    return tuple(found)


def recipe_values(recipe: Recipe) -> dict[str, Any]:
    """A recipe's definition as plain values."""
    return {
        "name": recipe.name,
        "title": recipe.title,
        "question": recipe.question,
        "model": recipe.model,
        "batch": recipe.batch,
        "threads": recipe.threads,
        "blocks": recipe.blocks,
        "rounds": recipe.rounds,
        "baseline": recipe.baseline,
        "steps": [msgspec.to_builtins(step) for step in recipe.steps],
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
                "figures": {code: _cell(row.cells[code]) for code in table.columns},
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
    """`table_values` as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(table_values(table)), indent=2)


def recipe_csv(table: RecipeTable) -> bytes:
    """One line a step and figure, ours and published; values in base units."""
    rows = []
    sources = [("recorded", row.step.variant, row.cells, table.columns) for row in table.rows]
    sources += [("published", row.variant, row.cells, tuple(row.cells)) for row in table.published]
    labels = {step.variant: step.label for step in table.recipe.steps}
    for source, variant, cells, codes in sources:
        for code in codes:
            values = _cell(cells[code])
            rows.append(
                {
                    "recipe": table.recipe.name,
                    "source": source,
                    "step": labels[variant],
                    "variant": variant,
                    "figure": code,
                    "label": words.COLUMNS[code].label,
                    **values,
                    "text": clean_text(words.cell_text(code, cells[code])),
                }
            )
    return table_csv(pd.DataFrame(rows))


def recipe_markdown(table: RecipeTable) -> str:
    """The table for a ticket or a wiki: what comes from the file is not interpreted there."""
    recipe = table.recipe
    heads = [step.label for step in recipe.steps]
    out = [
        f"## {_plain(recipe.title)}",
        "",
        recipe.question,
        "",
        _row(["", *heads, "basis"]),
        _row(["---", *(["---:"] * len(heads)), "---"]),
    ]
    for line in lines(table):
        out.append(_row([line.label, *line.cells, line.basis]))
        if line.is_published:
            out.append(_row(["  published", *line.published, ""]))
    out += ["", _plain(clean_text(words.made_text(table.experiment.record))), ""]
    out += [f"- {_plain(sentence)}" for sentence in sentences(table)]
    return "\n".join(out) + "\n"


def sentences(table: RecipeTable) -> tuple[str, ...]:
    """Notes, published figures and why they differ, one sentence or line each."""
    recipe = table.recipe
    told = [words.published_line(recipe, published) for published in recipe.published]
    return (
        *(clean_text(words.note_sentence(note)) for note in table.notes),
        *(f"Published: {line}." for line in told),
        *words.published_notes(recipe),
        *recipe.why_differ,
    )


def recipe_html(table: RecipeTable) -> str:
    """One page that loads nothing and runs no script; equal tables give equal bytes."""
    recipe = table.recipe
    return _template().render(
        recipe=recipe,
        lines=[
            {
                "line": line,
                "cells": [
                    {"text": minus(text), "why": why}
                    for text, why in zip(line.cells, line.missing, strict=True)
                ],
                "published": [minus(text) for text in line.published],
            }
            for line in lines(table)
        ],
        made=words.made_text(table.experiment.record),
        file=table.experiment.file_name,
        sha256=table.experiment.sha256[:12],
        notes=[(note.is_doubt, minus(words.note_sentence(note))) for note in table.notes],
        published=[minus(words.published_line(recipe, one)) for one in recipe.published],
        published_notes=[minus(note) for note in words.published_notes(recipe)],
        command=without_folders(table.experiment.record.settings.command),
        style=Markup(_asset("report.css")),
    )


def _cell(cell: Cell) -> dict[str, Any]:
    quantity = cell.quantity
    if quantity is None:
        return {"value": None, "low": None, "high": None, "unit": "text", "basis": "setting",
                "reason": None, "setting": cell.text or None}  # fmt: skip
    return {
        "value": quantity.value,
        "low": cell.low,
        "high": cell.high,
        "unit": quantity.unit,
        "basis": quantity.basis,
        "reason": words.missing_text(cell) or None,
        "setting": None,
    }


def _verdict(verdict: Verdict | None) -> dict[str, Any] | None:
    if verdict is None:
        return None
    return {"outcome": verdict.outcome.replace("_", " "), "reason": verdict.reason}


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(_plain(cell) for cell in cells)} |"


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return text if set(text) <= set("-: ") else text.translate(_MARKDOWN)


def _visible(value: Any) -> Any:
    if isinstance(value, str) and not isinstance(value, Markup):
        return clean_text(value, _MOST_CHARS)
    return value


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.from_string(_asset("recipe.html"))


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")

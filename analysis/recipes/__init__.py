"""The published fusion recipes: what each asks, what it records, and the table that answers it.

    from fusescope.analysis.recipes import RECIPES, find, fit, misfit, recipe_table

`RECIPES` are all of them in the order in which they are shown; `find(name)` is one, or an error
that suggests the nearest. `misfit(recipe, record)` says why an experiment's record is not one of a
recipe's (None: it fits), `fit` raises that. `beside_published(recipe, record)` is a published
figure and ours of it without reading profiles. `recipe_table(recipe, experiment)` is the table:

- `table.columns`: codes of figures, in order; label and definition of each are
  `wording.recipes.COLUMNS[code]`. What no step has and nobody published is left out.
- `table.rows`: one a step, each with `cells[code]` (a Quantity, for ratios with the bounds of its
  95 % interval, or a text) and with the verdicts against the first step and the one before.
- `table.answer`: the verdict on the pair of steps that says most (`recipe.compare`); `table.cut`:
  that of a kernel of one's own against the same cut without it (`recipe.same_cut`).
- `table.published`: rows of the same form with what was published, each beside a step of ours.
- `table.notes`: what the reader must know; `wording.recipes.note_sentence` makes the sentences.

`wording.recipes` has the rest of the words: `answer_parts(recipe, verdict)`, `step_text(step)`,
`cell_text(code, cell)` ('2.43× (2.40× to 2.46×)'), `missing_text(cell)` why it is empty,
`column_basis(table, code)`, `graph_text(row.graph)`, `how_to_read(table)`,
`published_line(recipe, published)` with each change computed both ways, `published_notes(recipe)`,
`made_text(record)` machine and date, `length_text(recipe.seconds())`.

Texts of definitions are our own; labels, op types (`row.graph`), and texts of
cells can come from a file, so they go where nothing is interpreted. `analysis.report.recipe`
makes CSV, JSON, Markdown and HTML of a table; `app.recipes.request` makes what is to be recorded.
"""

from __future__ import annotations

from fusescope.analysis.recipes.beside import beside_published
from fusescope.analysis.recipes.catalogue import RECIPES, find
from fusescope.analysis.recipes.fit import fit, misfit
from fusescope.analysis.recipes.recipe import Published, Recipe, Step
from fusescope.analysis.recipes.table import (
    Cell,
    Note,
    PublishedRow,
    RecipeRow,
    RecipeTable,
    recipe_table,
)

__all__ = [
    "RECIPES",
    "Cell",
    "Note",
    "Published",
    "PublishedRow",
    "Recipe",
    "RecipeRow",
    "RecipeTable",
    "Step",
    "beside_published",
    "find",
    "fit",
    "misfit",
    "recipe_table",
]

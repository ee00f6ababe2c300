"""RecipeTable: what a recipe's experiment says, one row a step, beside what was published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fusescope.analysis.compare import DEFAULT_ASSUMPTIONS, compare
from fusescope.analysis.compare.assumptions import Assumptions, cache_size, tau
from fusescope.analysis.compare.figures import figures
from fusescope.analysis.compare.roofs import under_roofs
from fusescope.analysis.compare.side import Side, side_of_variant
from fusescope.analysis.compare.timing.latency import judge
from fusescope.analysis.compare.timing.verdict import Verdict
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.metrics.small_ops import short_ops, small_ops
from fusescope.analysis.quantity import Quantity
from fusescope.analysis.recipes.cell import Cell
from fusescope.analysis.recipes.fit import fit
from fusescope.analysis.recipes.measures import MEASURES, Context, Figures
from fusescope.analysis.recipes.notes import Note, notes
from fusescope.analysis.recipes.ratios import RATIOS, ratio_cells
from fusescope.analysis.recipes.recipe import Recipe, Step

__all__ = ["Cell", "Note", "PublishedRow", "RecipeRow", "RecipeTable", "recipe_table"]

MAX_GRAPH_NODES = 12  # a longer list of operators says less than their number

_NOT_RECORDED = Quantity(None, "number", "measured", "not_recorded")


@dataclass(frozen=True, eq=False)
class RecipeRow:
    """One step. `cells` has every code of the table's columns. `first` and `previous` compare it
    with the first step and with the one before, None in the first row. `graph` are op types in
    the order in which they run, where the recipe asks for them and they are few."""

    step: Step
    cells: Mapping[str, Cell]
    first: Verdict | None = None
    previous: Verdict | None = None
    graph: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class PublishedRow:
    """What was published beside the step `variant`; only the columns that it has."""

    variant: str
    cells: Mapping[str, Cell]


@dataclass(frozen=True, eq=False)
class RecipeTable:
    """The table; analysis/recipes/__init__.py says how to show it. `answer` compares the pair of
    steps that says most (`recipe.compare`), `cut` a kernel of one's own with the same cut without
    it (`recipe.same_cut`), None where there is none."""

    recipe: Recipe
    experiment: Experiment
    columns: tuple[str, ...]
    rows: tuple[RecipeRow, ...]
    answer: Verdict
    published: tuple[PublishedRow, ...] = ()
    notes: tuple[Note, ...] = ()
    cut: Verdict | None = None

    def published_at(self, variant: str) -> PublishedRow | None:
        """What was published beside that step."""
        return next((row for row in self.published if row.variant == variant), None)


def recipe_table(
    recipe: Recipe, experiment: Experiment, assumptions: Assumptions = DEFAULT_ASSUMPTIONS
) -> RecipeTable:
    """The table of a recipe from its experiment.

    Figures are those of comparisons (analysis/compare/figures.py): each step's side of the
    comparison with the first step. Raises FuseScopeError where the experiment does not fit.
    """
    fit(recipe, experiment.record, experiment.file_name)
    sides = [side_of_variant(experiment, name) for name in recipe.variants]
    first = [None, *(judge(sides[0], side) for side in sides[1:])]
    previous = [None, *(judge(before, side) for before, side in pairwise(sides))]
    known = _figures(sides, first, assumptions)
    rows = []
    for at, (step, side) in enumerate(zip(recipe.steps, sides, strict=True)):
        context = Context(side, sides[0], known[at], known[0], assumptions)
        cells = ratio_cells(first[at], previous[at])
        for code in recipe.columns:
            if code in MEASURES:
                cells[code] = MEASURES[code](context)
            elif code not in RATIOS:
                cells[code] = Cell(_own(code, step, recipe, known[at]))
        graph = _graph(side) if recipe.graph else ()
        rows.append(RecipeRow(step, cells, first[at], previous[at], graph))
    published = _published(recipe)
    told = {code for row in published for code in row.cells}
    columns = tuple(
        code
        for code in recipe.columns
        if code in told or not all(row.cells[code].is_empty for row in rows)
    )
    of = dict(zip(recipe.variants, sides, strict=True))
    answer = compare(of[recipe.compare[0]], of[recipe.compare[1]], assumptions)
    pair = recipe.same_cut
    cut = None if pair is None else judge(of[pair[0]], of[pair[1]])
    cells_of = {row.step.variant: row.cells for row in rows}
    return RecipeTable(
        recipe,
        experiment,
        columns,
        tuple(rows),
        answer.verdict,
        published,
        notes(recipe, experiment, cells_of, known, answer),
        cut,
    )


def _figures(
    sides: Sequence[Side], verdicts: Sequence[Verdict | None], assumptions: Assumptions
) -> list[Figures]:
    """The figures of each side in its comparison with the first, by code."""
    bound = [float(tau(assumptions, sides[0], side).value or 0.0) for side in sides]
    small = [small_ops(side.trace) for side in sides]
    short = [short_ops(side.trace, tau_ns) for side, tau_ns in zip(sides, bound, strict=True)]
    under = [under_roofs(assumptions, side) for side in sides]
    found: list[Figures] = []
    for at, verdict in enumerate(verdicts):
        if verdict is None:
            continue
        compared = figures(
            sides[0],
            sides[at],
            verdict,
            (small[0], small[at]),
            (short[0], short[at]),
            (under[0], under[at]),
            cache_size(assumptions, sides[0], sides[at]),
        )
        if not found:
            found.append({figure.code: figure.baseline for figure in compared})
        found.append({figure.code: figure.candidate for figure in compared})
    return found


def _own(code: str, step: Step, recipe: Recipe, known: Figures) -> Quantity:
    """A figure of a comparison; how often the baseline agrees with itself is not a measurement."""
    if code.startswith("agreement") and step.variant == recipe.baseline:
        return Quantity(None, "fraction", "measured", "is_baseline")
    return known.get(code, _NOT_RECORDED)


def _graph(side: Side) -> tuple[str, ...]:
    nodes = side.graph.nodes if side.graph is not None else ()
    return tuple(node.op_type for node in nodes) if len(nodes) <= MAX_GRAPH_NODES else ()


def _published(recipe: Recipe) -> tuple[PublishedRow, ...]:
    """One row for each step beside which something stands in a column of the recipe."""
    found: dict[str, dict[str, Cell]] = {}
    for figure in recipe.published:
        if figure.code in recipe.columns:
            for variant, value in figure.values:
                quantity = Quantity(value, figure.unit, figure.basis)
                found.setdefault(variant, {})[figure.code] = Cell(quantity)
    order = [name for name in recipe.variants if name in found]
    return tuple(PublishedRow(name, found[name]) for name in order)

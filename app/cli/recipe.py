"""`fusescope recipe`: list the published recipes, or record one and print its table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fusescope.analysis.messages import listed, say
from fusescope.app.cli import streams
from fusescope.app.cli.limits import LimitOption
from fusescope.app.cli.recording import run as recording_run

if TYPE_CHECKING:
    from rich.console import Console

    from fusescope.analysis.experiment import Experiment
    from fusescope.analysis.recipes import Recipe, RecipeTable

Writer = Callable[["RecipeTable"], bytes]


def recipe(
    name: Annotated[
        str | None, typer.Argument(help="A recipe of the list that fusescope recipe prints.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.zip", help="Experiment file. Default: ./NAME-DATE.zip; never overwrites."
        ),
    ] = None,
    blocks: Annotated[
        int | None,
        typer.Option(
            help="Blocks, each of fresh processes; below 5 there is no interval. Default: the "
            "recipe's."
        ),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Time budget: rounds shrink to fit, then blocks.")
    ] = None,
    from_: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE.zip", help="Print the table of this experiment."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON (docs/recipes.md).")] = False,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write the table as CSV.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the table as a page.")
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", metavar="FILE", help="Write the table as Markdown."),
    ] = None,
    limit: LimitOption = None,  # in force by now
) -> None:
    """List the published fusion recipes, or record one and print its table."""
    from fusescope.analysis.errors import FuseScopeError
    from fusescope.analysis.recipes import find, recipe_table
    from fusescope.analysis.report.recipe import (
        recipe_csv,
        recipe_html,
        recipe_markdown,
        table_json,
    )
    from fusescope.app.cli.writing.outputs import refuse_lost, write_whole

    if name is None:
        given = {"--out": out, "--blocks": blocks, "--seconds": seconds, "--from": from_,
                 "--csv": csv, "--html": html, "--markdown": markdown}  # fmt: skip
        _refuse(given, "option_needs_recipe")
        _list(as_json=json)
        return
    chosen = find(name)
    writers: dict[Path, tuple[str, Writer]] = {}
    asked: tuple[tuple[str, Path | None, Writer], ...] = (
        ("--csv", csv, recipe_csv),
        ("--html", html, lambda table: recipe_html(table).encode()),
        ("--markdown", markdown, lambda table: recipe_markdown(table).encode()),
    )
    for option, file, write in asked:
        if file in writers:
            first = writers[file][0]
            raise FuseScopeError("options_name_one_file", first=first, second=option)
        if file is not None:
            writers[file] = (option, write)
    refuse_lost({option: path for path, (option, _) in writers.items()}, (from_, out))
    for path, (option, _) in writers.items():
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise FuseScopeError("output_folder_missing", where=str(path), option=option)
    if from_ is not None:
        given = {"--out": out, "--blocks": blocks, "--seconds": seconds}
        _refuse(given, "option_of_recordings")
        path = from_
    else:
        path = _record(chosen, out, blocks, seconds)
    table = recipe_table(chosen, _experiment(path))
    for file, (option, made) in writers.items():
        write_whole(file, made(table), option=option, code="table_unwritable")
    if json:
        streams.write_json(table_json(table))
        return
    _print(table)
    _print_next(chosen, path, writers)


def _refuse(
    given: Mapping[str, object], code: Literal["option_needs_recipe", "option_of_recordings"]
) -> None:
    from fusescope.analysis.errors import FuseScopeError

    for option, value in given.items():
        if value is not None:
            raise FuseScopeError(code, option=option)


def _record(recipe: Recipe, out: Path | None, blocks: int | None, seconds: float | None) -> Path:
    from fusescope.app.recipes.request import recording

    path = out if out is not None else Path(f"{recipe.name}-{date.today():%Y-%m-%d}.zip")
    try:
        job = recording(recipe, path, blocks=blocks, seconds=seconds)
    except ImportError as error:
        raise recording_run.missing_package(error) from None
    return recording_run.run(job)


def _experiment(path: Path) -> Experiment:
    from fusescope.analysis import experiment
    from fusescope.analysis.errors import FuseScopeError
    from fusescope.analysis.readers import read_path
    from fusescope.app.sources import places

    value = read_path(path, places.limits())
    if not isinstance(value, experiment.Experiment):
        raise FuseScopeError("profile_instead_of_experiment", where=path.name)
    return value


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def _list(*, as_json: bool) -> None:
    from fusescope.analysis.recipes import RECIPES
    from fusescope.analysis.wording.recipes import length_text, step_text

    if as_json:
        import msgspec

        from fusescope.analysis.report.recipe import SCHEMA_VERSION, recipe_values

        values = {"schema_version": SCHEMA_VERSION, "recipes": [recipe_values(r) for r in RECIPES]}
        streams.write_json(msgspec.json.format(msgspec.json.encode(values), indent=2))
        return
    from rich.padding import Padding

    console = _console()
    for one in RECIPES:
        length = length_text(one.seconds())
        title = say("{recipe:name}  {length}, estimated", recipe=one.name, length=length)
        console.print(title, style="bold")
        console.print(Padding(one.question, (0, 0, 0, 2)))
        steps = " → ".join(map(step_text, one.steps))
        console.print(
            Padding(say("{label}: {text}", label=one.model, text=steps), (0, 0, 1, 2)), style="dim"
        )
    console.print(say("The times are estimated from the work at assumed rates."), style="dim")
    console.print(say("Run one: {command:name}", command="fusescope recipe NAME"))


def _print(table: RecipeTable) -> None:
    from rich.table import Table

    from fusescope.analysis.report.recipe import lines
    from fusescope.analysis.text import clean_text
    from fusescope.analysis.wording import recipes as words
    from fusescope.analysis.wording.quantities import MISSING
    from fusescope.analysis.wording.sentences import verdict_basis

    recipe = table.recipe
    console = _console()
    console.print(recipe.title, style="bold")
    console.print(recipe.question)
    console.print(f"\n{words.answer_text(table)}", style="bold")
    console.print(verdict_basis(table.answer))
    console.print(clean_text(words.made_text(table.experiment.record)) + "\n", style="dim")
    shown = Table(box=None, pad_edge=False, header_style="dim")
    shown.add_column("")
    for step in recipe.steps:
        shown.add_column(words.step_text(step, "\n"), justify="right", overflow="fold")
    shown.add_column(say("basis"), style="dim")
    missing: dict[str, list[str]] = {}
    for line in lines(table):
        if set(line.cells) == {"–"} and not line.is_published:
            missing.setdefault(line.basis, []).append(line.label)
            continue
        shown.add_row(line.label, *line.cells, line.basis)
        if line.is_published:
            label = f"  {say('published')}"
            shown.add_row(label, *line.published, line.published_basis, style="italic dim")
    console.print(shown)
    for why, labels in missing.items():
        console.print(MISSING.text(figures=listed(labels), reason=why), style="dim")
    console.print(words.how_to_read(table), style="dim")
    if recipe.published:
        title = say("Published: {source:name}", source=recipe.source)
        console.print(f"\n{title}", style="bold")
        for published in recipe.published:
            console.print(f"- {words.published_line(recipe, published)}")
        for odd in words.published_notes(recipe):
            console.print(f"- {odd}")
    if recipe.why_differ:
        why = say("Why these differ from the published ones")
        title = why if recipe.published else say("How to read it")
        console.print(f"\n{title}", style="bold")
        for sentence in recipe.why_differ:
            console.print(f"- {sentence}")
    if table.notes:
        console.print("\n" + say("Can I trust this?"), style="bold")
        for note in table.notes:
            mark = "!" if note.is_doubt else "-"
            console.print(f"{mark} {clean_text(words.note_sentence(note))}")


def _print_next(recipe: Recipe, path: Path, written: dict[Path, tuple[str, Writer]]) -> None:
    import shlex

    for file in written:
        print(f"\n{say('Written: {file:name}', file=str(file))}")
    shown = shlex.quote(recording_run.relative(path.absolute()))
    baseline, candidate = recipe.compare
    command = f"fusescope compare {shown} --baseline {baseline} --candidate {candidate}"
    print(f"\n{shown}\n{say('Next: {command:name}', command=command)}")

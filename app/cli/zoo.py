"""`fusescope zoo`: the models that are built in."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from fusescope.analysis.messages import say
from fusescope.app.cli import interruption
from fusescope.app.cli.recording import run as recording_run

if TYPE_CHECKING:
    from rich.console import Console

zoo = typer.Typer(help="List the built-in models, or export one as an ONNX file.")


@zoo.callback(invoke_without_command=True)
def listing(context: typer.Context) -> None:
    """List the built-in models, or export one as an ONNX file."""
    if context.invoked_subcommand is not None:
        return
    from rich.console import Console
    from rich.table import Table

    from fusescope.analysis import units

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(say("Model"), no_wrap=True)
    table.add_column(say("Nodes"), justify="right")
    table.add_column(say("Weights"), justify="right", no_wrap=True)
    table.add_column(say("File"), justify="right", no_wrap=True)
    table.add_column(say("What it is"))
    for entry in _catalogue().entries():
        table.add_row(
            entry.model.name,
            units.count(entry.model.nodes),
            units.count(entry.model.weights),
            units.data_size(entry.file_bytes),
            entry.model.description.text(),
        )
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(table)
    console.print(
        say(
            "A model is built when it is first used, and then kept ({dash}: not yet).",
            dash=units.MISSING,
        ),
        style="dim",
    )
    _print_torch(console)


def _print_torch(console: Console) -> None:
    """The built-in models of torch, which no ONNX file is made of."""
    from rich.table import Table

    from fusescope.collectors.torch.names import BUILT_IN, PREFIX

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(say("Model for torch"), no_wrap=True)
    table.add_column(say("What it is"))
    for name, description in BUILT_IN.items():
        table.add_row(f"{PREFIX}{name}", description.text())
    console.print()
    console.print(table)
    command = f"fusescope collect {PREFIX}{next(iter(BUILT_IN))} --runtime torch"
    console.print(say("Record one: {command:name}", command=command), style="dim")


@zoo.command(help="Write a built-in model to an ONNX file.")
def export(
    name: Annotated[str, typer.Argument(help="A model of the list that fusescope zoo prints.")],
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.onnx", help="File to write, or a folder for it; never overwrites."
        ),
    ],
    backbone: Annotated[
        str | None, typer.Option(help="Backbone of deeplabv3plus: mobilenetv2 or resnet50.")
    ] = None,
    batch: Annotated[
        int | None, typer.Option(help="Fix the samples per run; open by default.")
    ] = None,
) -> None:
    """Write a built-in model to an ONNX file."""
    import shlex

    interruption.heed()
    catalogue = _catalogue()
    path: Path = catalogue.export(catalogue.chosen(name, backbone), file, batch=batch)
    shown = shlex.quote(recording_run.relative(path))
    print(f"{shown}\n{say('Next: {command:name}', command=f'fusescope collect {shown}')}")


def _catalogue() -> ModuleType:
    try:
        from fusescope.collectors.zoo import catalogue
    except ImportError as error:
        raise recording_run.missing_package(error) from None
    return catalogue

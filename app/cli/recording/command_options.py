"""Options of `fusescope collect --command`."""

from __future__ import annotations

from typing import Annotated

import typer

Command = Annotated[
    str | None,
    typer.Option(
        metavar="'PROGRAM …'",
        help="Record this command in place of a model: each variant is a setting of its "
        "environment or arguments, each run a process of its own. It runs with your rights, in "
        "this folder, and without a shell.",
    ),
]
Env = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=V1,V2",
        help="Values of a variable of its environment; an empty one takes the variable out. "
        "Several of --env and --arg combine, into 16 variants at most; the first value of each "
        "makes the baseline.",
    ),
]
Arg = Annotated[
    list[str] | None,
    typer.Option(
        metavar="--name=V1,V2",
        help="Values of an argument that follows those of the command, or whole arguments "
        "('--one,--other 2'); an empty value leaves it out.",
    ),
]
Names = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,…",
        help="Names of the variants in the order of the combinations, the first option varying "
        "slowest. Default: made of the values.",
    ),
]
Trace = Annotated[
    str | None,
    typer.Option(
        metavar="PATTERN",
        help="The trace that it writes, in any format of docs/formats.md: a pattern below the "
        "folder that FUSESCOPE_TRACE_DIR names in its environment and {trace_dir} in the command, "
        "new for each run. Default: all that lies there. './…' is below this folder.",
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="The time that it prints: the text around the number, as in 'throughput: {value} "
        "tok/s'; or re:EXPRESSION with one group; or json:key.key, json:FILE.json:key.key. "
        "Default: wall, the wall time of a run.",
    ),
]
Unit = Annotated[
    str | None,
    typer.Option(
        metavar="UNIT",
        help="Unit of the number, where the text does not say it: ms, ms/step, tok/s.",
    ),
]
ProfileEnv = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="What has it profile: set in one run of each variant and in none that is timed.",
    ),
]
ProfileArg = Annotated[
    str | None,
    typer.Option(
        metavar="'--profile …'",
        help="Likewise as arguments. Without both, the runs that are timed are profiled.",
    ),
]
Shell = Annotated[
    bool,
    typer.Option(
        "--shell",
        help="Have /bin/sh run the command, which may then have pipes and variables.",
    ),
]

"""What a user asks for who has a command recorded, and the plan that it comes to."""

from __future__ import annotations

import hashlib
import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.commands import traces
from fusescope.collectors.commands.printed import TimeReading, time_reading
from fusescope.collectors.commands.private import Secrets
from fusescope.collectors.commands.variation import (
    CommandVariant,
    environment_choices,
    split_command,
    variants_of,
)

SHELL = "/bin/sh"
_ASSIGNED = re.compile(r"\w+=")  # before the program, for a shell


@dataclass(frozen=True)
class CommandPlan:
    """A recording of a command with everything found that it names: `words` are those of the
    command, `name` is what it is called, and `profiling` what is set in the runs that are
    profiled, beside `profiling_words`; both empty where every run is. `secrets` hides those that
    were given."""

    name: str
    words: tuple[str, ...]
    secrets: Secrets
    variants: tuple[CommandVariant, ...]
    baseline: str
    reading: TimeReading
    profiling: Mapping[str, str | None]
    profiling_words: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Those of the variants."""
        return tuple(one.name for one in self.variants)

    @property
    def is_profiled_apart(self) -> bool:
        """Whether the runs that are timed are not the ones that are profiled."""
        return bool(self.profiling or self.profiling_words)

    @property
    def sha256(self) -> str:
        """Of the command without secrets, and of the files of this folder that it names."""
        digest = hashlib.sha256(shlex.join(self.secrets.words(self.words)).encode())
        for word in self.words:
            path = Path(word)
            if len(word) < 4096 and "\0" not in word and path.suffix and path.is_file():
                digest.update(path.read_bytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class CommandRecording:
    """What to record. `command` is split as a shell would, and run by one only with `shell`.

    `environment` and `arguments` are the texts of --env and --arg, whose values combine; `names`
    are those of the variants in that order, none: made of the values. `trace` is where a run leaves
    its trace: a pattern below its own folder, all of it for ''. `time` says where the time stands
    in what it prints (printed.time_reading), `unit` in which unit. `profile_environment` and
    `profile_arguments` are set in runs that are profiled, and in no other; with neither, every run
    is. `run_timeout` is how long one run may take, in seconds. Code is run, so only the command
    line makes one.
    """

    command: str
    environment: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    baseline: str | None = None
    trace: str = ""
    time: str = "wall"
    unit: str = ""
    profile_environment: tuple[str, ...] = ()
    profile_arguments: str = ""
    shell: bool = False
    out: Path | None = None
    blocks: int | None = None
    rounds: int | None = None
    seconds: float | None = None
    seed: int = 0
    run_timeout: float = 3600.0
    typed: str = ""

    @property
    def secrets(self) -> Secrets:
        """Those that the user gave, wherever they stand."""
        made = Secrets()
        for line in (self.command, self.profile_arguments):
            made.line(line)
        for setting in (*self.environment, *self.arguments, *self.profile_environment):
            made.setting(setting)
        return made

    def plan(self, secrets: Secrets | None = None) -> CommandPlan:
        """What is certain before anything runs; `secrets` are those that nobody may see. Raises
        FuseScopeError for what cannot be done."""
        secrets = secrets or self.secrets
        words = split_command(self.command)
        name = _name(secrets.words(words))
        if self.shell:
            words = (SHELL, "-c", f'{self.command} "$@"', SHELL)
        found = variants_of(self.environment, self.arguments, self.names)
        names = [one.name for one in found]
        for number, one in enumerate(names, start=1):
            if secrets.hidden(one) != one:
                raise FuseScopeError("command_name_secret", number=number)
        if self.baseline is not None and self.baseline not in names:
            raise FuseScopeError(
                "baseline_not_recorded", baseline=self.baseline[:60], variants=", ".join(names)
            )
        self._check_numbers()
        traces.check_pattern(self.trace)
        return CommandPlan(
            name=name,
            words=words,
            secrets=secrets,
            variants=found,
            baseline=self.baseline or names[0],
            reading=time_reading(self.time, self.unit),
            profiling=_settings(self.profile_environment),
            profiling_words=split_command(self.profile_arguments) if self.profile_arguments else (),
        )

    def _check_numbers(self) -> None:
        for option, maximum, value in (
            ("--blocks", 1000, self.blocks),
            ("--rounds", 100, self.rounds),
            ("--seed", 1 << 32, self.seed),
        ):
            smallest = 0 if option == "--seed" else 1
            if value is not None and not smallest <= value <= maximum:
                raise FuseScopeError(
                    "number_out_of_range",
                    option=option,
                    given=value,
                    smallest=smallest,
                    largest=maximum,
                )
        for option, amount in (("--seconds", self.seconds), ("--timeout", self.run_timeout)):
            if amount is not None and not 0 < amount < math.inf:
                raise FuseScopeError("number_too_small", option=option, given=f"{amount:g}")


def recorded_value(secrets: Secrets, variable: str, value: str | None) -> str:
    """Return what a file says of a variable: its value, nothing of a secret, '' where it is not
    set."""
    return "" if value is None else secrets.setting(f"{variable}={value}").partition("=")[2]


def _settings(texts: tuple[str, ...]) -> dict[str, str | None]:
    """Variables with one value each, by name."""
    made: dict[str, str | None] = {}
    for text in texts:
        choices = environment_choices(text)
        if len(choices) != 1:
            raise FuseScopeError("command_profile_values", given=text[:60])
        made[choices[0].variable] = choices[0].value
    return made


def _name(words: tuple[str, ...]) -> str:
    """What a command is called: its script or module, else its program."""
    own = [word for word in words if not _ASSIGNED.match(word)]
    program, *arguments = own or ["command"]
    for before, word in zip((program, *arguments), arguments, strict=False):
        if before == "-m":
            return word[:60]
        if word.endswith((".py", ".sh")):
            return Path(word).stem[:60]
    return Path(program).name[:60] or "command"

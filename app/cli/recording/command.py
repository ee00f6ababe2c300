"""The command that made a recording, as it stands in the file: files travel, folders do not."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence

NAMED_TENSORS = ("--shape", "--input-range")  # their values are NAME=…
_WHOLE = (*NAMED_TENSORS, "--names", "--trace", "--time", "--unit")  # whose values are no paths
_LINES = ("--command", "--profile-arg")
_SETTINGS = ("--env", "--arg", "--profile-env")
_OF_VARIANTS = ("--variants", "--base", "--baseline", "--head", "--candidate")


def typed_command(arguments: Sequence[str] | None = None) -> str:
    """Return the command as it was typed, with the last part of each path in place of it, and
    without values of secrets."""
    from fusescope.collectors.commands.private import Secrets  # not for every verb

    words = sys.argv[1:] if arguments is None else arguments
    kept, secrets = [], Secrets()

    def of_command(option: str, value: str) -> str:
        return secrets.setting(value) if option in _SETTINGS else secrets.line(value)

    for before, argument in zip(["", *words], words, strict=False):
        option, equals, value = argument.partition("=")
        if before in _WHOLE or (equals and option in _WHOLE):
            kept.append(argument)  # a '/' in there belongs to the name of a tensor, or to a rate
        elif before in _LINES or before in _SETTINGS:
            kept.append(of_command(before, argument))
        elif equals and (option in _LINES or option in _SETTINGS):
            kept.append(f"{option}={of_command(option, value)}")
        elif before in _OF_VARIANTS:
            kept.append(_variants(argument))
        elif option in _OF_VARIANTS and equals:
            kept.append(f"{option}={_variants(value)}")
        elif equals and option.startswith("--"):
            kept.append(f"{option}={_last_part(value)}")
        else:
            kept.append(_last_part(argument))
    return shlex.join(["fusescope", *secrets.words(kept)])


def _variants(listed: str) -> str:
    """The variants with each file's name in place of its path."""
    cut = []
    for name in listed.split(","):
        kind, colon, path = name.partition(":")
        cut.append(f"{kind}{colon}{_last_part(path)}" if colon else _last_part(name))
    return ",".join(cut)


def _last_part(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]

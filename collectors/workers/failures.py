"""What a worker's failure is on its way to the process that asked: a code, where, and values."""

from __future__ import annotations

from typing import cast

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Said
from fusescope.analysis.messages.carried import Carried, carried, shown
from fusescope.analysis.messages.errors import ErrorCode


class Failure(msgspec.Struct):
    """A FuseScopeError as JSON has it."""

    code: str
    where: Carried
    values: dict[str, Carried]


def failure_of(error: FuseScopeError) -> Failure:
    """The error, to be sent."""
    values = {name: carried(value) for name, value in error.values.items()}
    return Failure(error.code, carried(error.where), values)


def error_of(failure: Failure, where: str) -> FuseScopeError:
    """The error that was sent; `where` stands for the place of one that names none."""
    place = cast(str | Said | None, shown(failure.where))
    values = {name: shown(value) for name, value in failure.values.items()}
    return FuseScopeError(cast(ErrorCode, failure.code), where=place or where, **values)

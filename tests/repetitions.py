"""Repetitions: which parameters of a test `make test` runs, and which only --exhaustive."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import pytest


def few(values: Iterable[Any], chosen: Container[Any]) -> list[Any]:
    """Parameters of a test, of which those that are not `chosen` run with --exhaustive."""
    others = pytest.mark.exhaustive
    return [pytest.param(value, marks=() if value in chosen else others) for value in values]

"""Changes planted into a made trace, read from the file and explained: each is named with its
time."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.explanations import made
from benchmarks.explanations.__main__ import judge
from benchmarks.explanations.plants import PLANTS

NOT_HERE = {"fewer_layers", "more_layers"}  # of a file with several steps each would lack one


@pytest.mark.parametrize("name", sorted(PLANTS.keys() - NOT_HERE))
def test_a_planted_change_is_named_with_its_time(name: str, tmp_path: Path) -> None:
    row = judge("made", made.document(), name, tmp_path)
    assert row is not None
    assert row.is_right, row.sentence


@pytest.mark.parametrize("name", sorted(NOT_HERE))
def test_layers_cannot_be_planted_into_one_of_several_steps(name: str, tmp_path: Path) -> None:
    assert judge("made", made.document(), name, tmp_path) is None

"""Writes what the landing page says of the samples: `make cards`, after a sample or a sentence has
changed. `tests/report/test_sample_card.py` computes it again and compares."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from fusescope.analysis.advice import Subject
from fusescope.analysis.advice.explanation import explain_subject
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import side_of
from fusescope.analysis.compare.side import Side
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.readers import read_path
from fusescope.analysis.report.sample_card import (
    FILE,
    Card,
    Cards,
    card_of_comparison,
    card_of_trace,
)
from fusescope.app.sources import examples, places
from fusescope.app.sources.examples import Example


def cards() -> Cards:
    """Return the card of every example."""
    return Cards({example.name: card(example) for example in examples.EXAMPLES})


def card(example: Example) -> Card:
    """Return what one example shows: a pair compared, a trace by itself."""
    sides = [_side(id_) for id_ in example.ids]
    if len(sides) == 2:
        return card_of_comparison(compare(sides[0], sides[1]))
    explained = explain_subject(Subject(sides[0]))
    if explained is None:
        raise SystemExit(f"{example.name} has nothing that could be explained")
    return card_of_trace(explained)


def _side(id_: str) -> Side:
    path = examples.path_of(id_)
    if path is not None:
        return side_of(read_path(path, above=False), None)
    name, _, variant = id_.partition(":")[2].partition("/")
    value = read_path(places.samples()[name])
    assert isinstance(value, Experiment)
    return side_of(value, variant)


def encoded() -> bytes:
    """Return the file as it is written."""
    return msgspec.json.format(msgspec.json.encode(cards()), indent=1) + b"\n"


if __name__ == "__main__":
    (places.SAMPLES / FILE).write_bytes(encoded())

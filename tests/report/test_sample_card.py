"""Cards of samples: what the file beside the samples says is what FuseScope computes today."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.sample_card import FILE, Cards, card_of_comparison
from fusescope.app.sources import examples, places
from scripts.sample_cards import cards
from tests.factories import experiment_zip


def test_the_file_says_what_is_computed(translations: Path) -> None:
    """`make cards` writes it anew."""
    kept = msgspec.json.decode((places.SAMPLES / FILE).read_bytes(), type=Cards)
    assert kept == cards()


def test_every_example_has_files_and_both_languages() -> None:
    kept = msgspec.json.decode((places.SAMPLES / FILE).read_bytes(), type=Cards)
    assert set(kept.cards) == {example.name for example in examples.EXAMPLES}
    for card in kept.cards.values():
        for said in (card.lead, card.cause):
            assert set(said) == {"en", "zh"}
            assert all("".join(piece.text for piece in pieces).strip() for pieces in said.values())
        assert sum(bar.ns for bar in card.bars) > 0


def test_a_card_of_two_sides() -> None:
    """8 blocks of 10 and of 5 ms: the verdict, what fusion brought, and both times."""
    data = experiment_zip({"unfused": [10.0] * 8, "fused": [5.0] * 8})
    card = card_of_comparison(compare(*choose_sides(read(Source("e.zip", data)))))
    assert "".join(piece.text for piece in card.lead["en"]) == "fused is 2.00× faster than unfused"
    assert [(bar.name, bar.role) for bar in card.bars] == [
        ("unfused", "baseline"),
        ("fused", "candidate"),
    ]
    assert [bar.ns for bar in card.bars] == pytest.approx([10e6, 5e6], rel=1e-3)
    assert {piece.role for piece in card.lead["en"]} == {"name", "text", "number"}

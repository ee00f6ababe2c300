"""Places of a change: the same stretch of both traces, worked out by hand."""

from __future__ import annotations

from fusescope.analysis.compare.explanation import explain
from fusescope.analysis.compare.explanation.explanation import Change, ChangeCode, Explanation
from fusescope.analysis.compare.explanation.places import (
    Place,
    Places,
    ShownPair,
    ShownRun,
    places_of,
)
from fusescope.analysis.metrics.stretch import Stretch
from fusescope.analysis.trace import Trace
from tests.step_traces import Kernel, steps_of


def us(start: float, end: float) -> Stretch:
    return Stretch(round(start * 1000), round(end * 1000))


def found(before: Trace, after: Trace, code: ChangeCode) -> tuple[Explanation, Change]:
    explanation = explain(before, after)
    assert explanation is not None
    [change] = [each for each in explanation.changes if each.code == code]
    return explanation, change


def shown(change: Change, explanation: Explanation, before: Trace, after: Trace) -> Places | None:
    runs = (ShownRun.of(before), ShownRun.of(after))
    return places_of(change, ShownPair(runs, explanation.pairs))


def layers(*quantise_us: float, slow: float = 100) -> list[Kernel]:
    """For each layer a product and an attention, with kernels of so many us between them."""
    made = []
    for extra in quantise_us:
        made.append(Kernel("gemm", 100, "matrix_product"))
        if extra:
            made += [Kernel("amax", extra), Kernel("quantise", extra)]
        made += [Kernel("attention", slow, "attention"), Kernel("norm", 10, "normalisation")]
    return made


def test_new_kernels_are_shown_with_what_stands_in_their_place_before() -> None:
    """Layers of 210 us become 270, 290 and 310: the one of the median time is the second."""
    before = steps_of([layers(0, 0, 0)])
    after = steps_of([layers(30, 40, 50)])
    explanation, change = found(before, after, "added")
    places = shown(change, explanation, before, after)
    assert places is not None
    assert places.count == 3
    # Before, nothing is between the product and the attention: the product itself is shown.
    assert places.first == Place(us(0, 100), us(100, 160))
    assert places.median == Place(us(210, 310), us(270 + 100, 270 + 180))
    names = after.texts("name")
    assert [names[at] for at in places.operators[1]] == ["amax", "quantise"]
    assert places.operators[0] == ()


def test_kernels_of_another_time_are_shown_on_both_sides() -> None:
    """Attentions of 100 us begin at 100 of layers of 210; those of 150 in layers of 260."""
    before, after = steps_of([layers(0, 0, 0)]), steps_of([layers(0, 0, 0, slow=150)])
    explanation, change = found(before, after, "time")
    places = shown(change, explanation, before, after)
    assert places is not None
    assert (places.count, places.first) == (3, Place(us(100, 200), us(100, 250)))


def test_places_are_those_of_the_run_that_timelines_show() -> None:
    """Three steps alike, of 630 us and of 780: the run that is shown is the second, whichever unit
    stands for all of them."""
    before, after = (
        steps_of([layers(0, 0, 0, slow=slow)] * 3, name=name)
        for name, slow in (("a", 100), ("b", 150))
    )
    explanation, change = found(before, after, "time")
    places = shown(change, explanation, before, after)
    assert places is not None
    assert (places.count, places.first) == (3, Place(us(730, 830), us(880, 1030)))


def test_an_execution_outside_the_run_that_is_shown_has_no_place() -> None:
    """The one that stands out is in the fourth of five steps, which takes longest."""
    usual = [Kernel(f"k{number}", 10 + number) for number in range(8)]
    long = [*usual[:4], Kernel("k4", 500), *usual[5:]]
    before = steps_of([usual] * 5)
    after = steps_of([usual, usual, usual, long, usual])
    explanation, change = found(before, after, "outlier")
    assert shown(change, explanation, before, after) is None
    # Without marks the file is shown as a whole: four steps of 108 us and what stands before it.
    whole = steps_of([usual, usual, usual, long, usual], marked=False)
    explanation, change = found(steps_of([usual] * 5, marked=False), whole, "outlier")
    places = shown(change, explanation, before, whole)
    start = 3 * sum(range(10, 18)) + sum(range(10, 14))
    assert places is not None
    assert places.first.after == us(start, start + 500)


def test_idle_time_is_shown_by_its_longest_interval() -> None:
    """40 us before the second kernel and 90 before the third; before, 5 and 5."""
    names = [Kernel("a", 100), Kernel("b", 100), Kernel("c", 100)]
    short = [names[0], Kernel("b", 100, after_us=5), Kernel("c", 100, after_us=5)]
    gaps = [names[0], Kernel("b", 100, after_us=40), Kernel("c", 100, after_us=90)]
    before, after = steps_of([short]), steps_of([gaps])
    explanation, change = found(before, after, "idle")
    places: Places | None = shown(change, explanation, before, after)
    assert places is not None
    assert places.first == Place(us(100, 105), us(240, 330))

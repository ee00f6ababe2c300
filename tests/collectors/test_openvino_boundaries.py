"""Boundaries of layers, by an engine of this test: it fuses what the rules below say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusescope.collectors.openvino.boundaries import Boundaries, Names, returned, search
from fusescope.collectors.openvino.layers import Layer, Written, constants_of


def layer(
    name: str, kind: str, reads: Sequence[str], listed: Sequence[str] = (), others: int = 0
) -> Layer:
    written = (Written(f"%{name}", "float32", (4,), "a"),)
    return Layer(name, name, kind, "", tuple(listed), others, tuple(reads), written, True)


def output(number: int, reads: str) -> Layer:
    return Layer(f"out {number}", "", "Output", "", (), 0, (reads,), (), True)


INPUT = layer("x", "Input", ())
RETURNED: dict[str, Names] = {"out 0": ("y",)}
# x -> conv, relu -> c -> scale -> d -> add -> y
FUSED = (
    INPUT,
    layer("relu", "Convolution", ["%x"], ["conv", "relu"]),
    layer("copy", "Reorder", ["%relu"]),
    layer("scale", "Multiply", ["%copy"], ["scale"]),
    layer("add", "Add", ["%scale", "%relu"], ["add"]),
    output(0, "%add"),
)
GUESSES = {"%relu": [("c",), ("b",)], "%scale": [("d",)], "%add": [("y",)]}


def found(answers: Mapping[frozenset[Names], Sequence[Layer]]) -> tuple[Boundaries, list[int]]:
    """What the search finds where the engine answers so; everything else leaves layers as they
    are, with the outputs behind them. And how many outputs were asked for each time."""
    asked: list[int] = []

    def compile_with(wanted: Sequence[Names]) -> tuple[Sequence[Layer], dict[str, Names]]:
        asked.append(len(wanted))
        outputs = RETURNED | {f"out {n}": names for n, names in enumerate(wanted, 1)}
        layers = answers.get(frozenset(wanted))
        if layers is None:
            places = {("c",): "%relu", ("d",): "%scale"}
            layers = [*FUSED, *(output(n, places[one]) for n, one in enumerate(wanted, 1))]
        return layers, outputs

    return search(FUSED, RETURNED, GUESSES, compile_with), asked


def test_a_tensor_that_is_copied_out_of_the_same_layers_lies_between_them() -> None:
    boundaries, asked = found({})
    assert boundaries.written == {"%relu": ("c",), "%scale": ("d",), "%add": ("y",)}
    assert boundaries.marked == (("c",), ("d",)) and boundaries.complete
    assert asked == [2]


def test_a_tensor_inside_a_layer_is_none() -> None:
    """Returned, `c` splits the first layer, so that it was not what this one wrote."""
    split = (
        INPUT,
        layer("conv", "Convolution", ["%x"], ["conv"]),
        layer("relu", "Relu", ["%conv"], ["relu"]),
        *(one for one in FUSED[2:] if one.name != "copy"),
        output(1, "%relu"),
    )
    both = tuple(one for one in split if one.name != "scale") + (
        layer("scale", "Multiply", ["%relu"], ["scale"]),
        output(2, "%scale"),
    )
    one_more = (("b",),)
    boundaries, asked = found(
        {
            frozenset([("c",), ("d",)]): both,
            frozenset([("c",)]): split,
            frozenset([("b",), ("d",)]): both,
            frozenset(one_more): split,
        }
    )
    assert boundaries.written == {"%scale": ("d",), "%add": ("y",)}
    assert boundaries.marked == (("d",),) and boundaries.complete
    assert asked[0] == 2 and 1 in asked


def test_what_comes_before_must_be_the_same_as_well() -> None:
    """`d` is copied out of a layer of the same name, but the one before it is another."""
    before = (
        INPUT,
        layer("relu", "Convolution", ["%x"], ["conv", "relu"], others=1),
        layer("scale", "Multiply", ["%relu"], ["scale"]),
        layer("add", "Add", ["%scale", "%relu"], ["add"]),
        output(0, "%add"),
    )
    boundaries, _ = found(
        {
            frozenset([("c",), ("d",)]): (*before, output(1, "%relu"), output(2, "%scale")),
            frozenset([("b",), ("d",)]): (*before, output(1, "%relu"), output(2, "%scale")),
            frozenset([("d",)]): (*before, output(1, "%scale")),
            frozenset([("c",)]): (*before, output(1, "%relu")),
            frozenset([("b",)]): (*before, output(1, "%relu")),
        }
    )
    assert boundaries.written == {"%add": ("y",)} and boundaries.marked == ()


def test_a_layer_that_was_inside_another_without_being_listed_shows() -> None:
    """Returned, `c` leaves the first layer as it lists itself, with a new one behind it."""
    hidden = (
        INPUT,
        layer("relu", "Convolution", ["%x"], ["conv", "relu"]),
        layer("clip", "Clip", ["%relu"], ["clip"]),
        layer("scale", "Multiply", ["%clip"], ["scale"]),
        layer("add", "Add", ["%scale", "%clip"], ["add"]),
        output(0, "%add"),
    )
    answers = {
        frozenset([("c",), ("d",)]): (*hidden, output(1, "%relu"), output(2, "%scale")),
        frozenset([("b",), ("d",)]): (*hidden, output(1, "%relu"), output(2, "%scale")),
        frozenset([("c",)]): (*hidden, output(1, "%relu")),
        frozenset([("b",)]): (*hidden, output(1, "%relu")),
    }
    boundaries, _ = found(answers)
    assert "%relu" not in boundaries.written and boundaries.written["%scale"] == ("d",)


def test_a_sum_that_is_no_longer_in_place_changes_nothing_before_it() -> None:
    """`c` is confirmed although the last layer came out as another: it lists what was lost."""
    apart = (
        *FUSED[:4],
        layer("sum", "Eltwise", ["%scale", "%relu"], ["add"]),
        output(0, "%sum"),
        output(1, "%relu"),
        output(2, "%scale"),
    )
    boundaries, asked = found({frozenset([("c",), ("d",)]): apart})
    assert boundaries.written == {"%relu": ("c",), "%scale": ("d",), "%add": ("y",)}
    assert asked == [2]


def test_no_time_leaves_what_the_model_returns() -> None:
    boundaries = search(FUSED, RETURNED, GUESSES, lambda wanted: (FUSED, RETURNED), seconds=-1)
    assert boundaries == Boundaries({"%add": ("y",)}, (), False)


def test_copies_hand_on_what_is_returned() -> None:
    layers = (INPUT, *FUSED[1:3], output(0, "%copy"), output(1, "%copy"))
    assert returned(layers, {"out 0": ("c",), "out 1": ("also c",)}) == {
        "%copy": ("c", "also c"),
        "%relu": ("c", "also c"),
    }


def test_what_reads_constants_alone_is_constant() -> None:
    weight = layer("w", "Const", ())
    turned = layer("t", "Transpose", ["%w"])
    assert constants_of((INPUT, weight, turned, layer("y", "Add", ["%x", "%t"]))) == {"%w", "%t"}

"""Groups of two traces without graphs: by what one lists of the other, or inferred."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusescope.analysis.compare.groups.fusion import Fusion, Operator
from fusescope.analysis.compare.groups.inferred import infer_groups
from fusescope.analysis.compare.groups.members import group_by_members, kind_of
from fusescope.analysis.compare.side import Side, side_of_trace
from fusescope.analysis.operators.members import members_text, tensorrt
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame

# name, op type, members (None: not known, '': inserted), their kind, inputs, outputs, calls
Row = tuple[str, str, str | None, str | None, str, str, int]


def row(
    name: str,
    op_type: str = "",
    members: str | None = None,
    kind: str | None = "names",
    shapes: str = "",
    calls: int = 1,
) -> Row:
    """`shapes` is 'inputs -> outputs'."""
    inputs, _, outputs = shapes.partition(" -> ")
    return (name, op_type, members, kind if members is not None else None, inputs, outputs, calls)


def side(*rows: Row) -> Side:
    """A trace of one run in which the operators run one after the other, 100 ns each."""
    order = [place for place, one in enumerate(rows) for _ in range(one[6])]
    names, types, members, kinds, inputs, outputs, _ = (list(c) for c in zip(*rows, strict=True))
    return side_of_trace(
        Trace(
            meta=Meta("test", "test", file_name="trace.json"),
            runs=runs_frame(run=[0], dur_ns=[100 * len(order)], profiled=[True]),
            operators=operators_frame(
                operator=range(len(rows)), name=names, op_type=[t or None for t in types],
                members=members, members_source=kinds,
                inputs=[text or None for text in inputs],
                outputs=[text or None for text in outputs],
            ),
            calls=calls_frame(
                operator=order, run=[0] * len(order),
                start_ns=[100 * at for at in range(len(order))], dur_ns=[100] * len(order),
            ),
        )
    )  # fmt: skip


def shown(fusion: Fusion | None) -> list[str]:
    """'original | baseline -> candidate', one a group."""
    assert fusion is not None
    assert [group.id for group in fusion.groups] == list(range(1, len(fusion.groups) + 1))
    return [
        " | ".join("+".join(op.name for op in part) for part in (group.original, group.baseline))
        + f" -> {'+'.join(op.name for op in group.candidate)}"
        for group in fusion.groups
    ]


UNFUSED = (row("conv", "Conv"), row("add", "Add"), row("relu", "Relu"), row("pool", "Pool"))


def test_a_fused_layer_takes_the_originals_it_lists() -> None:
    fusion = group_by_members(
        side(*UNFUSED),
        side(
            row("copy to conv", "Reformat", ""),
            row("conv + add + relu", "CaskConvolution", "conv + add + relu"),
            row("pool", "Pooling"),
        ),
    )
    assert shown(fusion) == [
        "conv+add+relu | conv+add+relu -> conv + add + relu",
        "pool | pool -> pool",
    ]
    assert fusion is not None
    assert [group.kind for group in fusion.groups] == ["fused", "replaced"]
    assert {group.known_by for group in fusion.groups} == {"members"}
    assert [op.op_type for op in fusion.groups[0].original] == ["Conv", "Add", "Relu"]
    assert [op.name for op in fusion.inserted[1]] == ["copy to conv"]
    assert (fusion.original_nodes, fusion.mapped_nodes, fusion.optimised_nodes) == (4, 4, 3)
    assert fusion.source == "members" and fusion.diagnostics == ()


def test_the_baseline_may_be_the_fused_side() -> None:
    fusion = group_by_members(
        side(row("conv + add", "Cask", "conv + add"), row("relu", "Relu")), side(*UNFUSED)
    )
    assert shown(fusion) == [
        "conv+add | conv + add -> conv+add",
        "relu | relu -> relu",
    ]
    assert fusion is not None and [group.kind for group in fusion.groups] == ["split", "kept"]
    assert (fusion.original_nodes, fusion.mapped_nodes) == (4, 3)  # pool ran on one side only


def test_originals_of_an_engine_get_their_type_from_their_name() -> None:
    fusion = group_by_members(
        side(row("Conv_1 + Relu_2", "Cask", "Conv_1 + Relu_2"), row("Gemm_3", "Cask", "Gemm_3")),
        side(row("Conv_1", "X", "Conv_1"), row("Relu_2", "Y", "Relu_2"), row("Gemm_3", "Gemm")),
    )
    assert shown(fusion) == [
        "Conv_1+Relu_2 | Conv_1 + Relu_2 -> Conv_1+Relu_2",
        "Gemm_3 | Gemm_3 -> Gemm_3",
    ]
    assert fusion is not None
    types = [[op.op_type for op in group.original] for group in fusion.groups]
    assert types == [["Conv", "Relu"], ["Gemm"]]
    assert [op.op_type for op in fusion.groups[0].candidate] == ["X", "Y"]


def test_claims_that_overlap_are_one_group() -> None:
    fusion = group_by_members(
        side(row("conv + add", "F", "conv + add"), row("relu", "Relu"), row("pool", "Pool")),
        side(row("conv", "Conv"), row("add + relu", "F", "add + relu"), row("pool", "Pool")),
    )
    assert shown(fusion) == [
        "conv+add+relu | conv + add+relu -> conv+add + relu",
        "pool | pool -> pool",
    ]


def test_names_that_the_other_side_lacks_are_counted() -> None:
    fusion = group_by_members(
        side(*UNFUSED), side(row("w + conv + add", "F", "conv + weights of conv + add"))
    )
    assert shown(fusion) == ["conv+add | conv+add -> w + conv + add"]
    assert fusion is not None
    assert [(d.code, d.count, d.example) for d in fusion.diagnostics] == [
        ("members_unknown", 1, "weights of conv")
    ]


def test_a_renamed_original_is_the_one_that_nobody_lists_beside_the_known() -> None:
    # OpenVINO folds BatchNormalization into the convolution and renames that.
    fusion = group_by_members(
        side(row("stem", "Relu"), row("conv", "Conv"), row("bn", "BN"), row("relu", "Relu")),
        side(row("stem", "Relu"), row("Multiply_8903", "Convolution", "Multiply_8903 + bn + relu")),
    )
    assert shown(fusion) == [
        "stem | stem -> stem",
        "conv+bn+relu | conv+bn+relu -> Multiply_8903",
    ]
    assert fusion is not None
    assert [group.known_by for group in fusion.groups] == ["members", "merged"]


def test_a_range_takes_what_ran_between_its_ends() -> None:
    unfused = (row("a"), row("b"), row("c"), row("d"), row("e"))
    fusion = group_by_members(
        side(*unfused),
        side(row("{a...d}", "F", "a + d", "range"), row("c", "C", "c"), row("e", "E")),
    )
    assert shown(fusion) == ["a+b+d | a+b+d -> {a...d}", "c | c -> c", "e | e -> e"]
    backwards = side(row("{d...a}", "F", "d + a", "range"), row("e", "E"))
    assert shown(group_by_members(side(*unfused), backwards)) == [
        "a+d | a+d -> {d...a}",
        "e | e -> e",
    ]


def test_without_members_of_the_other_side_there_is_nothing_to_group_by() -> None:
    assert group_by_members(side(*UNFUSED), side(*UNFUSED)) is None
    foreign = side(row("x + y", "F", "x + y"))
    assert group_by_members(side(*UNFUSED), foreign) is None
    types = side(row("triton_poi_fused_add_relu_0", "", "add + relu", "op_types"))
    assert group_by_members(side(*UNFUSED), types) is None


@pytest.mark.exhaustive
@settings(max_examples=40)
@given(st.data())
def test_every_operator_of_many_is_in_at_most_one_group(data: st.DataObject) -> None:
    test_every_operator_is_in_at_most_one_group.hypothesis.inner_test(data)


@settings(max_examples=10)
@given(st.data())
def test_every_operator_is_in_at_most_one_group(data: st.DataObject) -> None:
    names = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=4, unique=True)

    def drawn(label: str) -> Side:
        lists = data.draw(st.lists(names, min_size=1, max_size=6), label)
        rows = [
            row(f"{label}{place}", "F", " + ".join(listed)) if len(listed) > 1 else row(listed[0])
            for place, listed in enumerate(lists)
        ]
        return side(*rows)

    sides = (drawn("x"), drawn("y"))
    fusion = group_by_members(*sides)
    if fusion is None:
        return
    for part, one in (("baseline", sides[0]), ("candidate", sides[1])):
        placed = [op.name for group in fusion.groups for op in getattr(group, part)]
        assert len(placed) == len(set(placed))
        assert set(placed) <= set(one.trace.operators["name"])
    originals = [op.name for group in fusion.groups for op in group.original]
    assert len(originals) == len(set(originals)) == fusion.mapped_nodes <= fusion.original_nodes
    assert all(g.original and g.baseline and g.candidate for g in fusion.groups)


def test_two_precisions_of_one_tensorrt_engine(shared_traces: Path) -> None:
    def layers(precision: str) -> Side:
        path = shared_traces / "third_party/tensorrt" / f"pt-resnet-A100-{precision}.profile.json"
        names = [entry["name"] for entry in json.loads(path.read_bytes()) if "name" in entry]
        listed = [tensorrt(name) for name in names]
        return side(
            *(
                row(name, "", None if found is None else members_text(found))
                for name, found in zip(names, listed, strict=True)
            )
        )

    fusion = group_by_members(layers("fp32"), layers("fp16"))
    assert fusion is not None
    # ONNX nodes 0 to 48 without Flatten_47, and a reshape of the engine's that both sides run.
    assert fusion.mapped_nodes == fusion.original_nodes == 49
    assert len(fusion.groups) == fusion.optimised_nodes - len(fusion.inserted[1])
    assert fusion.inserted[1]
    assert all("Reformatting" in op.name for one in fusion.inserted for op in one)
    blocks = [g for g in fusion.groups if len(g.original) == 3]
    assert [op.name for op in blocks[0].original] == ["Conv_5", "Add_6", "Relu_7"]


# Inferred from type, shapes and order.

X, Y = "float32[1,8]", "float32[1,4]"


def inferred(before: Sequence[Row], after: Sequence[Row]) -> list[str]:
    fusion = infer_groups(side(*before), side(*after))
    assert fusion.source == "inferred"
    assert {group.known_by for group in fusion.groups} <= {"inferred"}
    assert all(group.original == group.baseline for group in fusion.groups)
    told = {d.code: d.count for d in fusion.diagnostics}
    assert told.get("groups_inferred", 0) == len(fusion.groups)
    return [text.partition(" | ")[2] for text in shown(fusion)]


def test_operators_pair_by_type_shapes_and_order() -> None:
    one = [
        row("m0", "MatMul", shapes=f"{X} -> {X}"),
        row("m1", "MatMul", shapes=f"{X} -> {X}"),
        row("s", "Softmax", shapes=f"{X} -> {X}"),
    ]
    other = [(f"renamed {r[0]}", *r[1:]) for r in one]
    assert inferred(one, other) == [
        "m0 -> renamed m0", "m1 -> renamed m1", "s -> renamed s",
    ]  # fmt: skip


def test_of_several_alike_it_is_unknown_which_one_disappeared() -> None:
    relu = [row(f"r{place}", "Relu", shapes=f"{X} -> {X}") for place in range(3)]
    left = [row("q0", "Relu", shapes=f"{X} -> {X}"), row("q1", "Relu", shapes=f"{X} -> {X}")]
    soft = row("s", "Softmax", shapes=f"{X} -> {Y}")
    assert inferred([*relu, soft], [*left, soft]) == [
        "r0+r1+r2 -> q0+q1",  # between the start and the pair of Softmax, as a whole
        "s -> s",
    ]
    # Executions count as well: ten calls of a kernel against seven are not one pair.
    assert inferred([row("k", "Relu", shapes=f"{X} -> {X}", calls=10)],
                    [row("k", "Relu", shapes=f"{X} -> {Y}", calls=7)]) == []  # fmt: skip


def test_a_stretch_between_two_pairs_became_the_stretch_on_the_other_side() -> None:
    first = row("pool", "Pool", shapes=f"{Y} -> {X}")
    last = row("fc", "Gemm", shapes=f"{Y} -> {Y}")
    chain = [
        row("conv", "Conv", shapes=f"{X}; w -> {Y}"),
        row("bn", "BatchNormalization", shapes=f"{Y} -> {Y}"),
        row("relu", "Relu", shapes=f"{Y} -> {Y}"),
    ]
    fused = row("conv", "FusedConv", shapes=f"{X}; w; b -> {Y}")
    assert inferred([first, *chain, last], [first, fused, last]) == [
        "pool -> pool", "conv+bn+relu -> conv", "fc -> fc",
    ]  # fmt: skip
    # Two chains in one stretch: the names say where the second starts.
    more = [
        (f"{r[0]}2", r[1], *r[2:4], f"{Y}; w" if r[1] == "Conv" else r[4], *r[5:]) for r in chain
    ]
    again = row("conv2", "FusedConv", shapes=f"{Y}; w; b -> {Y}")
    assert inferred([first, *chain, *more, last], [first, fused, again, last]) == [
        "pool -> pool", "conv+bn+relu -> conv", "conv2+bn2+relu2 -> conv2", "fc -> fc",
    ]  # fmt: skip


def test_a_stretch_whose_ends_differ_is_no_group() -> None:
    chain = [row("a", "Conv", shapes=f"{X} -> {Y}"), row("b", "Relu", shapes=f"{Y} -> {Y}")]
    assert inferred(chain, [row("c", "Fused", shapes=f"{Y} -> {Y}")]) == []
    fusion = infer_groups(side(*chain), side(row("c", "Fused", shapes=f"{Y} -> {Y}")))
    assert (fusion.groups, fusion.mapped_nodes, fusion.original_nodes) == ((), 0, 2)


def test_kernels_that_list_op_types_take_operators_of_those_types() -> None:
    eager = [row("aten::mul", "aten::mul"), row("aten::add", "aten::add")]
    kernel = row("triton_poi_fused_add_mul_0", "", "add + mul", "op_types")
    assert inferred(eager, [kernel]) == ["aten::mul+aten::add -> triton_poi_fused_add_mul_0"]
    assert inferred([*eager, row("aten::relu", "aten::relu")], [kernel]) == []


TYPES = st.lists(st.sampled_from("abcd"), min_size=1, max_size=12)


@settings(max_examples=10)
@given(TYPES, TYPES)
def test_inferred_groups_share_no_operator(before: list[str], after: list[str]) -> None:
    def rows(types: list[str], label: str) -> list[Row]:
        return [
            row(f"{label}{place}", kind, shapes=f"{X} -> {X}") for place, kind in enumerate(types)
        ]

    fusion = infer_groups(side(*rows(before, "b")), side(*rows(after, "c")))
    for part, count in (("baseline", len(before)), ("candidate", len(after))):
        placed = [op.name for group in fusion.groups for op in getattr(group, part)]
        assert len(placed) == len(set(placed)) <= count
    assert fusion.mapped_nodes == sum(len(group.baseline) for group in fusion.groups)
    if before == after:
        assert fusion.mapped_nodes == len(before)


@pytest.mark.exhaustive
@settings(max_examples=40)
@given(TYPES, TYPES)
def test_inferred_groups_of_many_share_no_operator(before: list[str], after: list[str]) -> None:
    test_inferred_groups_share_no_operator.hypothesis.inner_test(before, after)


@given(
    st.lists(st.sampled_from("ab"), min_size=1, max_size=3),
    st.lists(st.sampled_from("ab"), min_size=1, max_size=3),
)
def test_the_kind_of_a_group_goes_by_types_and_their_number(old: list[str], new: list[str]) -> None:
    before, after = (tuple(Operator("x", kind) for kind in of) for of in (old, new))
    if len(old) != len(new):
        expected = "fused" if len(new) < len(old) else "split"
    else:
        expected = "kept" if sorted(old) == sorted(new) else "replaced"
    assert kind_of(before, after) == expected

"""Input shapes of a model: dynamic dimensions get a number, `--shape` and `--batch` override."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx

from fusescope.analysis.errors import FuseScopeError

Shape = tuple[int, ...]


def model_inputs(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    """The inputs that must be fed: those without a default among the initialisers."""
    given = {tensor.name for tensor in graph.initializer}
    return [value for value in graph.input if value.name not in given]


def dims(value: onnx.ValueInfoProto) -> list[int | str] | None:
    """Dimensions as numbers or names ('' is unnamed and dynamic); None for an unknown rank."""
    if not value.type.tensor_type.HasField("shape"):
        return None
    return [
        dim.dim_value if dim.HasField("dim_value") and dim.dim_value > 0 else dim.dim_param
        for dim in value.type.tensor_type.shape.dim
    ]


def are_dynamic(inputs: Sequence[onnx.ValueInfoProto]) -> bool:
    """Whether any of them leaves a dimension, or its rank, to what is fed."""
    return any(
        declared is None or any(isinstance(dim, str) for dim in declared)
        for declared in map(dims, inputs)
    )


def declarations(model: onnx.ModelProto) -> onnx.ModelProto:
    """What the model says of its tensors, without nodes and weights."""
    kept = onnx.ModelProto()
    kept.graph.input.extend(model.graph.input)
    kept.graph.output.extend(model.graph.output)
    kept.graph.value_info.extend(model.graph.value_info)
    return kept


def declare(model: onnx.ModelProto, told: onnx.ModelProto) -> None:
    """Puts those declarations in place of the model's own."""
    for own, given in (
        (model.graph.input, told.graph.input),
        (model.graph.output, told.graph.output),
        (model.graph.value_info, told.graph.value_info),
    ):
        del own[:]
        own.extend(given)


def resolve(
    inputs: Sequence[onnx.ValueInfoProto], overrides: Mapping[str, Shape], batch: int | None
) -> dict[str, Shape]:
    """The shape of every input.

    A dynamic first dimension becomes `batch`, or 1; any other needs an override, for this input
    or for another one that shares the dimension's name. Raises FuseScopeError naming the input.
    """
    names = [value.name for value in inputs]
    for name in overrides:
        if name not in names:
            raise FuseScopeError("input_unknown", input=name[:60], inputs=", ".join(names) or "-")
    named = _named_dims(inputs, overrides)
    shapes = {
        value.name: overrides[value.name]
        if value.name in overrides
        else _shape(value, named, batch)
        for value in inputs
    }
    if batch is not None:
        _check_batch(inputs, shapes, overrides, batch)
    return shapes


def fitting(inputs: Sequence[onnx.ValueInfoProto], shapes: Mapping[str, Shape]) -> dict[str, Shape]:
    """Those of `shapes` that agree with every dimension that the model fixes."""
    kept: dict[str, Shape] = {}
    for value in inputs:
        shape, declared = shapes.get(value.name), dims(value)
        if shape is None:
            continue
        if declared is None or (
            len(shape) == len(declared)
            and all(
                isinstance(dim, str) or dim == size
                for dim, size in zip(declared, shape, strict=True)
            )
        ):
            kept[value.name] = shape
    return kept


def batch_of(
    inputs: Sequence[onnx.ValueInfoProto], shapes: Mapping[str, Shape], batch: int | None
) -> int | None:
    """Samples per run: as asked for, or the first dimension of the first input where that is
    dynamic or the input looks like images (rank 4 or 5); None where it cannot be told."""
    if batch is not None:
        return batch
    if not inputs or not shapes[inputs[0].name]:
        return None
    declared = dims(inputs[0])
    shape = shapes[inputs[0].name]
    dynamic = declared is not None and bool(declared) and isinstance(declared[0], str)
    return shape[0] if dynamic or len(shape) in (4, 5) else None


def apply(model: onnx.ModelProto, shapes: Mapping[str, Shape]) -> None:
    """Writes the shapes into the model and drops what was inferred for other ones."""
    changed = False
    for value in model_inputs(model.graph):
        shape = shapes[value.name]
        if dims(value) != list(shape):
            changed = True
            value.type.tensor_type.shape.Clear()
            for size in shape:
                value.type.tensor_type.shape.dim.add().dim_value = size
    if changed:
        del model.graph.value_info[:]
        for output in model.graph.output:
            if output.type.HasField("tensor_type"):
                output.type.tensor_type.ClearField("shape")


def _named_dims(
    inputs: Sequence[onnx.ValueInfoProto], overrides: Mapping[str, Shape]
) -> dict[str, int]:
    """Values that overrides give to named dimensions. Checks each override's rank."""
    named: dict[str, int] = {}
    for value in inputs:
        shape, declared = overrides.get(value.name), dims(value)
        if shape is None or declared is None:
            continue
        if len(shape) != len(declared):
            raise FuseScopeError(
                "input_rank_differs", input=value.name[:60], given=len(shape), shape=_text(declared)
            )
        named.update(
            {dim: size for dim, size in zip(declared, shape, strict=True) if isinstance(dim, str)}
        )
    return {name: size for name, size in named.items() if name}


def _shape(value: onnx.ValueInfoProto, named: Mapping[str, int], batch: int | None) -> Shape:
    declared = dims(value)
    if declared is None:
        raise FuseScopeError("input_without_shape", input=value.name[:60])
    shape: list[int] = []
    for index, dim in enumerate(declared):
        if isinstance(dim, int):
            shape.append(dim)
        elif dim in named:
            shape.append(named[dim])
        elif index == 0:
            shape.append(batch or 1)
        else:
            example = ",".join(str(d) if isinstance(d, int) else "1" for d in declared)
            raise FuseScopeError(
                "input_dynamic", input=value.name[:60], shape=_text(declared), example=example
            )
    return tuple(shape)


def _check_batch(
    inputs: Sequence[onnx.ValueInfoProto],
    shapes: Mapping[str, Shape],
    overrides: Mapping[str, Shape],
    batch: int,
) -> None:
    """Refuses a batch that the model's fixed shapes would silently ignore."""
    firsts = {shape[0] for shape in shapes.values() if shape}
    if batch in firsts:
        return
    fixed = next((v.name for v in inputs if shapes[v.name] and v.name not in overrides), None)
    if fixed is None:
        raise FuseScopeError("batch_contradicts_shape", batch=batch)
    wanted = ",".join(map(str, (batch, *shapes[fixed][1:])))
    raise FuseScopeError(
        "model_batch_fixed", input=fixed[:60], shape=_text(list(shapes[fixed])), wanted=wanted
    )


def _text(dims_: Sequence[int | str]) -> str:
    return "[" + ", ".join(str(dim)[:40] or "?" for dim in dims_) + "]"

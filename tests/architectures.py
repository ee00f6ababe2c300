"""Small ONNX models, written node by node as exporters write them: fixed seeds, tiny sizes.

`ARCHITECTURES` maps a name to a function that builds the model; `feeds` makes its inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[Any]
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
CHANNELS, SIZE, LENGTH, WIDTH, HEADS = 8, 12, 6, 16, 2
ARCHITECTURES: dict[str, Callable[[], onnx.ModelProto]] = {}


def architecture(build: Callable[[], onnx.ModelProto]) -> Callable[[], onnx.ModelProto]:
    """Lists a model under its function's name."""
    ARCHITECTURES[build.__name__] = build
    return build


def feeds(model: onnx.ModelProto, seed: int = 0) -> dict[str, Array]:
    """Random inputs of the declared shapes; a symbolic dimension counts 3, integers are below 8."""
    chance = np.random.default_rng(seed)
    weights = {tensor.name for tensor in model.graph.initializer}
    made: dict[str, Array] = {}
    for value in model.graph.input:
        if value.name in weights:
            continue
        kind = value.type.tensor_type
        shape = tuple(d.dim_value if d.HasField("dim_value") else 3 for d in kind.shape.dim)
        dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
        if dtype == np.bool_:
            made[value.name] = chance.random(shape) < 0.7
        elif np.issubdtype(dtype, np.integer):
            made[value.name] = chance.integers(0, 8, shape).astype(dtype)
        else:
            made[value.name] = chance.standard_normal(shape).astype(dtype)
    return made


class Model:
    """Collects nodes and weights; nodes are named as PyTorch names them: /scope/Op_1."""

    def __init__(self, seed: int = 0, opset: int = 17, constant_nodes: bool = False) -> None:
        self.chance = np.random.default_rng(seed)
        self.opset = opset
        self.constant_nodes = constant_nodes
        self.scope = ""
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.functions: list[onnx.FunctionProto] = []
        self.domains: dict[str, int] = {}
        self._count: dict[str, int] = {}

    def input(self, name: str, shape: Sequence[int | str], dtype: int = FLOAT) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def normal(self, *shape: int, scale: float | None = None) -> Array:
        fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else 4
        values = self.chance.standard_normal(shape) * (scale or fan_in**-0.5)
        return values.astype(np.float32)

    def unique(self, name: str) -> str:
        """/scope/name, with a number from the second one on."""
        name = f"{self.scope}/{name}"
        count = self._count[name] = self._count.get(name, -1) + 1
        return f"{name}_{count}" if count else name

    def weight(self, values: npt.ArrayLike, name: str = "") -> str:
        """An initialiser; small ones become Constant nodes where the exporter does so."""
        array = np.asarray(values)
        if self.constant_nodes and array.size <= 4 and not name:
            name = self.unique("Constant")
            output = f"{name}_output_0"
            self.nodes.append(
                helper.make_node(
                    "Constant", [], [output], name=name, value=numpy_helper.from_array(array)
                )
            )
            return output
        name = self.unique(name or "weight").lstrip("/").replace("/", ".")
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def op(self, op_type: str, *inputs: str, outputs: int = 1, name: str = "", **attributes: Any):
        """One node; the name of its output, or a list of names for several."""
        name = self.unique(name or op_type)
        made = [f"{name}_output_{place}" for place in range(outputs)]
        self.nodes.append(helper.make_node(op_type, inputs, made, name=name, **attributes))
        return made if outputs > 1 else made[0]

    def linear(self, x: str, width_in: int, width_out: int) -> str:
        """MatMul and Add, as PyTorch exports nn.Linear of three dimensions."""
        y = self.op("MatMul", x, self.weight(self.normal(width_in, width_out, scale=0.3)))
        return self.op("Add", self.weight(self.normal(width_out), "bias"), y)

    def conv(
        self, x: str, cin: int, cout: int, kernel: int = 3, *, bias: bool = False, **attributes: Any
    ) -> str:
        group = attributes.setdefault("group", 1)
        attributes.setdefault("pads", [kernel // 2] * 4)
        attributes.setdefault("kernel_shape", [kernel, kernel])
        inputs = [x, self.weight(self.normal(cout, cin // group, kernel, kernel), "conv.weight")]
        if bias:
            inputs.append(self.weight(self.normal(cout), "conv.bias"))
        return self.op("Conv", *inputs, **attributes)

    def batch_norm(self, x: str, channels: int) -> str:
        parts = (
            self.chance.uniform(0.5, 1.5, channels),
            self.chance.standard_normal(channels) * 0.2,
            self.chance.standard_normal(channels) * 0.2,
            self.chance.uniform(0.5, 1.5, channels),
        )
        names = [self.weight(part.astype(np.float32), "bn") for part in parts]
        return self.op("BatchNormalization", x, *names, epsilon=1e-5)

    def cbr(self, x: str, cin: int, cout: int, kernel: int = 3, **attributes: Any) -> str:
        y = self.batch_norm(self.conv(x, cin, cout, kernel, **attributes), cout)
        return self.op("Relu", y)

    def build(
        self, *outputs: str, shapes: Mapping[str, Sequence[int | str]] | None = None
    ) -> onnx.ModelProto:
        """The model; types of outputs are inferred."""
        graph = helper.make_graph(
            self.nodes,
            "main_graph",
            self.inputs,
            [onnx.ValueInfoProto(name=name) for name in outputs],
            self.weights,
        )
        opsets = [helper.make_opsetid("", self.opset)]
        opsets += [helper.make_opsetid(domain, version) for domain, version in self.domains.items()]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
        model.functions.extend(self.functions)
        inferred = onnx.shape_inference.infer_shapes(model)
        for output, known in zip(model.graph.output, inferred.graph.output, strict=True):
            output.CopyFrom(known)
        return model


# Transformers


def layer_norm(m: Model, x: str, width: int) -> str:
    """Decomposed, as PyTorch exports it below opset 17."""
    if m.opset >= 17:
        return m.op(
            "LayerNormalization",
            x,
            m.weight(m.normal(width, scale=1.0), "ln.weight"),
            m.weight(m.normal(width), "ln.bias"),
            axis=-1,
            epsilon=1e-5,
        )
    mean = m.op("ReduceMean", x, axes=[-1])
    centred = m.op("Sub", x, mean)
    square = m.op("Pow", centred, m.weight(np.float32(2)))
    variance = m.op("ReduceMean", square, axes=[-1])
    shifted = m.op("Add", variance, m.weight(np.float32(1e-5)))
    scaled = m.op("Div", centred, m.op("Sqrt", shifted))
    scaled = m.op("Mul", scaled, m.weight(m.normal(width, scale=1.0), "ln.weight"))
    return m.op("Add", scaled, m.weight(m.normal(width), "ln.bias"))


def gelu(m: Model, x: str) -> str:
    """Decomposed with Erf below opset 20."""
    if m.opset >= 20:
        return m.op("Gelu", x)
    inside = m.op("Erf", m.op("Div", x, m.weight(np.float32(1.4142135))))
    y = m.op("Mul", x, m.op("Add", inside, m.weight(np.float32(1))))
    return m.op("Mul", y, m.weight(np.float32(0.5)))


def split_heads(m: Model, x: str, perm: list[int], dynamic: bool) -> str:
    head = WIDTH // HEADS
    if dynamic:
        shape = m.op("Shape", x)
        batch = m.op("Gather", shape, m.weight(np.int64(0)), axis=0)
        length = m.op("Gather", m.op("Shape", x), m.weight(np.int64(1)), axis=0)
        axes = m.weight(np.array([0], np.int64))
        parts = [m.op("Unsqueeze", part, axes) for part in (batch, length)]
        parts += [m.weight(np.array([size], np.int64)) for size in (HEADS, head)]
        target = m.op("Concat", *parts, axis=0)
    else:
        target = m.weight(np.array([1, LENGTH, HEADS, head], np.int64))
    return m.op("Transpose", m.op("Reshape", x, target), perm=perm)


def attention(m: Model, x: str, mask: str, dynamic: bool, scale_by: str = "Div") -> str:
    q = split_heads(m, m.linear(x, WIDTH, WIDTH), [0, 2, 1, 3], dynamic)
    k = split_heads(m, m.linear(x, WIDTH, WIDTH), [0, 2, 3, 1], dynamic)
    v = split_heads(m, m.linear(x, WIDTH, WIDTH), [0, 2, 1, 3], dynamic)
    root = float(np.sqrt(WIDTH // HEADS))
    scores = m.op("MatMul", q, k)
    scores = m.op(scale_by, scores, m.weight(np.float32(root if scale_by == "Div" else 1 / root)))
    if mask:
        scores = m.op("Add", scores, mask)
    merged = m.op(
        "Transpose", m.op("MatMul", m.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3]
    )
    merged = m.op("Reshape", merged, m.weight(np.array([0, 0, WIDTH], np.int64)))
    return m.linear(merged, WIDTH, WIDTH)


def encoder(m: Model, x: str, mask: str, dynamic: bool = False, layers: int = 2) -> str:
    for layer in range(layers):
        m.scope = f"/encoder/layer.{layer}/attention"
        y = m.op("Add", attention(m, x, mask, dynamic), x)
        m.scope = f"/encoder/layer.{layer}/norm1"
        x = layer_norm(m, y, WIDTH)
        m.scope = f"/encoder/layer.{layer}/mlp"
        y = m.linear(gelu(m, m.linear(x, WIDTH, 2 * WIDTH)), 2 * WIDTH, WIDTH)
        y = m.op("Add", y, x)
        m.scope = f"/encoder/layer.{layer}/norm2"
        x = layer_norm(m, y, WIDTH)
    return x


def extended_mask(m: Model, mask: str) -> str:
    """(1 - mask) * -10000 with two axes added, as BERT exports it."""
    m.scope = "/mask"
    axes = (m.weight(np.array([axis], np.int64)) for axis in (1, 2))
    wide = m.op("Unsqueeze", m.op("Unsqueeze", mask, next(axes)), next(axes))
    wide = m.op("Sub", m.weight(np.float32(1)), m.op("Cast", wide, to=FLOAT))
    return m.op("Mul", wide, m.weight(np.float32(-10000)))


@architecture
def transformer_encoder() -> onnx.ModelProto:
    m = Model(1, opset=14, constant_nodes=True)
    x = m.input("x", [1, LENGTH, WIDTH])
    mask = extended_mask(m, m.input("mask", [1, LENGTH], INT64))
    return m.build(encoder(m, x, mask))


@architecture
def transformer_whole_operators() -> onnx.ModelProto:
    m = Model(2, opset=20)
    return m.build(encoder(m, m.input("x", [1, LENGTH, WIDTH]), ""))


@architecture
def transformer_dynamic() -> onnx.ModelProto:
    m = Model(3, opset=14, constant_nodes=True)
    x = m.input("x", ["batch", "length", WIDTH])
    mask = extended_mask(m, m.input("mask", ["batch", "length"], INT64))
    return m.build(encoder(m, x, mask, dynamic=True))


@architecture
def bert() -> onnx.ModelProto:
    m = Model(4, opset=14, constant_nodes=True)
    ids = m.input("input_ids", [1, LENGTH], INT64)
    kinds = m.input("token_type_ids", [1, LENGTH], INT64)
    mask = extended_mask(m, m.input("attention_mask", [1, LENGTH], INT64))
    m.scope = "/embeddings"
    words = m.op("Gather", m.weight(m.normal(20, WIDTH, scale=1.0), "word"), ids)
    types = m.op("Gather", m.weight(m.normal(8, WIDTH, scale=1.0), "type"), kinds)
    places = m.weight(np.arange(LENGTH, dtype=np.int64)[None], "position_ids")
    places = m.op("Gather", m.weight(m.normal(LENGTH, WIDTH, scale=1.0), "position"), places)
    x = layer_norm(m, m.op("Add", m.op("Add", words, types), places), WIDTH)
    x = encoder(m, x, mask)
    m.scope = "/pooler"
    first = m.op("Gather", x, m.weight(np.int64(0)), axis=1)
    weights = [m.weight(m.normal(WIDTH, WIDTH), "dense"), m.weight(m.normal(WIDTH), "dense")]
    pooled = m.op("Tanh", m.op("Gemm", first, *weights, transB=1))
    return m.build(x, pooled)


@architecture
def decoder() -> onnx.ModelProto:
    """RMSNorm, rotary halves, SwiGLU, causal mask by Where; the last token only at the end."""
    m = Model(5, opset=17, constant_nodes=True)
    x = m.input("x", [1, LENGTH, WIDTH])

    def rms_norm(x: str) -> str:
        square = m.op("ReduceMean", m.op("Pow", x, m.weight(np.float32(2))), axes=[-1])
        root = m.op("Sqrt", m.op("Add", square, m.weight(np.float32(1e-6))))
        y = m.op("Mul", x, m.op("Div", m.weight(np.float32(1)), root))
        return m.op("Mul", m.weight(m.normal(WIDTH, scale=1.0), "norm.weight"), y)

    def cut(x: str, start: int, end: int, axis: int) -> str:
        return m.op("Slice", x, *(m.weight(np.array([v], np.int64)) for v in (start, end, axis)))

    def rotate(x: str, cos: str, sin: str) -> str:
        half = WIDTH // HEADS // 2
        turned = m.op("Concat", m.op("Neg", cut(x, half, 2**62, 3)), cut(x, 0, half, 3), axis=-1)
        return m.op("Add", m.op("Mul", x, cos), m.op("Mul", turned, sin))

    angles = np.outer(np.arange(LENGTH), 1.0 / 10 ** np.arange(WIDTH // HEADS)).astype(np.float32)
    cos, sin = m.weight(np.cos(angles), "cos"), m.weight(np.sin(angles), "sin")
    m.scope = "/layers.0/attn"
    y = rms_norm(x)
    q, k, v = (m.op("MatMul", y, m.weight(m.normal(WIDTH, WIDTH), "proj")) for _ in range(3))
    q, k, v = (split_heads(m, t, [0, 2, 1, 3], False) for t in (q, k, v))
    q, k = rotate(q, cos, sin), rotate(k, cos, sin)
    scores = m.op("MatMul", q, m.op("Transpose", k, perm=[0, 1, 3, 2]))
    scores = m.op("Mul", scores, m.weight(np.float32(0.35)))
    causal = m.weight(np.tril(np.ones((LENGTH, LENGTH), bool))[None, None], "causal")
    scores = m.op("Where", causal, scores, m.weight(np.float32(-1e9)))
    y = m.op("Transpose", m.op("MatMul", m.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    y = m.op("Reshape", y, m.weight(np.array([1, LENGTH, WIDTH], np.int64)))
    x = m.op("Add", x, m.op("MatMul", y, m.weight(m.normal(WIDTH, WIDTH), "out")))
    m.scope = "/layers.0/mlp"
    y = rms_norm(x)
    gate = m.op("MatMul", y, m.weight(m.normal(WIDTH, 24), "gate"))
    gate = m.op("Mul", gate, m.op("Sigmoid", gate))
    up = m.op("MatMul", y, m.weight(m.normal(WIDTH, 24), "up"))
    down = m.op("MatMul", m.op("Mul", gate, up), m.weight(m.normal(24, WIDTH), "down"))
    x = m.op("Add", x, down)
    m.scope = "/head"
    return m.build(m.op("MatMul", cut(x, -1, 2**62, 1), m.weight(m.normal(WIDTH, 10), "head")))


@architecture
def gelus() -> onnx.ModelProto:
    """Gelu by Erf with and without a bias before it, by Tanh, QuickGelu by Sigmoid."""
    m = Model(6, opset=17)
    x = m.input("x", [1, LENGTH, WIDTH])
    y = gelu(m, m.linear(x, WIDTH, WIDTH))
    y = gelu(m, m.op("MatMul", y, m.weight(m.normal(WIDTH, WIDTH))))
    y = m.op("MatMul", y, m.weight(m.normal(WIDTH, WIDTH)))
    cube = m.op("Mul", m.op("Pow", y, m.weight(np.float32(3))), m.weight(np.float32(0.044715)))
    inside = m.op("Mul", m.op("Add", y, cube), m.weight(np.float32(0.7978846)))
    inside = m.op("Add", m.op("Tanh", inside), m.weight(np.float32(1)))
    y = m.op("Mul", m.op("Mul", y, m.weight(np.float32(0.5))), inside)
    y = m.op("MatMul", y, m.weight(m.normal(WIDTH, WIDTH)))
    y = m.op("Mul", y, m.op("Sigmoid", m.op("Mul", y, m.weight(np.float32(1.702)))))
    return m.build(m.linear(y, WIDTH, 4))


# Convolutional networks


def image(m: Model, channels: int = CHANNELS, size: int = SIZE) -> str:
    return m.input("x", [1, channels, size, size])


@architecture
def mobilenetv3_block() -> onnx.ModelProto:
    m = Model(10)
    x = image(m)
    m.scope = "/block/expand"
    y = m.op("HardSwish", m.batch_norm(m.conv(x, CHANNELS, 24, 1), 24))
    m.scope = "/block/depthwise"
    y = m.op("HardSwish", m.batch_norm(m.conv(y, 24, 24, 5, group=24), 24))
    m.scope = "/block/se"
    s = m.op("GlobalAveragePool", y)
    s = m.op("Relu", m.conv(s, 24, CHANNELS, 1, bias=True))
    s = m.op("HardSigmoid", m.conv(s, CHANNELS, 24, 1, bias=True), alpha=1 / 6)
    y = m.op("Mul", s, y)
    m.scope = "/block/project"
    y = m.batch_norm(m.conv(y, 24, CHANNELS, 1), CHANNELS)
    return m.build(m.op("Add", x, y))


@architecture
def efficientnet_block() -> onnx.ModelProto:
    """SiLU as Sigmoid and Mul; channels that are not a multiple of 16."""
    m = Model(11, opset=14, constant_nodes=True)
    x = image(m, 12)

    def silu(x: str) -> str:
        return m.op("Mul", x, m.op("Sigmoid", x))

    for block in range(2):
        m.scope = f"/blocks.{block}"
        y = silu(m.batch_norm(m.conv(x, 12, 40, 1), 40))
        y = silu(m.batch_norm(m.conv(y, 40, 40, 3, group=40), 40))
        s = m.op("ReduceMean", y, axes=[2, 3], keepdims=1)
        s = silu(m.conv(s, 40, 6, 1, bias=True))
        y = m.op("Mul", y, m.op("Sigmoid", m.conv(s, 6, 40, 1, bias=True)))
        x = m.op("Add", m.batch_norm(m.conv(y, 40, 12, 1), 12), x)
    return m.build(x)


@architecture
def hardswish_decomposed() -> onnx.ModelProto:
    m = Model(12, opset=13, constant_nodes=True)
    y = m.conv(image(m), CHANNELS, 16, bias=True)
    for _ in range(2):
        gate = m.op("Clip", m.op("Add", y, m.weight(np.float32(3))), *_clip(m, 0, 6))
        y = m.op("Div", m.op("Mul", y, gate), m.weight(np.float32(6)))
        y = m.conv(y, 16, 16, group=4)
    return m.build(y)


def _clip(m: Model, low: float, high: float) -> tuple[str, str]:
    return m.weight(np.float32(low)), m.weight(np.float32(high))


@architecture
def residual_cnn() -> onnx.ModelProto:
    """Bottlenecks with and without a projection, as ResNet has them; a Gemm head."""
    m = Model(13)
    y = m.cbr(m.input("x", [2, 3, 16, 16]), 3, 16, 3, strides=[2, 2])
    y = m.op("MaxPool", y, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    for block, (cin, cout) in enumerate(((16, 32), (32, 32))):
        m.scope = f"/layer{block}"
        z = m.cbr(m.cbr(y, cin, 16, 1), 16, 16)
        z = m.batch_norm(m.conv(z, 16, cout, 1), cout)
        short = y if cin == cout else m.batch_norm(m.conv(y, cin, cout, 1), cout)
        y = m.op("Relu", m.op("Add", z, short))
    m.scope = "/head"
    y = m.op("Flatten", m.op("GlobalAveragePool", y), axis=1)
    weights = [m.weight(m.normal(10, 32), "fc"), m.weight(m.normal(10), "fc")]
    return m.build(m.op("Softmax", m.op("Gemm", y, *weights, transB=1)))


@architecture
def unet() -> onnx.ModelProto:
    m = Model(14, opset=13)
    x = image(m, 3)
    m.scope = "/down"
    one = m.cbr(x, 3, 8)
    two = m.cbr(m.op("MaxPool", one, kernel_shape=[2, 2], strides=[2, 2]), 8, 16)
    three = m.cbr(m.op("AveragePool", two, kernel_shape=[2, 2], strides=[2, 2]), 16, 32)
    m.scope = "/up"
    weight = m.weight(m.normal(32, 16, 2, 2), "up.weight")
    up = m.op("ConvTranspose", three, weight, kernel_shape=[2, 2], strides=[2, 2])
    up = m.op("Relu", m.batch_norm(up, 16))
    y = m.cbr(m.op("Concat", up, two, axis=1), 32, 16)
    scales = m.weight(np.array([1, 1, 2, 2], np.float32), "scales")
    up = m.op("Resize", y, "", scales, mode="nearest")
    y = m.cbr(m.op("Concat", up, one, axis=1), 24, 8)
    size = m.weight(np.array([1, 8, 24, 24], np.int64), "sizes")
    y = m.op(
        "Resize", y, "", "", size, mode="linear", coordinate_transformation_mode="align_corners"
    )
    return m.build(m.op("Sigmoid", m.conv(y, 8, 2, 1, bias=True)))


@architecture
def densenet_block() -> onnx.ModelProto:
    """BatchNormalization before Relu and Conv; every layer reads all before it."""
    m = Model(15)
    parts, width = [image(m)], CHANNELS
    for layer in range(3):
        m.scope = f"/denselayer{layer}"
        y = m.op("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]
        y = m.op("Relu", m.batch_norm(y, width))
        y = m.op("Relu", m.batch_norm(m.conv(y, width, 16, 1), 16))
        parts.append(m.conv(y, 16, 4))
        width += 4
    m.scope = "/transition"
    y = m.op("Relu", m.batch_norm(m.op("Concat", *parts, axis=1), width))
    y = m.op("AveragePool", m.conv(y, width, 16, 1), kernel_shape=[2, 2], strides=[2, 2])
    return m.build(y)


@architecture
def inception_block() -> onnx.ModelProto:
    """Four branches that read the same tensor; equal shapes in two of them."""
    m = Model(16)
    x = m.cbr(image(m), CHANNELS, 16)
    m.scope = "/mixed"
    one = m.cbr(x, 16, 16, 1)
    two = m.cbr(m.cbr(x, 16, 16, 1), 16, 16)
    three = m.cbr(m.cbr(m.cbr(x, 16, 16, 1), 16, 16), 16, 16)
    pool = m.op("MaxPool", x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    y = m.op("Concat", one, two, three, m.cbr(pool, 16, 16, 1), axis=1)
    return m.build(m.op("GlobalAveragePool", m.cbr(y, 64, 16, 1)))


@architecture
def shufflenet_unit() -> onnx.ModelProto:
    m = Model(17)
    x = m.cbr(image(m), CHANNELS, 16)
    y = m.cbr(x, 16, 16, 1, group=4)
    y = m.op("Reshape", y, m.weight(np.array([1, 4, 4, SIZE, SIZE], np.int64), "shape"))
    y = m.op("Transpose", y, perm=[0, 2, 1, 3, 4])
    y = m.op("Reshape", y, m.weight(np.array([1, 16, SIZE, SIZE], np.int64), "shape"))
    y = m.batch_norm(m.conv(y, 16, 16, 3, group=16), 16)
    y = m.batch_norm(m.conv(y, 16, 16, 1, group=4), 16)
    return m.build(m.op("Relu", m.op("Add", y, x)))


@architecture
def double_use() -> onnx.ModelProto:
    """Convolutions whose output has two readers or leaves the model: fusions that must not be."""
    m = Model(18)
    x = image(m)
    one = m.conv(x, CHANNELS, 16)
    y = m.op("Add", m.op("Relu", one), m.op("Sigmoid", one))
    two = m.conv(y, 16, 16, bias=True)
    y = m.op("Relu", two)
    three = m.batch_norm(m.conv(y, 16, 16), 16)
    return m.build(m.op("Relu", three), two, three)


@architecture
def folded_scales() -> onnx.ModelProto:
    """Conv+Mul, Conv+Add, Conv+Mul+Add, Pad+Conv, Pad+MaxPool, BatchNormalization before Conv."""
    m = Model(19, opset=13)
    x = image(m)
    y = m.op("Mul", m.conv(x, CHANNELS, 16), m.weight(m.normal(1, 16, 1, 1), "scale"))
    y = m.op("Add", m.conv(y, 16, 16), m.weight(m.normal(1, 16, 1, 1), "shift"))
    y = m.op("Mul", m.conv(y, 16, 16, bias=True), m.weight(m.normal(16, 1, 1), "scale"))
    y = m.op("Add", y, m.weight(m.normal(16, 1, 1), "shift"))
    y = m.op("Pad", m.op("Relu", y), m.weight(np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64), "pads"))
    y = m.conv(y, 16, 16, pads=[0, 0, 0, 0])
    y = m.op("Pad", y, m.weight(np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64), "pads"))
    y = m.op("AveragePool", y, kernel_shape=[3, 3], strides=[2, 2], count_include_pad=1)
    return m.build(m.conv(m.batch_norm(y, 16), 16, CHANNELS, 1))


@architecture
def channels_last() -> onnx.ModelProto:
    """Transposes around every convolution, as TensorFlow exports have them."""
    m = Model(20)
    y = m.input("x", [1, SIZE, SIZE, CHANNELS])
    cin = CHANNELS
    for cout in (16, 16, 8):
        y = m.op("Transpose", y, perm=[0, 3, 1, 2])
        y = m.op("Transpose", m.conv(y, cin, cout, bias=True), perm=[0, 2, 3, 1])
        y = m.op("Relu", m.op("Add", y, m.weight(m.normal(cout), "bias")))
        cin = cout
    y = m.op("ReduceMean", y, axes=[1, 2], keepdims=0)
    return m.build(m.op("MatMul", y, m.weight(m.normal(8, 4))))


@architecture
def half_precision() -> onnx.ModelProto:
    """float16 throughout; the CPU provider runs most of it in float32, between Casts."""
    m = Model(21)
    y = m.op("Cast", image(m), to=TensorProto.FLOAT16)
    for cin, cout in ((CHANNELS, 16), (16, 16)):
        weight = m.weight(m.normal(cout, cin, 3, 3).astype(np.float16), "conv")
        y = m.op("Conv", y, weight, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        y = m.op("Relu", y)
    y = m.op("Add", y, m.weight(m.normal(1, 16, 1, 1).astype(np.float16), "shift"))
    y = m.op("Cast", m.op("GlobalAveragePool", y), to=FLOAT)
    return m.build(m.op("Flatten", y))


# Quantised models: QuantizeLinear and DequantizeLinear around what runs in 8 bits


def quantise(m: Model, x: str, scale: float, zero: np.integer[Any]) -> str:
    parameters = (m.weight(np.float32(scale), "scale"), m.weight(zero, "zero"))
    return m.op("DequantizeLinear", m.op("QuantizeLinear", x, *parameters), *parameters)


def int8_weight(m: Model, values: Array, axis: int | None) -> str:
    """A weight as int8 behind DequantizeLinear, per channel where an axis is given. It has 7 bits:
    without VNNI the engine's products of uint8 and int8 saturate, and are really wrong."""
    others = None if axis is None else tuple(a for a in range(values.ndim) if a != axis)
    scale = np.asarray(np.abs(values).max(axis=others) / 63, np.float32)
    shape = [1] * values.ndim
    if axis is not None:
        shape[axis] = -1
    stored = np.clip(np.round(values / scale.reshape(shape)), -63, 63).astype(np.int8)
    zero = np.zeros(scale.shape, np.int8)
    names = [m.weight(part, "quantised") for part in (stored, scale, zero)]
    return m.op("DequantizeLinear", *names, **({} if axis is None else {"axis": axis}))


@architecture
def quantised_cnn() -> onnx.ModelProto:
    """Residual, per channel; one DequantizeLinear feeds a convolution and the addition."""
    m = Model(30)

    def conv(x: str, cin: int, cout: int) -> str:
        weight = int8_weight(m, m.normal(cout, cin, 3, 3), 0)
        scale = m.weight(np.full(cout, 1e-3, np.float32), "bias.scale")
        zero = m.weight(np.zeros(cout, np.int32), "bias.zero")
        values = m.weight(m.chance.integers(-200, 200, cout).astype(np.int32), "bias")
        bias = m.op("DequantizeLinear", values, scale, zero, axis=0)
        return m.op("Conv", x, weight, bias, kernel_shape=[3, 3], pads=[1, 1, 1, 1])

    x = quantise(m, image(m), 0.05, np.uint8(128))
    y = quantise(m, m.op("Relu", conv(x, CHANNELS, 16)), 0.03, np.uint8(0))
    z = quantise(m, conv(y, 16, 16), 0.05, np.uint8(128))
    y = quantise(m, m.op("Relu", m.op("Add", z, y)), 0.06, np.uint8(0))
    y = quantise(m, m.op("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2]), 0.06, np.uint8(0))
    y = quantise(m, m.op("GlobalAveragePool", y), 0.02, np.uint8(0))
    y = m.op("Flatten", y, axis=1)
    weight = int8_weight(m, m.normal(16, 10), None)
    return m.build(m.op("MatMul", quantise(m, y, 0.02, np.uint8(0)), weight))


@architecture
def quantised_transformer() -> onnx.ModelProto:
    m = Model(31, opset=17)
    x = m.input("x", [1, LENGTH, WIDTH])

    def linear(x: str, cin: int, cout: int) -> str:
        y = m.op("MatMul", quantise(m, x, 0.05, np.int8(0)), int8_weight(m, m.normal(cin, cout), 1))
        return m.op("Add", y, m.weight(m.normal(cout), "bias"))

    q, k, v = (linear(x, WIDTH, WIDTH) for _ in range(3))
    q, v = (split_heads(m, t, [0, 2, 1, 3], False) for t in (q, v))
    k = split_heads(m, k, [0, 2, 3, 1], False)
    scores = m.op("MatMul", *(quantise(m, t, 0.05, np.int8(0)) for t in (q, k)))
    scores = m.op("Softmax", m.op("Div", scores, m.weight(np.float32(2.83))), axis=-1)
    y = m.op("MatMul", quantise(m, scores, 0.01, np.int8(-128)), quantise(m, v, 0.05, np.int8(0)))
    y = m.op("Transpose", y, perm=[0, 2, 1, 3])
    y = m.op("Reshape", y, m.weight(np.array([1, LENGTH, WIDTH], np.int64), "shape"))
    x = layer_norm(m, m.op("Add", linear(y, WIDTH, WIDTH), x), WIDTH)
    y = linear(gelu(m, linear(x, WIDTH, 2 * WIDTH)), 2 * WIDTH, WIDTH)
    return m.build(layer_norm(m, m.op("Add", y, x), WIDTH))


@architecture
def dynamically_quantised() -> onnx.ModelProto:
    """DynamicQuantizeLinear and MatMulInteger, as quantize_dynamic writes them."""
    m = Model(32)
    y = m.input("x", [2, WIDTH])
    for cout in (WIDTH, 8):
        weight = m.weight(m.chance.integers(-120, 120, (WIDTH, cout)).astype(np.int8), "weight")
        quantised, scale, zero = m.op("DynamicQuantizeLinear", y, outputs=3)
        whole = m.op("MatMulInteger", quantised, weight, zero, m.weight(np.int8(0), "zero"))
        scale = m.op("Mul", scale, m.weight(np.float32(0.005), "scale"))
        y = m.op("Mul", m.op("Cast", whole, to=FLOAT), scale)
        y = m.op("Relu", m.op("Add", y, m.weight(m.normal(cout), "bias")))
    return m.build(y)


# What optimisers remove, fold and move


@architecture
def identities() -> onnx.ModelProto:
    """Identity chains, Dropout, and outputs that are an input or a weight."""
    m = Model(40)
    x = m.input("x", [2, WIDTH])
    y = m.op("Identity", m.op("Identity", m.op("Relu", x)))
    y = m.op("Dropout", y)
    y = m.op("Identity", m.linear(y, WIDTH, 8))
    y = m.op("Reshape", y, m.weight(np.array([2, 8], np.int64), "same"))
    y = m.op("Mul", y, m.weight(np.float32(1), "one"))
    y = m.op("Add", y, m.weight(np.float32(0), "zero"))
    y = m.op("Cast", m.op("Transpose", m.op("Tanh", y), perm=[0, 1]), to=FLOAT)
    passed = m.op("Identity", x)
    constant = m.op("Identity", m.weight(m.normal(3), "constant"))
    return m.build(m.op("Identity", y), passed, constant)


@architecture
def interrupted_fusions() -> onnx.ModelProto:
    """Identity and Dropout inside what fuses, with and without other readers; Relu of a Relu."""
    m = Model(55)
    x = image(m)
    y = m.op("LeakyRelu", m.op("Identity", m.conv(x, CHANNELS, 16)))
    y = m.op("Relu", m.op("Relu", m.op("Dropout", m.batch_norm(m.conv(y, 16, 16), 16))))
    passed = m.op("Identity", m.conv(y, 16, 16, bias=True))
    y = m.op("Mul", m.op("Relu", passed), m.op("Sigmoid", m.op("Identity", passed)))
    y = m.op("Flatten", m.op("GlobalAveragePool", y))
    y = m.op("MatMul", y, m.weight(m.normal(16, 8), "w"))
    y = m.op("Relu", m.op("Dropout", m.op("Add", m.op("Identity", y), m.weight(m.normal(8), "b"))))
    return m.build(m.op("Identity", y))


@architecture
def duplicates() -> onnx.ModelProto:
    """The same expression three times: common subexpressions, also of convolutions."""
    m = Model(41)
    x = image(m)
    weight = m.weight(m.normal(16, CHANNELS, 3, 3), "conv")
    kernel = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    one, two = (m.op("Relu", m.op("Conv", x, weight, **kernel)) for _ in range(2))
    sums = [m.op("ReduceSum", t, m.weight(np.array([2, 3], np.int64), "axes")) for t in (one, two)]
    scaled = [m.op("Mul", t, m.weight(np.float32(3), "three")) for t in sums]
    return m.build(m.op("Add", scaled[0], m.op("Neg", scaled[1])), one)


@architecture
def dead_branch() -> onnx.ModelProto:
    m = Model(42)
    x = image(m)
    y = m.cbr(x, CHANNELS, 16)
    m.scope = "/unused"
    m.op("Softmax", m.op("GlobalAveragePool", m.cbr(y, 16, 16)))
    m.op("TopK", m.op("Flatten", x), m.weight(np.array([2], np.int64), "k"), outputs=2)
    m.scope = ""
    return m.build(m.conv(y, 16, 4, 1))


@architecture
def folded_constants() -> onnx.ModelProto:
    """Weights made in the graph: ConstantOfShape, Range, Cast, Expand, shapes of static tensors."""
    m = Model(43, opset=14, constant_nodes=True)
    x = m.input("x", [2, LENGTH, WIDTH])
    size = m.op("Gather", m.op("Shape", x), m.weight(np.int64(1)), axis=0)
    places = m.op("Range", m.weight(np.int64(0)), size, m.weight(np.int64(1)))
    places = m.op("Cast", m.op("Unsqueeze", places, m.weight(np.array([1], np.int64))), to=FLOAT)
    y = m.op("Add", x, m.op("Sin", places))
    one = numpy_helper.from_array(np.array([0.3], np.float32))
    shape = m.weight(np.array([WIDTH, 8], np.int64), "shape")
    filled = m.op("ConstantOfShape", shape, value=one)
    weight = m.op("Mul", filled, m.weight(m.normal(WIDTH, 8), "base"))
    y = m.op("MatMul", y, m.op("Transpose", m.op("Transpose", weight, perm=[1, 0]), perm=[1, 0]))
    whole = m.op("Shape", y)
    ones = m.op("ConstantOfShape", whole, value=one)
    return m.build(m.op("Sub", y, ones))


@architecture
def unnamed() -> onnx.ModelProto:
    """No node has a name, tensors are numbers, as old exporters wrote them; Constant nodes."""
    m = Model(44, opset=9, constant_nodes=True)
    y = m.cbr(image(m), CHANNELS, 16)
    y = m.op("Mul", y, m.weight(np.float32(0.5)))
    y = m.op("Relu", m.op("Add", m.conv(y, 16, 16), y))
    y = m.op("Reshape", y, m.weight(np.array([1, -1], np.int64)))
    model = m.build(y)
    names: dict[str, str] = {}
    for node in model.graph.node:
        node.name = ""
        for place, name in enumerate(node.input):
            node.input[place] = names.setdefault(name, name if name == "x" else str(len(names)))
        for place, name in enumerate(node.output):
            node.output[place] = names.setdefault(name, str(len(names)))
    for tensor in model.graph.initializer:
        tensor.name = names[tensor.name]
    model.graph.output[0].name = names[model.graph.output[0].name]
    return model


@architecture
def casts() -> onnx.ModelProto:
    m = Model(45)
    x = m.input("x", [2, WIDTH])
    y = m.op("Cast", m.op("Cast", x, to=TensorProto.DOUBLE), to=FLOAT)
    y = m.op("Cast", m.op("Cast", m.op("Mul", y, y), to=TensorProto.INT32), to=INT64)
    y = m.op("Cast", m.op("Cast", y, to=FLOAT), to=TensorProto.FLOAT)
    z = m.op("Cast", m.op("Greater", x, m.weight(np.float32(0), "zero")), to=FLOAT)
    return m.build(m.op("Add", y, z))


@architecture
def transposed_products() -> onnx.ModelProto:
    """Transpose into MatMul on either side, scales around it, MatMul+BatchNormalization, Gemm."""
    m = Model(46)
    x = m.input("x", [2, LENGTH, WIDTH])
    y = m.op("Transpose", x, perm=[0, 2, 1])
    y = m.op("MatMul", m.op("Mul", x, m.weight(np.float32(0.5), "scale")), y)
    y = m.op("Div", y, m.weight(np.float32(4), "scale"))
    y = m.op("MatMul", m.op("Transpose", y, perm=[0, 2, 1]), x)
    y = m.op("Reshape", y, m.weight(np.array([2 * LENGTH, WIDTH], np.int64), "flat"))
    y = m.op("MatMul", y, m.op("Transpose", m.weight(m.normal(8, WIDTH), "w"), perm=[1, 0]))
    y = m.op("Relu", m.op("Add", y, m.weight(m.normal(8), "bias")))
    y = m.op("Gemm", y, m.weight(m.normal(8, 8), "w"), m.weight(m.normal(8), "b"))
    y = m.op("Gemm", m.op("Relu", y), m.op("Transpose", m.weight(m.normal(4, 8)), perm=[1, 0]))
    return m.build(m.op("LeakyRelu", y))


@architecture
def slices() -> onnx.ModelProto:
    """Split, Slice chains, Squeeze and Unsqueeze, Expand, Concat of what was split."""
    m = Model(47)
    x = m.input("x", [2, LENGTH, WIDTH])

    def whole(*values: int) -> str:
        return m.weight(np.array(values, np.int64), "whole")

    left, right = m.op("Split", x, whole(4, WIDTH - 4), outputs=2, axis=2)
    y = m.op("Slice", right, whole(1), whole(11), whole(2))
    y = m.op("Slice", y, whole(1), whole(5), whole(1), whole(1))
    z = m.op("Squeeze", m.op("Unsqueeze", left, whole(0)), whole(0))
    z = m.op("Unsqueeze", m.op("Unsqueeze", z, whole(1)), whole(1))
    z = m.op("Squeeze", z, whole(1, 2))
    z = m.op("Expand", m.op("ReduceMax", z, axes=[1], keepdims=1), whole(2, 4, 4))
    y = m.op("Concat", y, z, axis=2)
    z = m.op("Reshape", m.op("Reshape", left, whole(2, -1)), whole(2, 4, LENGTH))
    return m.build(m.op("Concat", y, m.op("Exp", z), axis=2), m.op("Gather", x, whole(1), axis=1))


@architecture
def several_outputs() -> onnx.ModelProto:
    """TopK, MaxPool with indices, LayerNormalization with statistics, outputs that are absent."""
    m = Model(48)
    x = image(m)
    y = m.conv(x, CHANNELS, 16)
    y, places = m.op("MaxPool", y, outputs=2, kernel_shape=[2, 2], strides=[2, 2])
    flat = m.op("Flatten", m.op("Relu", y), axis=1)
    values, order = m.op("TopK", flat, m.weight(np.array([3], np.int64), "k"), outputs=2)
    weights = [m.weight(m.normal(576, scale=1.0), "ln") for _ in range(2)]
    normal, _, inverse = m.op("LayerNormalization", flat, *weights, outputs=3)
    m.nodes[-1].output[1] = ""
    total = m.op("ReduceSum", m.op("Mul", normal, inverse), keepdims=0)
    mixed = m.op("Add", m.op("Cast", order, to=FLOAT), m.op("Sqrt", values))
    return m.build(total, m.op("Add", mixed, total), places)


@architecture
def recurrent() -> onnx.ModelProto:
    """LSTM into GRU; optional inputs and outputs absent."""
    m = Model(49)
    x = m.input("x", [LENGTH, 1, 8])
    lstm = [m.weight(m.normal(1, 32, width), "lstm") for width in (8, 8)]
    lstm.append(m.weight(m.normal(1, 64), "lstm"))
    y, hidden, _ = m.op("LSTM", x, *lstm, outputs=3, hidden_size=8)
    m.nodes[-1].output[2] = ""
    y = m.op("Squeeze", y, m.weight(np.array([1], np.int64), "axes"))
    gru = [m.weight(m.normal(1, 24, 8), "gru") for _ in range(2)]
    y = m.op("Transpose", m.op("Relu", y), perm=[0, 1, 2])
    gates = m.op("GRU", y, *gru, "", "", hidden, outputs=2, hidden_size=8)
    m.nodes[-1].output[0] = ""
    return m.build(m.op("Tanh", gates[1]))


# Subgraphs and functions


def _body(
    name: str,
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Mapping[str, tuple[int, Sequence[int]]],
) -> onnx.GraphProto:
    infos = [helper.make_tensor_value_info(key, *kind) for key, kind in outputs.items()]
    return helper.make_graph(list(nodes), name, list(inputs), infos)


@architecture
def conditional() -> onnx.ModelProto:
    """An If on a constant, which is inlined, and one on a value; branches read outer tensors."""
    m = Model(50)
    x = m.input("x", [2, 8])
    y = m.linear(x, 8, 8)
    make = helper.make_node
    shape = (FLOAT, [2, 8])
    branches = [
        _body(f"{op}_static", [make(op, [y], [f"{op}_s"], name=f"{op}_s")], [], {f"{op}_s": shape})
        for op in ("Relu", "Neg")
    ]
    condition = m.weight(np.array(True), "condition")
    z = m.op("If", condition, then_branch=branches[0], else_branch=branches[1])
    z = m.op("Add", z, y)
    positive = m.op("Greater", m.op("ReduceSum", z, keepdims=0), m.weight(np.float32(0), "zero"))
    branches = [
        _body(f"{op}_dynamic", [make(op, [z], [f"{op}_d"], name=f"{op}_d")], [], {f"{op}_d": shape})
        for op in ("Exp", "Tanh")
    ]
    z = m.op("If", positive, then_branch=branches[0], else_branch=branches[1])
    return m.build(m.op("Mul", z, m.op("Sigmoid", y)))


@architecture
def loop() -> onnx.ModelProto:
    """A Loop of three turns; its body reads an outer tensor."""
    m = Model(51)
    x = m.input("x", [2, 8])
    outer = m.op("Relu", m.linear(x, 8, 8))
    info = helper.make_tensor_value_info
    body = _body(
        "body",
        [
            helper.make_node("Add", ["state", outer], ["sum"], name="body/Add"),
            helper.make_node("Tanh", ["sum"], ["next"], name="body/Tanh"),
            helper.make_node("Identity", ["go"], ["go_on"], name="body/Identity"),
        ],
        [info("turn", INT64, []), info("go", BOOL, []), info("state", FLOAT, [2, 8])],
        {"go_on": (BOOL, []), "next": (FLOAT, [2, 8])},
    )
    counts = (m.weight(np.int64(3), "turns"), m.weight(np.array(True), "go"))
    y = m.op("Loop", *counts, m.op("Neg", x), body=body)
    return m.build(m.op("Mul", y, m.weight(np.float32(2), "two")))


@architecture
def local_function() -> onnx.ModelProto:
    """A function of the model, called twice: the engine inlines it."""
    m = Model(52)
    m.domains["local"] = 1
    nodes = [
        helper.make_node("Sigmoid", ["x"], ["gate"], name="gate"),
        helper.make_node("Mul", ["x", "gate"], ["y"], name="scale"),
    ]
    opsets = [helper.make_opsetid("", m.opset)]
    m.functions.append(helper.make_function("local", "Swish", ["x"], ["y"], nodes, opsets))
    y = m.op("Swish", m.linear(m.input("x", [2, 8]), 8, 8), domain="local")
    return m.build(m.op("Relu", m.op("Swish", m.linear(y, 8, 8), domain="local")))


@architecture
def sequences() -> onnx.ModelProto:
    """Tensors between operators that are not tensors: a sequence is made and taken apart."""
    m = Model(53)
    x = m.input("x", [2, LENGTH, 8])
    y = m.op("SplitToSequence", m.op("Relu", x), m.weight(np.int64(2), "split"), axis=1)
    part = m.op("SequenceAt", y, m.weight(np.int64(1), "place"))
    y = m.op("ConcatFromSequence", y, axis=1)
    return m.build(m.op("Mul", y, m.op("ReduceMean", part, axes=[1], keepdims=1)))


@architecture
def elementwise_chain() -> onnx.ModelProto:
    m = Model(54)
    y = x = m.input("x", [4, WIDTH])
    for op in ("Exp", "Neg", "Sigmoid", "Sqrt", "Tanh"):
        y = m.op("Mul", m.op(op, m.op("Abs", y)), m.weight(m.normal(WIDTH, scale=1.0), "scale"))
    return m.build(m.op("Where", m.op("Less", y, x), y, x))


# Random networks: combinations that nobody thought of


def random_network(seed: int, length: int = 14) -> onnx.ModelProto:
    """A network of convolutions and what stands around them; its shape depends on the seed."""
    m = Model(seed)
    chance = np.random.default_rng(seed)
    alive: list[tuple[str, int]] = [(image(m), CHANNELS)]  # tensors of one image size, channels

    def pick() -> tuple[str, int]:
        return alive[-1] if chance.random() < 0.7 else alive[chance.integers(len(alive))]

    def shaped(*size: int) -> str:
        return m.weight(m.normal(*size, scale=1.0), "w")

    for _ in range(length):
        x, c = pick()
        kind = chance.integers(16)
        if kind < 4:
            cout = int(chance.choice([4, 8, 12, 16, 32]))
            group = c if chance.random() < 0.25 else 4 if chance.random() < 0.15 else 1
            cout = c if group == c else cout
            kernel = int(chance.choice([1, 3]))
            y, c = m.conv(x, c, cout, kernel, bias=chance.random() < 0.5, group=group), cout
            if chance.random() < 0.5:
                y = m.batch_norm(y, c)
        elif kind < 7:
            op = str(chance.choice(["Relu", "Sigmoid", "Tanh", "HardSigmoid", "LeakyRelu", "Elu"]))
            y = m.op(op, x)
        elif kind == 7:
            y = m.op("Clip", x, *_clip(m, 0, 6))
        elif kind == 8:
            y = m.op("Mul", x, m.op("Sigmoid", x))
        elif kind == 9:
            y = m.op(str(chance.choice(["Add", "Mul"])), x, shaped(1, c, 1, 1))
        elif kind == 10:
            same = [t for t, width in alive if width == c]
            y = m.op(str(chance.choice(["Add", "Mul", "Sum"])), x, same[chance.integers(len(same))])
        elif kind == 11:
            other, width = alive[chance.integers(len(alive))]
            y, c = m.op("Concat", x, other, axis=1), c + width
        elif kind == 12:
            pool = str(chance.choice(["MaxPool", "AveragePool"]))
            y = m.op(pool, x, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
        elif kind == 13:
            gate = m.conv(m.op("GlobalAveragePool", x), c, c, 1, bias=True)
            y = m.op("Mul", x, m.op(str(chance.choice(["Sigmoid", "HardSigmoid", "Relu"])), gate))
        elif kind == 14:
            y = m.op(str(chance.choice(["Identity", "Dropout"])), x)
        else:
            y = m.op("Transpose", x, perm=[0, 2, 3, 1])
            if chance.random() < 0.7:
                y = m.op(str(chance.choice(["Relu", "Softmax", "Exp"])), y)
            y = m.op("Transpose", y, perm=[0, 3, 1, 2])
        alive.append((y, c))
    last = [alive[-1][0]]
    if chance.random() < 0.4:
        last += [t for t, _ in alive[1:-1] if chance.random() < 0.15]
    flat = m.op("Flatten", m.op("GlobalAveragePool", alive[-1][0]))
    head = m.op("Add", m.op("MatMul", flat, shaped(alive[-1][1], 5)), shaped(5))
    return m.build(head, *dict.fromkeys(last))

"""Models built in code from fixed seeds. This module imports no engine: it only lists them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message
from fusescope.analysis.spelling import nearest
from fusescope.analysis.text import shown

Precision = Literal["single", "double"]


@dataclass(frozen=True)
class ZooModel:
    """`module`.`function`(**`arguments`) builds the model; `nodes` and `weights` (numbers,
    statistics included) are then in it. With a `calibration`, its BatchNormalization statistics
    and the offset of its classifier come from data, computed in that precision. Raise `version`
    when the file changes: it is part of its name in the cache. `kernel` of our own is what the
    model is there to show, '' for the engine's own fusions.
    """

    name: str
    description: Message
    module: str
    nodes: int
    weights: int
    function: str = "build"
    arguments: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    calibration: Precision | None = None
    version: int = 1
    kernel: str = ""

    @property
    def cached(self) -> str:
        """Its file below the cache folder."""
        return f"zoo/{self.name}-v{self.version}.onnx"

    @property
    def family(self) -> str:
        """The name without the backbone."""
        return self.name.partition("-")[0]

    @property
    def backbone(self) -> str:
        """The network inside that another could replace, '' where there is no choice."""
        return self.arguments.get("backbone", "")


_ELEMENTWISE = "fusescope.collectors.zoo.elementwise"
_CONVOLUTIONS = "fusescope.collectors.zoo.convolutions"
_DEEPLAB = "fusescope.collectors.zoo.deeplabv3plus"
_GROUP_NORM = "fusescope.collectors.zoo.group_norm"


def _backbone(name: str) -> Mapping[str, str]:
    return MappingProxyType({"backbone": name})


MODELS = (
    # These two in single precision: recordings that ship hold the hashes of their files.
    ZooModel(
        "resnet50",
        Message("ResNet-50, 224 x 224 images: Conv, BatchNormalization and Relu as separate nodes"),
        "fusescope.collectors.zoo.resnet50", 175, 25_610_152, calibration="single",
    ),
    ZooModel(
        "mobilenetv2",
        Message(
            "MobileNetV2, 224 x 224 images: Conv, BatchNormalization and Clip as separate nodes"
        ),
        "fusescope.collectors.zoo.mobilenetv2", 152, 3_538_986, calibration="single",
    ),
    ZooModel(
        "deeplabv3plus",
        Message(
            "DeepLabV3+ on MobileNetV2, 513 x 513 images: 21 classes a pixel, atrous convolutions"
        ),
        _DEEPLAB, 195, 2_758_605, arguments=_backbone("mobilenetv2"), calibration="double",
    ),
    ZooModel(
        "deeplabv3plus-resnet50",
        Message("DeepLabV3+ on ResNet-50, else the same"),
        _DEEPLAB, 221, 26_766_859, arguments=_backbone("resnet50"), calibration="double",
    ),
    ZooModel(
        "transformer_encoder",
        Message(
            "two layers of BERT-base, 128 tokens: LayerNorm, Gelu and attention as exported"
        ),
        "fusescope.collectors.zoo.transformer_encoder", 98, 14_175_757,
    ),
    ZooModel(
        "rotary_encoder",
        Message(
            "three layers of a small transformer, 128 tokens: each computes the angles of its "
            "rotary positions again"
        ),
        "fusescope.collectors.zoo.rotary_encoder", 162, 594_865,
    ),
    ZooModel(
        "relative_encoder",
        Message(
            "two layers of a small transformer, 128 tokens: biases of relative positions are "
            "computed from the length of the input"
        ),
        "fusescope.collectors.zoo.relative_encoder", 93, 393_810,
    ),
    ZooModel(
        "group_norm",
        Message("one Conv, GroupNormalization and Relu on 32 channels of 28 x 28"),
        _GROUP_NORM, 3, 9_280, "group_norm",
    ),
    ZooModel(
        "instance_norm",
        Message("the same by means of InstanceNormalization, as older exporters write it"),
        _GROUP_NORM, 7, 9_303, "instance_norm",
    ),
    ZooModel(
        "conv_bn",
        Message("one Conv and BatchNormalization on 64 channels of 56 x 56"),
        _CONVOLUTIONS, 2, 37_120, "conv_bn", calibration="double",
    ),
    ZooModel(
        "conv_bn_relu",
        Message("one Conv, BatchNormalization and Relu on 64 channels of 56 x 56"),
        _CONVOLUTIONS, 3, 37_120, "conv_bn_relu", calibration="double", version=2,
    ),
    ZooModel(
        "depthwise_conv",
        Message("one depthwise 3 x 3 Conv on 144 channels of 56 x 56, as in MobileNetV2"),
        _CONVOLUTIONS, 1, 1_296, "depthwise_conv", kernel="depthwise_conv",
    ),
    ZooModel(
        "mul_add",
        Message("one Mul and one Add on 4 MB, which ONNX Runtime does not fuse"),
        _ELEMENTWISE, 2, 2, "mul_add", kernel="mul_add",
    ),
    ZooModel(
        "mynet",
        Message("x · 2 + 1 on 4 MB, the first net of MindSpore's tutorial on graph kernels"),
        _ELEMENTWISE, 2, 2, "mynet", kernel="mul_add",
    ),
    ZooModel(
        "mynet_composite",
        Message(
            "y = (x · 2)³, then (b - y) · b, on 4 MB: a composite operator in the same tutorial"
        ),
        _ELEMENTWISE, 4, 2, "mynet_composite", kernel="sub_mul_pow",
    ),
    ZooModel(
        "add_relu",
        Message("one Add of two inputs of 4 MB, and Relu: the end of a residual block"),
        _ELEMENTWISE, 2, 0, "add_relu", kernel="add_relu",
    ),
    ZooModel(
        "mul_sigmoid",
        Message("x · sigmoid(x) on 4 MB: the activation SiLU, also called Swish"),
        _ELEMENTWISE, 2, 0, "mul_sigmoid", kernel="mul_sigmoid",
    ),
)  # fmt: skip


def find(name: str) -> ZooModel | None:
    """The zoo model of that name, or None."""
    return next((model for model in MODELS if model.name == name), None)


def chosen(name: str, backbone: str | None) -> ZooModel:
    """The zoo model of that name, with that backbone where one is asked for.

    Raises FuseScopeError for unknown names and for models that have no backbone to choose.
    """
    model = find(name)
    if model is None:
        raise FuseScopeError(
            "zoo_model_unknown",
            model=shown(name),
            known=", ".join(m.name for m in MODELS),
            nearest=nearest(name, [m.name for m in MODELS]),
        )
    if backbone is None:
        return model
    family = {m.backbone: m for m in MODELS if m.backbone and m.family == model.family}
    if not family:
        able = sorted({m.family for m in MODELS if m.backbone})
        raise FuseScopeError("zoo_without_backbone", model=name, able=", ".join(able))
    if backbone not in family:
        raise FuseScopeError(
            "zoo_backbone_unknown",
            backbone=shown(backbone),
            model=model.family,
            known=", ".join(family),
            nearest=nearest(backbone, family),
        )
    return family[backbone]

"""Models built in code from fixed seeds. This module imports no engine: it only lists them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ZooModel:
    """`module` holds `build() -> onnx.ModelProto`; `calibrated` models learn their
    BatchNormalization statistics and classifier offset from data after they are built."""

    name: str
    module: str
    description: str
    calibrated: bool


MODELS = (
    ZooModel(
        "resnet50",
        "collectors.zoo.resnet50",
        "ResNet-50, 224 x 224 images: Conv, BatchNormalization and Relu as separate nodes",
        calibrated=True,
    ),
    ZooModel(
        "mobilenetv2",
        "collectors.zoo.mobilenetv2",
        "MobileNetV2, 224 x 224 images: Conv, BatchNormalization and Clip as separate nodes",
        calibrated=True,
    ),
    ZooModel(
        "conv_bn_relu",
        "collectors.zoo.conv_bn_relu",
        "one Conv, BatchNormalization and Relu on 64 channels of 56 x 56",
        calibrated=True,
    ),
    ZooModel(
        "mul_add",
        "collectors.zoo.mul_add",
        "one Mul and one Add on 4 MB, which ONNX Runtime does not fuse",
        calibrated=False,
    ),
)


def find(name: str) -> ZooModel | None:
    """The zoo model of that name, or None."""
    return next((model for model in MODELS if model.name == name), None)

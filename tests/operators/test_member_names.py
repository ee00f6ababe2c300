"""What the names of fused operators say, in the forms that the tools write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.operators.members import (
    Members,
    akg_info,
    fusion_ops,
    graph_kernel,
    inductor,
    members_text,
    openvino,
    parse_members,
    tensorrt,
    tensorrt_metadata,
    type_in_name,
)


@pytest.mark.parametrize(
    ("layer", "members"),
    [
        ("Conv_15", ("Conv_15",)),
        ("Conv_5 + Add_6 + Relu_7", ("Conv_5", "Add_6", "Relu_7")),
        ("/cv1/conv/Conv || /cv2/conv/Conv", ("/cv1/conv/Conv", "/cv2/conv/Conv")),
        ("PWN(PWN(/act/Sigmoid), /act/Mul)", ("/act/Sigmoid", "/act/Mul")),
        ("Conv_1 + PWN(PWN(Sigmoid_2), PWN(Mul_3))", ("Conv_1", "Sigmoid_2", "Mul_3")),
        ("weight + QuantizeLinear_8 + Conv_12", ("weight", "QuantizeLinear_8", "Conv_12")),
        (
            "PWN(Clip_9 + (Unnamed Layer* 16) [Shuffle], PWN(Add_6 + Add_4, Mul_7))",
            ("Clip_9", "Add_6", "Add_4", "Mul_7"),
        ),
        ("Add_1 + Add_1", ("Add_1",)),
        ("PWN(Clip_9", ("PWN(Clip_9",)),  # cut short: a name like any other
    ],
)
def test_tensorrt_lists_its_layers(layer: str, members: tuple[str, ...]) -> None:
    assert tensorrt(layer) == Members(members)


def test_tensorrt_ranges_reformats_and_riddles() -> None:
    assert tensorrt("{ForeignNode[/a/MatMul.../b/Softmax]}") == Members(
        ("/a/MatMul", "/b/Softmax"), "range"
    )
    assert tensorrt("Reformatting CopyNode for Input Tensor 0 to Conv_0 + Relu_1") == Members(())
    for riddle in (
        "__myl_AddMul_myl0_3",
        "{ForeignNode[(Unnamed Layer* 0) [ElementWise]...x]}",
        "{ForeignNode[a...b...c]}",
        "(Unnamed Layer* 353) [Activation]",
        "",
    ):
        assert tensorrt(riddle) is None


def test_tensorrt_names_of_newer_versions() -> None:
    for inserted in (
        "[trainStation2]",
        "/neck/Concat_/neck/Resize_output_0_clone_0 copy",
        "/act/Mul_output_0 copy",
        "(Unnamed Layer* 718) [NMS]_1_output[DevicetoShapeHostCopy]",
    ):
        assert tensorrt(inserted) == Members(())
    assert tensorrt("Conv_0 + Relu_1 [profile 1]") == Members(("Conv_0", "Relu_1"))
    assert tensorrt("/fc1/MatMul+/act/Mul_myl3_8") == Members(("/fc1/MatMul", "/act/Mul"))
    assert tensorrt("_gemm_mha_v2_myl3_12") is None
    assert tensorrt("a + (Unnamed Layer* 8) [Shuffle]_(Unnamed Layer* 8)_output") == Members(("a",))
    # The ends of a range may be fused themselves.
    assert tensorrt("{ForeignNode[/a/Unsqueeze + /b/Unsqueeze.../c/Squeeze]}") == Members(
        ("/a/Unsqueeze", "/c/Squeeze"), "range"
    )
    assert tensorrt("a + " * 20_000) is None  # no name is that long


def test_tensorrt_metadata_names_the_originals() -> None:
    for text in (
        "[ONNX Layer: /a/Conv]\x1f[ONNX Layer: /a/Relu]",
        "[ONNX Layer: /a/Conv]\x1e[ONNX Layer: /a/Relu]\x1f[ONNX Layer: /a/Conv]",
        "[ONNX Layer: /a/Conv][ONNX Layer: /a/Relu]",
        "[Other: x]\x1f[ONNX Layer: /a/Conv]\x1f[ONNX Layer: /a/Relu]\x1f[ONNX Layer: ]",
    ):
        assert tensorrt_metadata(text) == Members(("/a/Conv", "/a/Relu"))
    assert tensorrt_metadata("[ONNX Layer: a[0]]") == Members(("a[0]",))
    for text in ("", "x", "[ONNX Layer: ", "[ONNX Layer: a"):
        assert tensorrt_metadata(text) is None


def test_op_types_in_names() -> None:
    found = {name: type_in_name(name) for name in (
        "Conv_12", "/block/Conv", "/block/Conv_1", "BatchNormalization_3_1", "Relu", "conv1",
        "resnet_conv0_fwd", "layer1.0.weight", "", "_12", "x" * 10_000, "a" + "_1" * 5_000,
    )}  # fmt: skip
    assert {name[:20]: kind for name, kind in found.items() if kind} == {
        "Conv_12": "Conv", "/block/Conv": "Conv", "/block/Conv_1": "Conv",
        "BatchNormalization_3_1"[:20]: "BatchNormalization", "Relu": "Relu",
    }  # fmt: skip


def test_openvino_lists_comma_separated_names_and_leaves_inserted_nodes_empty() -> None:
    assert openvino("Multiply_8903,bn,relu") == Members(("Multiply_8903", "bn", "relu"))
    assert openvino("") == Members(())


@pytest.mark.parametrize(
    ("kernel", "types"),
    [
        ("triton_poi_fused_add_relu_3", ("add", "relu")),
        ("graph_0_cpp_fused_add_mul_0", ("add", "mul")),
        ("triton_per_fused__to_copy_mean_2", ("_to_copy", "mean")),
        (
            "triton_per_fused_add_native_layer_norm_1",
            ("add", "native_layer_norm"),
        ),
        (
            "triton_poi_fused__native_batch_norm_legit_no_training_relu_0",
            ("_native_batch_norm_legit_no_training", "relu"),
        ),
        (
            "triton_poi_fused_max_pool2d_with_indices_relu_threshold_backward_7",
            ("max_pool2d_with_indices", "relu", "threshold_backward"),
        ),
        (
            "triton_per_fused_native_layer_norm_native_layer_norm_backward_nll_loss_forward_30",
            ("native_layer_norm", "native_layer_norm_backward", "nll_loss_forward"),
        ),
        ("triton_poi_fused_add_mul_0d1d2d3de", ("add", "mul")),
        ("triton_poi_fused_atan2_upsample_nearest2d_3.kd", ("atan2", "upsample_nearest2d")),
        ("triton_tem_fused_addmm_t_view", ("addmm", "t", "view")),
    ],
)
def test_inductor_kernels_list_op_types(kernel: str, types: tuple[str, ...]) -> None:
    assert inductor(kernel) == Members(types, "op_types")


def test_a_kernel_that_lists_nothing_is_unknown() -> None:
    assert inductor("graph_1_cpp_fused_1") is None
    assert inductor("void cudnn::winograd_nonfused::winogradForwardData4x4<float>") is None


def test_mindspore_graph_kernels() -> None:
    assert graph_kernel("GraphKernel_Mul_Add_fusion") == Members(("Mul", "Add"), "op_types")
    assert graph_kernel("GraphKernel_ReLU") == Members(("ReLU",), "op_types")
    nested = graph_kernel("GraphKernel_Mul_Add_fusion_Sub_fusion")
    assert nested == Members(("Mul", "Add", "Sub"), "op_types")
    assert graph_kernel("GraphKernel_fusion") is None
    assert graph_kernel("Conv2D") is None


def test_akg_info_gives_the_full_names_of_the_originals() -> None:
    info = {
        "op": "Fused_Mul_Add_fusion_1037765",
        "op_desc": [
            {"name": "Mul", "ptr_address": "Default/net/Mul-op0_586"},
            {"name": "Add", "ptr_address": "Default/net/Add-op0_588"},
        ],
    }
    assert akg_info(json.dumps(info).encode()) == (
        "GraphKernel_Mul_Add_fusion",
        Members(("Default/net/Mul-op0", "Default/net/Add-op0")),
    )
    for broken in (b"", b"{}", b"[1]", b'{"op": 1, "op_desc": [2]}', b'{"op": "x", "op_desc": 3}'):
        assert akg_info(broken) is None


def test_akg_files_of_a_real_run(shared_traces: Path) -> None:
    folder = shared_traces / "captured" / "mindspore_cpu" / "akg_kernel_meta"
    found = sorted(
        filter(None, (akg_info(path.read_bytes()) for path in folder.iterdir())), key=str
    )
    assert [(kind, members.members) for kind, members in found] == [
        ("GraphKernel_Mul_Add_fusion", ("Default/Mul-op0", "Default/Add-op0")),
        ("GraphKernel_Mul_Add_fusion", ("Default/Mul-op0", "Default/Add-op0")),
        ("GraphKernel_Mul_fusion", ("Default/Mul-op0",)),
        ("GraphKernel_ReLU", ("Default/Maximum-op0",)),
    ]


def test_fusion_op_csv_is_read_by_its_heads() -> None:
    text = (
        "\ufeffDevice_id,Model Name,Model ID,Fusion Op,Original Ops,Memory Input(KB)\r\n"
        "host,net,1,conv1relu,conv1;bn1;relu1\t,10\r\n"
        "host,net,2,conv1relu,conv1;scale1,10\r\n"
        'host,net,1,add2,"add2,mul2",10\r\n'
        "host,net,1,short\r\n"
        "host,net,1,empty,N/A,10\r\n"
    )
    assert fusion_ops(text) == {
        "conv1relu": Members(("conv1", "bn1", "relu1", "scale1")),
        "add2": Members(("add2", "mul2")),
    }
    assert fusion_ops("Name,Type\na,b\n") == {}
    assert fusion_ops("") == {}


@given(st.lists(st.text("abz_/.:19", min_size=1, max_size=9), min_size=1, max_size=6, unique=True))
def test_what_is_written_is_read_back(names: list[str]) -> None:
    members = Members(tuple(names))
    assert parse_members(members_text(members), "names") == members
    # A joined list is what TensorRT writes, too, unless a name has a meaning of its own.
    if not any(name.startswith("__my") for name in names[:1]):
        assert tensorrt(members_text(members)) == members


@given(st.text(max_size=60))
def test_no_name_breaks_a_parser(text: str) -> None:
    for found in (tensorrt(text), inductor(text), graph_kernel(text), openvino(text)):
        assert found is None or all(found.members)
    akg_info(text.encode())
    fusion_ops(f"Fusion Op,Original Ops\n{text}")


def test_nesting_is_bounded() -> None:
    deep = "PWN(" * 5000 + "a" + ")" * 5000
    found = tensorrt(deep)
    assert found is not None and len(found.members) == 1
    assert parse_members("a + b", "hearsay") is None

"""What an engineer would name of a stack: the rules, one by one."""

from __future__ import annotations

import pytest

from fusescope.analysis.host.causes import Cause, Frame, cause_of
from fusescope.analysis.host_activity import ANNOTATION, FRAME, OPERATOR, RUNTIME

MAIN = Frame("train.py(3): main", FRAME)
CALL = Frame("torch/nn/modules/module.py(1775): _call_impl", FRAME)
COPY = Frame("aten::copy_", OPERATOR)


def call(name: str, *, is_long: bool = True) -> Frame:
    return Frame(name, RUNTIME, is_long)


@pytest.mark.parametrize(
    ("stack", "kind", "name"),
    [
        # Data loading, whatever happens in it: by its range and by its frame.
        (
            [Frame("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", ANNOTATION)],
            "data_loading", "DataLoader.__next__",
        ),
        (
            [MAIN, Frame("torch/utils/data/dataloader.py(633): __next__", FRAME), COPY],
            "data_loading", "DataLoader.__next__",
        ),
        (
            [Frame("/opt/py/torch/utils/data/dataloader.py(1284): _next_data", FRAME),
             Frame("threading.py(589): wait", FRAME)],
            "data_loading", "DataLoader.__next__",
        ),
        # Waiting for the device, in a call or where a value is read.
        ([MAIN, call("cudaStreamSynchronize")], "synchronisation", "cudaStreamSynchronize"),
        ([call("hipDeviceSynchronize")], "synchronisation", "hipDeviceSynchronize"),
        ([call("AscendCL@aclrtSynchronizeStream")], "synchronisation",
         "AscendCL@aclrtSynchronizeStream"),
        (
            [MAIN, Frame("aten::item", OPERATOR), Frame("aten::_local_scalar_dense", OPERATOR),
             call("hipMemcpyWithStream")],
            "synchronisation", "aten::item",
        ),
        # Memory of the device and of the host.
        ([COPY, call("hipFree")], "allocation", "hipFree"),
        ([call("cudaHostAlloc")], "allocation", "cudaHostAlloc"),
        ([call("cuMemCreate")], "allocation", "cuMemCreate"),
        # A copy that lasts longer than its launch waits.
        ([MAIN, COPY, call("cudaMemcpyAsync")], "copy_waits", "cudaMemcpyAsync"),
        ([MAIN, COPY, call("cudaMemcpyAsync", is_long=False)], "launching", ""),
        # Compilation, but not the frames through which compiled code is called.
        ([MAIN, Frame("torch/_dynamo/convert_frame.py(1040): _compile", FRAME), COPY],
         "compilation", "torch/_dynamo/convert_frame.py(1040): _compile"),
        ([Frame("triton/compiler/compiler.py(226): compile", FRAME)], "compilation",
         "triton/compiler/compiler.py(226): compile"),
        ([MAIN, Frame("torch/_dynamo/eval_frame.py(817): compile_wrapper", FRAME)], "python",
         "train.py(3): main"),
        ([call("cuModuleLoadData")], "compilation", "cuModuleLoadData"),
        ([MAIN, Frame("<built-in function collect>", FRAME)], "garbage_collection", "gc.collect"),
        # Launching itself, by what a program or an optimizer marked around it.
        ([MAIN, COPY, call("cudaLaunchKernel")], "launching", ""),
        ([call("hipGraphLaunch")], "launching", ""),
        ([Frame("forward", ANNOTATION), COPY], "launching", "forward"),
        (
            [Frame("Optimizer.step#SGD.step", OPERATOR), COPY],
            "launching", "Optimizer.step#SGD.step",
        ),
        ([Frame("aten::add", ANNOTATION)], "launching", ""),
        # Python: the innermost frame that is not the framework's own.
        ([MAIN, CALL, Frame("<built-in method append of list>", FRAME)], "python", MAIN.name),
        ([MAIN, Frame("/usr/lib/python3.11/json/decoder.py(3): decode", FRAME)], "python",
         MAIN.name),
        ([MAIN, Frame("scipy/ndimage/_interpolation.py(700): zoom", FRAME)], "python",
         "scipy/ndimage/_interpolation.py(700): zoom"),
        ([MAIN, Frame("mine/torch_tools.py(1): f", FRAME)], "python", "mine/torch_tools.py(1): f"),
        ([CALL], "python", CALL.name),
        ([Frame("load batch", ANNOTATION)], "python", "load batch"),
        ([], "unknown", ""),
    ],
)  # fmt: skip
def test_rules(stack: list[Frame], kind: str, name: str) -> None:
    assert cause_of(stack) == Cause(kind, name)  # type: ignore[arg-type]

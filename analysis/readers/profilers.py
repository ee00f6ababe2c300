"""The formats of profilers, the most specific first."""

from __future__ import annotations

from fusescope.analysis.readers.amd.rocpd import ROCPD
from fusescope.analysis.readers.amd.rocprof import ROCPROF
from fusescope.analysis.readers.amd.stats import ROCPROF_STATS
from fusescope.analysis.readers.ascend.database import ASCEND_DATABASE
from fusescope.analysis.readers.ascend.kernel_details import KERNEL_DETAILS
from fusescope.analysis.readers.ascend.msprof_op import MSPROF_OP
from fusescope.analysis.readers.ascend.msprof_timeline import MSPROF_TIMELINE
from fusescope.analysis.readers.ascend.op_statistic import OP_STATISTIC
from fusescope.analysis.readers.ascend.op_summary import OP_SUMMARY
from fusescope.analysis.readers.ascend.task_time import TASK_TIME
from fusescope.analysis.readers.ascend.trace_view import TRACE_VIEW
from fusescope.analysis.readers.chrome_trace import CHROME_TRACE
from fusescope.analysis.readers.mindspore.cpu import (
    MINDSPORE_CPU,
    MINDSPORE_CPU_SUMMARY,
    MINDSPORE_CPU_TIMELINE,
)
from fusescope.analysis.readers.mindspore.legacy import (
    MINDSPORE_LEGACY,
    MINDSPORE_LEGACY_DISPLAY,
    MINDSPORE_LEGACY_SUMMARY,
)
from fusescope.analysis.readers.nvidia.nsys import NSYS
from fusescope.analysis.readers.nvidia.nsys_stats import NSYS_STATS
from fusescope.analysis.readers.nvidia.tensorrt import TENSORRT_PROFILE
from fusescope.analysis.readers.nvidia.tensorrt_times import TENSORRT_TIMES
from fusescope.analysis.readers.onnxruntime.profile import ONNXRUNTIME
from fusescope.analysis.readers.openvino.profile import OPENVINO_COUNTERS, OPENVINO_GRAPH
from fusescope.analysis.readers.pytorch.autograd_list import AUTOGRAD_LIST
from fusescope.analysis.readers.pytorch.kineto import KINETO
from fusescope.analysis.readers.reader import Reader
from fusescope.analysis.readers.xla.xplane import XPLANE

# The most specific first. Where several files tell of one recording, the first one that any
# reader knows is read, with the others beside it.
PROFILERS: tuple[Reader, ...] = (
    ONNXRUNTIME,
    # Ascend and MindSpore, richest first
    KERNEL_DETAILS,
    OP_SUMMARY,
    ASCEND_DATABASE,
    TRACE_VIEW,
    MSPROF_TIMELINE,
    TASK_TIME,
    MSPROF_OP,
    OP_STATISTIC,
    MINDSPORE_CPU,
    MINDSPORE_CPU_TIMELINE,
    MINDSPORE_CPU_SUMMARY,
    MINDSPORE_LEGACY,
    MINDSPORE_LEGACY_DISPLAY,
    MINDSPORE_LEGACY_SUMMARY,
    KINETO,
    AUTOGRAD_LIST,
    # TensorRT, OpenVINO
    TENSORRT_PROFILE,
    TENSORRT_TIMES,
    OPENVINO_COUNTERS,
    OPENVINO_GRAPH,
    # Nsight Systems, AMD, XLA
    NSYS,
    NSYS_STATS,
    ROCPD,
    ROCPROF,
    ROCPROF_STATS,
    XPLANE,
    CHROME_TRACE,
)

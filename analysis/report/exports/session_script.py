"""A script that opens a model in ONNX Runtime as a variant of a recording had it."""

from __future__ import annotations

from analysis.experiment import ExperimentRecord

_LEVELS = {
    "none": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}
_SCRIPT = '''\
"""Opens {model} as FuseScope measured it: {variant}, {threads} threads inside an operator.

python SCRIPT.py MODEL.onnx
"""

import sys

import onnxruntime as ort

options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.{level}
options.intra_op_num_threads = {threads}
options.inter_op_num_threads = 1
options.add_session_config_entry("session.intra_op.allow_spinning", "{spin}")
session = ort.InferenceSession(
    sys.argv[1], options, providers=["CPUExecutionProvider"], disabled_optimizers={disabled!r}
)
print([tensor.name for tensor in session.get_inputs()])
'''


def session_script(record: ExperimentRecord, name: str) -> str | None:
    """Python source for that variant; None where its settings are more than those of a session,
    as for other cuts, kernels, rules and quantised weights."""
    settings = record.variant(name).settings
    level = _LEVELS.get(str(settings.get("graph_optimization")))
    is_plain = name.partition(":")[0] in (
        "unfused", "basic", "extended", "fused", "without", "threads",
    )  # fmt: skip
    if level is None or not is_plain:
        return None
    off = settings.get("disabled_optimizers")
    return _SCRIPT.format(
        model=_plain(record.model.name),
        variant=_plain(name),
        threads=int(str(settings.get("intra_op_threads", record.settings.threads))),
        level=level,
        spin="1" if record.settings.spin else "0",
        disabled=[str(off)] if off else [],
    )


def _plain(text: str) -> str:
    """A name from a file as part of a docstring."""
    return "".join(c for c in text if c.isalnum() or c in "_-.:+")

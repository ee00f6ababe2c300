"""What repeats a variant of a recording outside of FuseScope: a script, and its rule file."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis.advice.settings import DYNAMIC
from fusescope.analysis.advice.tried import Tried, kept
from fusescope.analysis.experiment import ExperimentRecord, VariantRecord

_LEVELS = {
    "none": "ORT_DISABLE_ALL",
    "basic": "ORT_ENABLE_BASIC",
    "extended": "ORT_ENABLE_EXTENDED",
    "all": "ORT_ENABLE_ALL",
}
_OF_SETTINGS = (
    "unfused", "basic", "extended", "fused", "dynamic", "spin", "without", "only", "threads",
)  # fmt: skip
_HEAD = '''\
"""Opens {model} as FuseScope measured it: {variant}, {threads} threads inside an operator.

python SCRIPT.py MODEL.onnx
"""

import sys

import onnxruntime as ort

path = sys.argv[1]
'''
_FUSING = '''\
"""Fuses {model} by rules with FuseScope's own pass, and opens it as FuseScope measured it:
{variant}, {threads} threads inside an operator.

python SCRIPT.py MODEL.onnx FUSED.onnx
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import onnxruntime as ort

RULES = {rules}
model, path = sys.argv[1:3]
if not Path(path).exists():
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder, "rules.toml")
        rules.write_text(RULES, encoding="utf-8")
        command = ["fusescope", "fuse", model, "--rules", str(rules), "--out", path]
        subprocess.run([*command, *{options}], check=True)
'''
_SESSION = """\
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.{level}
options.intra_op_num_threads = {threads}
options.inter_op_num_threads = 1
options.add_session_config_entry("session.intra_op.allow_spinning", "{spin}")
{sizes}session = ort.InferenceSession(
    path, options, providers=["CPUExecutionProvider"], disabled_optimizers={disabled}
)
print([tensor.name for tensor in session.get_inputs()])
"""


def kept_files(
    record: ExperimentRecord, results: Sequence[Tried], listed: Sequence[str] = ()
) -> dict[str, str]:
    """Texts by their suffix, '.toml' and '.py', of files that repeat what is kept of what was
    tried, the best so far where nothing is; empty where no script can. `listed` as below."""
    one = kept(results)
    name, rules = record.settings.baseline, ""
    if one is not None:
        name, rules = one.remedy.variant, one.remedy.rules
    found = {".toml": rules, ".py": session_script(record, name, rules, listed)}
    return {suffix: text for suffix, text in found.items() if text}


def session_script(
    record: ExperimentRecord, name: str, rules: str = "", listed: Sequence[str] = ()
) -> str | None:
    """Python source for that variant, by those rules where it has any; None where its settings are
    more than those of a session, as for other cuts, kernels and quantised weights. `listed` are all
    optimizers of the engine: where one alone was on, there is a script only if the recording was
    made with as many."""
    variant = record.variant(name)
    level = _LEVELS.get(str(variant.settings.get("graph_optimization")))
    told = variant.settings.get("intra_op_threads")
    off = _disabled(variant, listed)
    sizes = {} if rules or name == DYNAMIC else _sizes(record)
    if (
        sizes is None
        or level is None
        or off is None
        or not (rules or name.partition(":")[0] in _OF_SETTINGS)
    ):
        return None
    head = _FUSING if rules else _HEAD
    return (head + _SESSION).format(
        model=_plain(record.model.name),
        variant=_plain(name),
        rules=ascii(rules),
        options=ascii(_options(record)),
        threads=told if isinstance(told, int) else record.settings.threads,
        level=level,
        spin="1" if record.spins(variant) else "0",
        disabled=ascii(off),
        sizes="".join(
            f"options.add_free_dimension_override_by_name({dim!a}, {size})\n"
            for dim, size in sizes.items()
        ),
    )


def _sizes(record: ExperimentRecord) -> dict[str, int] | None:
    """What the recording fixed the dynamic dimensions of the model to, by their names; None where
    one has no name, so that no setting of a session fixes it."""
    found: dict[str, int] = {}
    for one in record.model.inputs:
        if one.declared is None:
            continue
        if len(one.declared) != len(one.shape) or "" in one.declared:
            return None
        for dim, size in zip(one.declared, one.shape, strict=True):
            if isinstance(dim, str):
                found[dim] = size
    return found


def _disabled(variant: VariantRecord, listed: Sequence[str]) -> list[str] | None:
    """Optimizers that were off; None where they are not known."""
    kind, _, optimizer = variant.name.partition(":")
    if kind == "only":
        off = [name for name in listed if name != optimizer]
        return off if off and len(off) == variant.settings.get("disabled_count") else None
    return [optimizer] if kind == "without" else []


def _options(record: ExperimentRecord) -> list[str]:
    """What the fusion pass has to be told of the inputs: nothing of a built-in model's."""
    if record.model.source == "zoo":
        return [] if record.model.batch in (None, 1) else ["--batch", str(record.model.batch)]
    return [
        f"--shape={one.name}={','.join(map(str, one.shape))}"
        for one in record.model.inputs
        if one.shape
    ]


def _plain(text: str) -> str:
    """A name from a file as part of a docstring."""
    return "".join(c for c in text if c.isalnum() or c in "_-.:+")

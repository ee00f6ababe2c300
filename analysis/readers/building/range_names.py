"""Names of ranges that a program or a framework marked, without the number of the single call."""

from __future__ import annotations

import re

# Ranges that mark runs: 'iteration 12', 'ProfilerStep#12'.
MARK = re.compile(
    r"(?P<stem>(?:[\w.]{0,40}[\s:_.#-])?(?:profiler_?step|step|iter(?:ation)?|batch|inference|"
    r"request|forward_?pass))(?P<number>[\s:_.#=()\[\]-]*\d{1,12}\W?)?",
    re.IGNORECASE,
)
MARK_CHARS = 120
# torch.autograd.profiler.emit_nvtx writes 'aten::add, seq = 7, op_id = 12, sizes = [[2, 3], []]'.
_NUMBERED = re.compile(
    r"(?:, (?:seq|op_id) = -?\d{1,20}|, (?:sizes|input_op_ids) = [\[({][\d\s,()\[\]{}-]{0,4000})+$"
)


def without_call(text: str) -> str:
    """The text without what PyTorch writes of the single call: 'aten::add' of 'aten::add, seq = 7,
    op_id = 12'."""
    return _NUMBERED.sub("", text) or text


def name_of_range(text: str) -> str:
    """The name that all calls share: 'aten::add' of 'aten::add, seq = 7, op_id = 12', 'iteration'
    of 'iteration 12'. A number that is part of a name stays: 'layer 3'."""
    name = _NUMBERED.sub("", text)
    if len(name) <= MARK_CHARS and (match := MARK.fullmatch(name.strip())):
        return match["stem"].strip() or name
    return name or text

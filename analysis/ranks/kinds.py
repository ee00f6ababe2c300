"""Kinds of collectives by name, and what names of HCCL's tasks say of their group."""

from __future__ import annotations

import re
from dataclasses import dataclass

SEND_RECEIVE = "send_receive"
_KINDS = (
    ("reduce_scatter", re.compile(r"reduce_?scatter", re.IGNORECASE)),
    ("all_gather", re.compile(r"all_?gather", re.IGNORECASE)),
    ("all_reduce", re.compile(r"all_?reduce", re.IGNORECASE)),
    ("all_to_all", re.compile(r"all_?to_?all", re.IGNORECASE)),
    ("broadcast", re.compile(r"broadcast", re.IGNORECASE)),
    (SEND_RECEIVE, re.compile(r"send|recv|receive", re.IGNORECASE)),
    ("reduce", re.compile(r"reduce", re.IGNORECASE)),
    ("barrier", re.compile(r"barrier", re.IGNORECASE)),
)
_HCCL = re.compile(r"hcom_(\w+?)__(\d{1,20})_(\d{1,9})(?:_\d+)?(?:@\d{1,20})?$", re.IGNORECASE)


@dataclass(frozen=True)
class HcclName:
    """What the name of a task of HCCL says: the kind of collective, the end of the number of its
    group, and which of the group's collectives it is."""

    kind: str
    group: str
    number: int


def kind_of(name: str) -> str:
    """Return 'all_reduce', 'send_receive', … by a kernel's or a collective's name; else 'other'."""
    return next((kind for kind, pattern in _KINDS if pattern.search(name[:200])), "other")


def hccl_name(name: str) -> HcclName | None:
    """Return what 'hcom_allReduce__170_1_1' says; None of other names."""
    match = _HCCL.fullmatch(name)
    return HcclName(kind_of(match[1]), match[2], int(match[3])) if match else None

"""Types of device kernels: what a demangled C++ name says without namespaces and tiles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from fusescope.analysis.operators.members import inductor, members_text

NAMES_KEPT = 1 << 20  # so many that two files of 500,000 names each are parsed once: 200 MB
_MAX_READ = 4000
_MAX_CHARS = 120
_MAX_DEPTH = 24
_TOKEN = re.compile(r"->|::|operator\s*(?:\(\)|<=>|<<=?|>>=?|<=?|>=?)|[<>(){}\[\], ]")
_OPEN = {"<": ">", "(": ")", "{": "}", "[": "]"}
_CLOSE = frozenset(_OPEN.values())
_MANGLED = re.compile(r"_ZN?K?(?=\d)")
_LENGTH = re.compile(r"\d{1,4}")
_NUMBERED = re.compile(r"(?:_kernel)?[_.]\d{1,6}(?=$)")
_GRAPH = re.compile(r"graph_\d{1,6}_(?=(?:cpp|triton)_)")
_TENSILE = re.compile(r"Cijk_\w*?_MT\d{1,5}x\d{1,5}x\d{1,5}")
_SUFFIX = re.compile(r"(?:\.kd|\s?\[clone [^\]]{0,80}\])$")
# Template arguments that say how a kernel is tiled or on what types, not what it computes.
_VALUE = re.compile(
    r"[-+]?\d[\w.]*|\([\w: ]{1,80}\)[-+]?\w+|true|false|nullptr|NULL"
    r"|(?:unsigned |signed |long |short )*(?:int|long|short|char)|unsigned|signed|bool|void"
    r"|(?:float|double|int|uint|half|bfloat|long)(?:\d*(?:x\d+)?|\d+_t)|half2|__half2?|_Float16"
    r"|__(?:nv|hip)_\w+|size_t|ptrdiff_t|T\d+"
)
_TYPES = """BFloat16 Half Float8_e4m3fn Float8_e5m2 Float8_e4m3fnuz Float8_e5m2fnuz complex Complex
    bfloat16_t half_t tfloat32_t float_e4m3_t float_e5m2_t uint128_t integral_constant
    Array array tuple pair tuple_element Tuple TensorInfo OffsetCalculator LoadWithCast
    TrivialOffsetCalculator LoadWithoutCast StoreWithCast StoreWithoutCast index_sequence sequence
    integer_sequence Sequence Int constant C OpaqueType device_ptr"""
_ASIDE = re.compile(
    r"Policy|Traits|Layout|Allocator|Accessor|Params?$|Arguments?$|Iterator$|Stride|Shape|Schedule",
    re.IGNORECASE,
)
_PLAIN = frozenset(_TYPES.split())
_NOT_A_NAME = frozenset(("", "type", "value", "const", "operator", "unnamed"))
_COPY = re.compile(
    r"\[?(?:CUDA |HIP )?(?:Unified Memory )?(?:mem(?:ory)?[_ ]?copy|memcpy|copy)[_ ]*(?P<way>.*)",
    re.IGNORECASE,
)
_SET = re.compile(r"\[?(?:CUDA |HIP )?mem(?:ory)?[_ ]?set\b", re.IGNORECASE)
_MEMORY_BEGINS = frozenset("[cChHuUmM")  # most names begin otherwise, and there are millions
_ENDS = {
    "host": "H", "device": "D", "peer": "P", "array": "A", "h": "H", "d": "D", "p": "P", "a": "A",
    "memory": "M", "shared": "S", "m": "M", "s": "S",  # of Intel GPUs
}  # fmt: skip
_SIDE = "host|device|peer|array|memory|shared|[hdpams]"
_WAY = re.compile(rf"({_SIDE})[-_ ]*(?:to|2)[-_ ]*({_SIDE})")


@lru_cache(maxsize=NAMES_KEPT)
def kernel_type(name: str) -> str:
    """The type of a device kernel: its function without namespaces, return type and arguments.

    Of template arguments those stay that name a functor or another kernel; numbers, data types
    and containers go: 'void at::native::vectorized_elementwise_kernel<4, at::native::
    CUDAFunctor_add<float>, …>(…)' -> 'vectorized_elementwise_kernel<CUDAFunctor_add>'. Generated
    kernels lose the number that tells copies apart ('triton_poi_fused_add_3'), copies and fills
    of memory are 'Memcpy HtoD' and 'Memset' in every profiler's spelling. At most 120 characters,
    in time linear in the name's length.
    """
    text = name[:_MAX_READ].strip()
    if copy := memory_type(text):
        return copy
    if text.endswith((".kd", "]")):
        text = _SUFFIX.sub("", text).rstrip()
    if _MANGLED.match(text):
        text = _last_mangled(text)
    if text.isidentifier() or not any(mark in text for mark in "<(:"):
        return _cut(_unnumbered(text))
    parsed = _parse(text)
    shown = ""
    for depth in (3, 2, 1, 0):
        shown = _shown(parsed, depth)
        if len(shown) <= _MAX_CHARS:
            break
    return _cut(_unnumbered(shown or text))


@lru_cache(maxsize=65536)
def kernel_members(name: str) -> tuple[str | None, str | None]:
    """A trace's `members` and `members_source` of a kernel that inductor named; else two None."""
    members = inductor(name[:_MAX_READ])
    return (members_text(members), members.kind) if members else (None, None)


def memory_type(name: str) -> str:
    """'Memcpy HtoD' or 'Memset' for a copy or fill of memory by any profiler's name, else ''."""
    if name[:1] not in _MEMORY_BEGINS:
        return ""
    if _SET.match(name):
        return "Memset"
    match = _COPY.match(name)
    if match is None:
        return ""
    way = _WAY.match(match["way"].lower())
    if way is not None:
        return f"Memcpy {_ENDS[way[1]]}to{_ENDS[way[2]]}"
    named = "mem" in name[: match.start("way")].lower()
    return "Memcpy" if named and match["way"][:1] in ("", "]", "(") else ""


def _cut(text: str) -> str:
    if len(text) > _MAX_CHARS and (tensile := _TENSILE.match(text)):
        text = tensile[0]
    return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 1] + "…"


def _unnumbered(text: str) -> str:
    """Without the numbers that only tell generated kernels apart."""
    if "_0d" in text or "_0c" in text:
        head, _, last = text.rpartition("_")
        if head and last[:2] in ("0d", "0c") and not last.strip("0123456789cde"):
            text = head  # Triton's specialisation of arguments: _0d1d2de
    if text.startswith(("triton_", "graph_")) or "_fused" in text or "fusion" in text:
        text = _NUMBERED.sub("", _GRAPH.sub("", text))
    return text


def _last_mangled(text: str) -> str:
    """'_ZN2ck6device6kernelI…' -> 'kernel': the last plain part of a mangled name."""
    match = _MANGLED.match(text)
    at, last = match.end() if match else 0, ""
    while length := _LENGTH.match(text, at):
        end = length.end() + int(length[0])
        if end > len(text):
            break
        last, at = text[length.end() : end], end
    return last or text


class _Part:
    """Text between '::', with what stands in brackets behind it."""

    __slots__ = ("arguments", "called", "text")

    def __init__(self) -> None:
        self.text = ""
        self.arguments: list[list[_Part]] | None = None  # template arguments
        self.called = False  # an argument list or a lambda ended it


def _parse(text: str) -> list[_Part]:
    """A qualified name as its parts; one pass, brackets that do not match end with the text."""
    root = [_Part()]
    # Each open bracket: what closes it, the parts before it, and where its arguments go.
    stack: list[tuple[str, list[_Part], list[list[_Part]] | None]] = []
    parts, start = root, 0

    def add(piece: str) -> None:
        part = parts[-1]
        if piece and not part.called and part.arguments is None:
            part.text += piece

    for token in _TOKEN.finditer(text):
        add(text[start : token.start()])
        start = token.end()
        mark = token[0]
        if mark == "::":
            parts.append(_Part())
        elif mark == "->" or mark.startswith("operator"):
            add("operator")
        elif mark in _OPEN:
            if len(stack) >= _MAX_DEPTH:
                break
            if mark == "(" and stack and parts[-1].text.strip() == "&":
                stack.append((")", parts, None))  # '&(op_silu(float))': the brackets say nothing
                continue
            inside: list[list[_Part]] = [[_Part()]]
            if mark == "<" and parts[-1].text.strip() and not parts[-1].called:
                parts[-1].arguments = inside
                stack.append((">", parts, inside))
            else:
                parts[-1].called = parts[-1].called or mark != "<"
                stack.append((_OPEN[mark], parts, None if mark != "<" else inside))
            parts = inside[0]
        elif mark in _CLOSE:
            while stack and stack[-1][0] != mark and stack[-1][0] == ">":
                _, parts, _ = stack.pop()  # a '<' that was a comparison
            if stack and stack[-1][0] == mark:
                _, parts, _ = stack.pop()
        elif mark == "," and stack and stack[-1][2] is not None:
            parts = [_Part()]
            stack[-1][2].append(parts)
        elif mark == " ":
            if not stack and parts[-1].arguments is not None and not parts[-1].called:
                parts.append(_Part())  # a return type with arguments; or 'kernel<…> (…)'
            else:
                add(" ")
    add(text[start:])
    return root


def _shown(parts: Sequence[_Part], depth: int) -> str:
    """The last part that is a name, with the template arguments that say what it computes."""
    for part in reversed(parts):
        words = part.text.split()
        name = words[-1].strip("*& ") if words else ""
        if name in _NOT_A_NAME or name.startswith(("operator", "lambda", "'")):
            continue
        if part.arguments is None or depth <= 0:
            return name
        kept: dict[str, None] = {}
        for argument in part.arguments:
            if _is_value(argument):
                continue
            text = _shown(argument, depth - 1)
            is_plain = text in _PLAIN or _VALUE.fullmatch(text) is not None
            if text and not is_plain and not _ASIDE.search(text.partition("<")[0]):
                kept[text] = None
        return f"{name}<{', '.join(kept)}>" if kept else name
    return ""


def _is_value(parts: Sequence[_Part]) -> bool:
    """True for a number, a plain data type, or a cast of one."""
    if len(parts) > 1:
        return False
    text = " ".join(parts[0].text.replace("*", " ").replace("&", " ").split())
    text = text.removesuffix(" const").removeprefix("const ")
    return not text or _VALUE.fullmatch(text) is not None

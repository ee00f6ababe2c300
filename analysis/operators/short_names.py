"""Short display forms of kernel names; the data keep the full ones.

A form keeps what tells kernels apart to whoever reads a table: the library, what is computed, the
data type and the tile. Codes of libraries: Tensile's problem types
(github.com/ROCm/Tensile/wiki/Kernel-Parameters), CUTLASS' and cuBLAS' names of instances.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from fusescope.analysis.operators.kernel_names import kernel_type
from fusescope.analysis.units import middle_cut

_MAX_READ = 4000
_MAX_TOKENS = 4  # that are added to tell two names apart
_DTYPES = {"H": "fp16", "B": "bf16", "S": "fp32", "D": "fp64", "X": "tf32", "I8": "int8",
           "F8": "fp8", "B8": "bf8", "Z": "complex128", "C": "complex64"}  # fmt: skip
_TENSILE = re.compile(
    r"Cijk_(A[il][il]k|A[il]k)_(B[jl][jl]k|B[jl]k)_((?:I8|F8|B8|[HBSDXZC])+)\w*?"
    r"_(MT\d{1,5}x\d{1,5}x\d{1,5})(?:_(MI\d{1,4}x\d{1,4}(?:x\d{1,4}){0,2}))?"
)
_TENSILE_TYPE = re.compile(r"I8|F8|B8|[HBSDXZC]")
_CUTLASS = re.compile(r"cutlass_\w+")
_CUTLASS_PARTS = re.compile(
    r"cutlass(?:3x)?_(?P<arch>(?:sm)?\d{2,3})_(?P<rest>\w*?)"
    r"(?:_align\d+(?:x\d+)*)?(?:_(?:align|epi|warpspecialized)\w*)?$"
)
_XMMA = re.compile(
    r"(?P<arch>sm\d{2,3})_xmma_(?P<what>[a-z]+(?:_implicit_gemm(?:_indexed)?)?)_(?P<type>[a-z]+\d+)"
    r"\w*?_(?P<layout>[tn]{2})_\w*?tilesize(?P<tile>\d+x\d+x\d+)"
)
_IGEMM = re.compile(
    r"igemm_(?P<way>fwd|bwd|wrw)_\w+?_(?P<layout>nhwc|nchw)_(?P<type>[a-z]+\d+)_\w*?"
    r"bt(?P<tile>\d+x\d+x\d+)"
)
_CK = re.compile(r"(?:_ZN?K?2ck|(?:\w+ )?ck::)")
_MANGLED_NUMBERS = re.compile(r"Li(\d{1,6})E")
_TYPE = re.compile(
    r"\b(?:(?:c10::|cutlass::|at::)*(BFloat16|Half|bfloat16_t|half_t|Float8_e\w+|float_e\w+)"
    r"|__(?:nv_|hip_)(bfloat16|fp8_\w+)|(__half|float|double|half|int8_t))\b"
)
_USUAL = {"BFloat16": "bf16", "bfloat16_t": "bf16", "bfloat16": "bf16", "Half": "fp16",
          "half_t": "fp16", "__half": "fp16", "half": "fp16", "float": "fp32", "double": "fp64",
          "int8_t": "int8"}  # fmt: skip
_CODE = re.compile(r"_Z|(?:\w+ )*[\w:~]+(?:<|\()|[\w:]*\(anonymous namespace\)")
_REPEATED = re.compile(r"(.*?)( ×\d+)?", re.DOTALL)
_FILLER = re.compile(
    r"\b(?:gpu_kernel_impl(?:_nocast)?|func_wrapper_t|ReduceOp|BinaryFunctor)<([^<>]*(?:<[^<>]*>)*)>"
)
_TEMPLATE = re.compile(r"([\w:~]+)<(.+)>( \w+)?")
_NAME_CHARS, _LEAST_CHARS = 18, 8  # of a template: its name, and at least what it is made of
_INSTRUCTION = re.compile(r"(?<=\d) MI\d+x\d+(?:x\d+)*\b")
_WORDS = re.compile(r"[A-Za-z]+\d*|\d+(?:x\d+)*")
# Transformations of JAX around an operation, and behind it the line that has it.
_PROGRAM = re.compile(
    r"(?:\w{1,40}\((?:[^()]|\([^()]{0,200}\)){0,200}\)/)+(?P<operation>[^\s()]{1,200})(?:\s|\Z)"
)


def short_names(names: Iterable[str], chars: int = 60) -> Mapping[str, str]:
    """Name -> a short form of at most `chars` (32 or more), different for different names.

    Names that fit stay as they are. Where two forms would be the same, what tells the names apart
    is added, at the least four digits of a hash. Forms that differ only in punctuation are the
    same to whoever reads them. For the rows of one table: a form depends on the other names that
    it must differ from.
    """
    found = {name: name for name in names}
    long = [name for name in found if len(name) > chars]
    forms = {name: _without_fillers(short_pattern(name), chars) for name in long}
    if not forms:
        return found
    cut = {name: _cut(form, chars) for name, form in forms.items()}
    alike: dict[str, list[str]] = {_letters(form): [] for form in cut.values()}
    for name in found:  # names that fit, too, where a form is the same
        form = _letters(cut.get(name, name))
        if form in alike:
            alike[form].append(name)
    marks = {name: more for group in alike.values() for name, more in _marked(group)}
    found |= {name: _with(marks[name], forms.get(name, name), chars) for name in marks}
    # Cut in the middle two may have become the same again, or the same as a name that fits: then
    # further words of theirs tell them apart, or a hash where no words do.
    for name, more in [each for group in _same(found) for each in _marked(group)]:
        mark = f"{marks.get(name, '')} {more.removeprefix(' · ')}" if marks.get(name) else more
        if found[name] != name and len(mark) <= chars - _LEAST_CHARS:
            found[name] = _with(mark, forms.get(name, name), chars)
    for group in _same(found):
        for name in group:
            if found[name] != name:
                found[name] = _with(f" #{_hash(name, 10)}", found[name], chars)
    return found


def _marked(group: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Return the names, each with what tells it from the others."""
    return zip(group, _apart(group), strict=True)


def _with(mark: str, form: str, chars: int) -> str:
    return f"{_cut(form, chars - len(mark))}{mark}"


def _same(found: Mapping[str, str]) -> list[list[str]]:
    """Return groups of names whose forms are the same."""
    groups: dict[str, list[str]] = {}
    for name, form in found.items():
        groups.setdefault(form, []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _without_fillers(form: str, chars: int) -> str:
    """Return a form that is too long without wrappers of what it computes and without the shape of
    its matrix instructions: 'reduce_kernel<ReduceOp<func_wrapper_t<MaxNanFunctor>>>' is
    reduce_kernel<MaxNanFunctor>."""
    if len(form) <= chars:
        return form
    form = _INSTRUCTION.sub("", form)
    while (shorter := _FILLER.sub(r"\1", form)) != form and len(form) > chars:
        form = shorter
    return form


def _cut(form: str, chars: int) -> str:
    """Return a form in at most `chars` characters. Of a template both its name and what it is made
    of are cut, so that neither is missing: 'elementw…al_unroll<…py_kernel_cuda> bf16'."""
    template = _TEMPLATE.fullmatch(form) if len(form) > chars else None
    if template is None:
        return middle_cut(form, chars)
    name, made_of, dtype = template.groups("")
    room = chars - len(dtype) - len("<>")
    of_name = min(len(name), max(_NAME_CHARS, room - len(made_of)))
    rest = room - of_name
    if rest < _LEAST_CHARS:
        return middle_cut(form, chars)
    shown = made_of if len(made_of) <= rest else f"…{made_of[1 - rest :]}"
    return f"{middle_cut(name, of_name)}<{shown}>{dtype}"


def _letters(form: str) -> str:
    """Return a form without punctuation, by which nobody tells two names apart."""
    return "".join(char for char in form if char.isalnum() or char == "…")


def short_kernel_names(names: Sequence[str], types: Sequence[str], chars: int) -> list[str]:
    """Return a short form of each operator's name, as `short_names` has it, for rows of names and
    types; a kernel that is only its type in a namespace is called by its type, as in tables of
    types: 'aiter::fmha_fwd_bf16' is fmha_fwd_bf16."""
    own = {
        name: kind if kind and name.endswith(f"::{kind}") else name
        for name, kind in zip(names, types, strict=True)
    }
    times = Counter(own.values())
    own = {name: kind if times[kind] == 1 else name for name, kind in own.items()}
    short = short_names(own.values(), chars)
    return [short[own[name]] for name in names]


def short_pattern(name: str) -> str:
    """Return the short form of a name, or of each kernel in a pattern: 'a + b ×2'."""
    return " + ".join(
        f"{short_name(kernel)}{more}"
        for kernel, more in (_REPEATED.fullmatch(part).groups("") for part in name.split(" + "))  # type: ignore[union-attr]
    )


@lru_cache(maxsize=65536)
def short_name(name: str) -> str:
    """The library, operation, data type and tile in a kernel's name; other names as they are.

    'Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_…_MT16x16x512_MI16x16x1_SN_…' ->
    'Tensile GEMM TN bf16 MT16x16x512 MI16x16x1'. Of an operation of a JAX program what follows the
    transformations around it: conv_general_dilated of 'jit(f)/jit(main)/conv_general_dilated'.
    """
    if known := library_kernel(name):
        return known
    text = name[:_MAX_READ]
    if match := _PROGRAM.match(text):
        return match["operation"]
    kind = kernel_type(text)
    if _CK.match(text):
        tile = _MANGLED_NUMBERS.findall(text)[:4]
        return f"ck {kind.removeprefix('kernel_')} {'x'.join(tile)}".rstrip()
    if kind == text or _CODE.match(text) is None:
        return name
    dtype = next((_USUAL.get(known, known) for known in _types(text)), "")
    return f"{kind} {dtype}".rstrip()


def library_kernel(name: str) -> str:
    """The short form of a kernel of a library whose names are codes; '' for any other name."""
    text = name[:_MAX_READ]
    if match := _TENSILE.match(text):
        return _tensile(match)
    if match := _CUTLASS.search(text):
        return _cutlass(match[0])
    if match := _XMMA.match(text):
        maker = "cuBLAS" if "cublas" in text else "cuDNN" if "cudnn" in text else "xmma"
        what = match["what"].replace("_", " ")
        return (
            f"{maker} {what} {match['layout'].upper()} {match['type']} {match['tile']} "
            f"{match['arch']}"
        )
    if match := _IGEMM.match(text):
        return f"MIOpen igemm {match['way']} {match['layout']} {match['type']} bt{match['tile']}"
    return ""


def _types(text: str) -> Iterable[str]:
    """The data types in a name, narrow ones first: a kernel of bf16 accumulates in float."""
    seen = [next(filter(None, match.groups())) for match in _TYPE.finditer(text)]
    wide = ("float", "double")
    return [known for known in seen if known not in wide] + [k for k in seen if k in wide]


def _tensile(match: re.Match[str]) -> str:
    """Sides are transposed where the summed index l comes first in B's, last in A's."""
    first = "T" if match[1] == "Alik" else "N"
    second = "T" if match[2] == "Bjlk" else "N"
    codes = _TENSILE_TYPE.findall(match[3])
    dtype = _DTYPES.get(codes[0], codes[0]) if codes else ""
    return " ".join(filter(None, ("Tensile GEMM", first + second, dtype, match[4], match[5])))


def _cutlass(text: str) -> str:
    match = _CUTLASS_PARTS.fullmatch(text)
    if match is None:
        return text
    arch = match["arch"].removeprefix("sm")
    return f"CUTLASS {match['rest'].removesuffix('_').removeprefix('_')} sm{arch}"


def _apart(names: Sequence[str]) -> list[str]:
    """For each name the parts that the others lack, as few as tell them all apart, else a hash."""
    if len(names) == 1:
        return [""]
    for texts in ([short_pattern(name) for name in names], names):
        words = [list(dict.fromkeys(_WORDS.findall(text[:_MAX_READ]))) for text in texts]
        common = set(words[0]).intersection(*words[1:])
        own = [[word for word in listed if word not in common] for listed in words]
        for count in range(1, _MAX_TOKENS + 1):
            marks = [" ".join(listed[:count]) for listed in own]
            if len(set(marks)) == len(names) and all(len(mark) <= 24 for mark in marks):
                return [f" · {mark}" if mark else "" for mark in marks]
    return [f" #{_hash(name)}" for name in names]


def _hash(name: str, digits: int = 4) -> str:
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:digits]

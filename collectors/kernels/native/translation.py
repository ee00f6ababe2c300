"""The program of a kernel as C: what numba compiles elsewhere, translated statement by statement.

Only the part of Python that our own programs consist of is known; anything else is a ValueError.
Whole numbers in them are places in arrays and never negative, so `//` and `%` are C's.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence

import numpy as np

from fusescope.collectors.kernels import compiled, formulas

_PREFIX = "fs_"  # functions of programs have names that C knows
_FLOATS = {"sqrt": "sqrtf", "floor": "floorf", "abs": "fabsf"}
_OVER_LINES = ("total", "largest")  # of program.h, with the length of the line
_OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "/", ast.Mod: "%",
    ast.LShift: "<<", ast.RShift: ">>",
    ast.Lt: "<", ast.Gt: ">", ast.LtE: "<=", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Or: "|", ast.And: "&",  # of comparisons: both sides can be looked at
}  # fmt: skip
_FLOAT, _INT, _INT32, _LINE = "float", "intptr_t", "int32_t", "float *"


@functools.cache
def helpers() -> str:
    """The functions that formulas may call."""
    module = ast.parse(formulas.HELPERS)
    functions = [one for one in module.body if isinstance(one, ast.FunctionDef)]
    return "\n".join(_function(one, [_FLOAT] * len(one.args.args), _FLOAT) for one in functions)


def program(source: str, arrays: int, numbers: Sequence[int], name: str) -> tuple[str, int]:
    """The C of a program, and in how many parts it runs: a function `name(arrays, part)`.

    `source` is what group.Program holds, for so many arrays (result, operands and scratch memory)
    and for these numbers.
    """
    module = ast.parse(source)
    functions = {one.name: one for one in module.body if isinstance(one, ast.FunctionDef)}
    run, entry = functions["run"], functions[compiled.ENTRY]
    told = [one.arg for one in entry.args.args]
    types = [_LINE if n < arrays else _INT for n in range(len(told))]
    known = dict(zip(told, types, strict=True))
    is_parallel = isinstance(entry.body[0], ast.For)
    body = entry.body[0].body if isinstance(entry.body[0], ast.For) else entry.body
    lines = [f"float *const {one} = arrays[{n}];" for n, one in enumerate(told[:arrays])]
    lines += [
        f"const intptr_t {one} = {number};"
        for one, number in zip(told[arrays:], numbers, strict=True)
    ]
    if is_parallel:  # the loop over the parts is the engine's
        lines.append("const intptr_t place = part_of;")
        known["place"] = _INT
    call = body[-1]
    assert isinstance(call, ast.Expr) and isinstance(call.value, ast.Call)
    writer = _Writer(known, f"{name}_")
    lines += [line for one in body[:-1] for line in writer.statement(one)]
    passed = [writer.expression(one) for one in call.value.args]
    text = "\n".join(
        [
            _function(run, [kind for _, kind in passed], "", f"{name}_"),
            f"static void {name}(float *const *arrays, intptr_t part_of) {{",
            *(f"  {line}" for line in lines),
            "  (void)part_of;",
            f"  {name}_run({', '.join(text for text, _ in passed)});",
            "}",
        ]
    )
    return text, numbers[-1] if is_parallel else 1


def _function(
    function: ast.FunctionDef, types: Sequence[str], result: str, prefix: str = _PREFIX
) -> str:
    names = [one.arg for one in function.args.args]
    writer = _Writer(dict(zip(names, types, strict=True)), prefix)
    told = ", ".join(f"{of}{'' if of == _LINE else ' '}{name}" for name, of in zip(names, types))
    inline = "static inline " if result else "static "
    lines = [line for one in function.body for line in writer.statement(one)]
    head = f"{inline}{result or 'void'} {prefix}{function.name}({told}) {{"
    return "\n".join([head, *(f"  {line}" for line in lines), "}"])


class _Writer:
    """Statements of one function. `types` are those of the names that are known where it stands:
    every block has its own, so that loops share no variable and can run in wide vectors."""

    def __init__(self, types: dict[str, str], prefix: str) -> None:
        self._types = types
        self._prefix = prefix

    def statement(self, one: ast.stmt) -> Iterator[str]:
        match one:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript(slice=ast.Slice())):
                yield from self._line(name, one.value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                text, of = self.expression(value)
                known = name in self._types
                self._types.setdefault(name, of)
                yield f"{'' if known else of + ' '}{name} = {text};"
            case ast.Assign(targets=[ast.Subscript() as place], value=value):
                yield f"{self.expression(place)[0]} = {self.expression(value)[0]};"
            case ast.For(target=ast.Name(id=name), iter=ast.Call() as counted, body=body):
                yield from self._loop(name, counted, body)
            case ast.Return(value=ast.expr() as value):
                yield f"return {self.expression(value)[0]};"
            case _:
                raise ValueError(ast.unparse(one))

    def expression(self, one: ast.expr) -> tuple[str, str]:
        """The text, and its type."""
        match one:
            case ast.Name(id=name):
                return name, self._types[name]
            case ast.Constant(value=int(value)):
                return str(value), _INT
            case ast.Subscript(value=ast.Name(id=name), slice=place):
                return f"{name}[{self.expression(place)[0]}]", _FLOAT
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                text, of = self.expression(operand)
                return f"(-{text})", of
            case ast.BinOp(left=left, op=operator, right=right):
                a, of = self.expression(left)
                b, other = self.expression(right)
                if of != other or (of == _INT and isinstance(operator, ast.Div)):
                    raise ValueError(ast.unparse(one))
                return f"({a} {_OPERATORS[type(operator)]} {b})", of
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                sides = [self.expression(side)[0] for side in (left, right)]
                return f"({sides[0]} {_OPERATORS[type(operator)]} {sides[1]})", "int"
            case ast.BoolOp(op=operator, values=values):
                texts = [self.expression(value)[0] for value in values]
                return f"({f' {_OPERATORS[type(operator)]} '.join(texts)})", "int"
            case ast.IfExp(test=test, body=body, orelse=other):
                then, of = self.expression(body)
                return f"({self.expression(test)[0]} ? {then} : {self.expression(other)[0]})", of
            case ast.Call():
                return self._call(one)
            case _:
                raise ValueError(ast.unparse(one))

    def _call(self, one: ast.Call) -> tuple[str, str]:
        match one.func:
            case ast.Name(id="F"):
                return _literal(one.args[0]), _FLOAT
            case ast.Attribute(value=ast.Name(id="np"), attr="int32" | "intp" as name):
                of = _INT32 if name == "int32" else _INT
                return f"(({of}){self.expression(one.args[0])[0]})", of
            case ast.Attribute(value=ast.Call() as bits, attr="view"):
                return f"of_bits({self.expression(bits)[0]})", _FLOAT
            case ast.Name(id=name) if name in _OVER_LINES:
                line = self.expression(one.args[0])[0]
                return f"{name}({line}, {line}_length)", _FLOAT
            case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="np"), attr=name):
                texts = [self.expression(value)[0] for value in one.args]
                return f"{_FLOATS.get(name, _PREFIX + name)}({', '.join(texts)})", _FLOAT
            case _:
                raise ValueError(ast.unparse(one))

    def _line(self, name: str, value: ast.expr) -> Iterator[str]:
        """A slice: where it starts, and its length for what goes over all of it."""
        match value:
            case ast.Subscript(
                value=ast.Name(id=array), slice=ast.Slice(lower=ast.expr() as low, upper=end)
            ):
                start = self.expression(low)[0]
                self._types[name] = _LINE
                yield f"float *const {name} = {array} + {start};"
                if end is not None:
                    yield f"const intptr_t {name}_length = {self.expression(end)[0]} - {start};"
                    yield f"(void){name}_length;"
            case _:
                raise ValueError(ast.unparse(value))

    def _loop(self, name: str, counted: ast.Call, body: Sequence[ast.stmt]) -> Iterator[str]:
        """Of the innermost loops no step reads what another one writes: they run in vectors."""
        texts = [self.expression(value)[0] for value in counted.args]
        first, last = texts if len(texts) > 1 else ("0", *texts)
        inside = _Writer({**self._types, name: _INT}, self._prefix)
        if not any(isinstance(one, ast.For) for one in body):
            yield "#pragma omp simd"
        yield f"for (intptr_t {name} = {first}; {name} < {last}; {name}++) {{"
        yield from (f"  {line}" for one in body for line in inside.statement(one))
        yield "}"


def _literal(value: ast.expr) -> str:
    """The float32 that a constant is, exactly."""
    found = float(np.float32(ast.literal_eval(value)))
    return f"({found.hex()}f)" if found < 0 else f"{found.hex()}f"

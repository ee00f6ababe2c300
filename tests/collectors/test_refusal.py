"""What is told of a model that torch.compile refuses."""

from __future__ import annotations

import pytest

from fusescope.collectors.torch.refusal import reason_of

FAKE = """RuntimeError when making fake tensor call
  Explanation: Dynamo failed to run FX node with fake tensors: call_function mylib.twice(*(FakeTensor(..., size=(16, 16)),), **{}): got RuntimeError('There was no fake impl registered for <CustomOpDef(mylib::twice)>. Please use `twice.register_fake`.')
  Hint: Your code may result in an error when running in eager.

from user code:
   File "/home/me/net.py", line 4, in forward
"""  # noqa: E501


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            FAKE,
            (
                "RuntimeError when making fake tensor call: There was no fake impl registered for "
                "<CustomOpDef(mylib::twice)>. Please use `twice.register_fake`."
            ),
        ),
        (
            "Call to data\n  Explanation: It is skipped.\n  Hint: No.",
            "Call to data: It is skipped.",
        ),
        (
            "CppCompileError: C++ compile error\n\nCommand: g++",
            "CppCompileError: C++ compile error",
        ),
        ("", "InductorError"),
    ],
)
def test_the_error_below_is_told_and_no_stack(said: str, expected: str) -> None:
    assert reason_of(said, "InductorError") == expected


def test_it_stays_one_short_sentence() -> None:
    assert len(reason_of("a" * 999 + "\n  Explanation: " + "b" * 999, "")) <= 240

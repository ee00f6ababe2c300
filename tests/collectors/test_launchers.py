"""What a launcher of a Triton kernel reads and writes, by what inductor says of it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from fusescope.collectors.torch.launchers import is_launcher, roles_of

SIGNATURE = {
    "in_out_ptr0": "*fp32", "in_ptr0": "*bf16", "in_ptr1": "*fp32", "out_ptr0": "*fp32",
    "out_ptr1": "*fp32", "ws_ptr": "*i32", "xnumel": "i32", "XBLOCK": "constexpr",
}  # fmt: skip


def launcher(mutated: list[str], signature: dict[str, str] = SIGNATURE) -> SimpleNamespace:
    return SimpleNamespace(
        triton_meta={"signature": signature}, mutated_arg_names=mutated, run=lambda *args: None
    )


@pytest.mark.parametrize(
    ("mutated", "expected"),
    [
        ([], ["in_out", "in", "in", "out", "out", "scratch", "in"]),
        # An input that is added to, and an output that holds something before.
        (["in_ptr1", "out_ptr1"], ["in_out", "in", "in_out", "out", "in_out", "scratch", "in"]),
        (["ws_ptr"], ["in_out", "in", "in", "out", "out", "scratch", "in"]),
    ],
)
def test_roles_follow_from_names_and_what_is_listed_as_written(
    mutated: list[str], expected: list[str]
) -> None:
    assert roles_of(launcher(mutated)) == expected


def test_arguments_of_templates_and_of_a_users_own_kernel_are_read() -> None:
    assert roles_of(launcher([], {"arg_A": "*bf16", "arg_B": "*bf16", "out_ptr0": "*bf16"})) == [
        "in", "in", "out",
    ]  # fmt: skip
    assert roles_of(launcher(["result"], {"x": "*fp32", "result": "*fp32"})) == ["in", "in_out"]


@pytest.mark.parametrize(
    "other", [print, SimpleNamespace(run=print), SimpleNamespace(triton_meta={"signature": {}})]
)
def test_what_does_not_launch_is_not_taken_for_it(other: object) -> None:
    assert is_launcher(launcher([]))
    assert not is_launcher(other)

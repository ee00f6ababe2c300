"""Versions: their order, what a user means, and which release is next to one that is not there."""

from __future__ import annotations

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.releases.version import (
    Span,
    ascending,
    nearest,
    order,
    parse_release,
    parse_span,
)


def test_order_is_by_number() -> None:
    mixed = ("1.9.0", "1.20.1", "1.10.0", "1.20.0.post1", "1.20.0", "2.0")
    assert ascending(mixed) == ("1.9.0", "1.10.0", "1.20.0", "1.20.0.post1", "1.20.1", "2.0")
    assert order("1.20") == order("1.20.0") < order("1.20.0.post1") < order("1.20.0.1")


def test_previews_are_no_releases() -> None:
    assert ascending(["1.20.0rc1", "1.20.0", "1.21.0.dev20240101", "nonsense"]) == ("1.20.0",)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("onnxruntime==1.20.1..1.32.0", Span("1.20.1", "1.32.0")),
        ("onnxruntime==1.32.0..1.20.1", Span("1.20.1", "1.32.0")),
        (" onnxruntime==1.20 ", Span("1.20", "1.20")),
    ],
)
def test_spans(text: str, span: Span) -> None:
    assert parse_span(text) == span


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1.20.1..1.32.0", "release_malformed"),
        ("onnxruntime", "release_malformed"),
        ("onnxruntime==", "release_malformed"),
        ("onnxruntime==1.20.1...1.32.0", "release_malformed"),
        ("onnxruntime==1.20.1..", "release_malformed"),
        ("onnxruntime==1.x", "release_malformed"),
        ("onnxruntime==1.20.1; rm -r x", "release_malformed"),
        ("onnxruntime==../../1", "release_malformed"),
        ("torch==2.1.0..2.3.0", "release_other_engine"),
    ],
)
def test_what_names_no_releases_is_refused(text: str, code: str) -> None:
    with pytest.raises(FuseScopeError) as raised:
        parse_span(text)
    assert raised.value.code == code


def test_one_release_is_not_several() -> None:
    assert parse_release("onnxruntime==1.31.1") == "1.31.1"
    with pytest.raises(FuseScopeError, match=r"names several releases"):
        parse_release("onnxruntime==1.20.1..1.32.0")


@pytest.mark.parametrize(
    ("version", "expected"),
    [("1.25.7", "1.25.1"), ("1.22.9", "1.21.0"), ("2.0", "1.32.0"), ("0.5", "1.20.1")],
)
def test_the_nearest_release(version: str, expected: str) -> None:
    known = ("1.20.1", "1.21.0", "1.23.0", "1.25.0", "1.25.1", "1.32.0")
    assert nearest(version, known) == expected


def test_of_nothing_there_is_no_nearest() -> None:
    assert nearest("1.0", ()) is None

"""What the reader of a page may set: the same on Compare and on Variants, held by the address."""

from __future__ import annotations

import streamlit as st

from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.messages import Message, say
from fusescope.app import state
from fusescope.app.parts import panels

_MEASURED = Message("measured, else of the named device")
# Label, bounds, format, key in the address, placeholder.
_ASSUMED = (
    (Message("τ, longest short operator (µs)"), 0.001, 1e6, None, "tau_us",
     Message("10 × dispatch, else 10")),
    # 1.0, not 1: an integer field would trip over `inf` in the address.
    (Message("Size of the modelled cache (KiB)"), 1.0, 1e9, "%.0f", "cache_kib",
     Message("the last level, else 32768")),
    (Message("Arithmetic peak (GFLOP/s)"), 0.001, 1e9, None, "peak_gflops", _MEASURED),
    (Message("Bandwidth of main memory (GB/s)"), 0.001, 1e9, None, "bandwidth_gbs", _MEASURED),
)  # fmt: skip


def assumptions() -> Assumptions:
    """Draw the settings behind a button; empty fields take the recording's own value."""
    title = say("What the modelled figures assume")
    with st.popover(say("Settings"), help=title):
        st.markdown(f"**{panels.own(title)}**")
        for label, min_value, max_value, format_, key, placeholder in _ASSUMED:
            st.number_input(
                label.text(),
                min_value=min_value,
                max_value=max_value,
                value=None,
                format=format_,
                key=key,
                placeholder=placeholder.text(),
                bind="query-params",
            )
        st.caption(say("Measured figures do not change with these settings."))
    return current()


def current() -> Assumptions:
    """Return what the settings hold, also where they are drawn further below on the page."""
    tau, cache, peak, bandwidth = (
        state.pair.assumed(key, min_value, max_value)
        for _, min_value, max_value, _, key, _ in _ASSUMED
    )
    return Assumptions(
        tau_ns=None if tau is None else tau * 1e3,
        peak_flops_per_s=None if peak is None else peak * 1e9,
        cache_bytes=None if cache is None else int(cache) * 1024,
        bandwidth_bytes_per_s=None if bandwidth is None else bandwidth * 1e9,
    )

"""Schedulers of Dask: whose address it is, and whether anything answers there.

Dask has no secrets between its processes: what a scheduler and its workers answer is executed here,
as what we send is there. So an address is taken without more only on this machine.
"""

from __future__ import annotations

import contextlib
import ipaddress
import re
import socket

from fusescope.analysis.errors import FuseScopeError

_ADDRESS = re.compile(r"(?:tcp|tls)://(?P<host>[\w.-]{1,253}|\[[0-9a-fA-F:.]+\]):(?P<port>\d{1,5})")
_SECONDS = 1.0


def check(address: str, *, is_trusted: bool) -> None:
    """Raises FuseScopeError for what is no address, for one of another machine unless it is
    trusted, and where nothing answers within a second."""
    found = _ADDRESS.fullmatch(address)
    if found is None or not 0 < int(found["port"]) < 65536:
        raise FuseScopeError("scheduler_address_wrong", address=address[:120])
    host = found["host"].strip("[]")
    if not (is_trusted or _is_here(host)):
        raise FuseScopeError("scheduler_elsewhere", address=address[:120])
    try:
        with socket.create_connection((host, int(found["port"])), timeout=_SECONDS) as answering:
            # A scheduler greets first; Dask's client would wait for one that does not for ever.
            is_one = address.startswith("tls:") or bool(answering.recv(1))
    except OSError as error:
        raise FuseScopeError("scheduler_unreachable", where=address[:120]) from error
    if not is_one:
        raise FuseScopeError("scheduler_unreachable", where=address[:120])


def _is_here(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False

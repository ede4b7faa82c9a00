"""Serves the page until it is stopped, and lets only the page itself ask: right host, right origin, bounded JSON."""

import ipaddress
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.middleware.base import RequestResponseEndpoint

from recombine.augmentation.recombination import Recombination
from recombine.errors import RecombineError
from recombine.explore.application import Keeper, application
from recombine.explore.explorer import Explorer

LOOPBACK = "127.0.0.1"
"""Where nobody but this machine can reach the page."""

AT_ONCE = 32  # how many requests may be under way; more are turned away
LARGEST_BODY = 64 * 1024  # bytes that a request may have; what the page sends is far smaller

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""With every answer: scripts and styles are files of ours, and no other page may frame or read anything."""

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[^:@/\[\]]+)(:(?P<port>[0-9]+))?")


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server listens: a name or an IP address, and a port."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host == "localhost" or (_is_ip(self.host) and ipaddress.ip_address(self.host).is_loopback)

    @property
    def is_everywhere(self) -> bool:
        """Whether the server listens at all addresses of the machine."""
        return _is_ip(self.host) and ipaddress.ip_address(self.host).is_unspecified

    @property
    def url(self) -> str:
        """The page's address, for a browser on this machine."""
        return f"http://{LOOPBACK if self.is_everywhere else _in_url(self.host)}:{self.port}/"

    def is_named_by(self, header: str) -> bool:
        """Tells whether a Host header names this address.

        A foreign name that leads here (DNS rebinding) does not. If the server listens at all addresses of the machine,
        any of them will do, but no name.
        """
        parts = _HOST.fullmatch(header)
        if parts is None or (parts["port"] or "80") != str(self.port):
            return False
        name = parts["name"].lower()
        if self.is_everywhere:
            return name == "localhost" or _is_ip(name.strip("[]"))
        return name == _in_url(self.host).lower() or (self.is_loopback and name in (LOOPBACK, "localhost", "[::1]"))


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def guard(app: FastAPI, address: Address) -> FastAPI:
    """Makes an application, which listens at an address, turn away what its own page would not send; returns it."""

    @app.middleware("http")
    async def guarded(request: Request, answer: RequestResponseEndpoint) -> Response:
        refusal = _refusal(request, address)
        response = JSONResponse({"message": refusal[1]}, refusal[0]) if refusal else await answer(request)
        response.headers.update(HEADERS)
        return response

    return app


def _refusal(request: Request, address: Address) -> tuple[int, str] | None:
    """Returns the status and the reason if a request is turned away."""
    hosts, origins = request.headers.getlist("host"), request.headers.getlist("origin")
    if len(hosts) != 1 or not address.is_named_by(hosts[0]):
        return 421, f"this server is {address.url} and answers to no other name."
    if any(origin != f"http://{hosts[0]}" for origin in origins):
        return 403, "requests of other pages are refused."
    if request.method not in ("GET", "HEAD"):
        if not origins:
            return 403, "requests that do not say which page they come from are refused."
        if request.headers.getlist("content-type") != ["application/json"]:
            return 415, "expected JSON."
    # The server reads as much as was claimed and no more, or in chunks of which there is no end.
    if "transfer-encoding" in request.headers:
        return 411, "requests that do not say how long they are are refused."
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 9 or int(length) > LARGEST_BODY:
        return 413, f"the request is larger than {LARGEST_BODY:,} bytes."
    return None


def serve(
    augmenter: Recombination,
    *,
    keeper: Keeper | None = None,
    host: str = LOOPBACK,
    port: int = 0,
    ready: Callable[[Address], None],
) -> None:
    """Serves the page of a model until the process is interrupted; without a keeper, no samples can be kept.

    Port 0 is any that is free. `ready` is told the address once the server listens.
    """
    page = application(Explorer(augmenter), keeper)
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RecombineError(
            f"nothing can listen at {host}, port {port}: {reason}.", hint="Choose another `host` or `port`."
        ) from None
    with listener:
        address = Address(host, listener.getsockname()[1])
        config = uvicorn.Config(
            guard(page, address),
            lifespan="off",
            ws="none",
            proxy_headers=False,  # they could only lie: there is no proxy
            server_header=False,
            access_log=False,
            log_level="warning",
            limit_concurrency=AT_ONCE,
            timeout_graceful_shutdown=2,
        )
        ready(address)
        uvicorn.Server(config).run(sockets=[listener])

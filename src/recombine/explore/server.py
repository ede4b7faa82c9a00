"""Serves the page until it is stopped, and lets only the page itself ask: right host, right origin, bounded JSON."""

import ipaddress
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass

import uvicorn
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
        ip = _ip(self.host)
        return self.host == "localhost" or (ip is not None and ip.is_loopback)

    @property
    def url(self) -> str:
        """The page's address, for a browser on this machine."""
        ip = _ip(self.host)
        host = "127.0.0.1" if ip is not None and ip.is_unspecified else self.host
        return f"http://{_in_url(host)}:{self.port}/"

    def is_named_by(self, header: str) -> bool:
        """Tells whether a Host header names this address.

        A foreign name that leads here (DNS rebinding) does not. If the server listens at all addresses of the machine,
        any of them will do, but no name.
        """
        parts = _HOST.fullmatch(header)
        if parts is None or (parts["port"] or "80") != str(self.port):
            return False
        name = parts["name"].lower()
        ip = _ip(self.host)
        if ip is not None and ip.is_unspecified:
            return name == "localhost" or _ip(name.strip("[]")) is not None
        names = {"127.0.0.1", "localhost", "[::1]"} if self.is_loopback else set()
        return name in names | {_in_url(self.host).lower()}


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


class Guard:
    """Stands before an application, which listens at an address, and turns away what its own page would not send."""

    def __init__(self, application: ASGIApp, address: Address) -> None:
        self.application, self.address = application, address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request (ASGI); its body is bounded, whatever length was claimed."""
        if scope["type"] != "http":  # the page needs no web sockets
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", ()), *own]}
            await send(message)

        refusal, body, more = self._refusal(scope), b"", True
        while more and refusal is None:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > LARGEST_BODY:
                refusal = _TOO_LARGE
        if refusal is not None:
            status, reason = refusal
            await JSONResponse({"message": reason}, status)(scope, receive, send_guarded)
            return
        pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replayed() -> Message:
            return pending.pop() if pending else await receive()

        await self.application(scope, replayed, send_guarded)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self.address.is_named_by(hosts[0]):
            return 421, f"this server is {self.address.url} and answers to no other name."
        if any(origin != f"http://{hosts[0]}" for origin in origins):
            return 403, "requests of other pages are refused."
        if scope["method"] not in ("GET", "HEAD"):
            if not origins:
                return 403, "requests that do not say which page they come from are refused."
            if headers.getlist("content-type") != ["application/json"]:
                return 415, "expected JSON."
        for length in headers.getlist("content-length"):
            if not length.isdecimal() or len(length) > 9 or int(length) > LARGEST_BODY:
                return _TOO_LARGE
        return None


_TOO_LARGE = (413, f"the request is larger than {LARGEST_BODY:,} bytes.")


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

    Raises:
        RecombineError: If nothing can listen there.
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
            Guard(page, address),
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

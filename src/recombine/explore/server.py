"""Serves the page until it is stopped, and lets only the page itself ask: right host, right origin, bounded JSON."""

import ipaddress
import json
import re
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

import uvicorn

from recombine.augmentation.recombination import Recombination
from recombine.errors import RecombineError
from recombine.explore.application import Keeper, application
from recombine.explore.explorer import Explorer

LOOPBACK = "127.0.0.1"
"""Where nobody but this machine can reach the page."""

AT_ONCE = 32
"""How many requests may be under way; more are turned away."""

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_BODY = 64 * 1024
"""Bytes that a request may have; what the page sends is far smaller."""

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
    """Where the server listens.

    Attributes:
        host: A name or an IP address.
        port: The port.
    """

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


@dataclass(frozen=True, slots=True)
class _Refusal:
    status: int
    message: str


class Guard:
    """Stands before an application and turns away what its own page would not send.

    Args:
        application: What gets the requests that pass.
        address: Where the server listens.
    """

    def __init__(self, application: Application, address: Address) -> None:
        self.application, self.address = application, address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request (ASGI)."""
        if scope["type"] != "http":  # the page needs no web sockets
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", ()), *own]}
            await send(message)

        body = self._refusal(scope) or await _read(receive)
        if isinstance(body, _Refusal):
            await _refuse(body, send_guarded)
        elif body is not None:
            await self.application(scope, _replay(body, receive), send_guarded)

    def _refusal(self, scope: Scope) -> _Refusal | None:
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        if len(hosts) != 1 or not self.address.is_named_by(hosts[0]):
            return _Refusal(421, f"this server is {self.address.url} and answers to no other name.")
        if any(origin != f"http://{hosts[0]}" for origin in origins):
            return _Refusal(403, "requests of other pages are refused.")
        if scope["method"] not in ("GET", "HEAD"):
            if not origins:
                return _Refusal(403, "requests that do not say which page they come from are refused.")
            if headers.get("content-type") != ["application/json"]:
                return _Refusal(415, "expected JSON.")
        lengths = headers.get("content-length", ["0"])
        if any(not length.isdecimal() or len(length) > 9 or int(length) > LARGEST_BODY for length in lengths):
            return _TOO_LARGE
        return None


_TOO_LARGE = _Refusal(413, f"the request is larger than {LARGEST_BODY:,} bytes.")


async def _read(receive: Receive) -> bytes | _Refusal | None:
    """Returns the body, whatever length was claimed; None if the client has gone."""
    body = b""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            return _TOO_LARGE
        more = message.get("more_body", False)
    return body


def _replay(body: bytes, receive: Receive) -> Receive:
    """Returns a `receive` that gives the body, then whatever comes."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return pending.pop() if pending else await receive()

    return replayed


async def _refuse(refusal: _Refusal, send: Send) -> None:
    body = json.dumps({"message": refusal.message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def serve(
    augmenter: Recombination,
    *,
    keeper: Keeper | None = None,
    host: str = LOOPBACK,
    port: int = 0,
    ready: Callable[[Address], None],
) -> None:
    """Serves the page of a model until the process is interrupted.

    Args:
        augmenter: The model.
        keeper: Where good samples are kept; None: nowhere.
        host: Where to listen.
        port: The port; 0 is any that is free.
        ready: Is told the address once the server listens.

    Raises:
        RecombineError: If nothing can listen there.
    """
    page = application(Explorer(augmenter), keeper)
    with _listening(host, port) as listener:
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


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RecombineError(
            f"nothing can listen at {host}, port {port}: {reason}.", hint="Choose another `host` or `port`."
        ) from None

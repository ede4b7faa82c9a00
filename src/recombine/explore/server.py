"""Serves the page until it is stopped."""

import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from recombine.augmentation.recombination import Recombination
from recombine.errors import RecombineError
from recombine.explore.application import application
from recombine.explore.explorer import Explorer
from recombine.explore.guard import Address, Guard
from recombine.explore.keeping import Keeper

LOOPBACK = "127.0.0.1"
"""Where nobody but this machine can reach the page."""

AT_ONCE = 32
"""So many requests may be under way; more are turned away."""


def serve(
    augmenter: Recombination,
    *,
    kept: str | Path | None = None,
    host: str = LOOPBACK,
    port: int = 0,
    ready: Callable[[Address], None],
) -> None:
    """Serves the page of a model until the process is interrupted.

    Args:
        augmenter: The model.
        kept: The JSONL file that good samples are added to; None: they cannot be kept.
        host: Where to listen.
        port: Likewise; 0 is any that is free.
        ready: Is told the address once the server listens.

    Raises:
        RecombineError: If nothing can listen there, or the file is something else than JSONL of examples.
    """
    keeper = None if kept is None else Keeper(Path(kept))
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

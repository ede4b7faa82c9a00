"""The command, the server and its raw answers, and what the guard before it lets through."""

import asyncio
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import Outcome, assert_is_sentence
from serving import served
from toy_task import example

from recombine.cli import main

pytest.importorskip("fastapi", reason="NOT TESTED: the page needs FastAPI; pip install 'recombine[explore]'")
pytest.importorskip("uvicorn", reason="NOT TESTED: the page needs uvicorn; pip install 'recombine[explore]'")

from recombine.explore import server
from recombine.explore.application import Keeper
from recombine.explore.server import HEADERS, LARGEST_BODY, Address, Guard

PAGE = {"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000", "content-type": "application/json"}


def run(capsys: pytest.CaptureFixture[str], *words: object) -> Outcome:
    with pytest.raises(SystemExit) as ended:
        main(["explore", *map(str, words)])
    said = capsys.readouterr()
    return Outcome(ended.value.code, said.out, said.err)


def talk(host: str, request: bytes) -> bytes:
    """Sends bytes and returns all that comes back."""
    name, _, port = host.rpartition(":")
    with socket.create_connection((name, int(port)), timeout=10) as connection:
        connection.sendall(request)
        pieces = iter(lambda: connection.recv(65536), b"")
        return b"".join(pieces)


def post(host: str, path: str, body: object, **headers: str) -> bytes:
    content = json.dumps(body).encode()
    lines = {"Host": host, "Origin": f"http://{host}", "Content-Type": "application/json", "Connection": "close"}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return talk(host, f"POST {path} HTTP/1.1\r\n{head}Content-Length: {len(content)}\r\n\r\n".encode() + content)


@pytest.mark.parametrize(
    ("count", "sentence"), [(0, "No sample was kept."), (1, "Kept 1 sample in FILE."), (2, "Kept 2 samples in FILE.")]
)
def test_it_ends_with_what_was_kept_this_time(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    model: Path,
    tmp_path: Path,
    count: int,
    sentence: str,
) -> None:
    path = tmp_path / "kept.jsonl"
    Keeper(path).keep(example("run"))

    def serve(*_: object, **__: object) -> None:
        for verb in ("jump", "walk")[:count]:
            Keeper(path).keep(example(verb))

    monkeypatch.setattr(server, "serve", serve)
    done = run(capsys, model, "-o", path, "--device", "cpu")
    assert done.code == 0
    assert done.err.splitlines()[-1] == sentence.replace("FILE", str(path))


@pytest.mark.slow
def test_the_command_serves_keeps_and_ends_well(model: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    with served(model, "-o", kept) as page:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", page.url)
        sample = {
            "prototypes": [{"x": one.x, "y": one.y} for one in (example("run twice"), example("jump"))],
            "tokens": ["jump", "twice", "\t", "JUMP", "JUMP"],
            "strategy": "mixed",
            "temperature": 0.4,
            "seed": 0,
        }
        answer = post(page.host, "/api/keep", sample)
        assert answer.startswith(b"HTTP/1.1 200")
        assert b"server:" not in answer.lower()
        assert len(kept.read_text().splitlines()) == 1
        for path in ("/../../../../etc/passwd", "//etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/page/../explorer.py"):
            head = f"GET {path} HTTP/1.1\r\nHost: {page.host}\r\nConnection: close\r\n\r\n"
            assert talk(page.host, head.encode()).startswith(b"HTTP/1.1 404")
        assert post(page.host, "/api/keep", sample, Host="evil.example").startswith(b"HTTP/1.1 421")
        assert post(page.host, "/api/keep", sample, Origin="http://evil.example").startswith(b"HTTP/1.1 403")
        assert post(page.host, "/api/keep", sample | {"words": "a" * 70_000}).startswith(b"HTTP/1.1 413")
        twice = f"GET / HTTP/1.1\r\nHost: {page.host}\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
        assert not talk(page.host, twice.encode()).startswith(b"HTTP/1.1 200")
    assert page.code == 0
    assert str(kept) in page.talk
    assert "Traceback" not in page.talk
    assert "Warning" not in page.talk


@pytest.mark.slow
def test_another_host_comes_with_a_warning(model: Path, tmp_path: Path) -> None:
    with served(model, "--host", "0.0.0.0", "-o", tmp_path / "kept.jsonl") as page:
        head = f"GET /api/model HTTP/1.1\r\nHost: 127.0.0.1:{page.host.rpartition(':')[2]}\r\nConnection: close\r\n\r\n"
        assert talk(page.host, head.encode()).startswith(b"HTTP/1.1 200")
        assert talk(page.host, head.replace("127.0.0.1", "evil.example").encode()).startswith(b"HTTP/1.1 421")
    assert "Warning: whoever can reach 0.0.0.0" in page.talk
    assert "add to" in page.talk


def test_mistakes_are_sentences(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("no json\n")
    assert_is_sentence(run(capsys, tmp_path / "nowhere"), ["nowhere"])
    assert_is_sentence(run(capsys, model, "-o", mine), ["mine.txt:1"])
    assert_is_sentence(run(capsys, model, "--host", "203.0.113.1"), ["203.0.113.1", "--host"])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert_is_sentence(run(capsys, model, "--port", port), [f"port {port}", "--port"])
    monkeypatch.setattr("recombine.cli.views.find_spec", lambda _: None)
    assert_is_sentence(run(capsys, model), ["FastAPI", "pip install 'recombine[explore]'"])


def answer(headers: dict[str, str], *, method: str = "POST", body: tuple[bytes, ...] = (b"{}",), **scope: str) -> tuple:
    """Sends a request through the guard: the status, the answer, its headers, and the bodies that passed."""
    passed, sent = [], []
    pieces: Iterator[dict] = iter(
        {"type": "http.request", "body": piece, "more_body": i < len(body) - 1} for i, piece in enumerate(body)
    )

    async def receive() -> dict:
        return next(pieces, {"type": "http.disconnect"})

    async def send(message: dict) -> None:
        sent.append(message)

    async def application(_: dict, receive, send) -> None:  # noqa: ANN001
        passed.append((await receive())["body"])
        assert (await receive())["type"] == "http.disconnect"
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-own", b"1")]})
        await send({"type": "http.response.body", "body": b'{"message": "fine"}'})

    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]  # as servers pass them on
    guard = Guard(application, Address("127.0.0.1", 8000))
    asyncio.run(guard({"type": "http", "method": method, "headers": raw, **scope}, receive, send))
    if not sent:
        return None, None, {}, passed
    start, end = sent
    told = {name.decode(): value.decode() for name, value in start["headers"]}
    return start["status"], json.loads(end["body"])["message"], told, passed


def test_the_page_itself_passes_and_its_answers_are_guarded() -> None:
    status, message, told, passed = answer(PAGE, body=(b'{"a"', b": 1}"))
    assert (status, message, passed) == (200, "fine", [b'{"a": 1}'])
    assert told == HEADERS | {"x-own": "1"}
    policy = HEADERS["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (PAGE | {"host": "evil.example:8000", "origin": "http://evil.example:8000"}, 421),
        (PAGE | {"host": "127.0.0.1:8001"}, 421),
        (PAGE | {"host": "127.0.0.1"}, 421),
        (PAGE | {"host": ""}, 421),
        ({name: PAGE[name] for name in ("origin", "content-type")}, 421),
        (PAGE | {"Host": "evil.example"}, 421),
        (PAGE | {"origin": "http://evil.example"}, 403),
        (PAGE | {"origin": "null"}, 403),
        (PAGE | {"origin": "https://127.0.0.1:8000"}, 403),
        (PAGE | {"origin": "http://localhost:8000"}, 403),
        ({name: PAGE[name] for name in ("host", "content-type")}, 403),
        (PAGE | {"content-type": "text/plain"}, 415),
        (PAGE | {"content-type": "application/x-www-form-urlencoded"}, 415),
        ({name: PAGE[name] for name in ("host", "origin")}, 415),
        (PAGE | {"content-length": str(LARGEST_BODY + 1)}, 413),
        (PAGE | {"content-length": "9" * 5000}, 413),
        (PAGE | {"content-length": "-1"}, 413),
        (PAGE | {"content-length": "²"}, 413),
    ],
)
def test_others_are_turned_away_unheard(headers: dict[str, str], status: int) -> None:
    found, message, told, passed = answer(headers)
    assert (found, passed) == (status, [])
    assert message.endswith(".")
    assert told.items() >= HEADERS.items()


def test_a_body_that_is_larger_than_it_claimed_is_not_collected() -> None:
    status, _, _, passed = answer(PAGE | {"content-length": "2"}, body=(b"x" * LARGEST_BODY, b"x", b"never read"))
    assert (status, passed) == (413, [])


def test_reading_needs_no_origin_and_a_client_that_leaves_or_wants_a_web_socket_gets_no_answer() -> None:
    assert answer({"host": "localhost:8000"}, method="GET", body=(b"",))[0] == 200
    assert answer({"host": "localhost:8000", "origin": "http://evil.example"}, method="GET")[0] == 403
    assert answer({"host": "evil.example:8000"}, method="GET")[0] == 421
    assert answer(PAGE, body=())[0] is None
    assert answer(PAGE, type="websocket")[0] is None


@pytest.mark.parametrize(
    ("host", "header", "is_named"),
    [
        ("127.0.0.1", "127.0.0.1:8000", True),
        ("127.0.0.1", "LOCALHOST:8000", True),
        ("127.0.0.1", "127.0.0.2:8000", False),
        ("127.0.0.1", "localhost.evil.example:8000", False),
        ("127.0.0.1", "evil.example:8000@127.0.0.1:8000", False),
        ("::1", "[::1]:8000", True),
        ("::1", "[::2]:8000", False),
        ("192.168.0.7", "192.168.0.7:8000", True),
        ("192.168.0.7", "127.0.0.1:8000", False),
        ("box.lan", "box.lan:8000", True),
        ("box.lan", "evil.example:8000", False),
        ("0.0.0.0", "192.168.0.7:8000", True),
        ("0.0.0.0", "localhost:8000", True),
        ("0.0.0.0", "evil.example:8000", False),
        ("::", "[fe80::1]:8000", True),
        ("::", ":8000", False),
    ],
)
def test_hosts(host: str, header: str, is_named: bool) -> None:
    assert Address(host, 8000).is_named_by(header) is is_named
    assert Address(host, 80).is_named_by(header.removesuffix(":8000")) is is_named  # the usual port goes without saying


@pytest.mark.parametrize(
    ("host", "is_loopback", "url"),
    [
        ("127.0.0.1", True, "http://127.0.0.1:8000/"),
        ("localhost", True, "http://localhost:8000/"),
        ("::1", True, "http://[::1]:8000/"),
        ("0.0.0.0", False, "http://127.0.0.1:8000/"),
        ("192.168.0.7", False, "http://192.168.0.7:8000/"),
        ("box.lan", False, "http://box.lan:8000/"),
    ],
)
def test_who_can_reach_an_address(host: str, is_loopback: bool, url: str) -> None:
    address = Address(host, 8000)
    assert (address.is_loopback, address.url) == (is_loopback, url)

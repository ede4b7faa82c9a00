"""The command, the server and its raw answers, and what the guard before it lets through."""

import json
import re
import socket
from functools import partial
from pathlib import Path

import pytest
from commands import Run, assert_is_sentence
from serving import served
from toy_task import example

pytest.importorskip("fastapi", reason="NOT TESTED: the page needs FastAPI; pip install 'recombine[explore]'")
pytest.importorskip("uvicorn", reason="NOT TESTED: the page needs uvicorn; pip install 'recombine[explore]'")

from recombine.explore import server
from recombine.explore.application import Keeper
from recombine.explore.server import Address


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


def test_it_ends_with_what_was_kept_this_time(
    run: Run, monkeypatch: pytest.MonkeyPatch, model: Path, tmp_path: Path
) -> None:
    path = tmp_path / "kept.jsonl"
    Keeper(path).keep(example("run"))
    for verbs, sentence in (
        ((), "No sample was kept."),
        (("jump",), f"Kept 1 sample in {path}."),
        (("walk", "look"), f"Kept 2 samples in {path}."),
    ):
        keep = [partial(Keeper(path).keep, example(verb)) for verb in verbs]
        monkeypatch.setattr(server, "serve", lambda *_, keep=keep, **__: [each() for each in keep])
        assert run("explore", model, "-o", path, "--device", "cpu").ok.last == sentence


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
        head = f"GET /../../../../etc/passwd HTTP/1.1\r\nHost: {page.host}\r\nConnection: close\r\n\r\n"
        assert talk(page.host, head.encode()).startswith(b"HTTP/1.1 404")
        chunked = post(page.host, "/api/keep", sample, Transfer_Encoding="chunked")
        assert not chunked.startswith(b"HTTP/1.1 200")
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


def test_mistakes_are_sentences(run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = tmp_path / "mine.txt"
    mine.write_text("no json\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for words, told in (
            ([tmp_path / "nowhere"], ["nowhere"]),
            ([model, "-o", mine], ["mine.txt:1"]),
            ([model, "--host", "203.0.113.1"], ["203.0.113.1", "--host"]),
            ([model, "--port", port], [f"port {port}", "--port"]),
        ):
            assert_is_sentence(run("explore", *words), told)
    monkeypatch.setattr("recombine.cli.views.find_spec", lambda _: None)
    assert_is_sentence(run("explore", model), ["FastAPI", "pip install 'recombine[explore]'"])


@pytest.mark.parametrize(
    ("host", "url", "is_loopback", "names", "others"),
    [
        ("127.0.0.1", "127.0.0.1", True, ["127.0.0.1", "LOCALHOST"], ["127.0.0.2", "localhost.evil.example"]),
        ("localhost", "localhost", True, ["localhost"], ["evil.example", "evil.example:8000@127.0.0.1"]),
        ("::1", "[::1]", True, ["[::1]"], ["[::2]"]),
        ("192.168.0.7", "192.168.0.7", False, ["192.168.0.7"], ["127.0.0.1"]),
        ("box.lan", "box.lan", False, ["box.lan"], ["evil.example"]),
        ("0.0.0.0", "127.0.0.1", False, ["192.168.0.7", "localhost"], ["evil.example"]),
        ("::", None, False, ["[fe80::1]"], [""]),
    ],
)
def test_hosts(host: str, url: str | None, is_loopback: bool, names: list[str], others: list[str]) -> None:
    address = Address(host, 8000)
    assert address.is_loopback == is_loopback
    assert url is None or address.url == f"http://{url}:8000/"
    for header in (*names, *others):
        assert address.is_named_by(f"{header}:8000") is (header in names)
        assert Address(host, 80).is_named_by(header) is (header in names)  # the usual port goes without saying

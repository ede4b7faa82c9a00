"""The command, the server and its raw answers."""

import json
import re
import socket
from pathlib import Path

import pytest
from commands import Outcome, assert_is_sentence
from serving import served
from toy_task import example

from recombine.cli import main

pytest.importorskip("fastapi", reason="NOT TESTED: the page needs FastAPI; pip install 'recombine[explore]'")
pytest.importorskip("uvicorn", reason="NOT TESTED: the page needs uvicorn; pip install 'recombine[explore]'")

from recombine.explore import server
from recombine.explore.keeping import Keeper


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
        port = page.host.rpartition(":")[2]
        head = "GET /api/model HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n"
        assert talk(page.host, head.format(f"127.0.0.1:{port}").encode()).startswith(b"HTTP/1.1 200")
        assert talk(page.host, head.format(f"evil.example:{port}").encode()).startswith(b"HTTP/1.1 421")
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

"""Finding and downloading language files; the web is a server on this machine."""

import hashlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from recombine.data import sigmorphon_files
from recombine.data.download import cache_folder
from recombine.data.sigmorphon import fetch, locate
from recombine.errors import RecombineError

CONTENT = "hablar\thablé\tV;IND;PST;1;SG;PFV\n".encode()
NAME = "spanish-train-high"


class Web:
    """What the server answers, and what it was asked for."""

    def __init__(self) -> None:
        self.content = CONTENT
        self.promised: int | None = None
        self.asked: list[str] = []


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    state = Web()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            found = self.path == f"/all/{NAME}"
            self.send_response(200 if found else 404)
            self.send_header("Content-Length", str(state.promised or len(state.content)))
            self.end_headers()
            self.wfile.write(state.content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(sigmorphon_files, "_FOLDER", f"http://127.0.0.1:{server.server_port}/all")
    monkeypatch.setitem(sigmorphon_files.SHA256, "spanish", hashlib.sha256(CONTENT).hexdigest())
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


def test_fetch_downloads_once(web: Web, tmp_path: Path) -> None:
    path = fetch("spanish", cache=tmp_path / "deep" / "cache")
    assert path.read_bytes() == CONTENT
    assert fetch("spanish", cache=tmp_path / "deep" / "cache") == path
    assert web.asked == [f"/all/{NAME}"]
    assert [file.name for file in path.parent.iterdir()] == [NAME]


def test_a_damaged_cached_file_is_replaced(web: Web, tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"damaged")
    assert fetch("spanish", cache=tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("content", [b"", b"<html>Welcome to our hotel's network</html>"])
def test_another_file_is_refused_and_not_kept(content: bytes, web: Web, tmp_path: Path) -> None:
    web.content = content
    with pytest.raises(RecombineError, match=f"not the expected file.* {NAME} by other means .*`source`"):
        fetch("spanish", cache=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_broken_transfer_is_a_sentence(web: Web, tmp_path: Path) -> None:
    web.promised = 10 * len(CONTENT)
    with pytest.raises(RecombineError, match=r"could not download .*`source`"):
        fetch("spanish", cache=tmp_path)


def test_an_answer_of_404_is_a_sentence(web: Web, tmp_path: Path) -> None:
    with pytest.raises(RecombineError, match=r"could not download .*404.*`source`"):
        fetch("turkish", cache=tmp_path)


def test_no_connection_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(sigmorphon_files, "_FOLDER", "http://127.0.0.1:9")
    with pytest.raises(RecombineError, match=r"could not download .* swahili-train-high by other means .*`source`"):
        fetch("swahili", cache=tmp_path)


def test_an_unwritable_cache_is_a_sentence(web: Web, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RecombineError, match="the file cannot be written"):
        fetch("spanish", cache=tmp_path / "file")


def test_downloads_go_to_the_users_cache(web: Web, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert locate("spanish") == tmp_path / "recombine" / "sigmorphon2018" / NAME


@pytest.mark.parametrize("given", ["", "relative/folder", None])
def test_cache_folder_without_a_usable_setting(
    given: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if given is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", given)
    assert cache_folder() == tmp_path / ".cache" / "recombine"


@pytest.mark.parametrize("language", ["spanich", "../spanish", "SPANISH", ""])
def test_only_known_languages_are_downloaded(language: str, web: Web, tmp_path: Path) -> None:
    with pytest.raises(RecombineError, match=r"unknown language .*spanish, swahili, turkish\. For others, .*`source`"):
        fetch(language, cache=tmp_path)
    assert not web.asked


def test_a_source_serves_any_language_that_it_holds(tmp_path: Path) -> None:
    (tmp_path / "quechua-train-high").write_bytes(CONTENT)
    assert locate("quechua", tmp_path) == tmp_path / "quechua-train-high"
    with pytest.raises(RecombineError, match=r"unknown language 'quecha'\. Did you mean 'quechua'"):
        locate("quecha", tmp_path)


def test_a_source_is_not_left(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "quechua-train-high").write_bytes(CONTENT)
    (tmp_path / "secret-train-high").write_bytes(CONTENT)
    with pytest.raises(RecombineError, match="unknown language"):
        locate("../secret", source)


def test_a_source_without_files_or_without_a_folder(tmp_path: Path) -> None:
    with pytest.raises(RecombineError, match="holds no file called LANGUAGE-train-high"):
        locate("spanish", tmp_path)
    with pytest.raises(RecombineError, match="no such folder"):
        locate("spanish", tmp_path / "nowhere")


def test_official_hashes_are_those_of_the_published_files() -> None:
    folder = Path(__file__).parents[3] / "shared" / "data" / "sigmorphon2018"
    if not folder.is_dir():
        pytest.skip(f"the published SIGMORPHON files are not in {folder}, so no hash was checked")
    hashes = {
        language: hashlib.sha256(locate(language, folder).read_bytes()).hexdigest()
        for language in sigmorphon_files.SHA256
    }
    assert hashes == sigmorphon_files.SHA256

"""What the server answers, through the guard, to the page and to others; and the file of kept samples."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from toy_task import TASK, example

from recombine.data.files import read
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.explore.explorer import Explorer

pytest.importorskip("fastapi", reason="NOT TESTED: the page needs FastAPI; pip install 'recombine[explore]'")
pytest.importorskip("uvicorn", reason="NOT TESTED: the page needs uvicorn; pip install 'recombine[explore]'")
pytest.importorskip("httpx", reason="NOT TESTED: requests are made with httpx")

import httpx

from recombine.explore.application import PAGE, Keeper, application
from recombine.explore.server import HEADERS, LARGEST_BODY, Address, guard

URL = "http://127.0.0.1:8000"
PROTOTYPES = [{"x": one.x, "y": one.y} for one in (example("run and walk twice"), example("jump"))]
SAMPLE = {"prototypes": PROTOTYPES, "tokens": [], "strategy": "greedy", "temperature": 1.0, "seed": 0}


class Page:
    """Asks as the page does."""

    def __init__(self, explorer: Explorer, keeper: Keeper | None) -> None:
        self.guarded = guard(application(explorer, keeper), Address("127.0.0.1", 8000))

    def request(self, method: str, path: str, **options: object) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.guarded)
            async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
                return await client.request(method, path, **options)

        return asyncio.run(ask())

    def get(self, path: str) -> httpx.Response:
        return self.request("GET", path)

    def post(self, path: str, body: object) -> tuple[int, dict[str, Any]]:
        content = body if isinstance(body, bytes) else json.dumps(body)
        headers = {"origin": URL, "content-type": "application/json"}
        response = self.request("POST", f"/api/{path}", content=content, headers=headers)
        assert response.headers["content-type"] == "application/json"
        assert response.headers.items() >= HEADERS.items()
        return response.status_code, response.json()


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "kept.jsonl"


@pytest.fixture
def page(explorer: Explorer, kept: Path) -> Page:
    return Page(explorer, Keeper(kept))


def test_the_page_is_served(page: Page) -> None:
    for address, (_, kind) in PAGE.items():
        response = page.get(address)
        assert response.status_code == 200
        assert response.headers["content-type"].startswith(kind)
        assert response.headers.items() >= HEADERS.items()
    policy = HEADERS["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    html = page.get("/").text
    assert "<script" in html
    assert "style=" not in html
    assert not [line for line in html.splitlines() if "<script" in line and "src=" not in line]


def test_no_other_file_is_served_and_other_methods_are_refused(page: Page) -> None:
    outside = ("/../../pyproject.toml", "/..%2f..%2fexplorer.py", "/%2e%2e/explorer.py", "//etc/passwd")
    within = ("/page.js/../explorer.py", "/page.js%00.html", "/api/../../etc/passwd", "/explorer.py", "/api/model/")
    for path in (*outside, *within, "/docs", "/openapi.json"):
        response = page.get(path)
        assert response.status_code in (307, 404)
        assert not {"import", "root:"} & {*response.text.split()}
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        response = page.request(method, "/api/keep", headers={"origin": URL, "content-type": "application/json"})
        assert response.status_code == 405
        assert "access-control-allow-origin" not in response.headers


def test_the_model_is_described_and_examples_are_found_and_drawn(page: Page) -> None:
    model = page.get("/api/model").json()
    assert (model["prototypes"], model["examples"]) == (2, len(TASK.train))
    assert len(model["tokens"]) == model["token_count"]
    assert (model["strategy"], model["temperature"]) == ("mixed", 0.2)
    assert (model["file"], model["kept"]) == ("kept.jsonl", 0)
    status, found = page.post("search", {"words": "jump"})
    assert (status, found) == (200, {"examples": [{"x": ["jump"], "y": ["JUMP"]}], "total": 1})
    status, drawn = page.post("draw", {"seed": 3})
    assert (status, len(drawn["prototypes"])) == (200, 2)


def test_a_sample_grows_is_judged_and_kept_once(
    page: Page, explorer: Explorer, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens: list[str] = []
    while True:
        status, step = page.post("next", SAMPLE | {"tokens": tokens})
        assert status == 200
        assert step["chosen"] == step["alternatives"][0]
        assert set(step["chosen"]["source"]) == {"origin", "place"}
        if step["chosen"]["token"] == "\n":
            break
        tokens.append(step["chosen"]["token"])
    finished = SAMPLE | {"tokens": tokens}
    status, judged = page.post("judge", finished)
    assert status == 200
    assert judged["known"] in ("no", "input", "pair")
    assert not kept.exists()
    assert page.post("keep", finished) == (200, {"kept": 1})
    (sample,) = read(kept)
    assert list(sample.d) == tokens
    assert [prototype.x for prototype in sample.provenance.prototypes] == [one["x"] for one in PROTOTYPES]
    assert sample.provenance.log_probability == pytest.approx(judged["log_probability"])
    status, refused = page.post("keep", finished)
    assert (status, refused["message"]) == (400, "this sample is kept already.")
    assert page.get("/api/model").json()["kept"] == 1
    other = kept.with_name("other.jsonl")
    monkeypatch.setattr(explorer.augmenter, "notes", {"tokens": "characters"})
    assert Page(explorer, Keeper(other)).post("keep", finished) == (200, {"kept": 1})
    assert json.loads(other.read_text())["input"] == "".join(sample.x)
    status, refused = Page(explorer, None).post("keep", finished)
    assert status == 400
    assert "-o FILE" in refused["message"]


@pytest.mark.parametrize(
    ("status", "change"),
    [
        (422, {"prototypes": [{"x": "jump", "y": ["JUMP"]}, PROTOTYPES[1]]}),
        (422, {"prototypes": [{"x": ["jump"], "y": ["JUMP"], "path": "/etc/passwd"}, PROTOTYPES[1]]}),
        (422, {"tokens": [7]}),
        (422, {"strategy": "beam"}),
        (422, {"temperature": 0}),
        (422, {"temperature": "1"}),
        (422, {"seed": -1}),
        (422, {"file": "/tmp/elsewhere.jsonl"}),
        (400, {"prototypes": PROTOTYPES * 5}),
        (400, {"prototypes": [{"x": [], "y": ["JUMP"]}, PROTOTYPES[1]]}),
        (400, {"tokens": ["run"] * 5000}),
        (400, {"prototypes": [PROTOTYPES[0], {"x": ["<script>alert(1)</script>"], "y": ["JUMP"]}]}),
    ],
    ids=lambda change: json.dumps(change)[:40],
)
def test_requests_out_of_bounds_are_refused(page: Page, kept: Path, status: int, change: dict[str, object]) -> None:
    for path in ("next", "judge", "keep"):
        found, refused = page.post(path, SAMPLE | change)
        assert found == status
        assert refused["message"].endswith(".")
        assert len(refused["message"]) < 1000
    assert not kept.exists()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 422),
        (b"[" * 60_000, 400),
        (b'{"words": "' + b"a" * 70_000 + b'"}', 413),
        (b'{"words": "\\ud800"}', 422),
        (json.dumps(SAMPLE).encode().replace(b'"seed": 0', b'"seed": NaN'), 422),
    ],
    ids=lambda value: str(value)[:20],
)
def test_broken_json_is_a_sentence(page: Page, body: bytes, status: int) -> None:
    path = "next" if b"prototypes" in body else "search"
    found, refused = page.post(path, body)
    assert found == status
    assert set(refused) == {"message"}


OWN = {"host": "127.0.0.1:8000", "origin": URL, "content-type": "application/json"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (OWN | {"host": "evil.example:8000", "origin": "http://evil.example:8000"}, 421),
        (OWN | {"host": "127.0.0.1:8001"}, 421),
        (OWN | {"host": "127.0.0.1"}, 421),
        (OWN | {"host": ""}, 421),
        (OWN | {"Host": "evil.example"}, 421),
        (OWN | {"origin": "http://evil.example"}, 403),
        (OWN | {"origin": "null"}, 403),
        (OWN | {"origin": "https://127.0.0.1:8000"}, 403),
        (OWN | {"origin": "http://localhost:8000"}, 403),
        ({name: OWN[name] for name in ("host", "content-type")}, 403),
        (OWN | {"content-type": "text/plain"}, 415),
        ({name: OWN[name] for name in ("host", "origin")}, 415),
        (OWN | {"content-length": str(LARGEST_BODY + 1)}, 413),
        (OWN | {"content-length": "9" * 5000}, 413),
        (OWN | {"content-length": "-1"}, 413),
        (OWN | {"transfer-encoding": "chunked"}, 411),
    ],
)
def test_others_are_turned_away_unheard(page: Page, kept: Path, headers: dict[str, str], status: int) -> None:
    response = page.request("POST", "/api/keep", headers=list(headers.items()), content=json.dumps(SAMPLE))
    assert response.status_code == status
    assert response.json()["message"].endswith(".")
    assert response.headers.items() >= HEADERS.items()
    assert not kept.exists()
    if status in (421, 403) and "origin" in headers:  # reading needs no origin, but no other's
        assert page.request("GET", "/api/model", headers=list(headers.items())).status_code == status


@pytest.mark.parametrize("content", ["no json\n", '{"x": "a"}\n'])
def test_only_a_file_of_samples_will_do(tmp_path: Path, content: str) -> None:
    path, empty = tmp_path / "mine.txt", tmp_path / "empty.jsonl"
    path.write_text(content)
    empty.touch()
    for other, words in ((path, r"mine\.txt:1"), (tmp_path, "folder"), (Path("-"), "standard output")):
        with pytest.raises(RecombineError, match=words):
            Keeper(other)
    assert path.read_text() == content
    assert Keeper(empty).keep(example("jump")) == 1
    assert Keeper(tmp_path / "none.jsonl").count() == 0
    assert not (tmp_path / "none.jsonl").exists()


def test_two_pages_keep_samples_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    (tmp_path / ".kept.jsonl.0123456789abcdef.tmp").touch()  # of one that was killed

    def keep(name: str) -> None:
        keeper = Keeper(path)  # whose lock file is another open file, as in another process
        for number in range(20):
            keeper.keep(Example((name, str(number)), ("y",)))

    with ThreadPoolExecutor() as pool:
        list(pool.map(keep, "ab"))
    assert sorted(one.x for one in read(path)) == sorted((name, str(n)) for name in "ab" for n in range(20))
    assert list(tmp_path.iterdir()) == [path]

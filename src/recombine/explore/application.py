"""The page, what it may ask for and what it is answered, and the file of samples that it keeps: JSON in, JSON out."""

from functools import partial
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Annotated, Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from recombine.data.files import read, write
from recombine.data.output import check_free, locked
from recombine.data.text import STANDARD
from recombine.errors import RecombineError
from recombine.example import Example, Tokens
from recombine.explore.explorer import Choice, Explorer, Strategy
from recombine.inflection import are_of_word_forms
from recombine.training.stored import kind_of_tokens

PAGE = {
    "/": ("index.html", "text/html"),
    "/style.css": ("style.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
    "/prototypes.js": ("prototypes.js", "text/javascript"),
    "/server.js": ("server.js", "text/javascript"),
    "/tokens.js": ("tokens.js", "text/javascript"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
"""All files that are served, with their types; a request names one of these addresses, never a path."""

TOKENS_SHOWN = 1000  # how many known tokens are listed on the page

Seed = Annotated[int, Field(ge=0, lt=2**32)]


class Keeper:
    """A JSONL file of samples that somebody found good; what it held before stays in it."""

    def __init__(self, path: Path) -> None:
        if str(path) == STANDARD:
            raise RecombineError("samples cannot be kept in standard output.", hint="Name a file.")
        check_free(path, force=True)
        self.path = path
        self._lock = Lock()
        self._read()

    def _read(self) -> list[Example]:
        if not self.path.exists() or not self.path.stat().st_size:
            return []
        return read(self.path, format="jsonl")

    def keep(self, sample: Example, tokens: str = "words") -> int:
        """Adds a sample, which must not be there already, and returns how many there are now.

        Its tokens are words, characters or code, which texts are made of.
        """
        with self._lock, locked(self.path, say=lambda _: None):  # other pages may keep samples in the same file
            kept = self._read()
            if sample in kept:
                raise RecombineError("this sample is kept already.")
            return write([*kept, sample], self.path, format="jsonl", tokens=tokens, force=True)

    def count(self) -> int:
        """Returns how many samples the file holds."""
        return len(self._read())


class _Request(BaseModel):
    """Nothing is converted and nothing unknown passes. The server bounds the size of requests."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class SearchRequest(_Request):
    """Words to look for in the training examples."""

    words: Annotated[str, Field(max_length=500)]


class DrawRequest(_Request):
    """Prototypes to be drawn."""

    seed: Seed


class Pair(_Request):
    """A prototype."""

    x: list[str]
    y: list[str]


class SampleRequest(_Request):
    """A sample x ▷ y on its way or finished, and how its tokens are chosen."""

    prototypes: list[Pair]
    tokens: list[str]
    strategy: Strategy
    temperature: Annotated[float, Field(ge=0.05, le=5)]
    seed: Seed

    def parts(self) -> tuple[list[Example], Tokens, Choice]:
        """Returns the prototypes, the tokens of the sample, and how tokens are chosen."""
        prototypes = [Example(tuple(pair.x), tuple(pair.y)) for pair in self.prototypes]
        return prototypes, tuple(self.tokens), Choice(self.strategy, self.temperature, self.seed)


def application(explorer: Explorer, keeper: Keeper | None) -> FastAPI:
    """Returns the application, to be put behind a guard; without a keeper, no samples can be kept."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    for address, (name, kind) in PAGE.items():
        content = (files("recombine.explore") / "page" / name).read_bytes()
        app.add_route(address, partial(_serve, content, kind))

    @app.exception_handler(RecombineError)
    def mistake(_: Request, error: RecombineError) -> JSONResponse:
        return JSONResponse({"message": str(error)}, status_code=400)

    @app.exception_handler(RequestValidationError)
    def misunderstanding(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"][1:])) or "request"
        return JSONResponse({"message": f"{place}: {first['msg']}."}, status_code=422)

    @app.exception_handler(HTTPException)
    def refusal(_: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"message": f"{error.detail}."}, status_code=error.status_code)

    sampling = explorer.augmenter.sampling.decoding
    tokens = explorer.vocabulary.tokens
    written = "characters" if are_of_word_forms(tokens) else kind_of_tokens(explorer.augmenter.notes) or "words"

    @app.get("/api/model")
    def model() -> dict[str, Any]:
        return {
            "prototypes": explorer.augmenter.prototypes,
            "examples": len(explorer.examples),
            "tokens": tokens[:TOKENS_SHOWN],
            "token_count": len(tokens),
            "strategy": "greedy" if sampling.strategy == "beam" else sampling.strategy,
            "temperature": sampling.temperature,
            "file": None if keeper is None else keeper.path.name,
            "kept": 0 if keeper is None else keeper.count(),
        }

    @app.post("/api/search")
    def find(request: SearchRequest) -> dict[str, Any]:
        examples, total = explorer.find(request.words)
        return {"examples": _pairs(examples), "total": total}

    @app.post("/api/draw")
    def draw(request: DrawRequest) -> dict[str, Any]:
        return {"prototypes": _pairs(explorer.draw_prototypes(request.seed))}

    @app.post("/api/next")
    def following(request: SampleRequest) -> dict[str, Any]:
        return explorer.next(*request.parts())

    @app.post("/api/judge")
    def judge(request: SampleRequest) -> dict[str, Any]:
        sample = explorer.sample(*request.parts())
        assert sample.provenance is not None
        return {"log_probability": sample.provenance.log_probability, "known": explorer.known(sample)}

    @app.post("/api/keep")
    def keep(request: SampleRequest) -> dict[str, Any]:
        if keeper is None:
            raise RecombineError("there is no file to keep samples in.", hint="Start with -o FILE.")
        return {"kept": keeper.keep(explorer.sample(*request.parts()), written)}

    return app


def _serve(content: bytes, kind: str, _: Request) -> Response:
    return Response(content, media_type=kind)


def _pairs(examples: tuple[Example, ...]) -> list[dict[str, Any]]:
    return [{"x": example.x, "y": example.y} for example in examples]

"""The page and what it asks for: JSON in, JSON out."""

from collections.abc import Callable
from dataclasses import asdict
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from recombine.errors import RecombineError
from recombine.example import Example
from recombine.explore.explorer import Explorer
from recombine.explore.keeping import Keeper
from recombine.explore.requests import DrawRequest, SampleRequest, SearchRequest
from recombine.explore.search import Search

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

TOKENS_SHOWN = 1000
"""So many known tokens are listed on the page."""


def application(explorer: Explorer, keeper: Keeper | None) -> FastAPI:
    """Returns the application, to be put behind a `Guard`.

    Args:
        explorer: The model.
        keeper: Where good samples go; None: nowhere.
    """
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    _add_page(app)
    _add_errors(app)
    _add_model(app, explorer, keeper)
    _add_samples(app, explorer, keeper)
    return app


def _add_page(app: FastAPI) -> None:
    for address, (name, kind) in PAGE.items():
        content = (files("recombine.explore") / "page" / name).read_bytes()
        app.add_api_route(address, _serving(content, kind), methods=["GET"])


def _serving(content: bytes, kind: str) -> Callable[[], Response]:
    return lambda: Response(content, media_type=kind)


def _add_errors(app: FastAPI) -> None:
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


def _add_model(app: FastAPI, explorer: Explorer, keeper: Keeper | None) -> None:
    search = Search(explorer.examples)
    sampling = explorer.augmenter.sampling.decoding
    tokens = explorer.vocabulary.tokens

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
        found = search.find(request.words)
        return {"examples": _pairs(found.examples), "total": found.total}

    @app.post("/api/draw")
    def draw(request: DrawRequest) -> dict[str, Any]:
        return {"prototypes": _pairs(explorer.draw_prototypes(request.seed))}


def _add_samples(app: FastAPI, explorer: Explorer, keeper: Keeper | None) -> None:
    @app.post("/api/next")
    def following(request: SampleRequest) -> dict[str, Any]:
        return asdict(explorer.next(request.examples(), tuple(request.tokens), choice=request.choice()))

    def finished(request: SampleRequest) -> Example:
        return explorer.sample(request.examples(), tuple(request.tokens), choice=request.choice())

    @app.post("/api/judge")
    def judge(request: SampleRequest) -> dict[str, Any]:
        sample = finished(request)
        assert sample.provenance is not None
        return {"log_probability": sample.provenance.log_probability, "known": explorer.known(sample)}

    @app.post("/api/keep")
    def keep(request: SampleRequest) -> dict[str, Any]:
        if keeper is None:
            raise RecombineError("there is no file to keep samples in.", hint="Start with -o FILE.")
        return {"kept": keeper.keep(finished(request))}


def _pairs(examples: tuple[Example, ...]) -> list[dict[str, Any]]:
    return [{"x": example.x, "y": example.y} for example in examples]

"""A run as ``recombine compare`` writes it, made by hand: small, with something of everything that a report shows."""

import json
from pathlib import Path
from typing import Any

from recombine.data.store import sealed

HOSTILE = "</script><script>alert(1)</script><!--"
"""A token that ends the page's script and starts its own, if it is let."""

METHODS = ("plain", "oversampling", "geca", "recombine", "both")


def sample_run() -> dict[str, Any]:
    """Returns the document: 5 samples of three methods by name, and 60 of the fourth to page through."""
    jump = _pair("jump ▷ I_JUMP")
    walk_left = _pair("walk left and look ▷ I_TURN_LEFT I_WALK I_LOOK")
    left = _pair("jump left and look ▷ I_TURN_LEFT I_JUMP I_LOOK")
    twice = [_pair("run ▷ I_RUN"), _pair("walk twice ▷ I_WALK I_WALK")]
    hostile = {"x": ["<script>alert(1)</script>", HOSTILE], "y": ["<img src=x onerror=alert(2)>"]}
    characters, shorter = ({"x": list(text), "y": ["V", "PST"]} for text in ("כתב לי", "כתב"))
    samples = [
        _sample(left, [walk_left, jump], "2:1 1:2 1:3 written 1:5 2:2 1:7", log_probability=-1.25),
        _sample(_pair("run twice ▷ I_RUN I_RUN"), twice, "1:1 2:2 1:2 own:3", log_probability=-2.0),
        _sample(hostile, [{"x": [HOSTILE], "y": ["[[script]]"]}], "written 1:1 written", method="<b>geca</b>"),
        _sample(characters, [shorter], "1:1 1:2 1:3 written written written 1:4 1:5", method="geca"),
        _sample(jump, [jump], "", method="oversampling"),
    ]
    for number in range(60):
        pair = _pair(f"word{number} ▷ WORD{number}")
        samples.append(_sample(pair, [pair], "1:1 1:2", log_probability=-5.0 - number))
    return {
        "format": 1,
        "title": "commands.tsv",
        "command": "recombine compare commands.tsv -o run",
        "provenance": {"command": "recombine compare commands.tsv -o run", "commit": "0123abc", "device": "x86_64"},
        "data": {"train": 2212, "test": 500, "rare_test": 120, "held_out": True, "phenomena": ["jump", "I_JUMP"]},
        "network": "copying: 2 were tried in 9 s on 100 held-out examples: copying 0.91, no copying 0.84",
        "comparison": [_compared(method, number) for number, method in enumerate(METHODS)],
        "verdict": "Augmentation helps on rare examples (recombine 0.600, plain 0.000); on others, it cannot be told.",
        "alignment": [{**walk_left, "links": [1, 2, 0, 3, 2, 1, 3]}, {**hostile, "links": [0, 1, 1]}],
        "curves": [_curve(method, number) for number, method in enumerate(METHODS)],
        "samples": samples,
        "attention": [_attention(), *[None] * (len(samples) - 1)],
        "rejected": {"in the training data": 120, "nothing rare in it": 60, "drawn before": 20},
        "turned_down": [
            {"x": ["walk"], "y": ["I_WALK"], "reason": "in the training data"},
            {"x": ["look", HOSTILE], "y": ["I_LOOK"], "reason": "nothing rare in it"},
        ],
        "rarity": [
            {"token": "jump", "before": 1, "after": 180},
            {"token": HOSTILE, "before": 2, "after": 3},
            *({"token": f"token{number}", "before": 10 + number, "after": 20 + number} for number in range(40)),
        ],
    }


def write_run(folder: Path, run: dict[str, Any]) -> Path:
    """Writes the document, with its checksum, where a report looks for it, and returns the folder."""
    folder.mkdir(exist_ok=True)
    (folder / "run.json").write_text(json.dumps(sealed(run)), encoding="utf-8")
    return folder


def _compared(method: str, number: int) -> dict[str, Any]:
    rare = [0.2 * number - 0.02, 0.2 * number, 0.2 * number + 0.02] if number else [0.0, 0.0, 0.0]
    return {
        "method": method,
        "new_examples": [400 if number else 0] * 3,
        "scores": {"all": [0.7 + number / 20, 0.72 + number / 20, 0.74], "rare": rare, "other": [0.96, 0.97, 0.95]},
        "p": {"all": 0.04 if number else None, "rare": 0.0001 if number else None, "other": 0.62 if number else None},
    }


def _curve(method: str, number: int) -> dict[str, Any]:
    steps = list(range(0, 1100, 100))
    fall = [2.5 / (1 + step / (80 + 60 * number)) for step in steps]
    return {
        "method": method,
        "steps": steps,
        "loss": [[value * 0.8, value, value * 1.2] for value in fall],
        "held_out": [[None, 1 - value / 2.6, 0.95 - value / 2.7] for value in fall],
    }


def _pair(text: str) -> dict[str, Any]:
    x, y = text.split(" ▷ ")
    return {"x": x.split(), "y": y.split()}


def _sample(pair: dict[str, Any], prototypes: list[dict[str, Any]], sources: str, **further: object) -> dict[str, Any]:
    told = {"log_probability": None, "prototypes": prototypes, "sources": sources.split()}
    return {**pair, "method": "recombine", **told, **further}


def _attention() -> dict[str, Any]:
    tokens = ["jump", "left", "and", "look", "\t", "I_TURN_LEFT", "I_JUMP", "I_LOOK", "\n"]
    first = ["walk", "left", "and", "look", "\t", "I_TURN_LEFT", "I_WALK", "I_LOOK", "\n"]
    second = ["jump", "\t", "I_JUMP", "\n"]
    along = [[0.75 if place == step else 0.03125 for place in range(9)] for step in range(9)]
    to_second = [[0.5 if place == min(step // 2, 3) else 0.125 for place in range(4)] for step in range(9)]
    return {"tokens": tokens, "prototypes": [first, second], "weights": [along, to_second]}

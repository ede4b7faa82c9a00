"""Makes the page: one HTML file that carries its data, style and script along and asks for nothing else."""

import base64
import hashlib
import json
import re
from dataclasses import asdict
from importlib.resources import files

from recombine.report.run import Run

SCRIPTS = ("base", "comparison", "curves", "heat", "sample", "browse", "counts", "start")
"""The parts of the script, in the order in which they build on one another."""

_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}


def render(run: Run) -> str:
    """Returns the page of a run.

    A content security policy lets the browser run only this script, apply only this style and fetch nothing, whatever
    the data hold.
    """
    script = "".join(_part(f"{name}.js") for name in SCRIPTS)
    style = _part("page.css")
    policy = (
        f"default-src 'none'; script-src '{_fingerprint(script)}'; style-src '{_fingerprint(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {"policy": policy, "style": style, "script": script, "run": as_script_data(asdict(run))}
    return re.sub(r"\[\[(\w+)\]\]", lambda place: parts[place[1]], _part("page.html"))


def as_script_data(value: object) -> str:
    """Returns JSON that can stand in a script element: nothing in it can end the element or open a comment."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).translate(_ESCAPES)


def _part(name: str) -> str:
    return (files("recombine.report") / "assets" / name).read_text(encoding="utf-8")


def _fingerprint(content: str) -> str:
    """Returns the name by which a Content-Security-Policy knows an inline script or style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"

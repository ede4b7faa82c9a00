"""A headless Chromium for tests of pages, driven by the DevTools protocol over a pipe.

Example:
    with browser() as page:
        page.open(path.as_uri())
        page.click("#more")
        assert page.evaluate("document.title") == "…"
        assert page.errors() == []
"""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 30.0
"""Seconds that may pass before the browser answers; more means that it hangs."""

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
_OPTIONS += [f"--disable-{what}" for what in ("background-networking", "component-update", "sync", "quic")]
_OPTIONS += ["--hide-scrollbars", "--remote-debugging-pipe"]
_ARROWS = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
_KEYS = {"Tab": 9, "Enter": 13, "End": 35, "Home": 36, **_ARROWS}
_SHIFT = 8


class PageError(Exception):
    """What the page or the browser could not do."""


class Page:
    """One tab of the browser.

    What selectors name is brought into view first, and clicks, hovers and keys are the browser's own events, so that
    what a test does a person could do. Messages to and from the browser are JSON, each ended by a zero byte.
    """

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing, self._pending = reading, writing, b""
        self._session: str | None = None
        self._last = 0
        self._events: list[dict[str, Any]] = []
        self._errors: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.look()

    def call(self, method: str, /, **parameters: Any) -> dict[str, Any]:  # noqa: ANN401
        """Calls a method of the DevTools protocol and returns its result."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._writing, data) :]
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise PageError(f"{method}: {answer['error']['message']}")
                return dict(answer["result"])
            self._notice(answer)

    def open(self, url: str) -> None:
        """Opens an address and waits until the page is loaded; forgets the errors of earlier pages."""
        self._errors.clear()
        self._events.clear()
        failure = self.call("Page.navigate", url=url).get("errorText")
        if failure:
            raise PageError(f"{url}: {failure}")
        deadline = time.monotonic() + PATIENCE
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._notice(self._receive(deadline))

    def evaluate(self, script: str) -> Any:  # noqa: ANN401
        """Returns the value of an expression in the page; what is promised is waited for."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in done:
            raise PageError(_described(done["exceptionDetails"]))
        return done["result"].get("value")

    def wait_for(self, script: str, *, seconds: float = 5.0) -> None:
        """Waits until an expression is true."""
        deadline = time.monotonic() + seconds
        while not self.evaluate(script):
            if time.monotonic() > deadline:
                raise PageError(f"not so after {seconds:g} s: {script}")
            time.sleep(0.02)

    def hover(self, selector: str) -> None:
        """Moves the pointer to the middle of an element."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", **self._middle(selector))

    def click(self, selector: str) -> None:
        """Clicks into the middle of an element."""
        self.hover(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, **self._middle(selector), button="left", clickCount=1)

    def tap(self, selector: str) -> None:
        """Taps an element with a finger."""
        self.call("Emulation.setTouchEmulationEnabled", enabled=True)
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[self._middle(selector)])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.call("Emulation.setTouchEmulationEnabled", enabled=False)

    def type(self, selector: str, text: str) -> None:
        """Types text into a field, in place of what stands there."""
        self.evaluate(f"{_element(selector)}.focus()")
        self.evaluate("document.activeElement.select && document.activeElement.select()")
        if text:
            self.call("Input.insertText", text=text)
        else:
            self.call("Input.dispatchKeyEvent", type="keyDown", key="Delete", windowsVirtualKeyCode=46)

    def press(self, key: str, *, shift: bool = False) -> None:
        """Presses a key by its name, such as ``"Tab"`` or ``"ArrowDown"``; what has the focus gets it."""
        event = {"key": key, "windowsVirtualKeyCode": _KEYS[key], "modifiers": _SHIFT if shift else 0}
        typed = {"type": "keyDown", "text": "\r"} if key == "Enter" else {"type": "rawKeyDown"}
        self.call("Input.dispatchKeyEvent", **typed, **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def look(self, *, width: int = 1000, height: int = 800, media: str = "", **features: str) -> None:
        """Sets the window's size, up to 500 wide a phone's, and the media (``"print"``) and features of style sheets.

        Features have _ for -, such as ``prefers_color_scheme="dark"``.
        """
        is_phone = width <= 500
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=is_phone
        )
        named = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", media=media, features=named)

    def pdf(self, path: Path) -> None:
        """Writes the page as it is printed."""
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"]))

    def errors(self) -> list[str]:
        """Returns what went wrong since the page was opened: exceptions, errors in the console, dialogs."""
        self.evaluate("new Promise(done => setTimeout(done))")  # lets what is under way be told
        return list(self._errors)

    def _receive(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._pending:
            if not select.select([self._reading], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise PageError(f"the browser was silent for {PATIENCE:g} s")
            read = os.read(self._reading, 1 << 20)
            if not read:
                raise PageError("the browser has gone")
            self._pending += read
        message, _, self._pending = self._pending.partition(b"\0")
        return dict(json.loads(message))

    def _middle(self, selector: str) -> dict[str, float]:
        found = self.evaluate(
            f"(async () => {{ const element = {_element(selector)};"
            " element.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});"
            " for (const _ of [1, 2]) await new Promise(requestAnimationFrame);"  # until it stands still
            " const box = element.getClientRects()[0];"
            " return box && {x: box.x + box.width / 2, y: box.y + box.height / 2}; })()"
        )
        if not found:
            raise PageError(f"not to be seen: {selector}")
        return dict(found)

    def _notice(self, event: dict[str, Any]) -> None:
        self._events.append(event)
        method, told = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self._errors.append(_described(told["exceptionDetails"]))
        elif method == "Log.entryAdded" and told["entry"]["level"] == "error":
            self._errors.append(told["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "assert"):
            self._errors.append(" ".join(str(argument.get("value")) for argument in told["args"]))
        elif method == "Page.javascriptDialogOpening":
            self._errors.append(f"a dialog opened: {told['message']}")
            self.call("Page.handleJavaScriptDialog", accept=True)


@contextmanager
def browser() -> Iterator[Page]:
    """Starts Chromium for as long as the block takes; skips the test where there is none."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("NOT TESTED: no Chromium is installed, so pages are not looked at; try apt-get install chromium")
    with tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True) as profile:
        its_input, writing = os.pipe()
        reading, its_output = os.pipe()  # not 3: lower numbers are given first
        start = f'exec "$0" "$@" 3<&{its_input} 4>&{its_output} 2>/dev/null'  # it reads from 3 and answers on 4
        words = ["bash", "-c", start, program, *_OPTIONS, f"--user-data-dir={profile}"]
        process = subprocess.Popen(words, pass_fds=(its_input, its_output), start_new_session=True)
        os.close(its_input)
        os.close(its_output)
        try:
            page = Page(reading, writing)
            yield page
            with suppress(PageError, OSError):
                page.call("Browser.close")
        finally:
            os.close(writing)
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            os.close(reading)


def _element(selector: str) -> str:
    """Returns the expression for the first element that a selector names; it throws if there is none."""
    quoted = json.dumps(selector)
    return f"(document.querySelector({quoted}) ?? (() => {{ throw Error('no ' + {quoted}) }})())"


def _described(details: dict[str, Any]) -> str:
    return str(details.get("exception", {}).get("description") or details["text"])

"""Locks, with real processes: one waits for the other, is told of it, or takes over from one that was killed."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recombine.data import locking
from recombine.data.locking import lock_of, locked
from recombine.errors import RecombineError

HOLD = """
import sys
from pathlib import Path
from recombine.data.locking import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""
ADD = """
import sys, time
from pathlib import Path
from recombine.data.locking import locked
path = Path(sys.argv[1])
for _ in range(20):
    with locked(path, say=lambda _: None):
        number = int(path.read_text()) if path.exists() else 0
        time.sleep(0.001)
        path.write_text(str(number + 1))
"""


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "GRACE", 0.2)
    monkeypatch.setattr(locking, "_PAUSE", 0.02)


def holder(target: Path) -> "subprocess.Popen[str]":
    """Returns another process once it holds the lock, until its standard input is closed."""
    command = [sys.executable, "-c", HOLD, str(target)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


@pytest.mark.usefixtures("impatient")
def test_who_holds_it_is_said(tmp_path: Path) -> None:
    with holder(tmp_path / "model") as process:
        message = rf"process {process.pid} on .* is working on this.*Wait"
        with pytest.raises(RecombineError, match=message) as error, locked(tmp_path / "model"):
            pytest.fail("the block must not run")
        assert error.value.place == str(tmp_path / "model")
        with locked(tmp_path / "other"):
            pass
        process.communicate()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("impatient")
def test_one_can_wait(tmp_path: Path) -> None:
    said: list[str] = []
    with holder(tmp_path / "cache") as process:

        def hear(text: str) -> None:
            said.append(text)
            process.communicate()

        with locked(tmp_path / "cache", say=hear) as was_killed:
            assert process.poll() == 0
            assert not was_killed
    assert len(said) == 1
    assert str(tmp_path / "cache") in said[0]
    assert f"process {process.pid} on " in said[0]


def test_a_killed_process_holds_nothing(tmp_path: Path) -> None:
    with holder(tmp_path / "model") as process:
        process.kill()
        process.wait()
        assert lock_of(tmp_path / "model").exists()
        with locked(tmp_path / "model") as was_killed:
            assert was_killed
            assert f"process {os.getpid()} on " in lock_of(tmp_path / "model").read_text()
    assert list(tmp_path.iterdir()) == []
    with locked(tmp_path / "model") as was_killed:
        assert not was_killed


@pytest.mark.usefixtures("impatient")
def test_not_even_the_same_process_gets_it_twice(tmp_path: Path) -> None:
    target = tmp_path / "model"
    with locked(target), pytest.raises(RecombineError, match="is working on this"), locked(target):
        pytest.fail("the block must not run")


def test_one_at_a_time(tmp_path: Path) -> None:
    """Two processes that read, add one and write, lose nothing; the lock file comes and goes all the while."""
    command = [sys.executable, "-c", ADD, str(tmp_path / "number")]
    for process in [subprocess.Popen(command), subprocess.Popen(command)]:
        assert process.wait() == 0
    assert (tmp_path / "number").read_text() == "40"
    assert [path.name for path in tmp_path.iterdir()] == ["number"]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RecombineError, match="cannot be written"), locked(tmp_path / "file/model"):
        pytest.fail("the block must not run")


def test_the_lock_file_is_no_link_that_somebody_put_there(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    lock_of(tmp_path / "model").symlink_to(tmp_path / "mine")
    with pytest.raises(RecombineError, match="cannot be written"), locked(tmp_path / "model"):
        pytest.fail("the block must not run")
    assert (tmp_path / "mine").read_text() == "mine"


def test_without_locks_all_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "fcntl", None)
    with locked(tmp_path / "model") as was_killed:
        assert not was_killed


def test_folders_are_made_for_it_and_go_if_nothing_comes_into_them(tmp_path: Path) -> None:
    with locked(tmp_path / "a/b/model"):
        assert lock_of(tmp_path / "a/b/model").exists()
    assert list(tmp_path.iterdir()) == []
    with locked(tmp_path / "a/b/model"):
        (tmp_path / "a/file").touch()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["file"]


def test_where_nothing_can_be_written_no_lock_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(RecombineError, match="No space left"), locked(tmp_path / "folder/model"):
        pytest.fail("the block must not run")
    assert list(tmp_path.iterdir()) == []

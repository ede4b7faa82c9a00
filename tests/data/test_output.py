"""Files on the disk: whole or not at all, and locked, with real processes that wait, are told or are killed."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import failing

from recombine.data import output
from recombine.data.output import all_or_none, lock_of, locked, read_whole, replacing, replacing_folder, sweep
from recombine.errors import RecombineError

HOLD = """
import sys
from pathlib import Path
from recombine.data.output import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_file_appears_whole_with_ordinary_permissions_and_is_replaced_only_by_force(tmp_path: Path) -> None:
    target = tmp_path / "new" / "folder" / "out"
    with replacing(target) as stream:
        stream.write(b"old")
        assert not target.exists()
    assert target.read_bytes() == b"old"
    assert [path.name for path in target.parent.iterdir()] == ["out"]
    (tmp_path / "ordinary").touch()
    assert target.stat().st_mode == (tmp_path / "ordinary").stat().st_mode
    with pytest.raises(RecombineError, match="`force=True`") as caught, replacing(target):
        pytest.fail("the block must not run")
    assert caught.value.place == str(target)
    assert target.read_bytes() == b"old"
    (tmp_path / "link").symlink_to(target)
    with replacing(tmp_path / "link", force=True) as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.parametrize("raised", [ValueError, KeyboardInterrupt, OSError(errno.ENOSPC, "full"), RecombineError("no")])
def test_nothing_partial_is_left_behind(tmp_path: Path, raised: type[BaseException] | BaseException) -> None:
    old, folder, first = tmp_path / "old", tmp_path / "folder", tmp_path / "first"
    old.write_bytes(b"old")
    folder.mkdir()
    (folder / "file").write_bytes(b"old")

    def break_off(target: Path) -> None:
        with replacing(target, force=True) as stream:
            stream.write(b"half")
            stream.flush()
            raise raised

    def break_off_folder(target: Path) -> None:
        with replacing_folder(target) as inside:
            (inside / "file").write_text("half")
            raise raised

    def break_off_the_second(target: Path) -> None:
        with all_or_none([old, first, target]):
            first.write_text("whole")
            raise raised

    for target, work in (
        (old, break_off),
        (tmp_path / "new", break_off),
        (folder, break_off_folder),
        (tmp_path / "more", break_off_folder),
        (tmp_path / "second", break_off_the_second),
    ):
        with pytest.raises((ValueError, KeyboardInterrupt, OSError, RecombineError)):
            work(target)
    assert old.read_bytes() == (folder / "file").read_bytes() == b"old"
    assert {*tmp_path.iterdir()} == {folder, old}
    with all_or_none([old, first]):
        first.write_text("whole")
    assert first.read_text() == "whole"


def test_a_pipe_is_written_not_replaced_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with replacing(pipe) as stream:
            stream.write(b"through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    for endless in (pipe, Path("/dev/zero")):
        with pytest.raises(OSError, match="no regular file"):
            read_whole(endless)


def test_what_is_renamed_is_on_the_disk_and_so_is_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file and folder is synced before the rename, and the folder that lists the name after it."""
    done: list[str] = []
    fsync = os.fsync

    def synced(descriptor: int) -> None:
        fsync(descriptor)
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        done.append(f"sync {'*' if path.name.endswith('.tmp') else path.name}")

    def noting(move: Callable[[Path, Path], Path]) -> Callable[[Path, Path], Path]:
        def moved(path: Path, target: Path) -> Path:
            done.append(f"rename {target.name}")
            return move(path, target)

        return moved

    if not Path("/proc/self/fd").exists():
        pytest.skip("there is no /proc that tells which file is synced")
    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "rename", noting(Path.rename))
    monkeypatch.setattr(Path, "replace", noting(Path.replace))
    with replacing(tmp_path / "out") as stream:
        stream.write(b"content")
    assert done == ["sync *", "rename out", f"sync {tmp_path.name}"]
    done.clear()
    with replacing_folder(tmp_path / "folder") as inside:
        (inside / "deep").mkdir()
        (inside / "deep" / "file").write_text("content")
    assert done[-3:] == ["sync *", "rename folder", f"sync {tmp_path.name}"]
    assert sorted(done[:-3]) == ["sync deep", "sync file"]


def test_a_folder_takes_the_place_of_another_wholly_and_only_what_was_left_of_it_is_swept(tmp_path: Path) -> None:
    target = tmp_path / ("long" * 30)
    for content in ("one", "two"):
        with replacing_folder(target) as inside:
            (inside / content).write_text(content)
    assert [path.name for path in target.iterdir()] == ["two"]
    left, of_another = output._beside(target), output._beside(tmp_path / "other")
    left.mkdir()
    (left / "file").touch()
    of_another.touch()
    own = tmp_path / f".{target.name}.notes.tmp"
    own.touch()
    sweep(target)
    assert {*tmp_path.iterdir()} == {target, of_another, own}
    sweep(tmp_path, within=True)
    assert {*tmp_path.iterdir()} == {target, own}


def test_the_largest_file_that_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    monkeypatch.setattr(output, "MAX_WHOLE", 5)
    assert read_whole(file) == b"12345"
    monkeypatch.setattr(output, "MAX_WHOLE", 4)
    with pytest.raises(RecombineError, match="takes more than 4 bytes") as error:
        read_whole(file)
    assert error.value.place == str(file)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "GRACE", 0.2)
    monkeypatch.setattr(output, "_PAUSE", 0.02)


def holder(target: Path) -> "subprocess.Popen[str]":
    """Returns another process once it holds the lock, until its standard input is closed."""
    command = [sys.executable, "-c", HOLD, str(target)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    return process


@pytest.mark.usefixtures("impatient")
def test_who_holds_it_is_said(tmp_path: Path) -> None:
    with holder(tmp_path / "model") as process:
        message = rf"process {process.pid} on .* is working on this.*Wait"
        with pytest.raises(RecombineError, match=message) as error, locked(tmp_path / "model"):
            pytest.fail("the block must not run")
        assert error.value.place == str(tmp_path / "model")
        other = tmp_path / "other"
        with locked(other), pytest.raises(RecombineError, match="is working on this"), locked(other):
            pytest.fail("not even the same process gets it twice")
        process.communicate()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("impatient")
def test_one_can_wait(tmp_path: Path) -> None:
    said: list[str] = []
    with holder(tmp_path / "cache") as process:
        hear = lambda text: said.append(text) or process.communicate()  # noqa: E731
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


def test_a_lock_that_cannot_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below a file, through somebody's link, or on a full disk; where there are no locks, all goes on."""
    (tmp_path / "mine").write_text("mine")
    lock_of(tmp_path / "model").symlink_to(tmp_path / "mine")
    for target in ("mine/model", "model"):
        with pytest.raises(RecombineError, match="cannot be written"), locked(tmp_path / target):
            pytest.fail("the block must not run")
    assert (tmp_path / "mine").read_text() == "mine"
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", failing(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
        with pytest.raises(RecombineError, match="No space left"), locked(tmp_path / "folder/model"):
            pytest.fail("the block must not run")
    assert not (tmp_path / "folder").exists()
    monkeypatch.setattr(output, "fcntl", None)
    with locked(tmp_path / "model") as was_killed:
        assert not was_killed

import os
from pathlib import Path

import pytest

from recombine.data import output
from recombine.data.output import all_or_none, replacing, replacing_folder, sweep, sweep_within
from recombine.errors import RecombineError


def test_writes_and_creates_folders(tmp_path: Path) -> None:
    target = tmp_path / "new" / "folder" / "out"
    with replacing(target) as stream:
        stream.write(b"content")
        assert not target.exists()
    assert target.read_bytes() == b"content"
    assert [path.name for path in target.parent.iterdir()] == ["out"]


@pytest.mark.parametrize("raised", [ValueError, KeyboardInterrupt, RecombineError("no")])
def test_nothing_partial_is_left_behind(tmp_path: Path, raised: type[BaseException] | BaseException) -> None:
    old = tmp_path / "old"
    old.write_bytes(b"old")

    def break_off(target: Path) -> None:
        with replacing(target, force=True) as stream:
            stream.write(b"half")
            stream.flush()
            raise raised

    for target in (old, tmp_path / "new"):
        with pytest.raises((ValueError, KeyboardInterrupt, RecombineError)):
            break_off(target)
    assert old.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [old]


def test_an_existing_file_needs_force(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_bytes(b"old")
    with pytest.raises(RecombineError, match="`force=True`") as caught, replacing(target):
        pytest.fail("the block must not run")
    assert caught.value.place == str(target)
    assert target.read_bytes() == b"old"
    with replacing(target, force=True) as stream:
        stream.write(b"new")
    assert target.read_bytes() == b"new"


def test_a_folder_is_no_target_even_by_force(tmp_path: Path) -> None:
    with pytest.raises(RecombineError, match="folder"), replacing(tmp_path, force=True):
        pytest.fail("the block must not run")


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RecombineError, match="cannot be written"), replacing(tmp_path / "file" / "out"):
        pytest.fail("the block must not run")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    with replacing(tmp_path / "link", force=True) as stream:
        stream.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_the_file_gets_ordinary_permissions(tmp_path: Path) -> None:
    (tmp_path / "ordinary").touch()
    with replacing(tmp_path / "out"):
        pass
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "ordinary").stat().st_mode


def test_a_pipe_is_written_not_replaced(tmp_path: Path) -> None:
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


def test_the_null_device_is_no_existing_file() -> None:
    with replacing(os.devnull) as stream:
        stream.write(b"gone")
    assert not Path(os.devnull).is_file()


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with replacing("-") as stream:
        stream.write("ı\n".encode())
    assert capfdbinary.readouterr().out == "ı\n".encode()


def test_what_is_renamed_is_on_the_disk_and_so_is_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file and folder is synced before the rename, and the folder that lists the name after it."""
    done: list[str] = []
    fsync, rename, replace = os.fsync, Path.rename, Path.replace

    def synced(descriptor: int) -> None:
        fsync(descriptor)
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        done.append(f"sync {'*' if path.name.endswith('.tmp') else path.name}")

    def renamed(path: Path, target: Path) -> Path:
        done.append(f"rename {target.name}")
        return rename(path, target)

    def replaced(path: Path, target: Path) -> Path:
        done.append(f"rename {target.name}")
        return replace(path, target)

    if not Path("/proc/self/fd").exists():
        pytest.skip("there is no /proc that tells which file is synced")
    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "rename", renamed)
    monkeypatch.setattr(Path, "replace", replaced)
    with replacing(tmp_path / "out") as stream:
        stream.write(b"content")
    assert done == ["sync *", "rename out", f"sync {tmp_path.name}"]
    done.clear()
    with replacing_folder(tmp_path / "folder") as inside:
        (inside / "deep").mkdir()
        (inside / "deep" / "file").write_text("content")
    assert done[-3:] == ["sync *", "rename folder", f"sync {tmp_path.name}"]
    assert sorted(done[:-3]) == ["sync deep", "sync file"]


def test_a_folder_takes_the_place_of_another_wholly(tmp_path: Path) -> None:
    target = tmp_path / "above" / "folder"
    for content in ("one", "two"):
        with replacing_folder(target) as inside:
            (inside / content).write_text(content)
    assert [path.name for path in target.iterdir()] == ["two"]
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("raised", [ValueError, KeyboardInterrupt])
def test_a_folder_that_is_not_finished_vanishes(tmp_path: Path, raised: type[BaseException]) -> None:
    with replacing_folder(tmp_path / "folder") as inside:
        (inside / "file").write_text("old")

    def break_off() -> None:
        with replacing_folder(tmp_path / "folder") as inside:
            (inside / "file").write_text("half")
            raise raised

    with pytest.raises(raised):
        break_off()
    assert (tmp_path / "folder" / "file").read_text() == "old"
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_only_what_was_left_of_a_target_is_swept(tmp_path: Path) -> None:
    target = tmp_path / ("long" * 30)
    left, of_another = output._beside(target), output._beside(tmp_path / "other")
    left.mkdir()
    (left / "file").touch()
    of_another.touch()
    own = tmp_path / f".{target.name}.notes.tmp"
    own.touch()
    sweep(target)
    assert sorted(tmp_path.iterdir()) == sorted([of_another, own])
    sweep_within(tmp_path)
    assert list(tmp_path.iterdir()) == [own]


@pytest.mark.parametrize("raised", [KeyboardInterrupt, RecombineError("full")])
def test_of_several_files_all_are_made_or_none(tmp_path: Path, raised: type[BaseException] | BaseException) -> None:
    there, first, second = (tmp_path / name for name in ("there", "first", "second"))
    there.write_text("from before")

    def break_off() -> None:
        with all_or_none([there, first, second]):
            first.write_text("whole")
            raise raised

    with pytest.raises((KeyboardInterrupt, RecombineError)):
        break_off()
    assert list(tmp_path.iterdir()) == [there]
    with all_or_none([there, first]):
        first.write_text("whole")
    assert first.read_text() == "whole"

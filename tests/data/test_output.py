import os
from pathlib import Path

import pytest

from recombine.data.output import replacing
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

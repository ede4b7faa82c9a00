"""The wheel, installed where no checkout is near."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.slow


def test_the_wheel_is_built_installed_and_runs_outside_the_checkout(tmp_path: Path) -> None:
    def ran(*words: str | Path) -> str:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    alone = ("-m", "pip", "--quiet", "--disable-pip-version-check")
    ran(sys.executable, *alone, "wheel", "--no-deps", "--wheel-dir", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("recombine-*.whl")
    venv.create(tmp_path / "fresh", with_pip=True)
    programs = tmp_path / "fresh" / "bin"
    # What recombine needs is that of these tests, so that gigabytes need not be downloaded; recombine itself is not.
    ran(programs / "python", *alone, "install", "--no-deps", wheel)
    (packages,) = (tmp_path / "fresh" / "lib").glob("python*/site-packages")
    (packages / "borrowed.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")) + "\n")
    (tmp_path / "train.tsv").write_text("walk\tW\nrun\tR\nwalk twice\tW W\nrun twice\tR R\njump\tJ\n")
    assert "recombine " in ran(programs / "recombine", "env")
    assert "jump twice" in ran(
        programs / "recombine", "augment", "train.tsv", "--method", "geca", "-n", "1", "-o", "-"
    ).replace('", "', " ")
    home = ran(programs / "python", "-c", "import recombine; print(recombine.__file__)")
    assert Path(home.strip()).is_relative_to(packages)

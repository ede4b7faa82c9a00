"""Nothing that is read can become code: no pickle, no eval, no loader that runs what a file says, no shell."""

import ast
from pathlib import Path

import numpy as np
import pytest
import torch

from recombine.errors import RecombineError
from recombine.neighborhoods import Neighborhoods
from recombine.training.stored import read_tensors

SOURCE = Path(__file__).parent.parent / "src"
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml", "runpy", "code", "ctypes"}
NAMES = {"eval", "exec", "compile", "__import__", "breakpoint"}
CALLS = {"torch.load", "torch.save", "torch.jit.load", "torch.hub.load", "os.system", "os.popen", "np.fromfile"}
METHODS = {"extractall", "extract", "unpack_archive"}

ASKED_FOR = {"checks.py": {"subprocess.Popen"}}
"""Commands that a user gives as such. They are never saved, so none is read."""


def found_in(tree: ast.Module) -> set[str]:
    """Returns what a module uses of all that could run what it reads."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names if alias.name.split(".")[0] in MODULES}
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] in MODULES:
                found.add(module)
            case ast.Call(func=ast.Name(id=name)) if name in NAMES:
                found.add(name)
            case ast.Call(func=ast.Attribute(attr=name) as function):
                if ast.unparse(function) in CALLS or name in METHODS:
                    found.add(ast.unparse(function))
                if any(
                    word.arg in ("shell", "allow_pickle") and ast.unparse(word.value) != "False"
                    for word in node.keywords
                ):
                    found.add(ast.unparse(node.func))
    return found


def test_what_is_looked_for_is_found() -> None:
    for code in ("import pickle", "from yaml import load", "eval('1')", "torch.load(f)", "run(x).y(shell=True)"):
        assert found_in(ast.parse(code))
    assert found_in(ast.parse("a.extractall('.')"))


def test_nothing_in_the_package_runs_what_it_reads() -> None:
    modules = sorted(SOURCE.rglob("*.py"))
    assert len(modules) > 50
    found = {path.name: found_in(ast.parse(path.read_text("utf-8"))) for path in modules}
    assert {name: uses for name, uses in found.items() if uses} == ASKED_FOR


def test_a_pickle_is_no_checkpoint_and_no_neighborhoods(tmp_path: Path) -> None:
    class Bomb:
        """Writes a file when it is unpickled."""

        def __reduce__(self) -> tuple[object, ...]:
            return (Path.touch, (tmp_path / "ran",))

    torch.save({"weights": Bomb()}, tmp_path / "weights")
    np.savez(tmp_path / "rows.npz", rows=np.array([Bomb()], dtype=object), description="{}", digest="")
    with pytest.raises(RecombineError, match="not as it was written"):
        read_tensors(tmp_path / "weights")
    with pytest.raises(RecombineError, match="not an intact file"):
        Neighborhoods.load(tmp_path / "rows.npz")
    assert not (tmp_path / "ran").exists()

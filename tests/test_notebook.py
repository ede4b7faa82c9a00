"""The notebook of the docs has the outputs that its cells give; `python tests/test_notebook.py` writes them anew."""

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parent.parent / "docs" / "first-steps.ipynb"


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """Returns a notebook with what its cells print when they run one after another."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, number = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number += 1
            with redirect_stdout(StringIO()) as printed:
                exec("".join(cell["source"]), names)
            lines = printed.getvalue().splitlines(keepends=True)
            outputs = [{"name": "stdout", "output_type": "stream", "text": lines}] if lines else []
            cell = {**cell, "execution_count": number, "outputs": outputs}
        cells.append(cell)
    return {**notebook, "cells": cells}


def test_the_notebook_has_the_outputs_of_its_cells() -> None:
    notebook = json.loads(NOTEBOOK.read_text("utf-8"))
    assert executed(notebook) == notebook


if __name__ == "__main__":
    found = executed(json.loads(NOTEBOOK.read_text("utf-8")))
    NOTEBOOK.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", "utf-8")

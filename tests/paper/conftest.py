from pathlib import Path

import pytest
from word_forms import write_language

from recombine.paper.tasks import WordFormTasks


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the file of a made-up language."""
    folder = tmp_path_factory.mktemp("conll2018")
    write_language(folder, "turkish")
    return folder


@pytest.fixture(scope="session")
def tasks(source: Path) -> WordFormTasks:
    """Its tasks, which are made once for each column."""
    return WordFormTasks(source)

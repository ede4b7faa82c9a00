import copy
import pickle

import pytest

from recombine.errors import RecombineError, unknown


@pytest.mark.parametrize("again", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy])
@pytest.mark.parametrize(
    "error", [RecombineError("wrong."), RecombineError("wrong.", place="a:1", hint="Do it.")], ids=["bare", "full"]
)
def test_an_error_can_be_sent_to_another_process(error: RecombineError, again) -> None:  # noqa: ANN001
    sent = again(error)
    assert type(sent) is RecombineError
    assert (sent.message, sent.place, sent.hint, str(sent)) == (error.message, error.place, error.hint, str(error))


@pytest.mark.parametrize(
    ("kind", "plural"),
    [("split", "splits"), ("strategy", "strategies"), ("key", "keys"), ("key of the document", "keys of the document")],
)
def test_unknown_names_are_answered_with_the_known_ones(kind: str, plural: str) -> None:
    error = unknown(kind, "jumb", ["run", "jump"])
    assert str(error) == f"unknown {kind} 'jumb'. Did you mean 'jump'? The {plural} are: jump, run."

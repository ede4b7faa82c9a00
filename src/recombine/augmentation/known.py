"""What samples must not repeat, the training examples: asked for one candidate on the host, or many on the device."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
import torch

from recombine.data.vocabulary import EOS, SEP, UNK, Vocabulary
from recombine.example import Example
from recombine.training.corpus import padded


class Known:
    """The training examples of a replica."""

    def __init__(self, examples: Sequence[Example], vocabulary: Vocabulary) -> None:
        inputs = [vocabulary.encode(example.x)[:-1] for example in examples]
        outputs = [vocabulary.encode(example.y)[:-1] for example in examples]
        self.inputs, self.outputs = set(map(key_of, inputs)), set(map(key_of, outputs))
        self.pairs = {key_of([*x, SEP, *y]) for x, y in zip(inputs, outputs, strict=True)}
        self.input_tokens, self.output_tokens = set(chain(*inputs)), set(chain(*outputs))

    def takes_sides(self, ids: list[int]) -> bool:
        """Tells whether all tokens of the input are of known inputs, and all of the output of known outputs."""
        middle = ids.index(SEP)
        return self.input_tokens.issuperset(ids[:middle]) and self.output_tokens.issuperset(ids[middle + 1 :])

    def holds(self, ids: list[int], novelty: str) -> bool:
        """Tells whether something that must be new is not."""
        if novelty == "nothing":
            return False
        middle = ids.index(SEP)
        return (
            key_of(ids) in self.pairs
            or (novelty != "pair" and key_of(ids[:middle]) in self.inputs)
            or (novelty == "both" and key_of(ids[middle + 1 :]) in self.outputs)
        )


class KnownInputs:
    """Finds candidates with known inputs, which nearly all are, in one go: by sums of random codes.

    Args:
        known: The training examples of some replicas; the others have the same in turn.
        steps: The most tokens of a candidate.
        vocabulary: Number of token ids.
        device: Where candidates are.
    """

    def __init__(self, known: Sequence[Known], *, steps: int, vocabulary: int, device: torch.device) -> None:
        codes = np.random.default_rng(5).integers(-(2**63), 2**63, (steps + 1, vocabulary))
        self._codes = torch.from_numpy(codes).to(device)
        self._known = [self._input_codes(self._rows(each).to(device)) for each in known]

    def among(self, tokens: torch.Tensor, replica: int) -> torch.Tensor:
        """Tells which candidates (B, T) of a replica have an input that is known."""
        return torch.isin(self._input_codes(tokens), self._known[replica % len(self._known)])

    def _input_codes(self, tokens: torch.Tensor) -> torch.Tensor:
        """Returns a number for the input in each row (B, T), that is for what comes before ▷."""
        places = torch.arange(tokens.shape[-1], device=tokens.device) % len(self._codes)
        in_x = (tokens == SEP).cumsum(-1) == 0
        return torch.where(in_x, self._codes[places, tokens], 0).sum(-1)

    @staticmethod
    def _rows(known: Known) -> torch.Tensor:
        inputs = [[*np.frombuffer(key, dtype=np.int32).tolist(), SEP] for key in sorted(known.inputs)]
        return torch.from_numpy(padded(inputs))


def are_pairs(tokens: torch.Tensor) -> torch.Tensor:
    """Tells which candidates (B, T) have come to an end and are one input and one output."""
    ends = tokens == EOS
    parts = (tokens == SEP).sum(-1)
    first, last = tokens[:, 0], tokens.gather(-1, (ends.int().argmax(-1, keepdim=True) - 1).clamp(min=0))[:, 0]
    return ends.any(-1) & (parts == 1) & (first != SEP) & (last != SEP) & (tokens != UNK).all(-1)


def key_of(ids: Sequence[int]) -> bytes:
    """Returns token ids as a key of sets."""
    return np.asarray(ids, dtype=np.int32).tobytes()

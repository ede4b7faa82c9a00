"""A toy corpus of sequences of many lengths, schedules over it, and an evaluation to train by."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import torch
from torch import Tensor

from recombine.data.vocabulary import Vocabulary
from recombine.example import Example
from recombine.models.recombiner import Recombiner
from recombine.training.corpus import Corpus
from recombine.training.schedule import Group, Schedule

EXAMPLES = [Example(words, words[::-1]) for length in (1, 2, 3) for words in product("ab", repeat=length)]
VOCABULARY = Vocabulary.of(EXAMPLES)
CPU = torch.device("cpu")


def schedule(seeds: Sequence[int], *, prototypes: int = 2, batch: int = 4) -> Schedule:
    """Every example is rebuilt from others, drawn at random but always alike."""
    rng = np.random.default_rng(0)
    rows = np.stack([rng.permutation(len(EXAMPLES))[: 1 + prototypes] for _ in range(40)])
    corpus = Corpus.for_recombination(EXAMPLES, rows, VOCABULARY, CPU)
    return Schedule(corpus, [[Group(np.arange(40))]] * len(seeds), seeds, batch, pool=5)


class Scripted:
    """An evaluation that says what it was told to, and remembers the parameters that it saw."""

    def __init__(self, *values: tuple[float, ...]) -> None:
        self.values, self.seen = list(values), []

    def __call__(self, model: Recombiner, replicas: Sequence[int]) -> Tensor:
        assert not model.training
        assert not torch.is_grad_enabled()
        self.seen.append([parameter.detach().clone() for parameter in model.parameters()])
        device = self.seen[-1][0].device
        return torch.tensor(self.values[len(self.seen) - 1], device=device)[list(replicas)]

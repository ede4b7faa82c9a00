"""A toy corpus of sequences of many lengths, and schedules over it."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import torch

from recombine.data.vocabulary import Vocabulary
from recombine.example import Example
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

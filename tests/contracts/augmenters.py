"""The augmenters that keep the contract, each with settings and training examples that allow at least 30 samples.

Run as a program, it prints samples of each case as JSON: the same, whatever the interpreter's hash seed.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import torch

import recombine as own_data
from recombine.augmentation.geca import GECA
from recombine.augmentation.protocol import Augmenter
from recombine.augmentation.recombination import Recombination
from recombine.augmentation.resample import Oversampler, Resampler
from recombine.augmentation.sampler import SamplingSettings
from recombine.augmentation.spans import Spans
from recombine.decoding.generate import Decoding
from recombine.example import Example
from recombine.models.architecture import Architecture
from recombine.neighborhoods import LongShort
from recombine.training.recipe import Recipe

torch.set_num_threads(1)


@dataclass(frozen=True)
class Case:
    """An augmenter, what its constructor is given, and whether it repeats originals by design."""

    kind: type[Augmenter]
    settings: dict[str, object]
    repeats: bool = False

    @cached_property
    def fitted(self) -> Augmenter:
        """Fitted once; tests draw from it, but do not change it."""
        return self.kind(**self.settings).fit(EXAMPLES)


def _examples() -> tuple[Example, ...]:
    times = {"once": 1, "twice": 2, "thrice": 3}
    clauses = [((verb, word), (verb.upper(),) * times[word]) for verb, word in product(("walk", "run", "look"), times)]
    double = [Example((*x1, "and", *x2), y1 + y2) for (x1, y1), (x2, y2) in product(clauses, clauses)]
    rare = [Example((verb, "once"), (verb.upper(),)) for verb in ("jump", "hop", "skip")]
    return (*(Example(x, y) for x, y in clauses), *double, *rare)


EXAMPLES = _examples()

TINY = Architecture(
    vocabulary=0, hidden=32, embedding=16, attention=16, dropout=0.0, state_dropout=0.0, write_dropout=0.0
)
RULE = LongShort(first=2, second=1)
RECIPE = Recipe(network=TINY, batch=8, epochs=100, max_steps=60, lr=0.02, held_out=0.0)
SAMPLING = SamplingSettings(decoding=Decoding("mixed", 0.6), surplus=1.0, batch=128, patience=50)
LEARNED = {"sampling": SAMPLING, "device": "cpu"}

CASES = {
    "geca": Case(GECA, {"fragment_size": 1, "gaps": 2}),
    "geca, novel pairs of several tokens": Case(GECA, {"fragment_size": 2, "gaps": 2, "novel": "pair"}),
    "recombination": Case(Recombination, {"rule": RULE, "seeds": (1,), "recipe": RECIPE, **LEARNED}),
    "spans": Case(Spans, {"novel": "pair"}),
    "oversample": Case(Oversampler, {"resampler": Resampler(epsilon=0.02)}, repeats=True),
}
OWN_DATA_CASES = {
    "Augmenter": Case(
        own_data.Augmenter,
        # Without agreement: so short a training seldom gives what it asks for.
        {"seed": 1, "neighborhood": RULE, "network": RECIPE, "agreement": False, "n": 20, **LEARNED},
    ),
    "GECA": Case(own_data.GECA, {"seed": 2, "n": 20}),
    "Spans": Case(own_data.Spans, {"seed": 2, "n": 20}),
    "Oversampler": Case(own_data.Oversampler, {"n": 20}, repeats=True),
}
"""Those that users import from the package itself."""
CASES |= OWN_DATA_CASES


def in_full(samples: Iterable[Example]) -> list[str]:
    """Samples with their provenance, which plain equality leaves out."""
    return [f"{sample} {sample.provenance}" for sample in samples]


def samples() -> dict[str, list[str]]:
    """Samples of all cases, by name."""
    return {name: in_full(case.fitted.sample(30, seed=3)) for name, case in CASES.items()}


if __name__ == "__main__":
    print(json.dumps(samples()))

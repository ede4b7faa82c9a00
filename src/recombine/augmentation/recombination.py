"""The learned augmenter: recombination networks trained on neighborhoods, then sampled (sections 3 and 4)."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np

from recombine.augmentation.frames import RULES
from recombine.augmentation.protocol import Samples, Validator, check_request, distinct_examples, turned_down, unfitted
from recombine.augmentation.sampler import Sampler, SamplingSettings, Validators
from recombine.data.files import read, write
from recombine.data.store import read_model, writing_model
from recombine.data.untrusted import fitting, typed
from recombine.data.vocabulary import Vocabulary
from recombine.decoding.generate import Decoding
from recombine.errors import RecombineError
from recombine.example import Example
from recombine.execution.executor import SERIAL, Executor
from recombine.execution.progress import Report
from recombine.models.device import resolve
from recombine.neighborhoods import Neighborhoods, Omega, Rule, compatible, filled, focused
from recombine.neighborhoods.omega import listed
from recombine.training.corpus import Corpus
from recombine.training.fit import fit, likelihood
from recombine.training.fitted import Fitted
from recombine.training.recipe import Recipe
from recombine.training.schedule import Group
from recombine.training.stored import WEIGHTS, Stored, kind_of_tokens

KIND = "recombination"
EXAMPLES, NEIGHBORHOODS_FILE = "examples.jsonl", "neighborhoods.npz"
DEFAULT_SAMPLING = SamplingSettings(decoding=Decoding("mixed", 0.2, dropout=False), max_temperature=0.2)
"""How samples are drawn by default: more of them are right than by the paper's settings (docs/results.md)."""

JUDGED_ON = 512
"""How many held-out rows tell one epoch from another well enough."""

Prior = Callable[[Neighborhoods, Sequence[Example]], Omega]
"""Gives Ω, the prototypes to sample with, for examples and their neighborhoods."""


class Recombination:
    """Learns to rebuild training examples from other ones, then makes new ones from prototypes it was not trained on.

    A population: one network for each seed, trained as one computation. `sample` draws from the first; `sample_each`
    from all.

    Args:
        rule: Which prototypes each training example is rebuilt from.
        recipe: How the networks are built and trained.
        sampling: How samples are drawn and which are kept.
        prototypes: n: 0 (an ordinary network over pairs, "learned aug"), 1 or 2.
        deviations: Prototypes for sampling are not longer than the training prototypes' mean plus this many deviations.
        omega: Gives the prototypes to sample with, instead of those that the rule has; not saved with a model.
        focus: What the last prototype must satisfy when samples are drawn, if any example does: it supplies what the
            first lacks, so a rare token comes from there. Of frames and spans, what they make together. None: any will
            do, as in the paper. Not saved with a model.
        seeds: One network for each.
        device: ``auto``, ``cpu`` or ``cuda``.

    Attributes:
        notes: What ``save`` and ``load`` keep with the networks, JSON-friendly; no sample depends on it.
    """

    def __init__(
        self,
        rule: Rule,
        recipe: Recipe,
        *,
        sampling: SamplingSettings | None = None,
        prototypes: int = 2,
        deviations: float | None = 1.0,
        omega: Prior | None = None,
        focus: Validator | None = None,
        seeds: Sequence[int] = (0,),
        device: str = "auto",
    ) -> None:
        self.rule, self.recipe, self.prototypes, self.deviations = rule, recipe, prototypes, deviations
        self.sampling = sampling or DEFAULT_SAMPLING
        self.omega, self.focus, self.seeds, self.device = omega, focus, tuple(seeds), device
        self.notes: Mapping[str, Any] = {}
        self.examples_: tuple[Example, ...] | None = None
        self.sizes_: tuple[int, ...] = ()
        """How many of the examples are each network's own, in turn; empty: all are all's."""

    def __repr__(self) -> str:
        names = ("rule", "recipe", "sampling", "prototypes", "deviations", "seeds", "device")
        return f"Recombination({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    def fit(self, examples: Sequence[Example], *, report: Report | None = None, checkpoint: Path | None = None) -> Self:
        """Finds neighborhoods and trains the networks, whose state is saved to the checkpoint now and then."""
        distinct = distinct_examples(examples, least=2, who="recombination")
        neighborhoods = Neighborhoods(np.empty((0, 1), np.int32), self.rule.name)
        if self.prototypes:
            neighborhoods = self.rule.build(distinct, seed=self.seeds[0]).require_rows()
        return self.fit_on(distinct, neighborhoods, report=report, checkpoint=checkpoint)

    def fit_each(
        self,
        examples: Sequence[Sequence[Example]],
        neighborhoods: Sequence[Neighborhoods],
        *,
        report: Report | None = None,
        checkpoint: Path | None = None,
        graphs: bool = True,
    ) -> Self:
        """Trains each network on examples of its own, with their neighborhoods; all share one vocabulary."""
        sizes = tuple(map(len, examples))
        if any(found.parts for found in neighborhoods):
            message = f"networks with examples of their own cannot have a {neighborhoods[0].rule} neighborhood."
            raise RecombineError(message, hint="Train them one by one.")
        # One table of all examples: a network's own are those from its border to the next.
        borders = np.cumsum((0, *sizes))[:-1].astype(np.int32)
        rows = [found.rows + border for found, border in zip(neighborhoods, borders, strict=True)]
        together = replace(neighborhoods[0], rows=np.concatenate(rows))
        every = [example for own in examples for example in own]
        return self.fit_on(every, together, sizes, report=report, checkpoint=checkpoint, graphs=graphs)

    def fit_on(
        self,
        examples: Sequence[Example],
        neighborhoods: Neighborhoods,
        sizes: tuple[int, ...] = (),
        *,
        report: Report | None = None,
        checkpoint: Path | None = None,
        graphs: bool = True,
    ) -> Self:
        """Trains the networks on neighborhoods found before; `examples` are those that they speak of.

        With `sizes`, each network has that many of the examples, in turn, for its own.
        """
        if self.prototypes > neighborhoods.prototypes:
            raise RecombineError(
                f"a {neighborhoods.rule} neighborhood has {neighborhoods.prototypes} prototypes, "
                f"not the {self.prototypes} asked for.",
                hint="Ask for fewer prototypes or choose another neighborhood.",
            )
        self.neighborhoods_ = neighborhoods.with_prototypes(self.prototypes)
        if not self.prototypes:  # nothing is rebuilt from anything: examples without neighbors count, too
            self.neighborhoods_ = replace(self.neighborhoods_, rows=np.arange(len(examples), dtype=np.int32)[:, None])
        self.examples_, self.sizes_ = tuple(examples), sizes
        everything = (*self.examples_, *self.neighborhoods_.parts)
        self.vocabulary_ = Vocabulary.of(everything)
        corpus = Corpus.for_recombination(everything, self.neighborhoods_.rows, self.vocabulary_, resolve(self.device))
        copying = self.recipe.network.copying if self.prototypes or self.recipe.network.own_attention else "none"
        own = [[Group(np.flatnonzero(self._are_of(places)))] for places in self._owned()]
        self.fitted_: Fitted = fit(
            replace(self.recipe, network=replace(self.recipe.network, prototypes=self.prototypes, copying=copying)),
            corpus,
            own if sizes else own * len(self.seeds),
            self.seeds,
            vocabulary=len(self.vocabulary_),
            judge=lambda corpus, rows: likelihood(corpus, rows[:, :: max(1, rows.shape[1] // JUDGED_ON)]),
            report=report,
            checkpoint=checkpoint,
            graphs=graphs,
        )
        return self

    def only(self, chosen: range) -> "Recombination":
        """Returns some of the networks that have examples of their own, by number, as a population of their own."""
        assert self.examples_ is not None
        owned = self._owned()[chosen.start : chosen.stop]
        places = range(owned[0].start, owned[-1].stop)
        part = copy(self)
        part.seeds = self.seeds[chosen.start : chosen.stop]
        part.examples_ = self.examples_[places.start : places.stop]
        part.sizes_ = tuple(map(len, owned))  # the vocabulary has tokens that only the others hold, too
        part.neighborhoods_ = self._neighborhoods_of(places)
        part.fitted_ = self.fitted_.only(chosen)
        return part

    def _owned(self) -> list[range]:
        """Returns which of the examples are each network's own, or all of them once."""
        assert self.examples_ is not None
        borders = np.cumsum((0, *(self.sizes_ or (len(self.examples_),)))).tolist()
        return [range(start, end) for start, end in pairwise(borders)]

    def _are_of(self, places: range) -> np.ndarray:
        """Tells which rows of the neighborhoods speak of these examples."""
        targets = self.neighborhoods_.rows[:, 0]
        return (targets >= places.start) & (targets < places.stop)

    def _neighborhoods_of(self, places: range) -> Neighborhoods:
        """Returns the neighborhoods of some of the examples, as if there were no others."""
        rows = self.neighborhoods_.rows[self._are_of(places)] - np.int32(places.start)
        return replace(self.neighborhoods_, rows=rows)

    def sample(self, n: int, seed: int = 0, accept: Validator | None = None) -> Samples:
        """Returns n unique new examples from the first network, or fewer with an account of why."""
        return self.sample_each(n, seed, accept)[0]

    def sample_each(
        self,
        n: int,
        seed: int = 0,
        accept: Validators = None,
        *,
        seconds: float | None = None,
        report: Report | None = None,
        executor: Executor = SERIAL,
    ) -> list[Samples]:
        """Returns n samples from each network; `accept` may be told for all or for each.

        The samples are the same whoever draws them, unless they are drawn for so many seconds only.
        """
        check_request(n, seed)
        if self.examples_ is None:
            raise unfitted("Recombination")
        owned = self._owned()
        drawn = list(map(self.drawing, range(len(owned))))
        sampler = Sampler(
            self.fitted_.model,
            self.neighborhoods_.material(self.examples_),
            self.vocabulary_,
            drawn if self.sizes_ else drawn * len(self.seeds),
            self.sampling,
            twins=self.recipe.twins,
            owned=owned,
        )
        # A network's samples depend on its own seed and on this one, not on who else is in the population.
        seeds = [(seed << 32) + own for own in self.seeds]
        return sampler.sample(n, seeds, accept, seconds=seconds, report=report, executor=executor)

    def drawing(self, number: int) -> Omega:
        """Returns what draws prototypes for a network that has examples of its own, by number, or for all (0)."""
        assert self.examples_ is not None
        if not self.prototypes:
            return lambda count, _: np.empty((count, 0), dtype=np.int64)
        places = self._owned()[number]
        own, neighborhoods = self.examples_[places.start : places.stop], self._neighborhoods_of(places)
        if self.omega is None:
            omega = compatible(neighborhoods, own, deviations=self.deviations)
        else:
            omega = self.omega(neighborhoods, own)
        if self.focus is not None and neighborhoods.offered is not None:
            material = neighborhoods.material(own)
            made = (filled(material[frame], material[span]) for frame, span in neighborhoods.offered)
            wanted = np.array([turned_down(example, self.focus) is None for example in made])
            omega = listed(neighborhoods.offered[wanted]) if wanted.any() else omega
        elif self.focus is not None:
            omega = focused(omega, [turned_down(example, self.focus) is None for example in own])
        return lambda count, rng: omega(count, rng).astype(np.int64) + places.start

    def settings(self) -> dict[str, Any]:
        """Returns all that the samples depend on besides the data, JSON-friendly; once fitted."""
        return {
            "recipe": asdict(self.recipe),
            "rule": self.neighborhoods_.rule,
            "rule_settings": {name: value for name, value in self.neighborhoods_.settings.items() if name != "seed"},
            "sampling": asdict(self.sampling),
            "prototypes": self.prototypes,
            "deviations": self.deviations,
        }

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Writes the networks and the examples that they draw prototypes from to a folder."""
        if self.examples_ is None:
            raise unfitted("Recombination")
        stored = Stored(self.recipe, self.seeds, self.vocabulary_, self.fitted_, self.notes)
        settings = {**stored.settings(), **self.settings()} | ({"sizes": list(self.sizes_)} if self.sizes_ else {})
        with writing_model(Path(path), KIND, settings, force=force) as folder:
            stored.write(folder)
            write(self.examples_, folder / EXAMPLES, tokens=kind_of_tokens(self.notes) or "words")
            self.neighborhoods_.save(folder / NEIGHBORHOODS_FILE)

    @classmethod
    def load(cls, path: str | Path, *, device: str = "auto") -> Self:
        """Reads what `save` wrote."""
        folder = Path(path)
        settings = read_model(folder, KIND, needed=(WEIGHTS, EXAMPLES, NEIGHBORHOODS_FILE))
        stored = Stored.read(folder, settings, device)
        with fitting(folder):
            rule, prototypes = RULES[settings["rule"]], typed(settings["prototypes"], int)
            augmenter = cls(
                typed(settings["rule_settings"], rule),
                stored.recipe,
                sampling=typed(settings["sampling"], SamplingSettings),
                prototypes=prototypes,
                deviations=typed(settings["deviations"], float | None),
                seeds=stored.seeds,
                device=device,
            )
            augmenter.vocabulary_, augmenter.fitted_ = stored.vocabulary, stored.fitted
            augmenter.notes = stored.notes
            augmenter.examples_ = tuple(read(folder / EXAMPLES))
            augmenter.sizes_ = typed(settings.get("sizes", []), tuple[int, ...])
            augmenter.neighborhoods_ = Neighborhoods.load(folder / NEIGHBORHOODS_FILE)
            found, examples = augmenter.neighborhoods_, len(augmenter.examples_)
            everything = found.material(augmenter.examples_)
            if found.rows.ndim != 2 or found.rows.shape[1] <= prototypes:
                raise ValueError(f"rows of {found.rows.dtype}, {found.rows.shape}")
            for rows, most in (
                (found.rows[:, :1], examples),
                (found.rows, len(everything)),
                (found.offered, len(everything)),
            ):
                if rows is not None and (rows.dtype.kind != "i" or not ((rows >= 0) & (rows < most)).all()):
                    raise ValueError(f"rows of more than {most} examples and parts")
        return augmenter

"""The predictor p(y | x): an ordinary network, trained on original and new examples (section 5, appendix D)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

from recombine.augmentation.protocol import distinct_examples, unfitted
from recombine.data.store import read_model, writing_model
from recombine.data.untrusted import fitting, typed
from recombine.data.vocabulary import UNK, Vocabulary
from recombine.decoding.generate import Decoding, generate
from recombine.errors import RecombineError
from recombine.example import Example, Tokens
from recombine.execution.progress import Report
from recombine.models.device import resolve
from recombine.training.corpus import Corpus, encoded
from recombine.training.fit import exact_match, fit
from recombine.training.fitted import Fitted
from recombine.training.recipe import Recipe
from recombine.training.schedule import mixture
from recombine.training.stored import WEIGHTS, Stored

BATCH = 512
KIND = "predictor"


@dataclass(frozen=True, slots=True)
class Prediction:
    """An output and what the network thinks of it.

    Attributes:
        y: The predicted tokens.
        log_probability: Of the output, given the input.
    """

    y: Tokens
    log_probability: float


class Predictor:
    """A population of predictors, one for each seed, trained as one computation.

    Attributes:
        notes: What ``save`` and ``load`` keep with the networks, JSON-friendly; they do not depend on it.
    """

    def __init__(self, recipe: Recipe, *, seeds: Sequence[int] = (0,), device: str = "auto") -> None:
        self.recipe, self.seeds, self.device = recipe, tuple(seeds), device
        self.notes: Mapping[str, Any] = {}
        self.vocabulary_: Vocabulary | None = None

    def fit_each(
        self,
        examples: Sequence[Example] | Sequence[Sequence[Example]],
        augmented: Sequence[Sequence[Example]],
        *,
        p_aug: float | Sequence[float | None] | None = None,
        report: Report | None = None,
        checkpoint: Path | None = None,
        graphs: bool = True,
    ) -> Self:
        """Trains each network on examples, of which repetitions count once, and, mixed in, its own new ones.

        The original examples are the same for all, or each network's own; then all share the vocabulary of all.
        `p_aug` is the probability that a training example is a new one, for all or for each; None: all count alike
        (concatenation). A checkpoint is a file to save the state to now and then, and to go on from.
        """
        rates = list(p_aug) if isinstance(p_aug, Sequence) else [p_aug] * len(augmented)
        for rate in rates:
            if rate is not None and not 0 <= rate < 1:
                raise RecombineError(f"p_aug is {rate}, expected at least 0 and less than 1.")
        shared = not examples or isinstance(examples[0], Example)
        sets = cast("Sequence[Sequence[Example]]", [examples] if shared else examples)
        originals = [distinct_examples(own, least=1, who="a predictor") for own in sets]
        originals *= len(augmented) if shared else 1
        data = [[*own, *extra] for own, extra in zip(originals, augmented, strict=True)]
        self.vocabulary_ = Vocabulary.of(example for each in data for example in each)
        corpus = Corpus.for_prediction(data, self.vocabulary_, resolve(self.device))
        self.longest_ = corpus.targets.shape[-1]
        self.fitted_: Fitted = fit(
            self.recipe,
            corpus,
            [mixture(*each) for each in zip(map(len, originals), map(len, augmented), rates, strict=True)],
            self.seeds,
            vocabulary=len(self.vocabulary_),
            judge=exact_match,
            report=report,
            checkpoint=checkpoint,
            graphs=graphs,
        )
        return self

    def predict(self, inputs: Sequence[Tokens], decoding: Decoding | None = None) -> list[list[Prediction]]:
        """Returns each network's predictions for the inputs: one list for each seed."""
        return self.predict_each([inputs] * len(self.seeds), decoding)

    def predict_each(
        self, inputs: Sequence[Sequence[Tokens]], decoding: Decoding | None = None
    ) -> list[list[Prediction]]:
        """Returns each network's predictions for inputs of its own, as many as the others have."""
        if self.vocabulary_ is None:
            raise unfitted("Predictor")
        model, device = self.fitted_.model, self.fitted_.model.embed.weight.device
        results: list[dict[int, Prediction]] = [{} for _ in inputs]  # by the input's number
        orders = [sorted(range(len(own)), key=[len(x) for x in own].__getitem__) for own in inputs]
        for start in range(0, len(inputs[0]), BATCH):
            chosen = [order[start : start + BATCH] for order in orders]
            batch = [own[i] for own, mine in zip(inputs, chosen, strict=True) for i in mine]
            sources = encoded(batch, self.vocabulary_, device).view(len(inputs), len(chosen[0]), 1, -1)
            # Half as long again as anything seen: room for longer outputs, and an end to endless ones.
            generated = generate(model, sources, self.longest_ * 3 // 2, decoding or Decoding("greedy"))
            places = generated.entries - model.architecture.vocabulary  # below zero: written, not copied
            for replica, (own, result) in enumerate(zip(inputs, results, strict=True)):
                parts = (generated.tokens[replica], places[replica], generated.log_probability[replica])
                for i, ids, ways, score in zip(chosen[replica], *(part.tolist() for part in parts), strict=True):
                    copied = copied_tokens(ids, ways, generated.own, source=own[i])
                    result[i] = Prediction(self.vocabulary_.decode([id_ for id_ in ids if id_], copied), score)
        return [[result[i] for i in range(len(result))] for result in results]

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Writes the networks to a folder."""
        if self.vocabulary_ is None:
            raise unfitted("Predictor")
        stored = Stored(self.recipe, self.seeds, self.vocabulary_, self.fitted_, self.notes)
        with writing_model(Path(path), KIND, {**stored.settings(), "longest": self.longest_}, force=force) as folder:
            stored.write(folder)

    @classmethod
    def load(cls, path: str | Path, *, device: str = "auto") -> Self:
        """Reads what `save` wrote."""
        settings = read_model(Path(path), KIND, needed=[WEIGHTS])
        stored = Stored.read(Path(path), settings, device)
        with fitting(Path(path)):
            predictor = cls(stored.recipe, seeds=stored.seeds, device=device)
            predictor.vocabulary_, predictor.fitted_ = stored.vocabulary, stored.fitted
            predictor.notes = stored.notes
            predictor.longest_ = typed(settings["longest"], int)
        return predictor


def copied_tokens(
    ids: Sequence[int], places: Sequence[int], own: Sequence[int], *, before: Tokens = (), source: Tokens = ()
) -> dict[int, str]:
    """Returns the tokens that were copied without being in the vocabulary, by their place in the output.

    `places` says where each token was copied from, if it was: from the sequence so far, of which own[t] tokens could be
    copied at step t and which began with `before`; or, after these, from the source.
    """
    found: dict[int, str] = {}
    for t, id_ in enumerate(ids):
        if id_ == UNK:
            place = places[t]
            sequence = [*before, *(found.get(earlier, "") for earlier in range(t))]
            found[t] = sequence[place] if place < own[t] else source[place - own[t]]
    return found

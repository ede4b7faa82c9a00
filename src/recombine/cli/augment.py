"""``recombine augment``: new training examples from old ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recombine.cli.files import (
    ModelReading,
    Reading,
    check_apart,
    check_free,
    check_model,
    check_one_standard_input,
    is_unfinished,
    numbered,
    state_of_training,
    warn_of_test_in_training,
    warn_of_unlike_outputs,
    working_on,
)
from recombine.cli.options import (
    AUTO,
    STANDARD,
    Address,
    Device,
    Epochs,
    Force,
    Json,
    MaxTime,
    OutputFile,
    Seed,
    Seeds,
    Size,
    Test,
    Threads,
    Train,
    Workers,
    check_executor,
    check_json,
    chosen_executor,
)
from recombine.cli.printing import print_json, say, say_next, working
from recombine.cli.training import check_size, enough_memory, on_terminal, outcome, resumable, use_threads
from recombine.errors import NoNeighborhood, NothingMade, RecombineError, unknown
from recombine.example import Example
from recombine.inflection import are_inflections

if TYPE_CHECKING:
    from recombine.augmentation.protocol import Samples
    from recombine.augmentation.sampler import SamplingSettings
    from recombine.own_data.augmenters import GECA, Oversampler, Rarity
    from recombine.own_data.learned import Augmenter

NOVELTIES = ("pair", "input", "both")
"""What can have to be new about a sample."""

RULES = ("one-prototype", "long-short", "long-long", "swap", "tagged")
"""The names of the neighborhood rules."""

SETTINGS = {
    "gaps": "gaps",
    "prototypes": "prototypes",
    "neighborhood": "neighborhood",
    "temperature": "sampling",
    "novelty": "sampling",
    "model": "networks_",
    "executor": "executor",
    "address": "executor",
    "size": "network",
    "epochs": "epochs",
    "max_time": "max_time",
    "device": "device",
}
"""Options that not all methods have, and what an augmenter has that they set."""

Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        help="learned trains a network to recombine; geca recombines by rule; both takes half from geca, as far as it "
        "goes, and the rest from a network; oversample repeats what has something rare in it.",
    ),
]
Count = Annotated[int, typer.Option("-n", "--count", metavar="N", help="How many samples to make.")]
Epsilon = Annotated[
    float | None,
    typer.Option(
        "--epsilon",
        metavar="P",
        help="Keep only samples with a token in fewer than this share of the training examples (default: found out).",
    ),
]
Resample = Annotated[
    bool | None,
    typer.Option(
        "--resample/--no-resample",
        help="Keep only samples with something rare, or keep all (default: only those with something rare for learned "
        "and both, all for geca).",
        show_default=False,
    ),
]
Agree = Annotated[
    bool,
    typer.Option(
        "--agreement/--no-agreement",
        help="If samples must have something rare, reject those whose output leaves it out, or keep them.",
    ),
]
Gaps = Annotated[
    int | None,
    typer.Option(
        "--gaps",
        metavar="N",
        min=1,
        max=9,
        help="GECA: change up to N fragments together, more than one only if one does not give enough samples "
        "(default: 1 for word forms, else 2).",
    ),
]
Ngram = Annotated[int, typer.Option("--ngram", metavar="N", help="With --epsilon: look at up to N tokens in a row.")]
Prototypes = Annotated[
    int | None,
    typer.Option(
        "--prototypes",
        metavar="N",
        min=0,
        max=2,
        help="How many training examples each sample is made from: 0, 1 or 2 (default: as many as the neighborhoods "
        "have).",
    ),
]
Neighborhood = Annotated[
    str,
    typer.Option(
        "--neighborhood",
        metavar="RULE",
        help="Which examples can give which: long-short, long-long, swap, one-prototype or tagged; auto: tagged for "
        "word forms, else the first that suits what is rare and covers three quarters of the examples.",
    ),
]
Temperature = Annotated[
    float | None, typer.Option("--temperature", metavar="T", help="Below 1, samples are safer; above 1, more varied.")
]
Novelty = Annotated[
    str | None,
    typer.Option("--novelty", metavar="WHAT", help="What must be new: the pair, the input, or both input and output."),
]
ModelFolder = Annotated[
    str | None,
    typer.Option(
        "--model", metavar="DIR", help="Draw samples from the model in this folder; if there is none, save it there."
    ),
]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to make: the options as they were given, None for most that were not."""

    method: Method = "learned"
    n: Count = 400
    seed: Seed = 0
    seeds: Seeds = None
    epsilon: Epsilon = None
    ngram: Ngram = 1
    resample: Resample = None
    agreement: Agree = True
    gaps: Gaps = None
    prototypes: Prototypes = None
    neighborhood: Neighborhood = AUTO
    temperature: Temperature = None
    novelty: Novelty = None
    model: ModelFolder = None
    output: OutputFile = STANDARD
    size: Size = None
    epochs: Epochs = None
    max_time: MaxTime = None
    device: Device = AUTO
    executor: Workers = None
    address: Address = None

    @property
    def state(self) -> Path | None:
        """Where the state of training is saved until it is over."""
        return state_of_training(self.model or self.output)

    def check(self) -> None:
        """Raises an error for what cannot be done, before anything is read."""
        from recombine.own_data.learned import METHODS

        if self.method not in METHODS:
            raise unknown("method", self.method, METHODS)
        for option, setting in SETTINGS.items():
            of = [name for name, kind in METHODS.items() if hasattr(kind, setting)]
            if self.method not in of and getattr(self, option) not in (None, AUTO):
                option = option.replace("_", "-")
                raise RecombineError(f"--{option} is for --method {' or '.join(of)}, not for {self.method}.")
        if self.n < 1:
            raise RecombineError(f"cannot make {self.n} samples.", hint="Ask for at least 1 with -n.")
        if self.n < 2 and self.method == "both":
            raise RecombineError("one sample cannot be made by both methods.", hint="Ask for at least 2 with -n.")
        if self.ngram != 1 and self.epsilon is None:
            raise RecombineError("--ngram says what may be rare, not how rare.", hint="Give --epsilon too.")
        if self.epsilon is not None and self.resample is False:
            raise RecombineError("--epsilon cannot be combined with --no-resample.")
        check_size(self.size)
        if self.neighborhood not in (AUTO, *RULES):
            raise unknown("neighborhood", self.neighborhood, (AUTO, *RULES))
        if self.novelty is not None and self.novelty not in NOVELTIES:
            raise unknown("novelty", self.novelty, NOVELTIES)
        if self.temperature is not None and not self.temperature > 0:
            raise RecombineError(
                f"the temperature is {self.temperature:g}, expected more than 0.",
                hint="For the safest samples give a small one, such as 0.1.",
            )
        check_executor(self.executor, self.address)
        if self.model is not None and not self.is_trained:
            check_model(self.model, force=False)

    @property
    def learns(self) -> bool:
        """Whether networks make samples."""
        return self.method in ("learned", "both")

    @property
    def is_trained(self) -> bool:
        """Whether there is a model to draw samples from."""
        from recombine.data.store import MODEL

        return self.model is not None and (Path(self.model) / MODEL).exists()

    @property
    def networks(self) -> int:
        """How many sets of samples there will be: one for each network of a model, else one for each seed."""
        from recombine.augmentation.recombination import KIND
        from recombine.data.store import read_model

        if self.model is None or not self.is_trained:
            return self.seeds or 1
        return len(read_model(Path(self.model), KIND)["seeds"])

    @property
    def notes(self) -> Mapping[str, Any]:
        """What is saved with the model, if there is one."""
        from recombine.augmentation.recombination import KIND
        from recombine.training.stored import read_notes

        return read_notes(Path(self.model), KIND) if self.model is not None and self.is_trained else {}

    def make(self, examples: Sequence[Example], tokens: str) -> "list[Samples]":
        """Returns new examples, one set for each seed.

        Args:
            examples: The training examples.
            tokens: What a token of a string is.

        Raises:
            NothingMade: If not even one can be made.
        """
        with enough_memory(), resumable(self.state):
            augmenter = self._fitted(examples, tokens)
            if self.learns:
                every = augmenter.sample_each(self.n, self.seed)
            else:
                with working(f"Making {self.n:,} samples by {self.method}"):
                    every = augmenter.sample_each(self.n, self.seed)
        if self.method == "geca" and self.resample is None and self.epsilon is None:
            _count_rare(every[0], examples)
        for samples in every:
            if not samples:
                raise NothingMade(samples.account, hint=f"No file was written.{_advice(samples, self, examples)}")
        return [_with_advice(samples, self, examples) for samples in every]

    def _fitted(self, examples: Sequence[Example], tokens: str) -> "Augmenter | GECA | Oversampler":
        """Returns the augmenter, trained here or taken from a folder."""
        from recombine.own_data.learned import METHODS, Augmenter

        settings: dict[str, Any] = {"rarity": self._rarity(examples), "agreement": self.agreement}
        settings |= {"progress": on_terminal(judged="held-out log-probability", max_time=self.max_time)}
        if self.gaps is not None:
            settings |= {"gaps": self.gaps, "fewest_gaps_first": True}
        if self.learns:
            executor = chosen_executor(self.executor, self.address) if self.executor else None
            settings |= {"device": self.device, "executor": executor}
        if self.is_trained:
            found = METHODS[self.method].load(str(self.model), **settings)
            assert isinstance(found, Augmenter)
            self._check_model(found, examples)
            found.networks_.sampling = self._sampling(found.networks_.sampling)
            return found
        if self.learns:
            settings |= {
                "neighborhood": self.neighborhood,
                "prototypes": self.prototypes,
                "network": self.size or AUTO,
                "epochs": self.epochs,
                "max_time": self.max_time,
            }
        augmenter = METHODS[self.method](seed=self.seed, seeds=self.seeds or 1, tokens=tokens, **settings)
        try:
            augmenter.fit(examples, checkpoint=self.state)
        except NoNeighborhood as error:
            raise RecombineError(error.message, hint=f"Try {' or '.join(self._other_ways(examples))}.") from None
        if isinstance(augmenter, Augmenter):
            augmenter.networks_.sampling = self._sampling(augmenter.networks_.sampling)
            say(outcome(augmenter.networks_.fitted_.history))
            if self.model is not None:
                augmenter.save(self.model)
                say(f"The model is in {self.model}.")
        return augmenter

    def _rarity(self, examples: Sequence[Example]) -> "Rarity":
        """Returns which samples are kept as rare."""
        from recombine.augmentation.resample import Resampler, find_rare

        if self.epsilon is None:
            resample = self.method != "geca" if self.resample is None else self.resample
            return "auto" if resample or self.method == "oversample" else None
        rare = find_rare(examples, epsilon=self.epsilon, ngram=self.ngram)
        if rare.resampler is None and self.method != "oversample":  # which says itself what it found
            found = map(Resampler().fit(examples).rarest, examples)
            rarest = min((each.probability for each in found if each is not None), default=1.0)
            raise RecombineError(
                f"nothing is in fewer than {self.epsilon:.4%} of the examples, as --epsilon asks.",
                hint=f"The rarest is in {rarest:.4%}. Give more, or --resample instead, which finds out what is rare.",
            )
        return rare.resampler or Resampler(self.epsilon)

    def _sampling(self, default: "SamplingSettings") -> "SamplingSettings":
        """Returns how samples are drawn: as asked for, else by default."""
        temperature = default.decoding.temperature if self.temperature is None else self.temperature
        changes: dict[str, Any] = {} if self.novelty is None else {"novelty": self.novelty}
        # A temperature that was asked for is not too high.
        changes |= {"max_temperature": max(default.max_temperature, temperature)}
        return replace(default, decoding=replace(default.decoding, temperature=temperature), **changes)

    def _other_ways(self, examples: Sequence[Example]) -> list[str]:
        """Returns what may help where no example has a neighborhood."""
        from recombine.own_data.augmenters import GECA

        ways = ["more examples, above all such as differ in a part"]
        ways += ["--neighborhood auto"] * (self.neighborhood != AUTO)
        ways += ["fewer --prototypes"] * (self.prototypes is not None)
        return ways + ["--method geca, which needs none"] * bool(GECA().fit(examples).sample(1))

    def _check_model(self, found: "Augmenter", examples: Sequence[Example]) -> None:
        """Raises the error for a model that these options could not have made of these examples."""
        from recombine.training.presets import SCAN_GENERATOR, WORD_FORM_GENERATOR

        if {*examples} != {*found.examples_}:
            raise RecombineError(
                "this model was trained on other examples.",
                place=self.model,
                hint="Name its training file, or another folder for a new model.",
            )
        networks = found.networks_
        recipe = networks.recipe
        small = recipe.network.hidden not in (SCAN_GENERATOR.network.hidden, WORD_FORM_GENERATOR.network.hidden)
        trained = {
            "prototypes": networks.prototypes,
            "neighborhood": networks.neighborhoods_.rule,
            "size": "small" if small else "paper",
            "epochs": recipe.epochs,
            "max_time": recipe.max_time,
            "seeds": len(networks.seeds),
        }
        for name, value in trained.items():
            asked, option = getattr(self, name), f"--{name.replace('_', '-')}"
            if asked not in (None, AUTO, value):
                raise RecombineError(
                    f"this model was trained with {option} {value}, not {asked}.",
                    place=self.model,
                    hint=f"Leave out {option}, or name another folder for a new model.",
                )


def augment_cli(
    train: Train,
    request: Request,
    files: ModelReading,
    *,
    test: Test = None,
    threads: Threads = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Makes new training examples from old ones.

    Example:
      recombine augment scan/train.tsv -n 400 -o augmented.jsonl

    If fewer can be made than were asked for, those are written and the account says why. While networks are trained,
    FILE.training (or DIR.training, with --model) holds the state: after an interruption the same command goes on.
    """
    from recombine.own_data.settings import forget_state

    request.check()
    output, made = request.output, request.model or request.output
    reading = files.for_model(str(request.model), request.notes)
    kind = reading.tokens
    check_one_standard_input(train, test)
    targets = numbered(output, request.networks)
    check_apart(targets, [train, test])
    check_free(targets, force=force or is_unfinished(made))
    check_json(json, output, "samples")
    examples, held_out = reading.read(train), reading.read_optional(test)
    warn_of_unlike_outputs(examples, kind)
    warn_of_test_in_training(examples, held_out, named=test)
    use_threads(threads)
    reports = []
    with working_on(made, targets) as goes_on:
        try:
            every = request.make(examples, kind)
        except NothingMade:
            if request.model is not None:  # it holds the network; without it the state does, to draw from otherwise
                forget_state(request.state)
            raise
        for samples, target in zip(every, targets, strict=True):
            write_samples(samples, target, tokens=kind, force=force or goes_on)
            report = _report(samples, request, output=target, train=examples, test=held_out)
            say(f"{samples.account}{_contradictions(report)}{_coincidences(report)}")
            reports.append(report)
        forget_state(request.state)
    _conclude(reports, json=json)
    _say_next(reports[0]["output"], train, reading)


def _count_rare(samples: "Samples", examples: Sequence[Example]) -> None:
    """Says how many samples have something rare, where all are kept."""
    from recombine.augmentation.resample import find_rare

    rare = find_rare(examples)
    if rare.resampler is not None and samples:
        count = sum(map(rare, samples))
        say(f"Of these {len(samples):,} samples {count:,} have something rare in them; --resample makes only such.")


def _with_advice(samples: "Samples", request: Request, examples: Sequence[Example]) -> "Samples":
    """Returns samples that, if there are fewer than asked for, also say how to get more."""
    if not samples.shortfall:
        return samples
    learned = " With --method both GECA makes half of them, or what it can."
    advice = {"learned": learned, "geca": _with_more_gaps(request, examples)}.get(request.method, "")
    return replace(samples, shortfall=f"{samples.shortfall}{advice}")


def _advice(samples: "Samples", request: Request, examples: Sequence[Example]) -> str:
    """Says how samples could be had after all, and where a trained network is kept."""
    from recombine.augmentation.agreement import APART, UNEVEN, UNSHOWN

    if request.method == "geca":
        part = "part" if are_inflections(examples) else "word"
        other = ", or try --method learned" if _have_neighborhoods(examples, request.seed) else ""
        gaps = _with_more_gaps(request, examples)
        return f" Give more examples, above all such as differ in one {part}{other}.{gaps}"
    if not request.learns:
        return ""
    by_rule = " Or try --method geca, which trains nothing." if request.method == "learned" else ""
    torn = not {APART, UNEVEN, UNSHOWN}.isdisjoint(samples.rejected)
    if not torn and not any("rare" in reason for reason in samples.rejected):
        return f" Train longer (--epochs, --max-time).{by_rule}"
    if torn:
        other = "--no-agreement"
    else:
        other = "--no-resample or another --epsilon"
        other = other if request.epsilon is None else "--no-resample instead of --epsilon"
    place = request.model or request.state
    kept = f" The trained network is kept in {place}: t" if place else " With --model DIR the network is kept, and t"
    again = f"he same command with {other} draws samples from it without training again."
    longer = "" if request.max_time is None else " More time (--max-time) may help."
    return f"{longer}{kept}{again}{by_rule}"


def _with_more_gaps(request: Request, examples: Sequence[Example]) -> str:
    """Says so where GECA changes one fragment only, since that suits the examples."""
    one = request.gaps is None and are_inflections(examples)
    return " With --gaps 2 there are more, of which fewer are right." if one else ""


def _have_neighborhoods(examples: Sequence[Example], seed: int) -> bool:
    from recombine.augmentation.resample import find_rare
    from recombine.own_data import choices

    distinct = tuple(dict.fromkeys(examples))
    rules = map(choices.rule_named, choices.rule_names(distinct, find_rare(distinct)))
    return any(trial.coverage for trial in choices.trials(distinct, list(rules), seed=seed))


def _say_next(output: str, train: str, reading: Reading) -> None:
    """Names the command that audits the samples, or if no options are right for both files, one that looks at them."""
    beside, word_forms = reading.beside(output), Reading(format="sigmorphon", tokens=reading.tokens)
    if output == STANDARD or reading in (beside, word_forms):  # word forms are written as they are read
        say_next("audit", output, "--train", train, *reading.options)
    else:
        say_next("inspect", output, *beside.options)


def _conclude(reports: list[dict[str, Any]], *, json: bool) -> None:
    """Sums up what several networks gave, for people and for machines."""
    from recombine.evaluation.significance import summarize

    document = reports[0]
    if len(reports) > 1:
        kept = summarize([report["kept"] for report in reports])
        say(f"Kept on average: {kept.mean:.1f} ± {kept.deviation:.1f} samples.")
        document = {"kept": kept.mean, "kept_deviation": kept.deviation, "files": reports}
    if json:
        print_json(document)


def write_samples(samples: Sequence[Example], output: str, *, tokens: str, force: bool) -> None:
    """Writes samples: to ``.tsv`` in columns (lemma, form, tags if they are word forms), else as JSONL.

    Args:
        samples: The samples.
        output: A path, or ``-``.
        tokens: What a token is in TSV.
        force: Whether an existing file may be replaced.
    """
    from recombine.data import files

    columns = "sigmorphon" if are_inflections(samples) else "tsv"
    format = columns if Path(output).suffix == ".tsv" else "jsonl"
    files.write(samples, output, format=format, tokens=tokens, force=force)


def _report(
    samples: "Samples", request: Request, *, output: str, train: Sequence[Example], test: Sequence[Example] | None
) -> dict[str, Any]:
    from recombine.evaluation.metrics import audit, contradicted

    report = {
        "output": output,
        "method": request.method,
        "seed": request.seed,
        "requested": samples.requested,
        "kept": len(samples),
        "rejected": dict(samples.rejected),
        "shortfall": samples.shortfall,
        "contradicted": contradicted(samples),
    }
    if test is not None:
        found = audit(samples, gold=None, train=train, test=test)
        report |= {"inputs_in_test": found.inputs_in_test, "pairs_in_test": found.pairs_in_test}
    return report


def _contradictions(report: dict[str, Any]) -> str:
    count = report["contradicted"]
    return f" {count:,} have an input that another has with another output: at most one is right." if count else ""


def _coincidences(report: dict[str, Any]) -> str:
    if "pairs_in_test" not in report:
        return ""
    return f" Of these, {report['pairs_in_test']:,} are test pairs and {report['inputs_in_test']:,} have a test input."

"""``recombine augment``: new training examples from old ones."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.cli import files
from recombine.cli.options import AUTO, STANDARD, check_json, chosen_executor
from recombine.cli.printing import print_json, say, say_next, working
from recombine.cli.training import enough_memory, on_terminal, outcome, resumable, use_threads
from recombine.data.files import write
from recombine.data.text import join
from recombine.errors import NoNeighborhood, NothingMade, RecombineError, unknown
from recombine.evaluation.metrics import audit, contradicted
from recombine.example import Example
from recombine.execution.terminal import explain
from recombine.inflection import are_inflections

if TYPE_CHECKING:
    from recombine.augmentation.protocol import Samples
    from recombine.own_data.augmenters import Augmenter, OwnDataAugmenter, Rarity

LEARNING = ("learned", "both")
"""The methods that train networks."""

OPTIONS = {
    "gaps": ("geca", "both"),
    **dict.fromkeys(("prototypes", "neighborhood", "temperature", "novelty", "model", "executor", "address"), LEARNING),
    **dict.fromkeys(("size", "epochs", "max_time", "device"), LEARNING),
    **dict.fromkeys(("rehearse", "precision"), (AUTO,)),
}
"""Options that not all methods have, and the methods that have them."""

FEW_SHOWN, LINE = 10, 150
"""How many samples are printed, and how many characters of one."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to make: the options as they were given, None for most that were not.

    Options:
        method NAME: geca, spans, paradigms (for word forms), auto (whichever rules can be trusted), learned (trains a
            network, for minutes), both (geca and learned) or oversample (repeats what is rare).
        n N: How many samples (default: 400 to 10,000, by the data).
        precision P: With auto: keep samples this likely to be right (default and least: 0.5; word forms: any).
        epsilon P: Keep only samples with a token in fewer than this share of the examples (default: found out).
        ngram N: With --epsilon: look at up to N tokens in a row.
        resample: Keep only samples with something rare, or all (default: all for geca).
        agreement: Reject samples whose output leaves out the rare thing in the input.
        gaps N: GECA: change up to N fragments together (default: 1 for word forms, else 2).
        prototypes N: How many examples a sample is made from: 0, 1 or 2 (default: as the neighborhoods have).
        neighborhood RULE: Which examples can give which: spans, long-short, long-long, swap, one-prototype, tagged or
            auto.
        temperature T: Below 1, samples are safer; above 1, more varied.
        novelty WHAT: What must be new: the pair, the input, or both input and output.
        model DIR: Draw samples from the model in this folder; if there is none, save it there.
        rehearse SECONDS: With auto: the most that rehearsing a rule may take (default: 30); 0: --method learned.
        check CHECK: Keep only outputs that are json, or brackets (in pairs), or what a shell COMMAND lets pass.
        output FILE: Columns if the name ends in .tsv or .csv, else JSONL with provenance; folders are made. -: stdout.
    """

    method: str = AUTO
    n: int | None = None
    seed: int = 0
    seeds: int | None = None
    epsilon: float | None = None
    ngram: int = 1
    resample: bool | None = None
    agreement: bool = True
    gaps: int | None = None
    prototypes: int | None = None
    neighborhood: str = AUTO
    temperature: float | None = None
    novelty: str | None = None
    model: str | None = None
    rehearse: float | None = None
    precision: float | None = None
    check: str | None = None
    output: str = STANDARD
    size: str | None = None
    epochs: int | None = None
    max_time: float | None = None
    device: str = AUTO
    executor: str | None = None
    address: str | None = None

    @property
    def state(self) -> Path | None:
        """Where the state of training is saved until it is over."""
        return files.state_of_training(self.model or self.output)

    @property
    def is_trained(self) -> bool:
        """Whether there is a model to draw samples from."""
        from recombine.data.store import MODEL

        return self.model is not None and (Path(self.model) / MODEL).exists()


def augment_cli(
    train: str,
    request: Request,
    reading: files.Reading,
    *,
    test: str | None = None,
    threads: int | None = None,
    force: bool = False,
    json: bool = False,
) -> None:
    """Makes new training examples from old ones. Interrupted training goes on from its last save.

    Example:
      recombine augment scan/train.tsv -o augmented.jsonl
    """
    from recombine.augmentation.recombination import KIND
    from recombine.data.store import read_model
    from recombine.evaluation.significance import summarize
    from recombine.own_data.rehearsal import LIKELY
    from recombine.own_data.settings import forget_state

    request = _checked(request)
    if (request.precision or 1) < LIKELY and (first := reading.first(train)) and not are_inflections(first):
        hint = "Rules whose samples are likelier wrong than right are never trusted; only word forms can have less."
        raise RecombineError(f"--precision is {request.precision:g}, expected at least {LIKELY}.", hint=hint)
    networks = request.seeds or 1
    if request.model is not None and request.is_trained:  # which knows how many networks it has, and their tokens
        model = read_model(Path(request.model), KIND)
        networks, reading = len(model["seeds"]), reading.for_model(request.model, model.get("notes", {}), train)
    else:
        reading = reading.settled(train)
    targets = files.numbered(request.output, networks)
    files.check_apart(targets, [train, test])
    made = request.model or request.output
    files.check_free(targets, force=force or files.is_unfinished(made))
    check_json(json, request.output, "samples")
    examples, tests = reading.read_with_test(train, test)
    use_threads(threads)
    if several := contradicted(examples):
        used = "" if request.method == AUTO else ", and new ones are made of them, too"
        say(
            f"Warning: {several:,} examples have an input that another has with another output{used}. "
            f"recombine inspect {train} lists them."
        )
    reports = []
    with files.working_on(made, targets) as goes_on:
        with enough_memory(), resumable(request.state):
            augmenter = _fitted(request, examples, reading.kind)
            assert augmenter.report_ is not None
            if several and request.method == AUTO and "left out" not in augmenter.report_.choices:
                say("Warning: new examples are made of those that contradict each other, too.")
            every = _drawn(request, augmenter)
        for samples, target in zip(every, targets, strict=True):
            format = files.format_of(target, "sigmorphon" if are_inflections(samples) else "tsv")
            write(samples, target, format=format, tokens=reading.kind, force=force or goes_on)
            reports.append(_report(request, samples, target, train=examples, test=tests))
            if samples.estimate is not None and target != STANDARD and not json:
                _show(samples, reading.kind)
        forget_state(request.state)
    document = reports[0]
    if len(reports) > 1:
        kept = summarize([report["kept"] for report in reports])
        say(f"Kept on average: {kept.mean:.1f} ± {kept.deviation:.1f} samples.")
        document = {"kept": kept.mean, "kept_deviation": kept.deviation, "files": reports}
    if json:
        print_json(document)
    beside = reading.beside(targets[0])
    # No options may be right for both files; but word forms are written as they are read.
    if targets[0] == STANDARD or reading in (beside, files.Reading(format="sigmorphon", tokens=reading.tokens)):
        say_next("audit", targets[0], "--train", train, *reading.options)
    else:
        say_next("inspect", targets[0], *beside.options)


def _checked(request: Request) -> Request:
    """Returns the request, with learned instead of auto if an option is for networks or rehearsal is off.

    What cannot be done is an error before anything is read.
    """
    from recombine.data.store import check_free_model
    from recombine.own_data.augmenters import METHODS

    given = [option for option in OPTIONS if getattr(request, option) not in (None, AUTO)]
    learning, hint = [option.replace("_", "-") for option in given if OPTIONS[option] == LEARNING], ""
    if request.method == AUTO and (request.rehearse == 0 or learning):
        hint = f"--{learning[0]} is for networks: leave out one of the two." if learning else ""
        given = [option for option in given if option != "rehearse" or request.rehearse != 0]
        request = replace(request, method="learned")
    if request.method not in METHODS:
        raise unknown("method", request.method, METHODS)
    for option in given:
        if request.method not in (methods := OPTIONS[option]):
            name, who = option.replace("_", "-"), " or ".join(methods)
            raise RecombineError(f"--{name} is for --method {who}, not for {request.method}.", hint=hint)
    if request.n == 1 and request.method == "both":
        raise RecombineError("one sample cannot be made by both methods.", hint="Ask for at least 2 with -n.")
    if request.ngram != 1 and request.epsilon is None:
        raise RecombineError("--ngram says what may be rare, not how rare.", hint="Give --epsilon too.")
    if request.epsilon is not None and request.resample is False:
        raise RecombineError("--epsilon cannot be combined with --no-resample.")
    if request.model is not None and not request.is_trained:
        check_free_model(Path(request.model), force=False)
    return request


def _fitted(request: Request, examples: Sequence[Example], tokens: str) -> "OwnDataAugmenter":
    """Returns the augmenter, trained here or taken from a folder."""
    from recombine.own_data.augmenters import GECA, METHODS, Augmenter
    from recombine.own_data.checks import Check

    method, display = METHODS[request.method], on_terminal(judged="held-out log-probability")
    settings: dict[str, Any] = {"rarity": _rarity(request, examples), "agreement": request.agreement}
    settings |= {"progress": display, "validator": None if request.check is None else Check(request.check)}
    if request.gaps is not None:
        settings |= {"gaps": request.gaps, "fewest_gaps_first": True}
    if request.method == AUTO:
        chosen = {"precision": request.precision, "rehearse": request.rehearse}
        settings |= {name: value for name, value in chosen.items() if value is not None}
    if request.method in LEARNING:
        asked = request.executor or request.address
        executor = chosen_executor(request.executor, request.address) if asked else None
        settings |= {"device": request.device, "executor": executor, "max_time": request.max_time}
    is_trained = request.is_trained
    if is_trained:
        augmenter = method.load(str(request.model), **settings)
        assert isinstance(augmenter, Augmenter)
        _check_model(request, augmenter, examples)
    else:
        if request.method in LEARNING:
            settings |= {"neighborhood": request.neighborhood, "prototypes": request.prototypes}
            settings |= {"network": request.size or AUTO, "epochs": request.epochs}
        augmenter = method(seed=request.seed, seeds=request.seeds or 1, tokens=tokens, **settings)
        try:
            augmenter.fit(examples, checkpoint=request.state)
        except NoNeighborhood as error:
            ways = ["more examples, above all such as differ in a part"]
            ways += ["--neighborhood auto"] * (request.neighborhood != AUTO)
            ways += ["fewer --prototypes"] * (request.prototypes is not None)
            ways += ["--method geca, which needs none"] * bool(GECA().fit(examples).sample(1))
            raise RecombineError(error.message, hint=f"Try {' or '.join(ways)}.") from None
    explain(augmenter.report_)
    if isinstance(augmenter, Augmenter) and augmenter.has_networks:
        default = augmenter.networks_.sampling
        temperature = request.temperature or default.decoding.temperature
        novelty: Any = request.novelty or default.novelty
        warmest = max(default.max_temperature, temperature)  # what was asked for is not too high
        decoding = replace(default.decoding, temperature=temperature)
        augmenter.networks_.sampling = replace(default, decoding=decoding, max_temperature=warmest, novelty=novelty)
        if not is_trained:
            say(outcome(augmenter.networks_.fitted_.history))
            if request.model is not None:
                augmenter.save(request.model)
                say(f"The model is in {request.model}.")
    return augmenter


def _rarity(request: Request, examples: Sequence[Example]) -> "Rarity":
    """Returns which samples are kept as rare."""
    from recombine.augmentation.resample import Resampler, find_rare

    if request.epsilon is None:
        if request.method == AUTO and request.resample:  # else it may keep others, too
            return find_rare(examples).resampler or "auto"
        resample = request.method != "geca" if request.resample is None else request.resample
        return "auto" if resample or request.method == "oversample" else None
    rare = find_rare(examples, epsilon=request.epsilon, ngram=request.ngram)
    if rare.resampler is not None or request.method == "oversample":  # which says itself that it found nothing
        say(f"Rare: {rare.reason}.")
        return rare.resampler or Resampler(request.epsilon)
    found = map(Resampler().fit(examples).rarest, examples)
    rarest = min((each.probability for each in found if each is not None), default=1.0)
    raise RecombineError(
        f"nothing is in fewer than {request.epsilon:.4%} of the examples, as --epsilon asks.",
        hint=f"The rarest is in {rarest:.4%}. Give more, or --resample instead, which finds out what is rare.",
    )


def _check_model(request: Request, found: "Augmenter", examples: Sequence[Example]) -> None:
    """Raises the error for a model that these options could not have made of these examples."""
    from recombine.training.presets import SCAN_GENERATOR, WORD_FORM_GENERATOR

    if {*examples} != {*found.examples_}:
        raise RecombineError(
            "this model was trained on other examples.",
            place=request.model,
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
        "seeds": len(networks.seeds),
    }
    for name, value in trained.items():
        asked, option = getattr(request, name), f"--{name.replace('_', '-')}"
        if asked not in (None, AUTO, value):
            raise RecombineError(
                f"this model was trained with {option} {value}, not {asked}.",
                place=request.model,
                hint=f"Leave out {option}, or name another folder for a new model.",
            )


def _drawn(request: Request, augmenter: "OwnDataAugmenter") -> "list[Samples]":
    """Returns new examples, one set for each seed, and says how to get more if there are too few or none."""
    from recombine.augmentation.resample import find_rare
    from recombine.own_data.settings import forget_state

    doing = f"Making {f'{request.n:,} ' if request.n else ''}samples by {request.method}"
    with nullcontext() if request.method in (AUTO, *LEARNING) else working(doing):  # networks show how far they are
        every = augmenter.sample_each(request.n, request.seed)
    if request.method == "geca" and request.resample is None and request.epsilon is None and every[0]:
        rare = find_rare(augmenter.examples_)
        if rare.resampler is not None:
            count = f"Of these {len(every[0]):,} samples {sum(map(rare, every[0])):,} have something rare in them"
            say(f"{count}; --resample makes only such.")
    one_gap = request.method == "geca" and request.gaps is None and are_inflections(augmenter.examples_)
    more_gaps = " With --gaps 2 there are more, of which fewer are right." if one_gap else ""
    for samples in every:
        if not samples:
            if request.model is not None:  # it holds the network; without it the state does, to draw from otherwise
                forget_state(request.state)
            raise NothingMade(samples.account, hint=f"No file was written.{_advice(request, samples)}{more_gaps}")
    by_both = " With --method both GECA makes half of them, or what it can." if request.method == "learned" else ""
    return [
        replace(samples, shortfall=f"{samples.shortfall}{more_gaps}{by_both}") if samples.shortfall else samples
        for samples in every
    ]


def _advice(request: Request, samples: "Samples") -> str:
    """Says how samples could be had after all, and where a trained network is kept."""
    from recombine.augmentation.agreement import APART, UNEVEN, UNSHOWN

    if request.method == "geca":
        return " Give more examples, above all such as differ in one part."
    if request.method not in LEARNING:
        return ""
    by_rule = " Or try --method spans or geca, which train nothing." if request.method == "learned" else ""
    torn = not {APART, UNEVEN, UNSHOWN}.isdisjoint(samples.rejected)
    if not torn and not any("rare" in reason for reason in samples.rejected):
        return f" Train longer (--epochs, --max-time).{by_rule}"
    other = "--no-agreement" if torn else "another --epsilon, or with --no-resample and without --epsilon,"
    place = request.model or request.state
    kept = f"The trained network is kept in {place}: t" if place else "With --model DIR the network is kept, and t"
    longer = "" if request.max_time is None else " More time (--max-time) may help."
    return f"{longer} {kept}he same command with {other} draws samples from it without training again.{by_rule}"


def _show(samples: "Samples", tokens: str) -> None:
    """Prints some samples, with the estimated probability that each is right."""
    few, kind = min(FEW_SHOWN, len(samples)), "characters" if are_inflections(samples) else tokens
    for sample in (samples[place * len(samples) // few] for place in range(few)):
        assert sample.provenance is not None
        text = f"{join(sample.x, kind)} → {join(sample.y, kind)}"
        text = text if len(text) <= LINE else f"{text[:LINE]}…"
        say(f"  {sample.provenance.details['right']:4.0%}  {text}")


def _report(
    request: Request, samples: "Samples", target: str, *, train: Sequence[Example], test: Sequence[Example] | None
) -> dict[str, Any]:
    """Says what was made, and returns it for machines."""
    report = {
        "output": target,
        "method": request.method,
        "seed": request.seed,
        "requested": samples.requested,
        "kept": len(samples),
        "rejected": dict(samples.rejected),
        "shortfall": samples.shortfall,
        "contradicted": contradicted(samples),
    }
    account = samples.account
    if samples.estimate is not None:
        report["right"] = dict(zip(("low", "mean", "high"), samples.estimate, strict=True))
        account += ' Each has its estimate, "right", in JSON lines only.' * (files.format_of(target) != "jsonl")
    elif request.method in LEARNING:
        account += " How many are right is not known: --method auto tells, of rules."
    if count := report["contradicted"]:
        account += f" {count:,} have an input that another has with another output: at most one is right."
    if test is not None:
        found = audit(samples, gold=None, train=train, test=test)
        report |= {"inputs_in_test": found.inputs_in_test, "pairs_in_test": found.pairs_in_test}
        account += f" Of these, {found.pairs_in_test:,} are test pairs and {found.inputs_in_test:,} have a test input."
    say(account)
    return report

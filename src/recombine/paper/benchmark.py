"""Real tasks: predictors with each method's samples, recorded like the paper's rows, beside published figures."""

import math
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from recombine.augmentation.protocol import Samples
from recombine.data import files, scan
from recombine.data.store import json_digest
from recombine.errors import NoNeighborhood, NothingMade, RecombineError, unknown
from recombine.evaluation.significance import paired, summarize
from recombine.models.device import resolve
from recombine.own_data.augmenters import METHODS, Augmenter
from recombine.own_data.predictor import Predictor
from recombine.own_data.settings import SILENT, Display
from recombine.paper import records
from recombine.paper.tables import Column, Record, comparable, lines, scan_figures
from recombine.paper.tasks import Task, task

PLAIN, *_ = ROWS = ("plain", "geca", "spans", "learned", "auto")
"""The originals alone, then methods of `augmenters.METHODS`."""

FEWEST, MOST, P_AUG = 5_000, 20_000, 0.5
"""As many samples are asked for as there are training examples, within bounds; how often predictors see them."""


BULKY = ("correct", "listing", "provenance")
"""What of a record the document leaves out."""


@dataclass(frozen=True, kw_only=True)
class RealTask:
    """A task of ``benchmark.toml``, which tells what its fields are."""

    name: str
    train: str = ""
    test: str = ""
    scan: str = ""
    kinds: int | None = None
    origin: str = ""
    published: Mapping[str, float] = field(default_factory=dict)
    by_kind: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str) -> "RealTask":
        """Returns the task of a name."""
        every = tomllib.loads((resources.files("recombine.paper") / "benchmark.toml").read_text(encoding="utf-8"))
        if name not in every:
            raise unknown("task", name, every)
        return cls(name=name, **every[name])

    def read(self, source: Path | None) -> tuple[Task, list[str]]:
        """Returns the data and, if they have any, the kind of each test example."""
        if self.scan:
            return task(self.scan), []
        needed = [Path(source or "DIR") / name for name in (self.train, self.test)]
        if source is None or not all(path.is_file() for path in needed):
            message = f"the data of {self.name} are not here; expected {' and '.join(map(str, needed))}."
            raise RecombineError(message, hint=f"Get them ({self.origin}), and name the folder with `source=DIR`.")
        columns = (1, 2) if self.kinds else None
        train = files.read(needed[0], columns=columns)
        test = files.read(needed[1], columns=columns, tokens=train.tokens)
        kinds = files.read(needed[1], columns=(1, self.kinds)) if self.kinds else []
        gold = scan.interpret if files.detect(needed[0]) == "scan" else None
        data = Task(train=tuple(dict.fromkeys(train)), test=test, gold=gold)
        return data, [" ".join(example.y) for example in kinds]


@dataclass(frozen=True)
class Benchmark:
    """Rows of a task, each with as many seeds; a row's predictors are trained together, for `max_time` seconds."""

    task: RealTask
    rows: Sequence[str]
    seeds: int
    max_time: float
    device: str
    source: Path | None
    output: Path
    command: Sequence[str] = ()
    display: Display = SILENT

    def __post_init__(self) -> None:
        for row in self.rows:
            if row not in ROWS:
                raise unknown("row", row, ROWS)

    @cached_property
    def _read(self) -> tuple[Task, list[str]]:
        return self.task.read(self.source)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What a record is the result of, besides row, seeds and code."""
        data, _ = self._read
        digest = json_digest([[(each.x, each.y) for each in part] for part in (data.train, data.test)])
        n = min(MOST, max(FEWEST, len(data.train)))
        return {"n": n, "p_aug": P_AUG, "max_time": self.max_time, "data": digest}

    def run(self, *, force: bool = False) -> None:
        """Runs the rows that have no record with these settings and as many seeds; with `force`, all of them."""
        if self.output.exists() and not self.output.is_dir():
            raise RecombineError("this is no folder.", place=str(self.output), hint="Name one that is, or a new one.")
        everything = [] if force else records.read_records(self.output)
        known = {record["row"]: record for record in everything if record["column"] == self.task.name}
        for row in self.rows:
            there = known.get(row, {"settings": self.settings}).get("settings", {})
            if differ := ", ".join(name for name, value in self.settings.items() if there.get(name) != value):
                message = f"the record of {row!r} on {self.task.name} was made with another {differ}."
                hint = "Name another folder with `output`, or use `force=True`."
                raise RecombineError(message, place=str(self.output), hint=hint)
        for row in self.rows:
            if row in known and len(known[row]["seeds"]) >= self.seeds:
                self.display.say(f"{self.task.name}, {row}: there is a record.")
            else:
                self.display.say(f"Written: {records.write_record(self._record(row), self.output)}")

    def _record(self, row: str) -> dict[str, Any]:
        (data, kinds), began = self._read, time.perf_counter()
        samples = self._samples(row, data)
        drawn = time.perf_counter()
        predictor = Predictor(seeds=self.seeds, max_time=self.max_time, device=self.device, progress=self.display)
        predictor.fit(data.train, augmented_each=samples, p_aug=P_AUG if any(samples) else None)
        predicted = predictor.networks_.predict([example.x for example in data.test])
        now, tasks = time.perf_counter(), [data] * self.seeds
        scored = records.scored_part([[guess.y for guess in each] for each in predicted], tasks)
        found, of_kind = summarize(scored["exact_match"]), np.array(kinds)
        right = [records.unpacked(each, len(data.test)) for each in scored["correct"]]
        return {
            **{"row": row, "column": self.task.name, "seeds": list(range(self.seeds))},
            **{"mean": found.mean, "std": found.deviation, "published": self.task.published.get(row)},
            **scored,
            "kinds": {kind: [float(each[of_kind == kind].mean()) for each in right] for kind in dict.fromkeys(kinds)},
            **records.sampled_part(samples, tasks, range(self.seeds)),
            "account": samples[0].account,
            "seconds": {"samples": drawn - began, "predictors": now - drawn},
            "settings": self.settings,
            "provenance": records.provenance(["recombine", *self.command], str(resolve(self.device))),
        }

    def _samples(self, row: str, data: Task) -> list[Samples]:
        """Returns the samples of each seed, none if the method can make none of these data."""
        if row == PLAIN:
            return [Samples((), 0)] * self.seeds
        n, kind = self.settings["n"], METHODS[row]
        further: dict[str, Any] = {"rarity": None} if row == "spans" else {}
        if issubclass(kind, Augmenter):
            further = {"device": self.device, "max_time": self.max_time}
        try:
            every = kind(seeds=self.seeds, n=n, progress=self.display, **further).fit(data.train).sample_each()
        except (NoNeighborhood, NothingMade) as error:
            every = [Samples((), n, shortfall=f"{error.message[0].upper()}{error.message[1:]}")] * self.seeds
        self.display.say(f"{row}: {every[0].account}")
        return every


@dataclass(frozen=True)
class Results:
    """The records of a task, by row."""

    task: RealTask
    records: Mapping[str, Record]

    @classmethod
    def of(cls, task: RealTask, folder: Path, rows: Sequence[str]) -> "Results":
        """Reads the records of a folder, of plain and these rows; an error if there are none."""
        found = {record["row"]: record for record in records.recorded(folder, [task.name], {PLAIN, *rows})}
        return cls(task, {row: found[row] for row in ROWS if row in found})

    @cached_property
    def _column(self) -> Column:
        name, published = self.task.name, {row: (figure, math.nan) for row, figure in self.task.published.items()}
        return Column(title=name, of=name, figures=scan_figures, published=published, beside="published", digits=3)

    def table(self, *, mark: str) -> tuple[list[str], list[list[str]]]:
        """Returns the header and the lines of the table: our rows, then those that are only published."""
        others: dict[str, Record] = {row: {"exact_match": []} for row in self.task.published if row not in ROWS}
        shown = {(row, self.task.name): record for row, record in {**self.records, **others}.items()}
        return lines(shown, [self._column], mark=mark, about_samples=True)

    def by_kind(self) -> tuple[list[str], list[list[str]]]:
        """Returns the header and the lines of the table by kind of test example, no lines if there are no kinds."""
        ours = {row: record["kinds"] for row, record in self.records.items() if record.get("kinds")}
        shown = {row: {kind: str(summarize(scores)) for kind, scores in own.items()} for row, own in ours.items()}
        for row, own in self.task.by_kind.items():
            shown[f"{row.partition(',')[0]}, published"] = {kind: f"{figure:.2f}" for kind, figure in own.items()}
        kinds = dict.fromkeys(kind for own in ours.values() for kind in own)
        return ["", *shown], [[kind, *(own.get(kind, "") for own in shown.values())] for kind in kinds]

    @property
    def verdict(self) -> list[dict[str, Any]]:
        """For each row beside plain, how much it gains, and whether it is worse by more than the spread over seeds.

        The spread is the greater deviation of the two; p is that of the test of both tables.
        """
        scores = comparable({(row, self.task.name): each for row, each in self.records.items()}, self._column)
        found = {row: summarize(record["exact_match"]) for row, record in self.records.items()}
        verdict = list[dict[str, Any]]()
        for row in [row for row in found if row != PLAIN] if PLAIN in found else ():
            gain, spread = found[row].mean - found[PLAIN].mean, max(found[row].deviation, found[PLAIN].deviation)
            p = paired(scores[row], scores[PLAIN]).p if {row, PLAIN} <= scores.keys() else None
            verdict.append({"row": row, "gain": gain, "spread": spread, "p": p, "worse": gain < -spread})
        return verdict

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        p = ["" if each["p"] is None else f" (p = {each['p']:.1g})" for each in self.verdict]
        told = [f"{each['row']} {each['gain']:+.3f}{chance}" for each, chance in zip(self.verdict, p, strict=True)]
        worse = [each["row"] for each in self.verdict if each["worse"]]
        end = f"{' and '.join(worse) or 'None'} is worse by more than the spread over seeds."
        return f"Against plain: {', '.join(told)}. {end}" if told else "There is nothing to compare with plain."

    @property
    def document(self) -> dict[str, Any]:
        """All of this for machines."""
        every = [{**record, **record.get("provenance", {})} for record in self.records.values()]
        rows = [{name: record[name] for name in record if name not in BULKY} for record in every]
        return {"task": self.task.name, "rows": rows, "published": self.task.published, "against_plain": self.verdict}

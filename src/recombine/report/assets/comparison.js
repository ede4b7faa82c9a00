// The answer: verdict, table of scores, and where the figures come from.

const PARTS = ["all", "rare", "other"];
const SIGNIFICANT = 0.05;
const RAREST = 20; // the number of rare things that are named

const showHeader = () => {
  document.title = `${run.title}: ${document.title}`;
  at("title").textContent = run.title;
  const end = run.verdict.search(/\. [A-Z]|$/) + 1;
  const [what, why] = [run.verdict.slice(0, end), run.verdict.slice(end)]; // what to do, and why
  if (what) at("verdict").append(make("strong", {}, what), why);
  const { train, test, rare_test: rare, held_out: heldOut, phenomena } = run.data;
  const whence = heldOut ? "held out of the file" : "from a file of their own";
  at("data").append(
    `${counted(train, "training example", "training examples")}; ${counted(test, "test example", "test examples")} ` +
      `(${whence}), ${count(rare)} of them with something rare.`,
  );
  const others = phenomena.length > RAREST ? ` and ${count(phenomena.length - RAREST)} more` : "";
  const rarest = phenomena.slice(0, RAREST).map((each) => isolated(named(each)));
  if (rarest.length) at("data").append(` Rare: ${rarest.join(", ")}${others}.`);
  if (run.network) at("data").append(` Predictors: ${run.network}.`);
};

const pValue = (p) => (p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`);

/** One dot a seed on a line from 0 to 1. */
const strip = (scores) => {
  const x = (score) => 4 + 72 * Math.min(1, Math.max(0, score));
  return draw(
    "svg",
    { class: "strip", viewBox: "0 0 80 10", "aria-hidden": "true" },
    draw("path", { class: "axis", d: "M4 5H76M4 2V8M76 2V8" }),
    scores.map((score) => draw("circle", { cx: x(score), cy: 5, r: 3 })),
  );
};

const verdictMark = (scores, plain, p) => {
  if (p === null || !plain.length) return [];
  const difference = p < SIGNIFICANT ? Math.sign(mean(scores) - mean(plain)) : 0;
  const [mark, kind] = { 1: ["▲ ", "better"], 0: ["", "same"], "-1": ["▼ ", "worse"] }[difference];
  return [make("span", { class: kind }, mark + pValue(p))];
};

const scoreCell = (row, part, plain, best) => {
  const scores = row.scores[part];
  if (!scores.length) return "–";
  const isBest = mean(scores) === best;
  return make(
    "div",
    { class: isBest ? "score best" : "score" },
    make("span", { class: "mean" }, mean(scores).toFixed(3)),
    make("span", { class: "spread" }, scores.length > 1 ? ` ± ${deviation(scores).toFixed(3)}` : ""),
    strip(scores),
    ...verdictMark(scores, plain, row.p[part]),
  );
};

const methodCell = ({ method, new_examples: fresh }) => {
  const [least, most] = [Math.min(...fresh, Infinity), Math.max(...fresh, 0)];
  const all = counted(most, "new example", "new examples");
  const told = !most ? "no new examples" : least < most ? `${count(least)} to ${all}` : all;
  return [make("span", { class: "method" }, method), make("span", { class: "aside" }, told)];
};

const showComparison = () => {
  const place = at("comparison-table");
  if (!run.comparison.length) return nothing(place, "No method was compared.");
  const plain = run.comparison.find(({ method }) => method === "plain");
  const best = (part) => {
    const means = run.comparison.filter(({ scores }) => scores[part].length).map(({ scores }) => mean(scores[part]));
    return new Set(means).size > 1 ? Math.max(...means) : null; // where all are alike, none is best
  };
  const rows = run.comparison.map((row) => [
    methodCell(row),
    ...PARTS.map((part) => scoreCell(row, part, plain ? plain.scores[part] : [], best(part))),
  ]);
  const seeds = Math.max(...run.comparison.map(({ scores }) => scores.all.length));
  const both = run.comparison.some(({ method }) => method === "both");
  const caption =
    `Exact match on all test examples, on those with something rare, and on the others: mean ± standard deviation over ` +
    `${counted(seeds, "seed", "seeds")}, one dot each from 0 to 1. The best mean is bold; p is of the difference ` +
    `from plain, ▲ better, ▼ worse.${both ? " With both, geca makes half of the samples, as far as it goes, and networks the others." : ""}`;
  place.append(table(caption, ["method", ...PARTS], rows));
};

const showOrigin = () => {
  const facts = { command: run.command, ...run.provenance };
  at("origin-list").append(
    ...Object.entries(facts).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]),
  );
};

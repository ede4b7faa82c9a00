// Learning curves: a line with a band for each method, told apart by colour and by dashes.

const DASHES = ["", "7 3", "2 3", "9 3 2 3", "4 2", "1 2"];
const CHART = { width: 360, height: 230, left: 44, right: 22, top: 10, bottom: 32 };

const methodNumber = (number) => number % DASHES.length;

const lineSample = (number) =>
  draw(
    "svg",
    { viewBox: "0 0 34 10", class: `line-sample series-${methodNumber(number)}`, "aria-hidden": "true" },
    draw("path", { class: "line", d: "M1 5H33", "stroke-dasharray": DASHES[methodNumber(number)] }),
  );

/** Mean and deviation at each step at which there is a value. */
const summarized = (steps, points) =>
  steps
    .map((step, index) => ({ step, values: points[index].filter((value) => value !== null) }))
    .filter(({ values }) => values.length)
    .map(({ step, values }) => ({ step, mean: mean(values), deviation: deviation(values) }));

/** About `wanted` round numbers from low to high. */
const ticks = (low, high, wanted) => {
  const rough = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.ceil(low / size - 1e-9);
  const last = Math.floor(high / size + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * size);
};

const rounded = (value) => `${+value.toPrecision(3)}`;
const scale = (low, high, from, to) => (value) => from + ((to - from) * (value - low)) / (high - low || 1);

const axes = (x, y, steps, values, label) => {
  const { width, height, left, right, top, bottom } = CHART;
  const across = ticks(values[0], values[1], 5).map((value) => [
    draw("path", { class: "grid", d: `M${left} ${y(value)}H${width - right}` }),
    draw("text", { x: left - 6, y: y(value) + 4, class: "end" }, rounded(value)),
  ]);
  const along = ticks(steps[0], steps[1], 4)
    .filter(Number.isInteger)
    .map((step) =>
      draw(
        "text",
        { x: x(step), y: height - bottom + 15, class: "middle" },
        step >= 10000 ? `${rounded(step / 1000)}k` : step,
      ),
    );
  return [
    ...across.flat(),
    ...along,
    draw("path", { class: "axis", d: `M${left} ${top}V${height - bottom}H${width - right}` }),
    draw("text", { x: (left + width - right) / 2, y: height - 3, class: "middle" }, label),
  ];
};

const series = (points, number, x, y) => {
  const corner = (point, sign) => `${x(point.step)} ${y(point.mean + sign * point.deviation)}`;
  const upper = points.map((point) => corner(point, 1));
  const lower = points.map((point) => corner(point, -1)).reverse();
  return draw(
    "g",
    { class: `series-${methodNumber(number)}` },
    draw("path", { class: "band", d: `M${[...upper, ...lower].join("L")}Z` }),
    draw("path", {
      class: "line",
      d: `M${points.map(({ step, mean: middle }) => `${x(step)} ${y(middle)}`).join("L")}`,
      "stroke-dasharray": DASHES[methodNumber(number)],
    }),
    points.length === 1 ? draw("circle", { cx: x(points[0].step), cy: y(points[0].mean), r: 3 }) : [],
  );
};

const valueAt = ({ method, points }, step) => {
  const point = points.reduce((best, each) =>
    Math.abs(each.step - step) < Math.abs(best.step - step) ? each : best,
  );
  return `${method} ${rounded(point.mean)} ± ${rounded(point.deviation)}`;
};

/** Lets the pointer and the arrow keys choose a step, whose values are written under the chart. */
const makeReadable = (figure, picture, lines, x) => {
  const steps = [...new Set(lines.flatMap(({ points }) => points.map(({ step }) => step)))].sort((a, b) => a - b);
  const cursor = draw("path", { class: "cursor" });
  const readout = make("p", { class: "readout", role: "status" });
  let chosen = steps.length - 1;
  const choose = (index) => {
    chosen = Math.min(steps.length - 1, Math.max(0, index));
    cursor.setAttribute("d", `M${x(steps[chosen])} ${CHART.top}V${CHART.height - CHART.bottom}`);
    const values = lines.map((line) => valueAt(line, steps[chosen]));
    readout.textContent = `Step ${count(steps[chosen])}: ${values.join(", ")}`;
  };
  const nearest = (place) =>
    steps.reduce(
      (best, step, index) => (Math.abs(x(step) - place) < Math.abs(x(steps[best]) - place) ? index : best),
      0,
    );
  picture.append(cursor);
  onPointer(picture, ({ clientX }) => {
    const box = picture.getBoundingClientRect();
    choose(nearest(((clientX - box.left) * CHART.width) / box.width));
  });
  picture.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: chosen - 1, ArrowRight: chosen + 1, Home: 0, End: steps.length - 1 };
    if (!(event.key in moves)) return;
    event.preventDefault();
    choose(moves[event.key]);
  });
  picture.addEventListener("focus", () => choose(chosen));
  figure.append(readout);
};

const chart = (title, name) => {
  const lines = run.curves
    .map((curve, number) => ({ method: curve.method, number, points: summarized(curve.steps, curve[name]) }))
    .filter(({ points }) => points.length);
  const figure = make("figure", {}, make("figcaption", {}, title));
  if (!lines.length) {
    nothing(figure, "Not measured.");
    return figure;
  }
  const all = lines.flatMap(({ points }) => points);
  const steps = [Math.min(...all.map(({ step }) => step)), Math.max(...all.map(({ step }) => step))];
  const values = [
    Math.min(0, ...all.map((point) => point.mean - point.deviation)),
    Math.max(0, ...all.map((point) => point.mean + point.deviation)),
  ];
  if (values[0] === values[1]) values[1] = 1;
  const { width, height, left, right, top, bottom } = CHART;
  const x = scale(...steps, left, width - right);
  const y = scale(...values, height - bottom, top);
  const ends = lines.map((line) => valueAt(line, steps[1])).join(", ");
  const picture = draw(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0, "aria-label": `${title}, at the end: ${ends}` },
    axes(x, y, steps, values, "step"),
    lines.map(({ points, number }) => series(points, number, x, y)),
  );
  figure.append(picture);
  makeReadable(figure, picture, lines, x);
  return figure;
};

const showCurves = () => {
  if (!run.curves.length) return nothing(at("curves-charts"), "No learning curves were kept.");
  at("curves-legend").append(...run.curves.map(({ method }, number) => make("span", {}, lineSample(number), method)));
  at("curves-charts").append(chart("Training loss", "loss"), chart("Held-out exact match", "held_out"));
};

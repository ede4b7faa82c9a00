// One sample: its tokens, marked by where they came from, and its prototypes.

const DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const UNTOLD = { kind: "untold" };

/** What a source says: its kind (written, own, prototype), which prototype, and which token, from 0. */
const parsed = (source) => {
  if (source === undefined) return UNTOLD;
  const [kind, position] = source.split(":");
  if (kind === "written") return { kind };
  if (kind === "own") return { kind, position: position - 1 };
  return { kind: "prototype", k: kind - 1, position: position - 1 };
};

const superscript = (number) => [...`${number}`].map((digit) => DIGITS[digit]).join("");

const sourceMark = ({ kind, k }) => ({ own: "⁼", prototype: superscript(k + 1) })[kind] ?? null;
const sourceClass = ({ kind, k }) => (kind === "prototype" ? `prototype-${Math.min(k, 2) + 1}` : kind);
const sourceName = ({ kind, k }) =>
  ({ written: "written", own: "copied from the own output", prototype: `copied from prototype ${k + 1}` })[kind] ??
  "of untold source";

const marked = (token, source, attributes = {}) =>
  make(
    "span",
    { class: `token ${sourceClass(source)}`, "data-mark": sourceMark(source), ...attributes },
    shown(token),
  );

/** Tokens with blanks between them, so that text copied out of the page is what it looks like. */
const spaced = (elements) => elements.flatMap((element, index) => (index ? [" ", element] : [element]));

const pairLine = (x, y, attributes, label) =>
  make(
    "div",
    { class: "pair", ...attributes },
    make("span", { class: "which", "aria-hidden": "true" }, label),
    make("span", { class: "tokens", dir: "auto", role: "group", "aria-label": "input" }, ...spaced(x)),
    make("span", { class: "arrow", "aria-hidden": "true" }, " ▷ "),
    make("span", { class: "tokens", dir: "auto", role: "group", "aria-label": "output" }, ...spaced(y)),
  );

const sampleTokens = ({ x, y, sources }) => {
  const options = [...x, ...y].map((token, position) => {
    const source = parsed(sources[position]);
    const label = `${shown(token)}, ${sourceName(source)}`;
    const attributes = { role: "option", tabindex: -1, "aria-label": label, "aria-selected": "false" };
    return marked(token, source, { ...attributes, "data-position": position });
  });
  const lists = { role: "listbox", "aria-orientation": "horizontal", "aria-label": "Tokens of the sample" };
  return pairLine(options.slice(0, x.length), options.slice(x.length), lists, "new");
};

/** Training examples whose words have the numbers of the tokens that they call for. */
const showAlignment = () => {
  at("alignment").hidden = !run.alignment.length;
  for (const { x, y, links } of run.alignment) {
    const tokens = [...x, ...y].map((token, position) =>
      make("span", { class: "token", "data-mark": links[position] ? superscript(links[position]) : null }, shown(token)),
    );
    const line = pairLine(tokens.slice(0, x.length), tokens.slice(x.length), {}, "");
    at("alignment-list").append(make("li", {}, line));
  }
};

const prototypeLine = ({ x, y }, k) => {
  const tokens = [...x, ...y].map((token) => make("span", { class: "token" }, shown(token)));
  const attributes = { "data-prototype": k, role: "group", "aria-label": `prototype ${k + 1}` };
  const line = pairLine(tokens.slice(0, x.length), tokens.slice(x.length), attributes, superscript(k + 1));
  line.classList.add("prototype");
  return line;
};

const attentionButton = (attention, place) => {
  const button = make("button", { type: "button", class: "attention", "aria-expanded": "false" }, "Attention");
  button.addEventListener("click", () => {
    const opens = !place.hasChildNodes();
    place.replaceChildren(...(opens ? [heatMap(attention)] : []));
    button.setAttribute("aria-expanded", opens);
  });
  return button;
};

/** The list item of a sample. */
const sampleItem = (number) => {
  const sample = run.samples[number];
  const attention = run.attention[number];
  const place = make("div", { class: "attention-place" });
  const likely = sample.log_probability === null ? "" : ` · log-probability ${sample.log_probability.toFixed(2)}`;
  return make(
    "li",
    { class: "sample", "data-number": number },
    sampleTokens(sample),
    sample.prototypes.map(prototypeLine),
    make(
      "div",
      { class: "facts" },
      make("span", { class: "aside" }, sample.method, likely),
      attention ? attentionButton(attention, place) : [],
      make("p", { class: "readout" }),
    ),
    place,
  );
};

/** Highlights the source of a sample's token and says in words what it is; returns what takes that back. */
const showSource = (token) => {
  const item = token.closest(".sample");
  const sample = run.samples[item.dataset.number];
  const source = parsed(sample.sources[token.dataset.position]);
  const lines = {
    own: item.querySelector("[role=listbox]"),
    prototype: item.querySelector(`[data-prototype="${source.k}"]`),
  };
  const origin = lines[source.kind]?.querySelectorAll(".token")[source.position];
  const readout = item.querySelector(".readout");
  const place = origin ? `: ${quoted(origin.textContent)}, token ${source.position + 1}` : "";
  const verb = source.kind === "untold" ? "is" : "was";
  readout.textContent = `${quoted(token.textContent)} ${verb} ${sourceName(source)}${place}.`;
  token.classList.add("looked-at");
  origin?.classList.add("source");
  return () => {
    readout.textContent = "";
    token.classList.remove("looked-at");
    origin?.classList.remove("source");
  };
};

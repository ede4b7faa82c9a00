// The list of samples: which are shown, and how pointer and keys move among their tokens.

const SHOWN_AT_ONCE = 25;
const found = { numbers: [], shown: 0 };
let hideSource = () => {}; // takes back what the last token looked at had shown

const sourceKinds = () => {
  const most = Math.max(0, ...run.samples.map(({ prototypes }) => prototypes.length));
  const copied = Array.from({ length: most }, (_, k) => ({ kind: "prototype", k }));
  return [{ kind: "written" }, { kind: "own" }, ...copied];
};

const kindValue = ({ kind, k }) => (kind === "prototype" ? `${k + 1}` : kind);

const isWanted = (sample, number) => {
  const text = at("filter-text").value.trim().toLowerCase();
  const method = at("filter-method").value;
  const source = at("filter-source").value;
  const reads = (between) => `${sample.x.join(between)} ▷ ${sample.y.join(between)}`.toLowerCase().includes(text);
  return (
    (reads(" ") || reads("")) && // tokens may be words or characters
    (!method || sample.method === method) &&
    (!source || sample.sources.some((each) => kindValue(parsed(each)) === source)) &&
    (!at("filter-attention").checked || run.attention[number] !== null)
  );
};

const showMore = () => {
  const next = found.numbers.slice(found.shown, found.shown + SHOWN_AT_ONCE);
  const items = next.map(sampleItem);
  at("samples-list").append(...items);
  found.shown += next.length;
  const left = found.numbers.length - found.shown;
  at("samples-more").hidden = !left;
  at("samples-more").textContent = `Show ${Math.min(left, SHOWN_AT_ONCE)} more`;
  return items;
};

const filterSamples = () => {
  hideSource();
  found.numbers = run.samples.flatMap((sample, number) => (isWanted(sample, number) ? [number] : []));
  found.shown = 0;
  at("samples-list").replaceChildren();
  at("samples-count").textContent =
    `${count(found.numbers.length)} of ${counted(run.samples.length, "sample", "samples")} on this page`;
  showMore();
  const first = optionsIn(at("samples-list"))[0];
  if (first) first.tabIndex = 0;
};

const lookAt = (token) => {
  hideSource();
  hideSource = token ? showSource(token) : () => {};
};

const optionsIn = (element) => [...element.querySelectorAll("[role=option]")];

/** Only the token that was last gone to is a stop of the Tab key; arrow keys lead to the others. */
const makeStop = (token) => {
  for (const other of at("samples-list").querySelectorAll('[role=option][tabindex="0"]')) {
    other.tabIndex = -1;
    other.setAttribute("aria-selected", "false");
  }
  token.tabIndex = 0;
  token.setAttribute("aria-selected", "true");
};

const neighbour = (token, key) => {
  const item = token.closest(".sample");
  const options = optionsIn(item);
  const position = options.indexOf(token);
  const among = (element) => {
    const others = element ? optionsIn(element) : [];
    return others[Math.min(position, others.length - 1)];
  };
  const moves = {
    ArrowLeft: () => options[position - 1],
    ArrowRight: () => options[position + 1],
    ArrowUp: () => among(item.previousElementSibling),
    ArrowDown: () => among(item.nextElementSibling),
    Home: () => options[0],
    End: () => options[options.length - 1],
  };
  return moves[key];
};

const listen = () => {
  const list = at("samples-list");
  const tokenOf = (event) => event.target.closest("[role=option]");
  list.addEventListener("pointerover", (event) =>
    lookAt(tokenOf(event) ?? document.activeElement.closest("[role=option]")),
  );
  list.addEventListener("pointerleave", () => lookAt(document.activeElement.closest("[role=option]")));
  list.addEventListener("focusin", (event) => {
    const token = tokenOf(event);
    if (token) makeStop(token);
    lookAt(token);
  });
  list.addEventListener("focusout", () => lookAt(null));
  list.addEventListener("keydown", (event) => {
    const move = tokenOf(event) && neighbour(tokenOf(event), event.key);
    if (!move) return;
    event.preventDefault();
    move()?.focus();
  });
  at("filter").addEventListener("input", filterSamples);
  at("filter").addEventListener("submit", (event) => event.preventDefault());
  at("samples-more").addEventListener("click", () => optionsIn(showMore()[0])[0]?.focus());
  window.addEventListener("beforeprint", () => {
    while (found.shown < found.numbers.length) showMore(); // paper has no button for more
  });
};

/** Says which part of all samples the page has: the first ones of each method's first seed. */
const partShown = (methods) => {
  const parts = methods.map((method) => {
    const here = run.samples.filter((sample) => sample.method === method).length;
    const row = run.comparison.find((compared) => compared.method === method);
    return `${count(here)}${row ? ` of ${count(row.new_examples[0])}` : ""} by ${method}`; // no row: drawn for both
  });
  return `Each method's first samples, of its first seed alone: ${parts.join(", ")}. A network's most probable come first.`;
};

const showSamples = () => {
  const option = (value, text) => make("option", { value }, text);
  const methods = [...new Set(run.samples.map(({ method }) => method))];
  if (methods.length) at("samples-part").textContent = partShown(methods);
  const kinds = sourceKinds();
  at("samples-legend").append(
    ...kinds.map((kind) => make("span", {}, marked("token", kind), ` ${sourceName(kind)}`)),
  );
  at("filter-method").append(option("", "any"), ...methods.map((method) => option(method, method)));
  at("filter-source").append(
    option("", "of any source"),
    ...kinds.map((kind) => option(kindValue(kind), sourceName(kind))),
  );
  listen();
  filterSamples();
};

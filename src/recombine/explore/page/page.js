// The page: settings, the sample as it grows, what else was probable, and keeping.

import { Prototype } from "./prototypes.js";
import { ask } from "./server.js";
import { END, element, percent, position, shown, tokenParts, typed } from "./tokens.js";

const PAUSE = 90; // milliseconds between tokens, so that eyes can follow
const KNOWN = {
  no: "Its input is in no training example.",
  input: "Its input is that of a training example, with another output.",
  pair: "It is a training example.",
};

const at = (id) => document.getElementById(id);
let prototypes = [];
let steps = []; // of the sample so far: the chosen candidate and the alternatives
let made = []; // the pairs that the sample is made of
let run = 0; // grows whenever the sample takes another way, so that answers to older questions are ignored

const produced = () => steps.map((step) => step.chosen.token);
const hasEnded = () => steps.at(-1)?.chosen.token === END;
const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE));

function complain(error) {
  at("problem").textContent = error.message;
}

function request(tokens) {
  return {
    prototypes: made,
    tokens,
    strategy: at("strategy").value,
    temperature: at("temperature").valueAsNumber,
    seed: at("seed").valueAsNumber,
  };
}

/** Names a source, briefly or for people who listen. */
function sourceName({ origin, place }, { brief }) {
  if (origin === "written") return "written";
  const where = position(origin === "own" ? produced() : prototypes[origin - 1].tokens, place);
  if (brief) return `${origin}:${where}`;
  const which = /\d/u.test(where) ? `token ${where}` : where;
  return origin === "own" ? `copied from the sample, ${which}` : `copied from prototype ${origin}, ${which}`;
}

const sourceClass = ({ origin }) => (/^\d/u.test(origin) ? `from-${origin}` : origin);

function showStep(place) {
  const { token, source, probability } = steps[place].chosen;
  const button = element("button", `token ${sourceClass(source)}`, "", ...tokenParts(token, sourceName(source, { brief: true })));
  button.type = "button";
  button.setAttribute("aria-label", `${shown(token)}, ${sourceName(source, { brief: false })}, ${percent(probability)}`);
  button.addEventListener("click", () => select(place));
  at("sample").append(element("li", "", "", button));
  at("spoken").append(element("p", "", `${shown(token)}, ${sourceName(source, { brief: false })}`));
}

/** Shows what else was probable at a step, and marks the token that it copied. */
function select(place) {
  for (const marked of document.querySelectorAll(".is-source")) marked.classList.remove("is-source");
  const buttons = [...at("sample").querySelectorAll("button")];
  buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === place)));
  at("alternatives").hidden = place === undefined;
  if (place === undefined) return;
  const { chosen, alternatives } = steps[place];
  const { origin, place: copied } = chosen.source;
  if (origin === "own") buttons[copied].classList.add("is-source");
  else if (origin !== "written") prototypes[origin - 1].list.children[copied]?.classList.add("is-source");
  at("alternatives-title").textContent = `Step ${place + 1}: what was probable`;
  const isListed = alternatives.some((candidate) => candidate.token === chosen.token);
  const listed = isListed ? alternatives : [...alternatives, chosen];
  at("choices").replaceChildren(...listed.map((candidate) => choiceItem(candidate, place)));
}

function choiceItem(candidate, place) {
  const isChosen = candidate.token === steps[place].chosen.token;
  const meter = element("meter");
  meter.value = candidate.probability;
  meter.setAttribute("aria-hidden", "true");
  const source = sourceName(candidate.source, { brief: false });
  const button = element(
    "button", "choice", "",
    element("bdi", "text", shown(candidate.token)),
    element("span", "probability", percent(candidate.probability)),
    meter,
    element("span", "where", isChosen ? `${source}; chosen` : source),
  );
  button.type = "button";
  button.setAttribute("aria-current", String(isChosen));
  button.addEventListener("click", () => choose(candidate, place));
  return element("li", "", "", button);
}

/** Cuts the sample to its first tokens. */
function cut(length) {
  run += 1;
  steps = steps.slice(0, length);
  [...at("sample").children].slice(length).forEach((item) => item.remove());
  at("keep").disabled = true;
  at("problem").textContent = "";
}

function add(step) {
  steps.push(step);
  showStep(steps.length - 1);
  select(steps.length - 1);
}

async function choose(candidate, place) {
  const { alternatives } = steps[place];
  cut(place);
  add({ chosen: candidate, alternatives });
  at("sample").lastElementChild.firstElementChild.focus();
  await goOn();
}

/** Starts anew from the prototypes in the fields. */
function start() {
  cut(0);
  select(undefined);
  at("spoken").replaceChildren();
  made = prototypes.map((prototype) => prototype.pair);
}

/** Adds tokens until the sample ends, or just one. */
async function goOn({ once = false } = {}) {
  if (!at("settings").reportValidity()) return;
  run += 1;
  const own = run;
  at("problem").textContent = "";
  try {
    while (!hasEnded()) {
      at("status").textContent = "Under way …";
      const step = await ask("next", request(produced()));
      if (own !== run) return;
      add(step);
      if (once && !hasEnded()) {
        at("status").textContent = "Stopped. Go on, or choose another token.";
        return;
      }
      await pause();
      if (own !== run) return;
    }
    await judge(own);
  } catch (error) {
    if (own !== run) return;
    at("status").textContent = hasEnded() ? "The sample has ended." : "The sample has not ended.";
    complain(error);
  }
}

async function judge(own) {
  const tokens = produced().slice(0, -1);
  at("status").textContent = "The sample has ended.";
  const { log_probability, known } = await ask("judge", request(tokens));
  if (own !== run) return;
  at("status").textContent = `${typed(tokens)} (log-probability ${log_probability.toFixed(2)}). ${KNOWN[known]}`;
  at("keep").disabled = !at("keep").dataset.file;
}

async function keep() {
  at("keep").disabled = true;
  try {
    const { kept } = await ask("keep", request(produced().slice(0, -1)));
    showKept(kept);
  } catch (error) {
    complain(error);
  }
}

function showKept(count) {
  const { file } = at("keep").dataset;
  at("kept").textContent = `${count} ${count === 1 ? "sample" : "samples"} in ${file}`;
}

async function drawPrototypes() {
  try {
    const seed = Math.floor(Math.random() * 2 ** 32);
    const drawn = await ask("draw", { seed });
    drawn.prototypes.forEach((pair, i) => prototypes[i].set(pair));
  } catch (error) {
    complain(error);
  }
}

function stop() {
  run += 1;
  if (steps.length && !hasEnded()) at("status").textContent = "Stopped. Go on, or choose another token.";
}

function prototypesChanged() {
  cut(0);
  select(undefined);
  at("status").textContent = "Nothing yet.";
}

function listen() {
  at("settings").addEventListener("submit", async (event) => {
    event.preventDefault();
    start();
    await goOn();
  });
  at("another").addEventListener("click", async () => {
    at("seed").stepUp();
    start();
    await goOn();
  });
  for (const [id, once] of [["one", true], ["go-on", false]]) {
    at(id).addEventListener("click", async () => {
      if (!steps.length || hasEnded()) start();
      await goOn({ once });
    });
  }
  at("stop").addEventListener("click", stop);
  at("keep").addEventListener("click", keep);
  at("draw").addEventListener("click", drawPrototypes);
}

function showModel(model) {
  const count = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
  at("model").textContent =
    `Trained on ${count(model.examples, "example")} with ${count(model.token_count, "different token")}; `
    + `recombines ${count(model.prototypes, "prototype")}.`;
  const rest = model.token_count - model.tokens.length;
  at("known").textContent = typed(model.tokens) + (rest ? ` and ${rest.toLocaleString("en")} others` : "");
  at("strategy").value = model.strategy;
  at("temperature").value = model.temperature;
  if (model.file === null) at("kept").textContent = "To keep samples, start recombine explore with -o FILE.";
  else {
    at("keep").dataset.file = model.file;
    showKept(model.kept);
  }
}

function makePrototypes(count) {
  const callbacks = { changed: prototypesChanged, failed: complain };
  prototypes = Array.from({ length: count }, (_, i) => new Prototype(i + 1, callbacks));
  at("prototypes-section").hidden = !count;
  at("prototypes").replaceChildren(...prototypes.map((prototype) => prototype.fields));
  for (const { number } of prototypes) {
    at("legend").append(", ", element("span", `token from-${number}`, `${number}:3`), ` of prototype ${number}`);
  }
}

async function load() {
  const model = await ask("model");
  showModel(model);
  makePrototypes(model.prototypes);
  listen();
  if (model.prototypes) await drawPrototypes();
  start();
  await goOn();
  document.body.dataset.ready = "yes";
}

load().catch(complain);

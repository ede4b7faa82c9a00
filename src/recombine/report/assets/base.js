// What all parts of the page are built with. Text from the data only ever becomes text nodes and attributes' values.

const run = JSON.parse(document.getElementById("run").textContent);
const SVG = "http://www.w3.org/2000/svg";
const SEPARATOR = "\t"; // between input and output
const END = "\n"; // of a sequence
const LONGEST = 20; // characters of a token in a picture

const at = (id) => document.getElementById(id);

const filled = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
  element.append(...children.flat());
  return element;
};

/** An element of the page, with attributes (null: left out) and children (elements or text). */
const make = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);

/** Likewise, of a picture. */
const draw = (tag, attributes = {}, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The population standard deviation, as in evaluation/seeds.py: the page and the command line say the same. */
const deviation = (values) => {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
};

const count = (number) => number.toLocaleString("en");
const counted = (number, one, many) => `${count(number)} ${number === 1 ? one : many}`;
const percent = (part, whole) => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;

/** A token as it is shown: blanks, the separator and the end can be seen. */
const shown = (token) => {
  if (token === SEPARATOR) return "▷";
  if (token === END) return "end";
  return token.replaceAll(" ", "␣") || "∅";
};

/** Something rare, as it is shown: a token, or several with blanks between them. */
const named = (phenomenon) => (phenomenon.trim() ? phenomenon : shown(phenomenon));

/** Text in a line of other text, whose direction it cannot change. */
const isolated = (text) => `“\u2068${text}\u2069”`;
const quoted = (token) => isolated(shown(token));

/** A token as a picture has room for it. */
const short = (token) => {
  const characters = [...shown(token)];
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join("")}…` : characters.join("");
};

/** Input ▷ output, without marks. */
const plainPair = ({ x, y }) =>
  make("span", { class: "pair" }, plainTokens(x), make("span", { class: "arrow" }, " ▷ "), plainTokens(y));

const plainTokens = (tokens) => make("span", { class: "tokens", dir: "auto" }, tokens.map(shown).join(" "));

/** A table with headings and rows of cells (elements or text); the first cell of each row is its heading. */
const table = (caption, headings, rows) =>
  make(
    "table",
    {},
    make("caption", {}, caption),
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        headings.map((heading) => make("th", { scope: "col" }, heading)),
      ),
    ),
    make(
      "tbody",
      {},
      rows.map(([first, ...others]) =>
        make(
          "tr",
          {},
          make("th", { scope: "row", dir: "auto" }, first),
          others.map((cell) => make("td", {}, cell)),
        ),
      ),
    ),
  );

/** A bar that fills a share of its cell, for eyes only: the number stands beside it. */
const bar = (share, kind) => {
  const fill = make("span", { class: `fill ${kind}` });
  fill.style.inlineSize = `${Math.max(share > 0 ? 1 : 0, 100 * share)}%`;
  return make("span", { class: "bar", "aria-hidden": "true" }, fill);
};

/** Follows a pointer over an element, and a finger that taps it. */
const onPointer = (element, follow) => {
  for (const kind of ["pointermove", "pointerdown"]) element.addEventListener(kind, follow);
};

/** Puts a sentence where there is nothing to show. */
const nothing = (place, sentence) => place.append(make("p", { class: "aside" }, sentence));

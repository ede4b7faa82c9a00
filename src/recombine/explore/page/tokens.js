// Tokens as text and as elements. Whatever a token holds, it is put on the page as text.

export const SEPARATOR = "\t", END = "\n"; // no token of the data holds a tab or a line break
const SPACE = "␣"; // stands for a space within a token, since spaces part tokens

/** Returns how a token is shown. */
export function shown(token) {
  if (token === SEPARATOR) return "▷";
  if (token === END) return "end";
  return token.replaceAll(" ", SPACE);
}

/** Returns the text of tokens, as somebody would type it. */
export const typed = (tokens) => tokens.map(shown).join(" ");

/** Returns the tokens of a text that somebody typed. */
export const parsed = (text) => text.split(" ").filter(Boolean).map((token) => token.replaceAll(SPACE, " "));

/** Returns a probability for people. */
export const percent = (p) => (p < 0.0005 ? "< 0.1 %" : `${(100 * p).toFixed(p < 0.0995 ? 1 : 0)} %`);

/** Returns what a place of a sequence x ▷ y is called: ▷, end, or the token's number, from 1. */
export function position(tokens, place) {
  if (tokens[place] === SEPARATOR || tokens[place] === END) return shown(tokens[place]);
  const middle = tokens.indexOf(SEPARATOR);
  return String(middle < 0 || place < middle ? place + 1 : place);
}

/** Returns an element with a class and a text, and what it is to hold. */
export function element(name, className = "", text = "", ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.textContent = text;
  made.append(...children);
  return made;
}

/** Returns what a token looks like: its text, and a note below it. */
export function tokenParts(token, note) {
  const special = token === SEPARATOR || token === END;
  const text = element("bdi", special ? "text special" : "text", shown(token));
  return [text, element("small", "note", note)];
}

// The prototypes: each is searched for, picked or typed, and shown token by token.

import { ask } from "./server.js";
import { END, SEPARATOR, element, parsed, position, tokenParts, typed } from "./tokens.js";

const PAUSE = 150; // milliseconds without typing before a search begins

export class Prototype {
  /** Makes the fields of the prototype with this number, from 1. */
  constructor(number, { changed, failed }) {
    this.number = number;
    this.changed = changed;
    this.failed = failed;
    this.fields = document.getElementById("prototype").content.cloneNode(true).firstElementChild;
    const find = (selector) => this.fields.querySelector(selector);
    [this.words, this.found, this.examples] = [find(".words"), find(".found"), find(".examples")];
    [this.x, this.y, this.list] = [find(".x"), find(".y"), find(".tokens")];
    find("legend").textContent = `Prototype ${number}`;
    this.list.setAttribute("aria-label", `Tokens of prototype ${number}`);
    this.words.addEventListener("input", () => this.searchSoon());
    this.examples.addEventListener("change", () => this.set(this.matches[this.examples.selectedIndex]));
    for (const side of [this.x, this.y]) side.addEventListener("input", () => this.show());
    this.search();
  }

  /** The pair as it stands in the fields. */
  get pair() {
    return { x: parsed(this.x.value), y: parsed(this.y.value) };
  }

  /** The tokens x ▷ y with the end, which can be copied, too. */
  get tokens() {
    const { x, y } = this.pair;
    return [...x, SEPARATOR, ...y, END];
  }

  /** Puts a pair into the fields. */
  set({ x, y }) {
    [this.x.value, this.y.value] = [typed(x), typed(y)];
    this.show();
  }

  show() {
    const { tokens, number } = this;
    const items = tokens.map((token, place) => {
      const note = `${number}:${position(tokens, place)}`;
      return element("li", `token from-${number}`, "", ...tokenParts(token, note));
    });
    this.list.replaceChildren(...(tokens.length > 2 ? items : []));
    this.changed();
  }

  searchSoon() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.search(), PAUSE);
  }

  async search() {
    const words = this.words.value;
    try {
      const { examples, total } = await ask("search", { words });
      if (words !== this.words.value) return; // a later search is under way
      this.matches = examples;
      this.examples.replaceChildren(...examples.map(({ x, y }) => element("option", "", `${typed(x)} ▷ ${typed(y)}`)));
      const some = examples.length < total ? `, of which the first ${examples.length} are shown` : "";
      this.found.textContent = `${total.toLocaleString("en")} ${total === 1 ? "example" : "examples"}${some}`;
    } catch (error) {
      this.failed(error);
    }
  }
}

// Searches whose matches are highlighted, each in its color.

import { matchingNodes } from "./queries.js";

export const SEARCH_COLORS = {
  light: ["#b8005c", "#00705a", "#9a4d00", "#7a1fa2", "#0057b8"],
  dark: ["#ff6fb1", "#3ddbb0", "#ffb454", "#d59bff", "#6cb6ff"],
};

export class Searches {
  constructor(viewer) {
    this.viewer = viewer;
    this.current = null; // the search in the box
    this.kept = [];
  }

  /** All searches; each has a text, matching nodes, and the number of its color. */
  get all() {
    return this.current ? [...this.kept, this.current] : this.kept;
  }

  /** Search for a text; "" for none. */
  setCurrent(text) {
    const color = this.current?.color ?? this.#freeColor();
    this.current = text.trim() === "" ? null : this.#find(text, color);
    this.viewer.refresh();
  }

  #find(text, color) {
    const { nodes, column, fault } = matchingNodes(text, this.viewer);
    const flags = new Uint8Array(this.viewer.tree.nPoints);
    for (const node of nodes) flags[node] = 1;
    return { text: text.trim(), nodes, flags, column, fault, color, at: -1 };
  }

  #freeColor() {
    const used = this.kept.map(({ color }) => color);
    const free = SEARCH_COLORS.light.findIndex((_, i) => !used.includes(i));
    return free < 0 ? this.kept.length % SEARCH_COLORS.light.length : free;
  }

  /** Keep the matches of the current search, so that another search can be added. */
  keep() {
    if (!this.current) return;
    this.kept.push(this.current);
    this.current = null;
    this.viewer.refresh();
  }

  remove(search) {
    this.kept = this.kept.filter((one) => one !== search);
    if (this.current === search) this.current = null;
    this.viewer.refresh();
  }

  /** Choose the next match of a search, in the order of the tree; with -1, the previous one. */
  step(search, by) {
    const { tree } = this.viewer;
    const { length } = search?.nodes ?? [];
    if (length === 0) return;
    search.ordered ??= [...search.nodes].sort((one, two) => tree.position[one] - tree.position[two]);
    search.at = search.at < 0 ? (by > 0 ? 0 : length - 1) : (search.at + by + length) % length;
    const k = tree.position[search.ordered[search.at]];
    this.viewer.choose(k);
    this.viewer.reveal(k);
  }

  /** The search that the keys step through. */
  get last() {
    return this.current ?? this.kept.at(-1);
  }

  /** Flags of the highlighted nodes and of positions with such nodes below, with the color in a theme. */
  highlights(theme) {
    return this.all.map((search) => ({
      flags: search.flags,
      below: this.#below(search),
      color: SEARCH_COLORS[theme][search.color],
    }));
  }

  #below(search) {
    const { tree } = this.viewer;
    if (search.tree === tree) return search.below;
    const below = new Uint8Array(tree.n);
    for (const node of search.nodes) {
      for (let k = tree.position[node]; k >= 0 && !below[k]; k = tree.up[k]) below[k] = 1;
    }
    Object.assign(search, { tree, below, ordered: undefined });
    return below;
  }

  /** The texts of all searches. */
  state() {
    return { kept: this.kept.map(({ text, color }) => [text, color]), current: this.current?.text ?? "" };
  }

  restore({ kept = [], current = "" }) {
    this.kept = kept.map(([text, color]) => this.#find(String(text), color % SEARCH_COLORS.light.length || 0));
    this.current = null;
    this.setCurrent(String(current));
  }
}

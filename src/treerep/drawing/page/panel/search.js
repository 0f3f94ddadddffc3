// The search box: lists the best matches, and the searches whose matches are highlighted.

import { shortened } from "../painting/labels.js";
import { SEARCH_COLORS } from "../view/searches.js";
import { byId, element } from "./dom.js";
import { matchReason } from "../view/queries.js";

const MOST_FOUND = 8;
const LONGEST_FOUND = 100; // characters of a label in the list

export class SearchBox {
  constructor(viewer, choose) {
    Object.assign(this, { viewer, choose, input: byId("search"), list: byId("found"), at: 0 });
    this.input.addEventListener("input", () => this.#search());
    this.input.addEventListener("focus", () => this.input.value.trim() !== "" && this.#search());
    this.input.addEventListener("blur", () => this.#show(false));
    this.input.addEventListener("keydown", (event) => this.#key(event));
    viewer.addEventListener("change", () => this.#listSearches());
  }

  /** Leave the box. Return whether it had the focus. */
  close() {
    const active = document.activeElement === this.input;
    this.#show(false);
    this.input.blur();
    return active;
  }

  get #found() {
    return this.viewer.searches.current?.nodes.slice(0, MOST_FOUND) ?? [];
  }

  #search() {
    this.viewer.searches.setCurrent(this.input.value);
    const { current } = this.viewer.searches;
    this.at = 0;
    this.list.replaceChildren(...this.#found.map((node, i) => this.#option(node, i)));
    const more = (current?.nodes.length ?? 0) - MOST_FOUND;
    if (current?.fault) this.list.append(remark(current.fault));
    else if (more > 0) this.list.append(remark(`${more.toLocaleString("en")} more ${more === 1 ? "match" : "matches"}`));
    else if (more === -MOST_FOUND) this.list.append(remark("no match"));
    this.#show(this.input.value.trim() !== "");
    this.#mark();
  }

  #show(open) {
    this.list.hidden = !open;
    this.input.setAttribute("aria-expanded", open);
    if (!open) this.input.removeAttribute("aria-activedescendant");
  }

  #mark() {
    const options = [...this.list.querySelectorAll("[role=option]")];
    options.forEach((option, i) => option.setAttribute("aria-selected", i === this.at));
    if (options.length === 0) return;
    this.input.setAttribute("aria-activedescendant", options[this.at].id);
    options[this.at].scrollIntoView({ block: "nearest" });
  }

  #option(node, i) {
    const { tree, searches } = this.viewer;
    const { text, column } = searches.current;
    const name = shortened(tree.name(tree.position[node]), LONGEST_FOUND);
    const reason = shortened(matchReason(text, node, column, this.viewer), LONGEST_FOUND);
    const option = element("li", { id: `found${i}`, role: "option" }, name);
    if (reason) option.append(element("small", {}, reason));
    option.addEventListener("pointerdown", (event) => event.preventDefault()); // keep the focus in the box
    option.addEventListener("click", () => this.#take(i));
    return option;
  }

  #take(i) {
    const node = this.#found[i];
    if (node === undefined) return;
    this.#show(false);
    this.choose(this.viewer.tree.position[node]);
  }

  #key(event) {
    const { length } = this.#found;
    if (event.key === "Enter") this.#take(this.at);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      this.at = (this.at + (event.key === "ArrowDown" ? 1 : -1) + length) % Math.max(length, 1);
      this.#mark();
    }
  }

  /** One row for each search: its color, the number of matches, and buttons. */
  #listSearches() {
    const { searches, theme } = this.viewer;
    const state = JSON.stringify([theme, searches.all.map(({ text, at, color }) => [text, at, color])]);
    if (state === this.state) return;
    this.state = state;
    const box = byId("searches");
    const active = [...box.querySelectorAll("button")].indexOf(document.activeElement);
    box.replaceChildren(...searches.all.map((search) => this.#row(search)));
    if (active >= 0) (box.querySelectorAll("button")[active] ?? this.input).focus();
  }

  #row(search) {
    const { searches, theme } = this.viewer;
    const { nodes, at, text } = search;
    const count = nodes.length.toLocaleString("en");
    const many = nodes.length === 1 ? "match" : "matches";
    const button = (name, label, run) =>
      element("button", { type: "button", class: "mini", title: label, "aria-label": `${label}: ${text}`, onclick: run }, name);
    const swatch = element("span", { class: "swatch ringed" });
    swatch.style.borderColor = SEARCH_COLORS[theme][search.color];
    const steps = [
      button("‹", "Previous match", () => searches.step(search, -1)),
      button("›", "Next match", () => searches.step(search, 1)),
      button("Select", "Select all matches", () => this.viewer.selectNodes((node) => search.flags[node])),
    ];
    const keep = search === searches.current ? [button("Keep", "Keep these matches highlighted", () => this.#keep())] : [];
    return element(
      "div",
      { class: "searched" },
      swatch,
      ...(search === searches.current ? [] : [element("span", { class: "name", title: text }, text)]),
      element("span", { class: "count", role: "status" }, at < 0 ? `${count} ${many}` : `${at + 1} of ${count}`),
      ...(nodes.length > 0 ? [...steps, ...keep] : []),
      button("✕", "Remove search", () => this.#remove(search)),
    );
  }

  #keep() {
    this.input.value = "";
    this.viewer.searches.keep();
    this.input.focus();
  }

  #remove(search) {
    if (search === this.viewer.searches.current) this.input.value = "";
    this.viewer.searches.remove(search);
  }
}

const remark = (text) => element("li", { class: "none" }, text);

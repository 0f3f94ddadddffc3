// The legend: categories that can be hidden, isolated and selected, or the color bar of numbers.

import { ColorBar } from "./color_bar.js";
import { actions, byId, counted, element } from "./dom.js";

const MOST_ROWS = 300; // categories shown at first, because browsers are slow with very many rows

export class Legend {
  constructor(viewer) {
    this.viewer = viewer;
    this.box = byId("legend");
    this.attribute = null;
  }

  /** Show the legend of the attribute that the tree is colored by. */
  update() {
    const { attribute, theme } = this.viewer;
    this.box.hidden = attribute === null;
    const name = attribute?.name; // changes with the number of clusters
    if (attribute !== this.attribute || theme !== this.theme || name !== this.name) {
      Object.assign(this, { attribute, theme, name, most: MOST_ROWS });
      this.#build();
    }
    this.#refresh();
  }

  #build() {
    const { attribute, viewer, box } = this;
    this.note = element("p", { class: "filtered", role: "status", hidden: "" });
    this.rows = element("div", { class: "rows" });
    this.bar = attribute?.kind === "number" ? new ColorBar(viewer, attribute) : null;
    box.replaceChildren(this.bar ? this.bar.box : this.rows, this.note);
    if (attribute?.kind === "category") this.#fill();
  }

  #fill() {
    const { attribute } = this;
    const codes = attribute.categories.map((_, code) => code).slice(0, this.most);
    this.rows.replaceChildren(...codes.map((code) => this.#row(code)));
    const left = attribute.categories.length - codes.length;
    if (left > 0) this.rows.append(actions([`Show ${left.toLocaleString("en")} more`, () => this.#showAll()]));
    if (attribute.hasMissing) this.rows.append(this.#row(-1));
  }

  #showAll() {
    this.most = Infinity;
    this.#fill();
    this.#refresh();
  }

  #row(code) {
    const { attribute, viewer } = this;
    const name = code < 0 ? "missing" : attribute.categories[code];
    const counts = attribute.counts();
    const count = code < 0 ? attribute.values.length - counts.reduce((sum, some) => sum + some, 0) : counts[code];
    const color = attribute.palette(viewer.theme)[attribute.classOfCategory(code)];
    const show = element(
      "button",
      { type: "button", class: "show", title: `${name}\nClick to hide or show, double-click to isolate` },
      element("span", { class: "swatch", color }),
      element("span", { class: "name" }, name),
      element("span", { class: "count" }, count.toLocaleString("en")),
    );
    show.addEventListener("click", () => viewer.filters.toggle(attribute, code));
    show.addEventListener("dblclick", () => viewer.filters.isolate(attribute, code));
    const mini = (text, label, run) =>
      element("button", { type: "button", class: "mini", "aria-label": `${label} ${name}`, onclick: run }, text);
    const only = mini("only", "Show only", () => viewer.filters.isolate(attribute, code));
    const select = mini("select", "Select", () => viewer.selectNodes((node) => attribute.values[node] === code));
    const row = element("div", { class: "entry", "data-code": code }, show, element("span", { class: "minis" }, only, select));
    return row;
  }

  #refresh() {
    const { attribute, viewer } = this;
    for (const row of this.rows?.querySelectorAll(".entry") ?? []) {
      const shown = viewer.filters.isShown(attribute, Number(row.dataset.code));
      row.classList.toggle("off", !shown);
      row.firstChild.setAttribute("aria-pressed", shown);
    }
    this.bar?.update();
    const { count } = viewer.filters;
    this.note.hidden = !viewer.filters.isActive;
    if (this.note.dataset.count === String(count)) return;
    this.note.dataset.count = count;
    const button = element("button", { type: "button", class: "mini", onclick: () => viewer.filters.clear() }, "Show all");
    this.note.replaceChildren(`${counted(count, "point")} filtered out `, button);
  }
}

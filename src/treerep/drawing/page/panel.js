// Everything around the disk: search, legend, cards, help. Text from the data is inserted as text, never as HTML.

import { formatNumber, MOST_COLORS, rampColor } from "./colors.js";
import { shortened } from "./painter.js";
import { searchBox } from "./search.js";

const LONGEST = 120; // characters of a text in a card; labels may be very long
const byId = (id) => document.getElementById(id);

/** An element with attributes and children: elements or text. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") made.addEventListener("click", value);
    else if (name === "color") made.style.background = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.map((child) => (child instanceof Node ? child : document.createTextNode(child))));
  return made;
}

export class Panel {
  constructor(viewer, title) {
    Object.assign(this, { viewer, title });
    this.lassoMode = false;
    this.ownTheme = false;
    this.search = searchBox(viewer, (k) => {
      viewer.choose(k);
      viewer.canvas.focus({ preventScroll: true });
    });
    this.#fillColorBy();
    this.#listen();
    this.toggleLabels(viewer.showLabels);
    viewer.addEventListener("change", () => this.update());
    viewer.addEventListener("move", () => viewer.marks.hover >= 0 && this.hover(-1));
    this.update();
  }

  #fillColorBy() {
    const { viewer } = this;
    byId("colorby").append(
      element("option", { value: -1 }, "nothing"),
      ...viewer.attributes.map(({ name }, i) => element("option", { value: i }, name)),
    );
    byId("colorby").value = viewer.attributes.indexOf(viewer.attribute);
  }

  #listen() {
    const { viewer } = this;
    byId("colorby").addEventListener("change", (event) => viewer.colorBy(Number(event.target.value)));
    byId("lengths").append(...viewer.shapes.map(({ name }, i) => element("option", { value: i }, name)));
    byId("lengths").addEventListener("change", (event) => viewer.setShape(Number(event.target.value)));
    byId("spread").addEventListener("input", (event) => viewer.setSpread(2 ** Number(event.target.value)));
    byId("menu").addEventListener("click", () => {
      const open = byId("settings").classList.toggle("open");
      byId("menu").setAttribute("aria-expanded", open);
    });
    const commands = {
      home: () => viewer.home(),
      closer: () => viewer.zoomBy(1.4),
      farther: () => viewer.zoomBy(1 / 1.4),
      lasso: () => this.toggleLasso(),
      labels: () => this.toggleLabels(),
      theme: () => this.toggleTheme(),
      export: () => this.#showExports(byId("exports").hidden),
      help: () => this.toggleHelp(),
      svg: () => download(`${this.fileName()}.svg`, viewer.svg(), "image/svg+xml"),
      png: async () => download(`${this.fileName()}.png`, await viewer.png(), "image/png"),
      newick: () => download(`${this.fileName()}.nwk`, viewer.tree.newick(new Uint8Array(viewer.tree.n).fill(1))),
    };
    for (const button of document.querySelectorAll("[data-run]")) {
      button.addEventListener("click", () => {
        commands[button.dataset.run]();
        if (button.closest("#exports")) this.#showExports(false);
      });
    }
  }

  /** A file name: the title without characters that file systems reject. */
  fileName() {
    return this.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 80) || "tree";
  }

  // Toggles.

  toggleLasso(on = !this.lassoMode) {
    this.lassoMode = on;
    this.viewer.canvas.classList.toggle("lasso", on);
    document.querySelector('[data-run="lasso"]').setAttribute("aria-pressed", on);
  }

  toggleLabels(on = !this.viewer.showLabels) {
    const { viewer } = this;
    viewer.showLabels = on;
    document.querySelector('[data-run="labels"]').setAttribute("aria-pressed", viewer.showLabels);
    viewer.redraw();
  }

  toggleTheme() {
    this.ownTheme = true;
    this.setTheme(this.viewer.theme === "dark" ? "light" : "dark");
  }

  /** Use the system's theme, unless the user has chosen one. */
  followSystem(theme) {
    if (!this.ownTheme) this.setTheme(theme);
  }

  setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    this.viewer.setTheme(theme);
  }

  toggleHelp() {
    const help = byId("help");
    if (help.open) help.close();
    else help.showModal();
  }

  #showExports(shown) {
    byId("exports").hidden = !shown;
    document.querySelector('[data-run="export"]').setAttribute("aria-expanded", shown);
  }

  focusSearch() {
    byId("search").focus();
  }

  /** Close whatever is open. If nothing is open, clear the chosen node. */
  escape() {
    if (byId("help").open) byId("help").close();
    else if (this.search.close()) this.viewer.canvas.focus();
    else if (!byId("exports").hidden) this.#showExports(false);
    else if (this.lassoMode) this.toggleLasso(false);
    else this.viewer.clear();
  }

  listKeys(commands) {
    const rows = commands.filter(({ help }) => help);
    byId("keys").append(
      ...rows.map(({ shown, help }) =>
        element("tr", {}, element("td", {}, element("kbd", {}, shown)), element("td", {}, help)),
      ),
    );
  }

  // Content.

  update() {
    this.#legend();
    this.#details();
    this.#path();
    this.#selection();
    const { tree } = this.viewer;
    const inner = tree.n - tree.nPoints;
    byId("spread").max = Math.log2(this.viewer.shape.most_spread);
    byId("summary").textContent = `${counted(tree.nPoints, "point")}, ${counted(inner, "internal node")}`;
  }

  #legend() {
    const { attribute, theme } = this.viewer;
    const legend = byId("legend");
    legend.replaceChildren();
    legend.hidden = attribute === null;
    if (attribute === null) return;
    if (attribute.kind === "number") {
      const stops = Array.from({ length: 9 }, (_, i) => rampColor(theme, i / 8)).join(",");
      const bar = element("div", { class: "bar" });
      bar.style.background = `linear-gradient(to right,${stops})`;
      const ends = attribute.low <= attribute.high ? [attribute.low, attribute.high].map(formatNumber) : ["", ""];
      legend.append(bar, element("div", { class: "ends" }, ...ends.map((end) => element("span", {}, end))));
      return;
    }
    const palette = attribute.palette(theme);
    const many = attribute.categories.length;
    const entry = (color, name) => {
      const swatch = element("span", { class: "swatch", color });
      legend.append(element("div", { class: "entry" }, swatch, element("span", { title: name }, name)));
    };
    attribute.categories.slice(0, MOST_COLORS).forEach((name, i) => entry(palette[i + 1], name));
    if (many > MOST_COLORS) entry(palette[0], `${(many - MOST_COLORS).toLocaleString("en")} more`);
  }

  /** The title of a position. */
  titleOf(k) {
    const { tree } = this.viewer;
    return tree.name(k) || `${tree.isPoint(k) ? "Point" : "Internal node"} ${tree.node[k]}`;
  }

  /** Name and value of each attribute of a position. */
  facts(k) {
    const { tree, attributes } = this.viewer;
    if (!tree.isPoint(k)) return [["points in subtree", tree.pointsBelow[k].toLocaleString("en")]];
    return attributes.map((attribute) => [attribute.name, attribute.text(tree.node[k])]);
  }

  #details() {
    const { viewer } = this;
    const k = viewer.marks.chosen;
    const waiting = viewer.marks.from >= 0;
    const facts = k < 0 ? [] : [...this.facts(k), ["edges", String(viewer.tree.degree[k])]];
    const hint = waiting ? [`Choose the other end of the path from ${this.titleOf(viewer.marks.from)}.`] : [];
    this.#card("details", k >= 0 && [
      heading(this.titleOf(k)),
      list(facts),
      ...hint.map((text) => element("p", {}, text)),
      actions(["Path from here", () => viewer.beginPath(k)], ["Select branch", () => viewer.selectBranch(k)]),
    ], () => viewer.clearChosen());
    if (k >= 0) byId("said").textContent = [this.titleOf(k), ...facts.map((fact) => fact.join(" "))].join(", ");
  }

  #path() {
    const { viewer } = this;
    const { path } = viewer.marks;
    const rows = path && [
      ["tree length", formatNumber(path.length), "tree-length"],
      ["true distance", path.truth === null ? "not stored" : formatNumber(path.truth), "true-distance"],
      ["edges", String(path.positions.length - 1)],
    ];
    this.#card("path", path && [
      heading(...[path.from, path.to].map((k) => this.titleOf(k))),
      list(rows),
    ], () => viewer.clearPath());
  }

  #selection() {
    const { viewer } = this;
    const { selection } = viewer.marks;
    const labels = viewer.selectedLabels();
    const few = labels.slice(0, 6).map((label) => shortened(label)).join(", ") + (labels.length > 6 ? ", …" : "");
    const name = () => `${this.fileName()}-selection`;
    this.#card("selection", selection && [
      heading(`${counted(labels.length, "point")} selected`),
      element("p", {}, few),
      actions(
        ["Labels", () => download(`${name()}.txt`, `${labels.join("\n")}\n`)],
        ["Newick", () => download(`${name()}.nwk`, `${viewer.tree.newick(selection)}\n`)],
      ),
    ], () => viewer.clearSelection());
  }

  #card(id, children, close) {
    const card = byId(id);
    const active = [...card.querySelectorAll("button")].indexOf(document.activeElement);
    const cross = { class: "close", type: "button", "aria-label": "Close", onclick: close };
    card.hidden = !children;
    card.replaceChildren(...(children ? [...children, element("button", cross, "✕")] : []));
    // Keep the keyboard focus on the same button, or move it to the tree.
    if (active >= 0) (card.querySelectorAll("button")[active] ?? this.viewer.canvas).focus();
  }

  /** Show or hide the ring around the node under the mouse, and the tooltip next to it. */
  hover(k, [px, py] = [0, 0]) {
    const tip = byId("tip");
    const changed = this.viewer.marks.hover !== k;
    this.viewer.marks.hover = k;
    tip.hidden = byId("ring").hidden = k < 0;
    if (k < 0) return;
    if (changed) this.#fillTip(tip, k);
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(px + 16, this.viewer.width - width - 8))}px`;
    tip.style.top = `${py + 20 + height > this.viewer.height ? Math.max(4, py - height - 12) : py + 20}px`;
  }

  #fillTip(tip, k) {
    const short = (text) => shortened(text, LONGEST);
    const lines = this.facts(k).slice(0, 8).map(([name, value]) => element("span", {}, short(`${name}: ${value}`)));
    tip.replaceChildren(element("strong", {}, short(this.titleOf(k))), ...lines);
    // The ring is a separate element, so that the tree need not be redrawn.
    const [x, y] = this.viewer.pixelOf(k);
    const radius = this.viewer.painter.ringRadius(k);
    const wide = `${2 * radius}px`;
    Object.assign(byId("ring").style, { left: `${x}px`, top: `${y}px`, width: wide, height: wide });
  }
}

const counted = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

const heading = (...names) => element("h2", {}, names.map((name) => shortened(name, LONGEST)).join(" – "));

function list(rows) {
  const terms = rows.flatMap(([name, value, id]) => [
    element("dt", {}, name),
    element("dd", id ? { id } : {}, shortened(value, LONGEST)),
  ]);
  return element("dl", {}, ...terms);
}

function actions(...entries) {
  const buttons = entries.map(([name, run]) => element("button", { type: "button", onclick: run }, name));
  return element("div", { class: "actions" }, ...buttons);
}

/** Let the browser download a file. */
function download(name, content, type = "text/plain") {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

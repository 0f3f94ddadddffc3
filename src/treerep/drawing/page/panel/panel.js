// Everything around the tree: settings, tools, search, legend, cards and help.

import { copyText } from "../share/link.js";
import { restoreScale, scaleText } from "../share/state.js";
import { AttributeChoice } from "./attribute_choice.js";
import { Cards } from "./cards.js";
import { byId, counted, download, element } from "./dom.js";
import { Exports } from "./exports.js";
import { Rulers } from "./rulers.js";
import { Legend } from "./legend.js";
import { SearchBox } from "./search.js";
import { Tables } from "./tables.js";
import { Tip } from "./tip.js";
import { TreeTools } from "./treetools.js";
import { LAYOUTS } from "../view/viewer.js";

const LAYOUT_NAMES = {
  disk: "hyperbolic disk",
  rectangular: "rectangular",
  circular: "circular",
  unrooted: "unrooted",
  tanglegram: "two trees (tanglegram)",
};

export class Panel {
  constructor(viewer, title) {
    Object.assign(this, { viewer, title });
    this.lassoMode = false;
    this.ownTheme = false;
    this.cards = new Cards(viewer, this.fileName());
    this.tip = new Tip(viewer, this.cards);
    this.treeTools = new TreeTools(viewer);
    this.rulers = new Rulers(viewer);
    this.exports = new Exports(viewer, this.fileName(), title);
    this.legend = new Legend(viewer);
    this.search = new SearchBox(viewer, (k) => {
      const endsPath = viewer.marks.from >= 0; // the whole path is shown
      viewer.choose(k);
      if (!endsPath) viewer.center(k);
      viewer.canvas.focus({ preventScroll: true });
    });
    this.choice = new AttributeChoice(viewer);
    this.tables = new Tables(viewer, () => this.choice.update());
    this.#listen();
    this.#addViews();
    viewer.addEventListener("change", () => this.update());
    viewer.addEventListener("move", () => viewer.marks.hover >= 0 && this.tip.show(-1));
    this.update();
  }

  // What the panel adds to the view of a link.
  #addViews() {
    const { viewer } = this;
    const { views } = viewer;
    views.add("theme", () => (this.ownTheme ? viewer.theme : ""), (theme) => {
      this.ownTheme = theme === "dark" || theme === "light";
      if (this.ownTheme) this.setTheme(theme);
    });
    views.add("clusters", () => this.treeTools.countClusters(), (count) => this.treeTools.setClusters(count));
    const numbered = (name) => viewer.attributes.findIndex((attribute) => attribute.name === name);
    views.add("color", () => viewer.attribute?.name ?? "", (name) => {
      if (viewer.attributes.indexOf(viewer.attribute) !== numbered(name)) viewer.colorBy(numbered(name));
    });
    views.add("strips", () => viewer.strips.map((one) => viewer.attributes.indexOf(one)).join(","), (text) => {
      const chosen = text.split(",").map((number) => (number === "" ? undefined : viewer.attributes[number]));
      viewer.setStrips(chosen.filter(Boolean));
    });
    views.add("scale", () => scaleText(viewer.attribute), (text) => restoreScale(viewer.attribute, text));
    views.add("filter", () => viewer.filters.state(), (state) => viewer.filters.restore(state));
    views.add("search", () => viewer.searches.state(), (state) => {
      viewer.searches.restore(state);
      byId("search").value = state.current ?? "";
    });
  }

  #listen() {
    const { viewer } = this;
    const kinds = Object.keys(LAYOUTS).filter((kind) => viewer.canShow(kind));
    byId("layout").append(...kinds.map((kind) => element("option", { value: kind }, LAYOUT_NAMES[kind])));
    byId("layout").addEventListener("change", (event) => {
      viewer.setLayout(event.target.value);
      viewer.arrangement.align();
    });
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
      export: () => {
        byId("exportnote").textContent = "";
        this.#showExports(byId("exports").hidden);
      },
      help: () => this.toggleHelp(),
      svg: () => this.exports.svg(),
      png: () => this.exports.png(2),
      png4: () => this.exports.png(4),
      print: () => this.exports.print(),
      link: () => this.#copyLink(),
      newick: () => download(`${this.fileName()}.nwk`, viewer.tree.newick(new Uint8Array(viewer.tree.n).fill(1))),
    };
    for (const button of document.querySelectorAll("[data-run]")) {
      button.addEventListener("click", async () => {
        const hasNote = commands[button.dataset.run]();
        if (!button.closest("#exports")) return;
        this.#showExports(false);
        if (await hasNote) this.#showExports(true);
      });
    }
  }

  async #copyLink() {
    const copied = this.link?.works && (await copyText(this.link.url()));
    byId("said").textContent = copied ? "Link copied" : "This page has no address to copy";
    this.note(byId("said").textContent);
  }

  /** Show a short message for a moment. */
  note(text) {
    byId("note").textContent = text;
    byId("note").hidden = false;
    clearTimeout(this.noting);
    this.noting = setTimeout(() => (byId("note").hidden = true), 2500);
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
    viewer.setLabels(on);
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

  /** Show the next layout. */
  nextLayout() {
    const kinds = Object.keys(LAYOUTS);
    this.viewer.setLayout(kinds[(kinds.indexOf(this.viewer.layout.kind) + 1) % kinds.length]);
  }

  toggleHelp() {
    const help = byId("help");
    if (help.open) help.close();
    else help.showModal();
  }

  #showExports(shown) {
    byId("exports").hidden = !shown;
    this.exports.update();
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

  #comparison() {
    const { layout, others } = this.viewer;
    if (layout.kind !== "tanglegram") return [];
    const { name } = others.find(({ tree }) => tree === this.viewer.tree.other);
    return [`Robinson-Foulds distance to ${name}: ${layout.splits.distance}. Red edges are in one tree only`];
  }

  #datesNote() {
    const { viewer } = this;
    if (viewer.dates === null) return [];
    return [viewer.calendar()?.note ?? "Dates do not increase with the distance to the root: choose another root"];
  }

  update() {
    this.choice.update();
    this.legend.update();
    this.cards.update();
    this.treeTools.update();
    byId("spread").value = Math.log2(this.viewer.spread);
    document.querySelector('[data-run="labels"]').setAttribute("aria-pressed", this.viewer.showLabels);
    const { tree } = this.viewer;
    const inner = tree.n - tree.nPoints;
    byId("layout").value = this.viewer.layout.kind;
    byId("lengths").value = this.viewer.shapes.indexOf(this.viewer.shape);
    byId("spreadlabel").hidden = this.viewer.layout.kind !== "disk";
    byId("spread").max = Math.log2(this.viewer.shape.most_spread);
    const size = `${counted(tree.nPoints, "point")}, ${counted(inner, "internal node")}`;
    byId("summary").textContent = [size, ...this.#datesNote(), ...this.#comparison()].join(". ");
  }
}

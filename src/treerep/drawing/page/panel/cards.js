// Cards of the chosen node, the path and the selection.

import { formatNumber } from "../painting/colors.js";
import { shortened } from "../painting/labels.js";
import { supportText } from "../tree/newick.js";
import { selectionTable } from "../export/table.js";
import { actions, byId, counted, download, element, heading, list } from "./dom.js";

export class Cards {
  constructor(viewer, fileName) {
    Object.assign(this, { viewer, fileName });
  }

  update() {
    this.#details();
    this.#path();
    this.#selection();
  }

  /** The title of a position. */
  titleOf(k) {
    const { tree } = this.viewer;
    return tree.name(k) || `${tree.isPoint(k) ? "Point" : "Internal node"} ${tree.node[k]}`;
  }

  /** Name and value of each attribute of a position. */
  facts(k) {
    const { tree, attributes } = this.viewer;
    if (!tree.isPoint(k)) return this.#cladeFacts(k);
    // Of sparse attributes, such as genes, only the one that colors the tree is shown.
    const shown = attributes.filter((attribute) => !attribute.sparse || attribute === this.viewer.attribute);
    return shown.map((attribute) => [attribute.name, attribute.text(tree.node[k])]);
  }

  #cladeFacts(k) {
    const { tree } = this.viewer;
    const support = supportText(tree.support[k]);
    return [
      ["points in subtree", tree.pointsBelow[k].toLocaleString("en")],
      ...(support ? [["support", tree.supportTexts?.[k] || support]] : []),
    ];
  }

  /** What can be done with the tree at a position. */
  #treeActions(k) {
    const { arrangement, tree } = this.viewer;
    const entries = [["Re-root here", () => arrangement.rerootAt(k)]];
    if (k > 0) entries.push(["Re-root above", () => arrangement.rerootAbove(k)]);
    if (arrangement.canCollapse(k)) {
      entries.push([tree.collapsed[k] ? "Expand" : "Collapse", () => arrangement.toggleCollapse(k)]);
      entries.push(["Rotate", () => arrangement.rotate(k)]);
    }
    return entries;
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
      actions(
        ["Center", () => viewer.center(k)],
        ["Path from here", () => viewer.beginPath(k)],
        ["Select branch", () => viewer.selectBranch(k)],
        ...this.#treeActions(k),
      ),
    ], () => viewer.clearChosen());
    if (k >= 0) byId("said").textContent = [this.titleOf(k), ...facts.map((fact) => fact.join(" "))].join(", ");
  }

  #path() {
    const { viewer } = this;
    const { path } = viewer.marks;
    const rows = path && [
      ["tree length", formatNumber(path.length), "tree-length"],
      ...(path.truth === null ? [] : [["true distance", formatNumber(path.truth), "true-distance"]]),
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
    const name = () => `${this.fileName}-selection`;
    this.#card("selection", selection && [
      heading(`${counted(labels.length, "point")} selected`),
      element("p", {}, few),
      actions(
        ["Labels", () => download(`${name()}.txt`, `${labels.join("\n")}\n`)],
        ["Table", () => download(`${name()}.csv`, selectionTable(viewer), "text/csv")],
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
}

// The tools of the settings panel that change the tree: root, order, collapsing, support and clusters.

import { ALIGNED, ORDERS } from "../view/arrangement.js";
import { actions, byId, element } from "./dom.js";

const MOST_CLUSTERS = 50;

export class TreeTools {
  constructor(viewer) {
    this.viewer = viewer;
    const { arrangement, tree } = viewer;
    this.order = element("select", { id: "order" }, ...ORDERS.map((name) => element("option", {}, name)));
    this.order.addEventListener("change", () => arrangement.setOrder(this.order.value));
    const most = Math.min(MOST_CLUSTERS, tree.nPoints);
    this.clusters = slider("clusters", 1, Math.max(1, most), 1, (count) => recluster(viewer, count));
    this.depth = slider("collapse-depth", 0, 1, 0.01, (share) => arrangement.collapseDeeper(share));
    this.support = slider("support", 0, 1, 0.01, () => this.#filter());
    this.collapses = element("input", { id: "collapse-unsupported", type: "checkbox" });
    this.collapses.addEventListener("change", () => {
      if (!this.collapses.checked) arrangement.expandAll();
      this.#filter();
    });
    if (viewer.others.length > 0) this.order.append(element("option", {}, ALIGNED));
    this.#build();
  }

  /** The choice of the tree to compare with. */
  #others() {
    const { arrangement, others } = this.viewer;
    if (others.length < 2) return [];
    const option = ({ name }, i) => element("option", { value: i }, name);
    this.other = element("select", { id: "other" }, ...others.map(option));
    this.other.addEventListener("change", () => arrangement.compareWith(others[this.other.value].tree));
    return [element("label", {}, "Compare with ", this.other)];
  }

  #build() {
    const { arrangement, tree } = this.viewer;
    const midpoint = ["Midpoint root", () => arrangement.rerootAtMidpoint()];
    const support = tree.hasSupport
      ? [
          labeled("Support at least", this.support),
          element("label", { class: "check" }, this.collapses, " collapse these clades"),
        ]
      : [];
    byId("treetools").append(
      ...this.#others(),
      labeled("Clusters", this.clusters),
      element("label", {}, "Order of branches ", this.order),
      actions(midpoint, ["Original root", () => arrangement.resetRoot()]),
      labeled("Collapse clades deeper than", this.depth),
      actions(["Expand all", () => arrangement.expandAll()]),
      ...support,
    );
  }

  countClusters() {
    return clusterAttribute(this.viewer)?.categories.length ?? 1;
  }

  setClusters(count) {
    const most = Math.min(MOST_CLUSTERS, this.viewer.tree.nPoints);
    if (count !== this.countClusters() && count >= 1 && count <= most) recluster(this.viewer, Math.floor(count));
  }

  #filter() {
    const { viewer } = this;
    const least = Number(this.support.input.value);
    viewer.setLeastSupport(least);
    if (this.collapses.checked) viewer.arrangement.collapseUnsupported(least);
  }

  /** Show the state of the tree in the fields. */
  update() {
    const { arrangement, faint } = this.viewer;
    this.order.value = arrangement.order;
    if (this.other) this.other.value = this.viewer.others.findIndex(({ tree }) => tree === this.viewer.tree.other);
    if (arrangement.collapsed.size === 0) this.depth.input.value = 1;
    this.support.input.value = faint.least;
    this.clusters.input.value = this.countClusters();
    this.clusters.show();
    this.depth.show((share) => (share < 1 ? `${Math.round(100 * share)}%` : "off"));
    this.support.show((share) => `${Math.round(100 * share)}%`);
  }
}

/** A range input, and a text that shows its value. */
function slider(id, min, max, step, run) {
  const input = element("input", { id, type: "range", min, max, step });
  const output = element("span", { class: "value" });
  input.addEventListener("input", () => run(Number(input.value)));
  const show = (text = String) => {
    output.textContent = text(Number(input.value));
  };
  return { input, output, show };
}

const labeled = (text, { input, output }) => element("label", {}, `${text} `, output, input);

/** The attribute of clusters is the last that Python stores. */
const clusterAttribute = (viewer) => viewer.attributes.findLast(({ name }) => /^clusters \(\d+\)$/.test(name));

/** Cut the tree into clusters, and color by them. */
export function recluster(viewer, count) {
  const attribute = clusterAttribute(viewer);
  const values = viewer.arrangement.clusters(count);
  const categories = Array.from({ length: count }, (_, i) => String(i + 1));
  attribute.redefine({ name: `clusters (${count})`, values, categories });
  viewer.colorBy(viewer.attributes.indexOf(attribute));
}

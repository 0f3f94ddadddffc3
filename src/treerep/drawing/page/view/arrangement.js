// The root, the order of the children and the collapsed clades that the user chose.

import { arranged, isRoot, midpointRoot } from "../tree/arrange.js";
import { Clusters } from "../tree/clusters.js";
import { untangled } from "../tree/facing.js";

export const ORDERS = ["original", "ascending", "descending"];
export const ALIGNED = "aligned"; // with the other tree

export class Arrangement {
  constructor(viewer) {
    this.viewer = viewer;
    this.original = viewer.tree; // as stored in the page
    this.root = null;
    this.order = "original";
    this.rotated = new Set(); // ids of nodes
    this.collapsed = new Set();
  }

  /** Put the root on a position. */
  rerootAt(k) {
    this.#reroot({ node: this.viewer.tree.node[k] });
  }

  /** Put the root in the middle of the edge above a position. */
  rerootAbove(k) {
    const { tree } = this.viewer;
    if (k > 0) this.#reroot(this.#onOriginalEdge(tree.node[k], tree.node[tree.up[k]]));
  }

  rerootAtMidpoint() {
    this.#reroot(midpointRoot(this.original));
  }

  resetRoot() {
    this.#reroot(null);
  }

  // A root inside an edge is not a node of the original tree: its two edges are one edge there.
  #onOriginalEdge(a, b) {
    const extra = this.original.n;
    if (a < extra && b < extra) return { edge: [a, b], share: 0.5 };
    const [near] = [a, b].filter((id) => id < extra);
    const [one, two] = this.root.edge;
    const share = near === one ? this.root.share : 1 - this.root.share;
    return { edge: near === one ? [one, two] : [two, one], share: share / 2 };
  }

  // A root at the inserted node stays where it is.
  #reroot(root) {
    if (root?.node === this.original.n) return;
    const { tree } = this.viewer;
    const target = root?.edge ? root.edge[0] : (root?.node ?? this.original.node[0]);
    // The nodes between the two roots get other subtrees.
    for (const k of tree.path(0, tree.position[target]).positions) this.collapsed.delete(tree.node[k]);
    this.root = root;
    this.#apply();
  }

  setOrder(order) {
    this.order = order;
    this.rotated.clear();
    this.#apply();
  }

  /** In a tanglegram, use the order with few crossings, unless the user chose another. */
  align() {
    if (this.viewer.layout.kind === "tanglegram" && this.order === "original") this.setOrder(ALIGNED);
  }

  /** Reverse the children of a position. */
  rotate(k) {
    toggle(this.rotated, this.viewer.tree.node[k]);
    this.#apply();
  }

  // Collapsing. The root and leaves cannot collapse.

  canCollapse(k) {
    return k > 0 && this.viewer.tree.size[k] > 1;
  }

  toggleCollapse(k) {
    if (!this.canCollapse(k)) return;
    toggle(this.collapsed, this.viewer.tree.node[k]);
    this.#collapse();
  }

  expandAll() {
    this.collapsed.clear();
    this.#collapse();
  }

  /** Collapse the clades whose support is below a share. */
  collapseUnsupported(share) {
    this.collapseIf((k) => this.viewer.tree.support[k] < share);
  }

  /** Collapse the clades that begin deeper than a share of the depth of the tree. */
  collapseDeeper(share) {
    const far = this.viewer.tree.distancesFrom(0);
    const deepest = far.reduce((most, depth) => Math.max(most, depth), 0);
    this.collapseIf((k) => far[k] > share * deepest && this.viewer.tree.pointsBelow[k] > 1);
  }

  /** Collapse the topmost clades that meet a condition, and expand all others. */
  collapseIf(condition) {
    const { tree } = this.viewer;
    this.collapsed.clear();
    for (let k = 1; k < tree.n; ) {
      const collapses = this.canCollapse(k) && condition(k);
      if (collapses) this.collapsed.add(tree.node[k]);
      k += collapses ? tree.size[k] : 1;
    }
    this.#collapse();
  }

  /** The cluster of every data point, for a number of clusters. */
  clusters(count) {
    this.cutter ??= new Clusters(this.original);
    return this.cutter.cut(count);
  }

  // State.

  /** A plain object. */
  state() {
    return {
      root: this.root ? writeRoot(this.root) : "",
      order: this.order,
      rotated: sortedIds(this.rotated),
      collapsed: sortedIds(this.collapsed),
    };
  }

  restore({ root, order, rotated, collapsed }) {
    const before = JSON.stringify(this.state());
    this.root = readRoot(this.original, root);
    this.order = [...ORDERS, ALIGNED].includes(order) ? order : "original";
    this.rotated = new Set(rotated);
    this.collapsed = new Set(collapsed);
    if (JSON.stringify(this.state()) !== before) this.#apply();
  }

  #apply() {
    const aligned = this.order === ALIGNED && this.original.other !== null;
    const tree = aligned ? this.#aligned() : arranged(this.original, this);
    this.#mark(tree);
    this.viewer.setTree(tree);
  }

  // Rotations of the user come after the alignment.
  #aligned() {
    const rooted = arranged(this.original, { root: this.root });
    return arranged(untangled(rooted, this.original.other), { rotated: this.rotated });
  }

  /** Compare with another tree of the same points. */
  compareWith(other) {
    this.original.other = other;
    this.#apply();
  }

  #collapse() {
    this.#mark(this.viewer.tree);
    this.viewer.rearrange();
  }

  #mark(tree) {
    tree.collapsed.fill(0);
    for (const id of this.collapsed) {
      const k = id < tree.n ? tree.position[id] : 0;
      if (k > 0 && tree.size[k] > 1) tree.collapsed[k] = 1;
    }
  }
}

const sortedIds = (set) => [...set].sort((one, two) => one - two);

/** A root as text: a node, or two nodes and a share of the edge between them. */
const writeRoot = ({ node, edge, share }) => (edge ? [...edge, share].join(",") : String(node));

function readRoot(tree, text) {
  const [node, other, share] = text === "" ? [] : text.split(",").map(Number);
  const root = other === undefined ? { node } : { edge: [node, other], share };
  return isRoot(tree, root) ? root : null;
}

function toggle(set, value) {
  if (!set.delete(value)) set.add(value);
}

// Clusters by cutting edges: the same rule as `Tree.cut` in Python.
//
// Each cut lowers Ward's objective most: the sum over clusters C of (1/|C|) times the path lengths of the pairs in C.
// The cuts are nested, so one sequence of edges gives the clusters for every number.

import { canonicallyRooted } from "./arrange.js";

export class Clusters {
  constructor(tree) {
    this.tree = canonicallyRooted(tree, 0); // Python's preorder, which decides ties
    const { n } = this.tree;
    this.scratch = Array.from({ length: 4 }, () => new Float64Array(n));
    this.parts = [];
    this.cuts = []; // lower ends of the cut edges, as positions, in the order of the cuts
    this.#offer(Int32Array.from(this.tree.node, (_, k) => k));
  }

  /** The cluster of every data point, for `count` clusters: 0, 1, ... by first appearance. */
  cut(count) {
    while (this.cuts.length < count - 1 && this.parts.length > 0) this.#cutNext();
    const { n, up, node, position, nPoints } = this.tree;
    const part = new Int32Array(n); // the upper end of the part of each position
    const cut = new Uint8Array(n);
    for (const k of this.cuts.slice(0, count - 1)) cut[k] = 1;
    for (let k = 1; k < n; k++) part[k] = cut[k] ? k : part[up[k]];
    const number = new Map();
    return Int32Array.from(node.subarray(0, nPoints), (_, id) => {
      const top = part[position[id]];
      if (!number.has(top)) number.set(top, number.size);
      return number.get(top);
    });
  }

  #cutNext() {
    const best = this.parts.reduce((one, two) => {
      if (two.fall !== one.fall) return two.fall > one.fall ? two : one;
      return two.where < one.where ? two : one;
    });
    this.parts.splice(this.parts.indexOf(best), 1);
    const { part, where } = best;
    this.cuts.push(where);
    const end = where + this.tree.size[where];
    const below = part.filter((k) => k >= where && k < end);
    this.#offer(part.filter((k) => k < where || k >= end));
    this.#offer(below);
  }

  #offer(part) {
    const { fall, where } = this.#bestCut(part);
    if (where >= 0) this.parts.push({ part, fall, where });
  }

  /** The edge of a connected part whose removal lowers the objective most: see `best_cut` in Python. */
  #bestCut(part) {
    const { up, length } = this.tree;
    const [count, below, beyond, carry] = this.scratch;
    this.#sumBelow(part);
    const total = count[part[0]];
    carry[part[0]] = 0;
    let [fall, where] = [-1, -1];
    for (let i = 1; i < part.length; i++) {
      const k = part[i];
      const p = up[k];
      const inside = count[k];
      const outside = total - inside;
      beyond[k] += carry[p];
      carry[p] += below[k] + length[k] * inside * inside;
      carry[k] = beyond[k] + length[k] * outside * outside;
      if (inside === 0 || outside === 0) continue;
      const gain = inside * outside * length[k] + (below[k] * outside) / inside + (beyond[k] * inside) / outside;
      if (gain / total > fall) [fall, where] = [gain / total, k];
    }
    return { fall, where };
  }

  #sumBelow(part) {
    const { up, length } = this.tree;
    const [count, below, beyond] = this.scratch;
    for (const k of part) {
      count[k] = this.tree.isPoint(k) ? 1 : 0;
      below[k] = 0;
    }
    for (let i = part.length - 1; i > 0; i--) {
      const k = part[i];
      const p = up[k];
      count[p] += count[k];
      beyond[k] = below[p];
      below[p] += below[k] + length[k] * count[k] * count[k];
    }
  }
}

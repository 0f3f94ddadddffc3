// The tree, as arrays by preorder position. Every subtree is a contiguous range.

import { newickOf } from "./newick.js";

function bytes(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out.buffer;
}

export const decodeFloats = (text) => new Float64Array(bytes(text));
export const decodeBytes = (text) => bytes(text);
export const decodeInts = (text) => new Int32Array(bytes(text));

export class Tree {
  /** The tree that Python stored. */
  static decode(data) {
    const n = decodeInts(data.node).length;
    return new Tree({
      node: decodeInts(data.node), // node id at each position; ids below nPoints are data points
      up: decodeInts(data.up), // position of the parent; -1 at position 0
      length: decodeFloats(data.length), // length of the edge to the parent, in units of the data
      // Direction of this edge at its upper end, whose parent is at angle pi.
      angle: data.angle ? decodeFloats(data.angle) : new Float64Array(n),
      support: data.support ? decodeFloats(data.support) : new Float64Array(n).fill(Number.NaN),
      supportTexts: data.support_texts ?? null, // support in the words of a file, by position, or null
      hasSupport: Boolean(data.support),
      nPoints: data.points,
      labels: data.labels, // labels of the data points, or null
      clades: data.clades ?? {}, // names of internal nodes, by id
      other: null, // the tree to compare with, on the same points
      distances: data.distances ? decodeFloats(data.distances) : null, // true distances: rows of the upper triangle
    });
  }

  /** `support` is the share of support of the edge above each position, or NaN. */
  constructor(fields) {
    Object.assign(this, fields);
    this.n = this.node.length;
    this.position = new Int32Array(this.n);
    this.size = new Int32Array(this.n).fill(1); // nodes in the subtree
    this.pointsBelow = new Int32Array(this.n); // data points in the subtree
    this.degree = new Int32Array(this.n);
    this.collapsed = new Uint8Array(this.n); // whether a subtree is drawn as one triangle
    for (let k = 0; k < this.n; k++) this.position[this.node[k]] = k;
    for (let k = this.n - 1; k >= 0; k--) {
      if (this.isPoint(k)) this.pointsBelow[k]++;
      if (k === 0) break;
      const parent = this.up[k];
      this.size[parent] += this.size[k];
      this.pointsBelow[parent] += this.pointsBelow[k];
      this.degree[parent]++;
      this.degree[k]++;
    }
  }

  isPoint(k) {
    return this.node[k] < this.nPoints;
  }

  /** The name of a position: its label or its number; the name of a clade, or "". */
  name(k) {
    if (!this.isPoint(k)) return this.clades[this.node[k]] ?? "";
    return this.labels ? this.labels[this.node[k]] : String(this.node[k]);
  }

  /** Positions from one to another, both included, and the length of the path. */
  path(from, to) {
    const rise = [];
    const fall = [];
    let [i, j] = [from, to];
    let length = 0; // summed edge by edge, because differences of depths would cancel
    while (i !== j) {
      // The later position in preorder cannot be an ancestor of the other.
      if (i > j) {
        rise.push(i);
        length += this.length[i];
        i = this.up[i];
      } else {
        fall.push(j);
        length += this.length[j];
        j = this.up[j];
      }
    }
    return { positions: [...rise, i, ...fall.reverse()], length };
  }

  /** Distance of every position to one position. */
  distancesFrom(start) {
    const far = new Float64Array(this.n).fill(-1);
    far[start] = 0;
    for (let k = start; k > 0; k = this.up[k]) far[this.up[k]] = far[k] + this.length[k];
    for (let k = 1; k < this.n; k++) if (far[k] < 0) far[k] = far[this.up[k]] + this.length[k];
    return far;
  }

  /** The true distance between two positions, or null if it is not stored. */
  trueDistance(from, to) {
    if (!this.distances || !this.isPoint(from) || !this.isPoint(to)) return null;
    const [i, j] = [this.node[from], this.node[to]].sort((one, two) => one - two);
    return i === j ? 0 : this.distances[i * this.nPoints - (i * (i + 3)) / 2 + j - 1];
  }

  /** The subtree spanned by some data points, as Newick. `chosen` flags positions. */
  newick(chosen) {
    return newickOf(this, chosen);
  }
}

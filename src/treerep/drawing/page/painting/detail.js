// Level of detail: skip everything that would not be visible.

import { geodesicCircle } from "../layouts/geometry.js";

// Levels of detail, used in turn while the view moves and frames are late. All in pixels: the width of the rim that
// is skipped, the shortest edge, the smallest Steiner node, the size of cells that hold one small dot or one edge each,
// and the length from which an edge is always drawn.
export const DETAILS = [
  { rim: 0.5, edge: 0.5, steiner: 0.5, cell: 1, edgeCell: 1, long: 30 },
  { rim: 0.8, edge: 0.8, steiner: 0.9, cell: 1.5, edgeCell: 2, long: 30 },
  { rim: 1.5, edge: 1.2, steiner: 1.2, cell: 3, edgeCell: 4, long: 60 },
  { rim: 3, edge: 2, steiner: 1.5, cell: 5, edgeCell: 7, long: 120 },
  { rim: 5, edge: 3, steiner: 2, cell: 8, edgeCell: 12, long: Infinity },
  { rim: 8, edge: 5, steiner: 3, cell: 12, edgeCell: 18, long: Infinity },
  { rim: 12, edge: 7, steiner: 4, cell: 16, edgeCell: 26, long: Infinity },
];
const MANY = 500; // edges of a node; fewer are fast to draw

/** A grid in which each cell can be taken once, because overlapping items are not visible. */
export class Cells {
  constructor() {
    this.taken = new Uint8Array(0);
  }

  /** Free all cells of a window, including a margin around it. */
  clear(width, height, size, margin = 0) {
    Object.assign(this, { size, margin });
    this.columns = Math.ceil((width + 2 * margin) / size);
    this.rows = Math.ceil((height + 2 * margin) / size);
    if (this.taken.length === this.columns * this.rows) this.taken.fill(0);
    else this.taken = new Uint8Array(this.columns * this.rows);
  }

  /** The index of the cell of a pixel, or -1 outside. */
  #at(px, py) {
    const column = Math.floor((px + this.margin) / this.size);
    const row = Math.floor((py + this.margin) / this.size);
    if (!(column >= 0 && row >= 0 && column < this.columns && row < this.rows)) return -1;
    return row * this.columns + column;
  }

  /** Take the cell of a pixel. Return whether it was already taken or lies outside. */
  take(px, py) {
    const at = this.#at(px, py);
    if (at < 0 || this.taken[at]) return true;
    this.taken[at] = 1;
    return false;
  }

  isTaken(px, py) {
    const at = this.#at(px, py);
    return at < 0 || this.taken[at] === 1;
  }
}

/**
 * Edges of nodes of very high degree. Geodesics from one node in one direction overlap. Of those that reach the same
 * pixel of the rim, only the longest is drawn. Edges outside the window are skipped.
 */
export class Fans {
  constructor(tree) {
    this.tree = tree;
    this.hubs = Array.from(tree.degree.keys()).filter((k) => tree.degree[k] >= MANY);
    this.hidden = new Uint8Array(this.hubs.length > 0 ? tree.n : 0); // indexed by the lower end of the edge
  }

  /** Choose the edges to hide in a scene. */
  update(scene) {
    this.scene = scene;
    this.hidden.fill(0);
    if (scene.detail.long === Infinity) return; // cells limit all edges
    for (const hub of this.hubs) if (scene.layout.isPlaced(hub)) this.#thin(hub);
  }

  #thin(hub) {
    const { hidden, scene } = this;
    const { x, y } = scene.layout;
    const bins = this.#bins(hub);
    const longest = new Int32Array(bins).fill(-1);
    const reach = new Float64Array(bins);
    for (let k = hub + 1; k < hub + this.tree.size[hub]; k += this.tree.size[k]) {
      if (!scene.layout.isPlaced(k)) continue;
      const [angle, length] = rimward(x[hub], y[hub], x[k], y[k]);
      const bin = Math.min(bins - 1, Math.floor((angle / (2 * Math.PI) + 0.5) * bins));
      hidden[k] = 1;
      if (longest[bin] < 0 || length > reach[bin]) [longest[bin], reach[bin]] = [k, length];
    }
    for (const k of longest) if (k >= 0) hidden[k] = this.#misses(hub, k) ? 1 : 0;
  }

  /** Number of parts of the rim, such that lines are at most a cell apart where they end or leave the window. */
  #bins(hub) {
    const { layout, width, height, detail } = this.scene;
    const { cx, cy, radius: disk } = layout;
    const [px, py] = [cx + disk * layout.x[hub], cy - disk * layout.y[hub]];
    const corner = Math.hypot(Math.max(px, width - px), Math.max(py, height - py));
    const rim = disk * (1 - Math.hypot(layout.x[hub], layout.y[hub]));
    return Math.ceil((2 * Math.PI * disk) / (detail.edgeCell * Math.max(1, rim / corner)));
  }

  /** Whether an edge is outside the window: tests the straight line, with a margin for the bend of the geodesic. */
  #misses(hub, k) {
    const { layout, width, height } = this.scene;
    const { cx, cy, radius: disk } = layout;
    const [x, y, u, v] = [layout.x[hub], layout.y[hub], layout.x[k], layout.y[k]];
    const around = disk * bend(x, y, u, v) + 2;
    let [first, last] = [0, 1]; // the part of the line that is inside
    const cut = (room, step) => {
      if (step > 0) last = Math.min(last, room / step);
      else if (step < 0) first = Math.max(first, room / step);
      else if (room < 0) last = -1;
    };
    const [px, py, dx, dy] = [cx + disk * x, cy - disk * y, disk * (u - x), disk * (y - v)];
    cut(px + around, -dx);
    cut(width - px + around, dx);
    cut(py + around, -dy);
    cut(height - py + around, dy);
    return first > last;
  }
}

/** The angle at which the geodesic from (x, y) via (u, v) meets the rim, and tanh of half the distance to (u, v). */
function rimward(x, y, u, v) {
  // Move (x, y) to the origin: (q - p) / (1 - conj(p) q). The geodesic becomes a straight line to a point e of the rim.
  const [ar, ai, br, bi] = [u - x, v - y, 1 - x * u - y * v, y * u - x * v];
  const [wr, wi] = [ar * br + ai * bi, ai * br - ar * bi];
  const size = Math.hypot(wr, wi) || 1;
  const [er, ei] = [wr / size, wi / size];
  // Move back: (e + p) / (1 + conj(p) e).
  const [cr, ci, dr, di] = [er + x, ei + y, 1 + x * er + y * ei, x * ei - y * er];
  return [Math.atan2(ci * dr - cr * di, cr * dr + ci * di), size / (br * br + bi * bi)];
}

/** The largest distance between the geodesic and the straight line between two points of the disk. */
function bend(x, y, u, v) {
  const circle = geodesicCircle(x, y, u, v);
  if (circle === null) return 0;
  const square = ((u - x) ** 2 + (v - y) ** 2) / 4;
  const radius = circle[2];
  return square / (radius + Math.sqrt(Math.max(0, radius * radius - square)));
}

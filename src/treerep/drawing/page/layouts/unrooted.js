// The equal-angle layout: every branch gets an angle proportional to its number of tips, and edges do not cross.

import { bounds, PlaneLayout } from "./plane.js";

export class UnrootedLayout extends PlaneLayout {
  constructor(tree) {
    super(tree);
    this.kind = "unrooted";
    this.angle = new Float64Array(tree.n); // direction of the edge above
    this.deepest = new Int32Array(tree.n); // the tip farthest from the root, in each subtree
    this.boxes = ["left", "top", "right", "bottom"].map(() => new Float32Array(tree.n)); // with the edge above
  }

  compute() {
    const { n, up, length, size } = this.tree;
    const { rows, x, y, angle, power } = this;
    const rootIsTip = n > 1 && size[1] === n - 1 ? 1 : 0; // a root with one neighbor is a tip of the unrooted tree
    this.turn = (2 * Math.PI) / (rows.total + rootIsTip);
    for (let k = 1; k < n; k++) {
      angle[k] = (rootIsTip + this.row(k)) * this.turn;
      const long = length[k] > 0 ? length[k] ** power : 0;
      x[k] = x[up[k]] + long * Math.cos(angle[k]);
      y[k] = y[up[k]] + long * Math.sin(angle[k]);
    }
    this.#turnFlat();
    this.deepest.fill(-1);
    this.#bound();
  }

  /** Rotate the picture until it is wider than high. */
  #turnFlat() {
    const { x, y, angle } = this;
    const n = this.tree.n;
    const [mx, my] = [mean(x), mean(y)];
    let [re, im] = [0, 0];
    for (let k = 0; k < n; k++) {
      const [dx, dy] = [x[k] - mx, y[k] - my];
      re += dx * dx - dy * dy;
      im += 2 * dx * dy;
    }
    const turn = -Math.atan2(im, re) / 2;
    const [c, s] = [Math.cos(turn), Math.sin(turn)];
    for (let k = 0; k < n; k++) {
      [x[k], y[k]] = [c * x[k] - s * y[k], s * x[k] + c * y[k]];
      angle[k] += turn;
    }
  }

  #bound() {
    const { n, up } = this.tree;
    const { x, y, deepest, depth } = this;
    const [left, top, right, bottom] = this.boxes;
    for (const side of [left, top]) side.fill(Infinity);
    for (const side of [right, bottom]) side.fill(-Infinity);
    for (let k = n - 1; k >= 0; k--) {
      const p = Math.max(0, up[k]);
      if (deepest[k] < k) deepest[k] = k;
      left[k] = Math.min(left[k], x[k], x[p]);
      right[k] = Math.max(right[k], x[k], x[p]);
      top[k] = Math.min(top[k], y[k], y[p]);
      bottom[k] = Math.max(bottom[k], y[k], y[p]);
      left[p] = Math.min(left[p], left[k]);
      right[p] = Math.max(right[p], right[k]);
      top[p] = Math.min(top[p], top[k]);
      bottom[p] = Math.max(bottom[p], bottom[k]);
      if (deepest[p] <= p || depth[deepest[k]] > depth[deepest[p]]) deepest[p] = deepest[k];
    }
    this.box = bounds(x, y);
  }

  look() {
    const { width, height } = this.window;
    [this.x0, this.y0] = this.pointAt(-40, -40);
    [this.x1, this.y1] = this.pointAt(width + 40, height + 40);
  }

  isOutside(k) {
    const [left, top, right, bottom] = this.boxes;
    return right[k] < this.x0 || left[k] > this.x1 || bottom[k] < this.y0 || top[k] > this.y1;
  }

  /** A subtree lies in a wedge with the parent at its tip. */
  thickness(k) {
    const { rows, depth, reach } = this;
    const angle = (rows.bottom[k] - rows.top[k]) * this.turn;
    return Math.min(angle, 2) * (reach[k] - depth[Math.max(0, this.tree.up[k])]) * this.sx;
  }

  /** Most points are closer to the middle than the farthest one. */
  sizeAt() {
    return Math.min(0.65, this.rowHeight() / 28);
  }

  /** A tip has the room between its neighbors, however short its edge is. */
  room(k) {
    return Math.max(this.thickness(k), 0.6 * this.rowHeight());
  }

  angleAt(k) {
    return this.angle[k];
  }

  endOf(k) {
    return [this.x[this.deepest[k]], this.y[this.deepest[k]]];
  }

  line(k) {
    const end = this.isPlaced(k) ? [this.px[k], this.py[k]] : this.pixelOf(k);
    return [...this.pixelOf(this.tree.up[k]), ...end];
  }

  stem(k) {
    return this.line(k);
  }

  spine() {
    return null;
  }
}

function mean(values) {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

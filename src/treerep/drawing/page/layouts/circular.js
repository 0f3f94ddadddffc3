// The circular layout: the rectangular layout in polar coordinates.

import { bounds, PlaneLayout } from "./plane.js";
import { lastChildren } from "./rows.js";

const GAP = 0.02; // share of the circle between the last and the first tip
const BEND = 0.3; // pixels by which a polyline may differ from its arc

export class CircularLayout extends PlaneLayout {
  constructor(tree) {
    super(tree);
    this.kind = "circular";
    this.lastChild = lastChildren(tree);
  }

  compute() {
    const { n } = this.tree;
    this.turn = (2 * Math.PI * (1 - GAP)) / this.rows.total; // angle of a row
    for (let k = 0; k < n; k++) {
      const angle = this.angleAt(k);
      this.x[k] = this.depth[k] * Math.cos(angle);
      this.y[k] = this.depth[k] * Math.sin(angle);
    }
    // Rings around the tree need the whole circle.
    const r = this.reach[0];
    this.box = this.hasRings ? [-r, -r, r, r] : bounds(this.x, this.y);
  }

  /** Leave space for rings around the tree, or fit the tree itself. */
  setRings(on) {
    if (Boolean(this.hasRings) === on) return;
    this.hasRings = on;
    if (this.rows) this.arrange();
  }

  angleAt(k) {
    return this.row(k) * this.turn;
  }

  /** The part of the window in polar coordinates: radii, and one or two ranges of angles. */
  look() {
    const { width, height } = this.window;
    const [left, top] = this.pointAt(-40, -40);
    const [right, bottom] = this.pointAt(width + 40, height + 40);
    const nearest = Math.hypot(Math.max(left, 0, -right), Math.max(top, 0, -bottom));
    const corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
    this.r0 = nearest;
    this.r1 = Math.max(...corners.map(([x, y]) => Math.hypot(x, y)));
    this.ranges = [[0, 2 * Math.PI]];
    if (nearest === 0) return;
    const middle = Math.atan2((top + bottom) / 2, (left + right) / 2);
    const aside = corners.map(([x, y]) => {
      const turn = Math.atan2(y, x) - middle;
      return Math.atan2(Math.sin(turn), Math.cos(turn));
    });
    const from = middle + Math.min(...aside);
    const to = middle + Math.max(...aside);
    this.ranges = [-2, 0, 2].map((turns) => [from + turns * Math.PI, to + turns * Math.PI]);
  }

  isOutside(k) {
    if (this.depth[this.tree.up[k]] > this.r1 || this.reach[k] < this.r0) return true;
    const from = this.rows.top[k] * this.turn;
    const to = this.rows.bottom[k] * this.turn;
    return !this.ranges.some(([first, last]) => from <= last && to >= first);
  }

  thickness(k) {
    return (this.rows.bottom[k] - this.rows.top[k]) * this.turn * this.reach[k] * this.sx;
  }

  endOf(k) {
    return this.#polar(this.reach[k], this.angleAt(k));
  }

  #polar(r, angle) {
    return [r * Math.cos(angle), r * Math.sin(angle)];
  }

  /** An arc in pixels, as a polyline: as many lines as a smooth arc needs. */
  #arc(r, from, to) {
    const radius = r * this.sx;
    const step = Math.sqrt((8 * BEND) / Math.max(radius, 1)); // angle of a line
    const steps = Math.max(1, Math.min(400, Math.ceil(Math.abs(to - from) / step)));
    const line = [];
    for (let i = 0; i <= steps; i++) line.push(...this.pixel(...this.#polar(r, from + ((to - from) * i) / steps)));
    return line;
  }

  line(k) {
    const parent = this.tree.up[k];
    const arc = this.#arc(this.depth[parent], this.angleAt(parent), this.angleAt(k));
    const end = this.isPlaced(k) ? [this.px[k], this.py[k]] : this.pixelOf(k);
    return [...arc, ...end];
  }

  stem(k) {
    const parent = this.depth[this.tree.up[k]];
    const angle = this.angleAt(k);
    return [...this.pixel(...this.#polar(parent, angle)), this.px[k], this.py[k]];
  }

  spine(k) {
    const last = this.lastChild[k];
    if (last < 0 || this.isBundle(k) || this.tree.collapsed?.[k]) return null;
    const range = this.ranges.find(([from, to]) => this.angleAt(k + 1) <= to && this.angleAt(last) >= from);
    if (!range) return null;
    const [from, to] = [Math.max(this.angleAt(k + 1), range[0]), Math.min(this.angleAt(last), range[1])];
    return this.#arc(this.depth[k], from, to);
  }

  tipLine() {
    const [cx, cy] = this.pixel(0, 0);
    return { cx, cy, r: this.reach[0] * this.sx };
  }
}

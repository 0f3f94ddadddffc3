// The rectangular layout: x is the distance from the root, and every tip has a row.

import { PlaneLayout, TALLEST_ROW } from "./plane.js";
import { lastChildren } from "./rows.js";

const READABLE_ROW = 18; // height of a row with a readable label, in pixels

export class RectangularLayout extends PlaneLayout {
  constructor(tree) {
    super(tree);
    this.kind = "rectangular";
    this.lastChild = lastChildren(tree);
  }

  compute() {
    const { n } = this.tree;
    this.x.set(this.depth);
    for (let k = 0; k < n; k++) this.y[k] = this.row(k);
    this.box = [0, 0, this.reach[0], this.rows.total];
  }

  /** Rows fill the height of the room, and lengths fill its width. */
  fitted(room, wide, high) {
    const across = Math.max(60, room.width - this.labelRoom) / wide;
    return [across, Math.min(TALLEST_ROW, room.height / high)];
  }

  get beside() {
    return this.labelRoom;
  }

  rowHeight(scale = this.sy) {
    return scale;
  }

  readableZoom() {
    return READABLE_ROW / this.fy;
  }

  /** The wheel zooms the rows. Lengths are zoomed separately. */
  zoomed(zx, zy, factor, axis) {
    return { zx: axis === "x" || axis === "both" ? zx * factor : zx, zy: axis === "x" ? zy : zy * factor };
  }

  look() {
    const { width, height } = this.window;
    [this.x0, this.y0] = this.pointAt(-40, -40);
    [this.x1, this.y1] = this.pointAt(width + 40, height + 40);
  }

  isOutside(k) {
    const { rows, tree } = this;
    if (rows.bottom[k] < this.y0 || rows.top[k] > this.y1) return true;
    return this.depth[tree.up[k]] > this.x1 || this.reach[k] < this.x0;
  }

  thickness(k) {
    return (this.rows.bottom[k] - this.rows.top[k]) * this.sy;
  }

  endOf(k) {
    return [this.reach[k], this.y[k]];
  }

  /** Coordinates far outside the window lose digits, and a clamped line looks the same. */
  #clamp(px) {
    return Math.min(Math.max(px, -1e4), 2e4);
  }

  line(k) {
    const [px, py] = this.pixelOf(this.tree.up[k]);
    const [qx, qy] = this.isPlaced(k) ? [this.px[k], this.py[k]] : this.pixelOf(k);
    const [x, u] = [this.#clamp(px), this.#clamp(qx)];
    const [y, v] = [this.#clamp(py), this.#clamp(qy)];
    return [x, y, x, v, u, v];
  }

  /** The horizontal line to a placed position. */
  stem(k) {
    const x = this.#clamp(this.ox + this.depth[this.tree.up[k]] * this.sx);
    return [x, this.py[k], this.#clamp(this.px[k]), this.py[k]];
  }

  /** The vertical line that joins the children of a placed position, or null. */
  spine(k) {
    const last = this.lastChild[k];
    if (last < 0 || this.isBundle(k) || this.tree.collapsed?.[k]) return null;
    const y = this.#clamp(this.oy + this.y[k + 1] * this.sy);
    return [this.px[k], y, this.px[k], this.#clamp(this.oy + this.y[last] * this.sy)];
  }

  tipLine() {
    return { x: this.ox + this.reach[0] * this.sx };
  }
}

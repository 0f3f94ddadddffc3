// Layouts in the plane: positions are computed once, and a camera maps them to pixels.
//
// All layouts, including the disk, have this interface. Positions k are preorder positions of the tree.
//   kind                      "disk", "rectangular", "circular" or "unrooted"
//   setWindow(window)         the size of the picture and the room for the tree; see `Viewer.resize`
//   setLengths(shape, spread) draw edges of length^shape.power; `spread` matters to the disk only
//   place(detail)             place what is visible: `shown` lists `count` positions with pixels `px`, `py`
//   isPlaced(k), isDrawn(k)   whether the last `place` placed a position, and whether it is large enough to draw
//   isBundle(k)               whether the whole subtree is drawn as one line, because it is too thin
//   pixelOf(k)                the pixel of any position, also outside the window
//   angleAt(k)                the direction away from the parent, in radians, clockwise from the right
//   sizeAt(k)                 the size of dots, 1 in the middle of the disk
//   room(k)                   pixels across that the subtree of a placed position has for itself
//   line(k)                   the edge above k as [x, y, x, y, ...] in pixels, from the parent to k
//   trace(pen, k)             add this edge to the path of a pen
//   stem(k), spine(k)         in the plane: the line to a placed position, and the line that joins its children or null
//   lengthPerPixel            length of the tree per pixel, for a scale bar; null if lengths have no fixed scale
//   tips()                    the visible tips in order: { k, x, y, angle, room }
//   tipLine()                 where all tips end: { x } or { cx, cy, r }; null if they have no common line
//   drag, zoomBy, pan         move the camera
//   flightHome, flightTo, flightAround, flightToPosition   moves of the camera: { time, step(share) }
//   position()                the camera as plain JSON, independent of the window

import { depthsOf, isCollapsed, rowsOf } from "./rows.js";

const MARGIN = 40; // pixels around the window in which edges are still placed
const FEW = 30; // points around a position in the middle
export const TALLEST_ROW = 46; // pixels, so that a few tips are not pulled apart
const FLIGHT_TIME = 420; // milliseconds

export class PlaneLayout {
  constructor(tree) {
    const n = tree.n;
    this.tree = tree;
    this.x = new Float64Array(n);
    this.y = new Float64Array(n);
    this.px = new Float32Array(n);
    this.py = new Float32Array(n);
    this.shown = new Int32Array(n);
    this.count = 0;
    this.seen = new Int32Array(n);
    this.bundled = new Int32Array(n); // the last walk that drew a subtree as one line
    this.walks = 0;
    this.top = 0;
    this.labelRoom = 0; // pixels beside the tips
    this.camera = { u: 0.5, v: 0.5, zx: 1, zy: 1 };
  }

  /** Rows change when subtrees are collapsed or expanded. */
  arrange() {
    Object.assign(this, { rows: rowsOf(this.tree) });
    this.compute();
    this.#fit();
  }

  setLengths({ power }) {
    this.power = power;
    Object.assign(this, depthsOf(this.tree, power));
    this.arrange();
  }

  setWindow(window) {
    this.window = window;
    if (this.box) this.#fit();
  }

  /** The row of a position: halfway between its first and its last tip. */
  row(k) {
    return (this.rows.top[k] + this.rows.bottom[k]) / 2;
  }

  // The camera: (u, v) is the point of the tree's box in the middle of the room, and zx, zy are factors on the scale
  // at which the tree fits into the room.

  #fit() {
    const { room } = this.window;
    const [left, top, right, bottom] = this.box;
    const wide = Math.max(right - left, 1e-300);
    const high = Math.max(bottom - top, 1e-300);
    [this.fx, this.fy] = this.fitted(room, wide, high);
    Object.assign(this, { wide, high });
  }

  /** Pixels per unit at which the tree fits: the same in both directions, unless a layout has another rule. */
  fitted(room, wide, high) {
    const space = 2 * this.labelRoom;
    const scale = Math.min(Math.max(60, room.width - space) / wide, Math.max(60, room.height - space) / high);
    return [scale, scale];
  }

  get sx() {
    return this.fx * this.camera.zx;
  }

  get sy() {
    return this.fy * this.camera.zy;
  }

  get zoom() {
    return this.camera.zy;
  }

  /** The limits of the zoom: from a small tree to rows that are higher than a label. */
  get mostZoom() {
    return Math.max(60, TALLEST_ROW / this.rowHeight(this.fy));
  }

  /** Pixels between neighboring tips at a scale. */
  rowHeight(scale = this.sy) {
    return (2 * Math.PI * Math.max(this.reach[0], 1e-300) * scale) / this.rows.total;
  }

  get lengthPerPixel() {
    return this.power === 1 ? 1 / this.sx : null;
  }

  pixel(x, y) {
    const { window, box, camera } = this;
    const { room } = window;
    return [
      room.left + (room.width - this.beside) / 2 + (x - box[0] - camera.u * this.wide) * this.sx,
      room.top + room.height / 2 + (y - box[1] - camera.v * this.high) * this.sy,
    ];
  }

  /** Pixels on the right of the room that only labels use. */
  get beside() {
    return 0;
  }

  /** The point of the layout at a pixel. */
  pointAt(px, py) {
    const [x, y] = this.pixel(0, 0);
    return [(px - x) / this.sx, (py - y) / this.sy];
  }

  pixelOf(k) {
    return this.pixel(this.x[k], this.y[k]);
  }

  // Placing.

  place(detail) {
    const { up, size } = this.tree;
    this.walks++;
    this.count = 0;
    this.least = detail.cell;
    this.look();
    [this.ox, this.oy] = this.pixel(0, 0);
    let [group, sum, best] = [-1, 0, -1]; // neighboring thin subtrees of one parent become one line
    const flush = () => {
      if (best >= 0) this.#bundle(best);
      [group, sum, best] = [-1, 0, -1];
    };
    for (let k = 0; k < this.tree.n; ) {
      if (k > 0 && this.isOutside(k)) {
        k += size[k];
        continue;
      }
      const thick = this.thickness(k);
      if (k === 0 || thick >= this.least) {
        flush();
        this.#show(k, this.x[k], this.y[k]);
        k += isCollapsed(this.tree, k) ? size[k] : 1;
        continue;
      }
      if (up[k] !== group || sum + thick > this.least) flush();
      group = up[k];
      sum += thick;
      if (best < 0 || this.reach[k] > this.reach[best]) best = k;
      k += size[k];
    }
    flush();
  }

  #show(k, x, y) {
    this.px[k] = this.ox + x * this.sx;
    this.py[k] = this.oy + y * this.sy;
    this.seen[k] = this.walks;
    this.shown[this.count++] = k;
  }

  #bundle(k) {
    const [x, y] = this.tree.size[k] > 1 ? this.endOf(k) : [this.x[k], this.y[k]];
    this.bundled[k] = this.walks;
    this.#show(k, x, y);
  }

  isPlaced(k) {
    return this.seen[k] === this.walks;
  }

  isDrawn(k) {
    return this.isPlaced(k) && this.isInside(this.px[k], this.py[k]);
  }

  isBundle(k) {
    return this.bundled[k] === this.walks && this.tree.size[k] > 1;
  }

  isInside(px, py, margin = MARGIN) {
    const { width, height } = this.window;
    return px > -margin && py > -margin && px < width + margin && py < height + margin;
  }

  sizeAt() {
    return Math.min(0.65, this.rowHeight() / 20);
  }

  room(k) {
    return this.thickness(k);
  }

  angleAt() {
    return 0;
  }

  tips() {
    const found = [];
    for (let i = 0; i < this.count; i++) {
      const k = this.shown[i];
      if (this.tree.size[k] > 1 && !this.isBundle(k) && !isCollapsed(this.tree, k)) continue;
      found.push({ k, x: this.px[k], y: this.py[k], angle: this.angleAt(k), room: this.room(k) });
    }
    return found.sort((one, two) => one.k - two.k);
  }

  tipLine() {
    return null;
  }

  /** The position nearest to the middle of the room. */
  get anchor() {
    const { room } = this.window;
    const [mx, my] = [room.left + room.width / 2, room.top + room.height / 2];
    let [best, least] = [0, Infinity];
    for (let i = 0; i < this.count; i++) {
      const k = this.shown[i];
      const away = Math.hypot(this.px[k] - mx, this.py[k] - my);
      if (away < least) [best, least] = [k, away];
    }
    return best;
  }

  trace(pen, k) {
    const line = this.line(k);
    pen.moveTo(line[0], line[1]);
    for (let i = 2; i < line.length; i += 2) pen.lineTo(line[i], line[i + 1]);
  }

  /** Draw the background of the tree. */
  paintGround(pen, scene) {
    pen.fillStyle = scene.theme.disk;
    pen.fillRect(0, 0, scene.width, scene.height);
  }

  // Navigation.

  /** Move the camera. The middle of the room stays inside the tree's box, so that the tree is always in sight. */
  #look(camera) {
    const inside = (share) => Math.min(1, Math.max(0, share));
    const most = this.mostZoom;
    this.camera = {
      u: inside(camera.u),
      v: inside(camera.v),
      zx: Math.min(most, Math.max(0.5, camera.zx)),
      zy: Math.min(most, Math.max(0.5, camera.zy)),
    };
  }

  drag(from, to) {
    const { u, v, zx, zy } = this.camera;
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    this.#look({ u: u - dx / (this.sx * this.wide), v: v - dy / (this.sy * this.high), zx, zy });
  }

  pan(dx, dy) {
    this.drag([0, 0], [-90 * dx, -90 * dy]);
  }

  /** Zoom by a factor. The point at the pixel does not move. `axis` is "x" or "y" for one direction only. */
  zoomBy(factor, pixel, axis = null) {
    const [x, y] = this.pointAt(...pixel);
    const { zx, zy } = this.camera;
    this.#look({ ...this.camera, ...this.zoomed(zx, zy, factor, axis) });
    const [px, py] = this.pixel(x, y);
    this.drag([px, py], pixel);
  }

  zoomed(zx, zy, factor) {
    return { zx: zx * factor, zy: zy * factor };
  }

  position() {
    return { ...this.camera };
  }

  #flight(target) {
    const start = this.camera;
    const mix = (share, from, to) => from + share * (to - from);
    const step = (share) => {
      const eased = share * share * (3 - 2 * share);
      this.#look({
        u: mix(eased, start.u, target.u),
        v: mix(eased, start.v, target.v),
        zx: Math.exp(mix(eased, Math.log(start.zx), Math.log(target.zx))),
        zy: Math.exp(mix(eased, Math.log(start.zy), Math.log(target.zy))),
      });
    };
    return { time: FLIGHT_TIME, step };
  }

  flightHome() {
    return this.#flight({ u: 0.5, v: 0.5, zx: 1, zy: 1 });
  }

  flightToPosition({ u, v, zx, zy }) {
    return this.#flight({ u, v, zx, zy });
  }

  /** Center a position. Zoom in until its surroundings are readable. */
  flightTo(k) {
    const { zx, zy } = this.camera;
    const factor = Math.max(1, this.readableZoom(k) / zy);
    return this.#flight({ ...this.#shareOf(this.x[k], this.y[k]), ...this.zoomed(zx, zy, factor, null) });
  }

  /** The zoom at which the nearest points of a position fill the room. */
  readableZoom(k) {
    const { up, size, pointsBelow } = this.tree;
    let top = k;
    while (up[top] >= 0 && pointsBelow[top] < FEW) top = up[top];
    const range = [top, top + size[top]];
    const [left, above, right, below] = bounds(this.x.subarray(...range), this.y.subarray(...range));
    const { room } = this.window;
    const wide = (0.6 * room.width) / Math.max((right - left) * this.fx, 1);
    const high = (0.6 * room.height) / Math.max((below - above) * this.fy, 1);
    return Math.min(wide, high);
  }

  /** Show several positions, if they are not in sight already. */
  flightAround(positions) {
    const [xs, ys] = [positions.map((k) => this.x[k]), positions.map((k) => this.y[k])];
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const { room } = this.window;
    const corners = [this.pixel(left, top), this.pixel(right, bottom)];
    const isIn = ([px, py]) => px > room.left && py > room.top && px < room.right && py < room.bottom;
    if (corners.every(isIn)) return null;
    const zx = (0.8 * room.width) / Math.max((right - left) * this.fx, 1e-300);
    const zy = (0.8 * room.height) / Math.max((bottom - top) * this.fy, 1e-300);
    const middle = this.#shareOf((left + right) / 2, (top + bottom) / 2);
    return this.#flight({ ...middle, ...this.zoomed(1, 1, Math.min(zx, zy, 8), null) });
  }

  #shareOf(x, y) {
    return { u: (x - this.box[0]) / this.wide, v: (y - this.box[1]) / this.high };
  }
}

/** The smallest box around points: [left, top, right, bottom]. */
export function bounds(x, y) {
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (let k = 0; k < x.length; k++) {
    if (x[k] < box[0]) box[0] = x[k];
    if (y[k] < box[1]) box[1] = y[k];
    if (x[k] > box[2]) box[2] = x[k];
    if (y[k] > box[3]) box[3] = y[k];
  }
  return box;
}

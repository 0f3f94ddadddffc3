// The hyperbolic disk as a layout: a window onto the disk, and moves of the focus. The interface is in plane.js.

import { DiskWalk } from "./disk_walk.js";
import { geodesicCircle, rotation, translationAlong, translationBetween, turnOf } from "./geometry.js";

const ZOOMS = [0.4, 60];
// Subtrees are walked this many times farther than they are drawn, because paths may turn back.
const FARTHER = 8;
const LONGEST_FLIGHT = 60; // hyperbolic length
const PARTS = 12; // of a long drag that would leave the tree
const LEASH = 1.8; // hyperbolic length by which the focus may leave the tree

export class DiskLayout extends DiskWalk {
  constructor(tree) {
    super(tree);
    this.kind = "disk";
    this.zoom = 1;
    this.px = new Float32Array(tree.n);
    this.py = new Float32Array(tree.n);
    this.lengthPerPixel = null;
  }

  setLengths({ scale, power }, spread) {
    super.setLengths(scale * spread, power);
  }

  setWindow(window) {
    const { room } = window;
    this.window = window;
    this.cx = room.left + room.width / 2;
    this.cy = room.top + room.height / 2;
    this.radius0 = Math.max(40, Math.min(room.width, room.height) / 2);
  }

  /** The radius of the disk, in pixels. */
  get radius() {
    return this.radius0 * this.zoom;
  }

  // The largest |a|^2 = 1 / (1 - |z|^2) to draw: up to the rim, or slightly beyond the corners of the window.
  #limit(detail) {
    const rim = this.radius / (2 * detail.rim);
    const { cx, cy } = this;
    const { width, height } = this.window;
    const corner = Math.hypot(Math.max(cx, width - cx), Math.max(cy, height - cy)) / this.radius;
    return corner < 1 ? Math.min(rim, 8 / (1 - corner * corner)) : rim;
  }

  place(detail) {
    this.drawLimit = this.#limit(detail);
    this.walk(FARTHER * this.drawLimit);
    const { cx, cy, radius, shown, x, y } = this;
    for (let i = 0; i < this.count; i++) {
      const k = shown[i];
      this.px[k] = cx + radius * x[k];
      this.py[k] = cy - radius * y[k];
    }
  }

  isDrawn(k) {
    return this.isPlaced(k) && this.grow[k] <= this.drawLimit;
  }

  isBundle() {
    return false;
  }

  pixelOf(k) {
    if (this.isPlaced(k)) return [this.cx + this.radius * this.x[k], this.cy - this.radius * this.y[k]];
    const { at } = this.locate(k);
    return [this.cx + this.radius * at[0], this.cy - this.radius * at[1]];
  }

  angleAt(k) {
    const parent = this.tree.up[k];
    if (parent < 0 || !this.isPlaced(parent)) return 0;
    return Math.atan2(this.py[k] - this.py[parent], this.px[k] - this.px[parent]);
  }

  sizeAt(k) {
    return 1 / Math.sqrt(this.grow[k]);
  }

  room(k) {
    return 40 * this.sizeAt(k);
  }

  tips() {
    return [];
  }

  tipLine() {
    return null;
  }

  paintGround(pen, scene) {
    const { cx, cy, radius } = this;
    const { theme } = scene;
    pen.fillStyle = theme.outside;
    pen.fillRect(0, 0, scene.width, scene.height);
    const shade = pen.createRadialGradient(cx, cy, 0, cx, cy, radius);
    shade.addColorStop(0, theme.disk);
    shade.addColorStop(0.72, theme.disk);
    shade.addColorStop(1, theme.diskEdge);
    pen.fillStyle = shade;
    pen.strokeStyle = theme.rim;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.arc(cx, cy, radius, 0, 2 * Math.PI);
    pen.fill();
    pen.stroke();
  }

  /** Center and radius of the arc of an edge in pixels, or null if the edge is nearly straight. */
  #arc(from, to) {
    const { radius } = this;
    const [x, y, u, v] = [this.x[from], this.y[from], this.x[to], this.y[to]];
    const chord = Math.hypot(u - x, v - y);
    const circle = chord * radius > 6 ? geodesicCircle(x, y, u, v) : null;
    // An arc that deviates by less than a third of a pixel is drawn as a line.
    if (circle === null || (chord * chord * radius) / (8 * circle[2]) < 0.3) return null;
    const [a, b, r] = circle;
    return { a, b, r, start: Math.atan2(b - y, x - a), end: Math.atan2(b - v, u - a) };
  }

  /** The edge above a placed position. Its parent is placed too. */
  trace(pen, k) {
    const parent = this.tree.up[k];
    const arc = this.#arc(parent, k);
    pen.moveTo(this.px[parent], this.py[parent]);
    if (arc === null) {
      pen.lineTo(this.px[k], this.py[k]);
      return;
    }
    const { a, b, r, start, end } = arc;
    const { cx, cy, radius } = this;
    pen.arc(cx + radius * a, cy - radius * b, radius * r, start, end, Math.sin(end - start) < 0);
  }

  line(k) {
    const parent = this.tree.up[k];
    const arc = this.#arc(parent, k);
    if (arc === null) return [this.px[parent], this.py[parent], this.px[k], this.py[k]];
    const { a, b, r, start, end } = arc;
    const turn = Math.atan2(Math.sin(end - start), Math.cos(end - start));
    const steps = Math.max(2, Math.min(24, Math.ceil(Math.abs(turn) * Math.sqrt((this.radius * r) / 2.4))));
    const line = [];
    for (let i = 0; i <= steps; i++) {
      const angle = start + (turn * i) / steps;
      line.push(this.cx + this.radius * (a + r * Math.cos(angle)), this.cy + this.radius * (r * Math.sin(angle) - b));
    }
    return line;
  }

  // Navigation.

  /** The point of the disk at a pixel, kept away from the rim. */
  pointAt(px, py) {
    const [x, y] = [(px - this.cx) / this.radius, (this.cy - py) / this.radius];
    const size = Math.hypot(x, y);
    return size <= 0.97 ? [x, y] : [(0.97 * x) / size, (0.97 * y) / size];
  }

  drag(from, to) {
    if (this.#moveNear(translationBetween(this.pointAt(...from), this.pointAt(...to)))) return;
    // Go as far as possible.
    const on = (share) => this.pointAt(from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1]));
    for (let i = 0; i < PARTS && this.#moveNear(translationBetween(on(i / PARTS), on((i + 1) / PARTS))); i++);
  }

  /** Move the focus by a hyperbolic length in a direction of the screen. */
  pan(dx, dy, length = 0.35) {
    this.#moveNear(translationAlong([-dx, dy], length / Math.sqrt(this.zoom)));
  }

  /** Move the tree, unless the focus would leave it. Return whether it moved. */
  #moveNear(isometry) {
    const before = this.distanceToTree();
    const { anchor, view } = this;
    this.move(isometry);
    const after = this.distanceToTree();
    const isLost = after > LEASH && after > before;
    if (isLost) Object.assign(this, { anchor, view });
    return !isLost;
  }

  /** Zoom by a factor. The point at the pixel does not move, unless the focus is in flight. */
  zoomBy(factor, pixel, _axis, isFlying = false) {
    const before = this.pointAt(...pixel);
    const zoom = Math.min(Math.max(this.zoom * factor, ZOOMS[0]), ZOOMS[1]);
    if (zoom === this.zoom) return;
    this.zoom = zoom;
    if (!isFlying) this.move(translationBetween(before, this.pointAt(...pixel)));
  }

  position() {
    const view = this.view.map((part) => Number(part.toPrecision(9)));
    return { anchor: this.tree.node[this.anchor], view, zoom: this.zoom };
  }

  flightToPosition({ anchor, view, zoom }) {
    const step = () => {
      this.zoom = zoom;
      this.anchor = this.tree.position[anchor];
      this.view = view;
    };
    return { time: 0, step };
  }

  flightHome() {
    this.zoom = 1;
    return this.flightTo(0, [1, 0, 0, 0]);
  }

  /** Fly to a position. At the end, the picture gets the rotation `turn`, if given. */
  flightTo(target, turn = null) {
    this.#skip(target);
    const { distance } = this.locate(target);
    const time = distance < 1e-9 ? 0 : Math.min(1200, 320 + 110 * distance);
    return { time, step: (share) => this.#approach(share, target, turn, distance) };
  }

  /** Fly to the middle of a path, unless its ends are in sight. */
  flightAround(positions) {
    const ends = [positions[0], positions.at(-1)];
    const isIn = (k) => this.isPlaced(k) && this.grow[k] < 12;
    if (this.zoom <= 1.2 && ends.every(isIn)) return null;
    const lengths = positions.slice(1).map((k, i) => this.drawnLength(Math.max(k, positions[i])));
    const half = lengths.reduce((sum, length) => sum + length, 0) / 2;
    let [far, i] = [0, 0];
    while (i < lengths.length && far + lengths[i] / 2 < half) far += lengths[i++];
    this.zoom = Math.min(this.zoom, 1);
    return this.flightTo(positions[i]);
  }

  /** Shorten a long flight: start closer to its target. */
  #skip(target) {
    if (this.locate(target).distance <= LONGEST_FLIGHT) return;
    const { positions } = this.tree.path(target, this.anchor);
    let [far, i] = [0, 0];
    while (far < LONGEST_FLIGHT / 2 && i < positions.length - 1) {
      far += this.drawnLength(Math.max(positions[i], positions[i + 1])); // the lower end is later in preorder
      i++;
    }
    this.jump(positions[i]);
  }

  #approach(share, target, turn, whole) {
    if (share === 1) {
      this.jump(target, turn ?? this.locate(target).frame);
      return;
    }
    const left = whole * (1 - share * share * (3 - 2 * share));
    const { distance, frame } = this.locate(target);
    this.approach(target, distance - left);
    if (turn && distance > left) this.move(rotation(((left - distance) / distance) * (turnOf(frame) - turnOf(turn))));
  }
}

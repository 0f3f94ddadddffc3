// The state of the page (view, choice, selection) and the loop that draws it.

import { Attribute, THEMES } from "../painting/colors.js";
import { DETAILS } from "../painting/detail.js";
import { rotation, translationAlong, translationBetween, turnOf } from "../layouts/geometry.js";
import { Layout } from "../layouts/disk.js";
import { FaintEdges } from "../painting/faint.js";
import { dotSize, Painter } from "../painting/painter.js";
import { SvgPen } from "../painting/svg.js";
import { addTreeParts, rounded, ViewState } from "../share/state.js";
import { Arrangement } from "./arrangement.js";

const ZOOMS = [0.4, 60];
// Subtrees are walked this many times farther than they are drawn, because paths may turn back.
const FARTHER = 8;
const LONGEST_FLIGHT = 60; // hyperbolic length
const LATE = 13; // milliseconds per frame
const EARLY = 5;

export class Viewer extends EventTarget {
  constructor(canvas, tree, data) {
    super();
    Object.assign(this, { canvas, tree });
    this.pen = canvas.getContext("2d");
    this.layout = new Layout(tree);
    this.painter = new Painter(tree);
    this.attributes = data.attributes.map((attribute) => new Attribute(attribute, tree));
    this.attribute = this.attributes[data.color] ?? null;
    this.shapes = data.shapes;
    this.shape = data.shapes[0];
    this.plain = new Int32Array(tree.n).fill(1);
    this.zoom = 1;
    this.showLabels = tree.labels !== null || tree.nPoints <= 80; // hide a clutter of numbers
    this.marks = { hover: -1, chosen: -1, from: -1, path: null, selection: null };
    this.lasso = [];
    this.movingDetail = 0;
    this.lastMove = -Infinity;
    this.flight = null;
    this.frames = { walk: 0, paint: 0, drawn: 0 };
    this.theme = "light";
    this.arrangement = new Arrangement(this);
    this.faint = new FaintEdges();
    this.setSpread(1);
    this.views = new ViewState();
    addTreeParts(this.views, this);
    this.#addCamera();
    this.resize();
  }

  #addCamera() {
    const read = () => [this.tree.node[this.layout.anchor], ...[...this.layout.view, this.zoom].map(rounded)].join(",");
    const restore = (text) => {
      const [node, ...numbers] = text.split(",").map(Number);
      if (!(node in this.tree.position) || numbers.length !== 5 || numbers.some(Number.isNaN)) return;
      this.layout.anchor = this.tree.position[node];
      this.layout.view = numbers.slice(0, 4);
      this.zoom = numbers[4];
    };
    this.views.add("at", read, restore, { camera: true });
  }

  // Drawing.

  resize() {
    const box = this.canvas.getBoundingClientRect();
    this.ratio = pixelRatio();
    this.width = Math.max(1, Math.round(box.width));
    this.height = Math.max(1, Math.round(box.height));
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    // The panel is next to the disk in wide windows, and above it in narrow ones.
    const beside = this.width >= 720 ? [276, 60] : [0, 0];
    const [above, below] = this.width >= 720 ? [0, 0] : [64, 120];
    const free = [this.width - beside[0] - beside[1], this.height - above - below];
    this.cx = beside[0] + free[0] / 2;
    this.cy = above + free[1] / 2;
    this.disk0 = Math.max(40, Math.min(...free) / 2 - (this.width >= 720 ? 18 : 8));
    this.redraw();
  }

  get disk() {
    return this.disk0 * this.zoom;
  }

  /** Everything the painter needs. */
  scene(detail) {
    const palette = this.attribute ? this.attribute.palette(this.theme) : this.#plainPalette();
    const scene = {
      layout: this.layout,
      width: this.width,
      height: this.height,
      cx: this.cx,
      cy: this.cy,
      disk: this.disk,
      theme: THEMES[this.theme],
      classes: this.attribute ? this.attribute.classes() : this.plain,
      palette,
      marks: this.marks,
      lasso: this.lasso,
      showLabels: this.showLabels,
      detail,
      drawLimit: this.#drawLimit(detail),
    };
    return this.faint.apply(scene, this.tree);
  }

  #plainPalette() {
    return [THEMES[this.theme].edge, THEMES[this.theme].plain];
  }

  // The largest |a|^2 = 1 / (1 - |z|^2) to draw: up to the rim, or slightly beyond the corners of the window.
  #drawLimit(detail) {
    const rim = this.disk / (2 * detail.rim);
    const { cx, cy, width, height } = this;
    const corner = Math.hypot(Math.max(cx, width - cx), Math.max(cy, height - cy)) / this.disk;
    return corner < 1 ? Math.min(rim, 8 / (1 - corner * corner)) : rim;
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame((time) => {
      this.waiting = 0;
      this.frame(time);
    });
  }

  /** Draw the frame of a time in milliseconds. */
  frame(time) {
    if (this.ratio !== pixelRatio()) this.resize(); // a window that moves to another screen keeps its size
    if (this.flight) this.#fly(time);
    const moving = performance.now() - this.lastMove < 120;
    const coarse = moving && this.movingDetail > 0; // drawing may change movingDetail
    if (moving) this.drawMoving(this.lastFrame ? time - this.lastFrame : 0);
    else this.draw();
    this.lastFrame = moving ? time : 0;
    if (this.flight) this.redraw();
    else if (coarse) this.#settle();
  }

  /** Place and draw everything now. */
  draw(detail = DETAILS[0]) {
    const start = performance.now();
    this.layout.walk(FARTHER * this.#drawLimit(detail));
    const walked = performance.now();
    this.pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.painter.paint(this.pen, this.scene(detail));
    this.frames = { walk: walked - start, paint: performance.now() - walked, drawn: this.layout.count };
  }

  /** Reduce the detail if frames are late. `between` is the time since the last frame. */
  drawMoving(between = 0) {
    this.draw(DETAILS[this.movingDetail]);
    const spent = Math.max(this.frames.walk + this.frames.paint, between > 30 ? 0.6 * between : 0);
    if (spent > LATE && this.movingDetail < DETAILS.length - 1) this.movingDetail++;
    if (spent < EARLY && this.movingDetail > 0) this.movingDetail--;
  }

  #settle() {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.redraw(), 150);
  }

  #moved() {
    this.lastMove = performance.now();
    this.redraw();
    this.dispatchEvent(new Event("move"));
  }

  // Navigation.

  /** The point of the disk at a pixel, kept away from the rim. */
  pointAt(px, py) {
    const [x, y] = [(px - this.cx) / this.disk, (this.cy - py) / this.disk];
    const size = Math.hypot(x, y);
    return size <= 0.97 ? [x, y] : [(0.97 * x) / size, (0.97 * y) / size];
  }

  /** Move the point at one pixel to another pixel. */
  drag(from, to) {
    this.flight = null;
    this.layout.move(translationBetween(this.pointAt(...from), this.pointAt(...to)));
    this.#moved();
  }

  /** Move the focus by a hyperbolic length in a direction of the screen. */
  pan(dx, dy, length = 0.35) {
    this.flight = null;
    this.layout.move(translationAlong([-dx, dy], length / Math.sqrt(this.zoom)));
    this.#moved();
  }

  /** Zoom by a factor. The point at the pixel does not move. */
  zoomBy(factor, pixel = [this.cx, this.cy]) {
    const before = this.pointAt(...pixel);
    const zoom = Math.min(Math.max(this.zoom * factor, ZOOMS[0]), ZOOMS[1]);
    if (zoom === this.zoom) return;
    this.zoom = zoom;
    if (!this.flight) this.layout.move(translationBetween(before, this.pointAt(...pixel)));
    this.#moved();
  }

  home() {
    this.zoom = 1;
    this.flyTo(0, [1, 0, 0, 0]);
  }

  /** Fly to a position. At the end, the picture gets the rotation `turn`, if given. */
  flyTo(target, turn = null) {
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.#skip(target);
    const { distance } = this.layout.locate(target);
    if (still || distance < 1e-9) {
      this.#arrive(target, turn);
    } else {
      this.flight = { target, turn, distance, start: null, time: Math.min(1200, 320 + 110 * distance) };
    }
    this.#moved();
  }

  /** Shorten a long flight: start closer to its target. */
  #skip(target) {
    if (this.layout.locate(target).distance <= LONGEST_FLIGHT) return;
    const { positions } = this.tree.path(target, this.layout.anchor);
    let [far, i] = [0, 0];
    while (far < LONGEST_FLIGHT / 2 && i < positions.length - 1) {
      far += this.layout.drawnLength(Math.max(positions[i], positions[i + 1])); // the lower end is later in preorder
      i++;
    }
    this.layout.jump(positions[i]);
  }

  #fly(time) {
    const { flight } = this;
    flight.start ??= time;
    const share = Math.min(1, (time - flight.start) / flight.time);
    this.#moved();
    if (share === 1) {
      this.#arrive(flight.target, flight.turn);
      return;
    }
    const left = flight.distance * (1 - share * share * (3 - 2 * share));
    const { distance, frame } = this.layout.locate(flight.target);
    this.layout.approach(flight.target, distance - left);
    if (flight.turn && distance > left) {
      this.layout.move(rotation(((left - distance) / distance) * (turnOf(frame) - turnOf(flight.turn))));
    }
  }

  #arrive(target, turn) {
    this.layout.jump(target, turn ?? this.layout.locate(target).frame);
    this.flight = null;
  }

  // Choice and selection.

  /** The placed position drawn nearest to a pixel, or -1. */
  nodeAt(px, py, reach = 12) {
    const { layout, tree } = this;
    const limit = this.#drawLimit(DETAILS[0]);
    let best = -1;
    let least = Infinity;
    for (let i = 0; i < layout.count; i++) {
      const k = layout.shown[i];
      if (layout.grow[k] > limit) continue;
      const away = Math.hypot(px - this.cx - this.disk * layout.x[k], py - this.cy + this.disk * layout.y[k]);
      // Steiner nodes are harder to hit, because users usually look for data points.
      const radius = dotSize(tree.n) / Math.sqrt(layout.grow[k]);
      const cost = away - radius + (tree.isPoint(k) ? 0 : 2);
      if (away < reach + radius && cost < least) [best, least] = [k, cost];
    }
    return best;
  }

  /** Choose a position and fly there. If a path was started, it ends here. */
  choose(k) {
    if (this.marks.from >= 0 && this.marks.from !== k) this.showPath(this.marks.from, k);
    this.marks.chosen = k;
    this.flyTo(k);
    this.#changed();
  }

  /** Highlight a position, or none for -1, without moving there. */
  mark(k) {
    Object.assign(this.marks, { chosen: k, from: -1 });
    this.#changed();
  }

  /** The next position chosen will be the end of a path from here. */
  beginPath(k) {
    this.marks.from = k;
    this.marks.path = null;
    this.#changed();
  }

  showPath(from, to) {
    this.marks.path = { from, to, ...this.tree.path(from, to), truth: this.tree.trueDistance(from, to) };
    this.marks.from = -1;
    this.#changed();
  }

  clear() {
    Object.assign(this.marks, { chosen: -1, from: -1, path: null, selection: null });
    this.lasso = [];
    this.#changed();
  }

  clearChosen() {
    Object.assign(this.marks, { chosen: -1, from: -1 });
    this.#changed();
  }

  clearPath() {
    this.marks.path = null;
    this.#changed();
  }

  clearSelection() {
    this.marks.selection = null;
    this.#changed();
  }

  /** Select all data points in the subtree of a position. */
  selectBranch(k) {
    const flags = new Uint8Array(this.tree.n);
    for (let i = k; i < k + this.tree.size[k]; i++) if (this.tree.isPoint(i)) flags[i] = 1;
    this.#select(flags);
  }

  /** Select data points by id. */
  selectNodes(nodes) {
    const flags = new Uint8Array(this.tree.n);
    for (const node of nodes) if (node < this.tree.nPoints) flags[this.tree.position[node]] = 1;
    this.#select(flags);
  }

  /** Select the data points inside a polygon of pixels. */
  selectInside(polygon) {
    const { layout, tree } = this;
    const isInside = (k) => inside(polygon, ...this.pixelOf(k));
    const flags = new Uint8Array(tree.n).fill(isInside(layout.top));
    // A node too close to the rim to be placed counts as being at its nearest placed ancestor.
    for (let k = layout.top; k < layout.top + tree.size[layout.top]; k++) {
      flags[k] = layout.isPlaced(k) ? isInside(k) : flags[tree.up[k]];
    }
    this.#select(flags.map((flag, k) => flag && tree.isPoint(k)));
  }

  /** The pixel of a placed position. */
  pixelOf(k) {
    return [this.cx + this.disk * this.layout.x[k], this.cy - this.disk * this.layout.y[k]];
  }

  #select(flags) {
    const count = flags.reduce((sum, flag) => sum + flag, 0);
    this.marks.selection = count > 0 ? flags : null;
    this.#changed();
  }

  /** Labels of the selected points, by position. */
  selectedLabels() {
    const labels = [];
    this.marks.selection?.forEach((flag, k) => flag && labels.push(this.tree.name(k)));
    return labels;
  }

  /** Show another rooting or order of the same tree, or other collapsed clades. Marks keep their nodes. */
  setTree(tree) {
    const moved = (k) => (k < 0 ? -1 : (tree.position[this.tree.node[k]] ?? -1));
    const { marks } = this;
    const selection = marks.selection && tree.node.map((id) => marks.selection[this.tree.position[id]]);
    const [chosen, from, anchor] = [marks.chosen, marks.from, this.layout.anchor].map(moved);
    const ends = marks.path && [marks.path.from, marks.path.to].map(moved);
    const { scale, power } = this.layout;
    this.tree = tree;
    this.layout = new Layout(tree);
    this.layout.setLengths(scale, power);
    this.layout.jump(Math.max(0, anchor));
    this.painter = new Painter(tree);
    this.plain = new Int32Array(tree.n).fill(1);
    for (const attribute of this.attributes) attribute.setTree(tree);
    this.marks = { hover: -1, chosen, from, path: null, selection: selection && Uint8Array.from(selection) };
    if (ends) this.showPath(...ends);
    this.#changed();
  }

  // The view as a plain object.

  viewState(options) {
    return this.views.read(options);
  }

  restore(state) {
    this.flight = null;
    this.views.restore(state);
    this.#moved();
  }

  // Appearance.

  setLabels(shown) {
    this.showLabels = shown;
    this.#changed();
  }

  setTheme(theme) {
    this.theme = theme;
    this.#changed();
  }

  /** Color by the attribute with this index; -1 for none. */
  colorBy(number) {
    this.attribute = this.attributes[number] ?? null;
    this.#changed();
  }

  /** Draw edges with less support in a faint color. */
  setLeastSupport(share) {
    this.faint.least = share;
    this.#changed();
  }

  /** Draw edges longer or shorter than initially. */
  setSpread(spread) {
    this.spread = Math.min(spread, this.shape.most_spread);
    this.layout.setLengths(this.shape.scale * this.spread, this.shape.power);
    this.#moved();
  }

  /** Draw original lengths, or powers of them. */
  setShape(number) {
    this.shape = this.shapes[number];
    this.setSpread(this.spread);
    this.#changed();
  }

  #changed() {
    this.redraw();
    this.dispatchEvent(new Event("change"));
  }

  /** The picture as SVG text. */
  svg() {
    const pen = new SvgPen(this.width, this.height, this.pen);
    this.layout.walk(FARTHER * this.#drawLimit(DETAILS[0]));
    this.painter.paint(pen, this.scene(DETAILS[0]));
    return pen.text();
  }

  /** The picture as a PNG blob, at twice the resolution of the screen. */
  png() {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * this.width, 2 * this.height];
    const pen = canvas.getContext("2d");
    pen.scale(2, 2);
    this.layout.walk(FARTHER * this.#drawLimit(DETAILS[0]));
    this.painter.paint(pen, this.scene(DETAILS[0]));
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }
}

/** Canvas pixels per CSS pixel. More than two take time and make no visible difference. */
const pixelRatio = () => Math.min(window.devicePixelRatio || 1, 2);

/** Whether a pixel is inside a polygon: a ray to the right crosses its sides an odd number of times. */
function inside(polygon, px, py) {
  let odd = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [[x, y], [u, v]] = [polygon[i], polygon[j]];
    if (y > py !== v > py && px < ((u - x) * (py - y)) / (v - y) + x) odd = !odd;
  }
  return odd;
}

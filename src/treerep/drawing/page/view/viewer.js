// The state of the page (view, choice, selection) and the loop that draws it.

import { Attribute, THEMES } from "../painting/colors.js";
import { DETAILS } from "../painting/detail.js";
import { CircularLayout } from "../layouts/circular.js";
import { DiskLayout } from "../layouts/disk.js";
import { RectangularLayout } from "../layouts/rectangular.js";
import { TanglegramLayout } from "../layouts/tanglegram.js";
import { UnrootedLayout } from "../layouts/unrooted.js";
import { FaintEdges } from "../painting/faint.js";
import { hasShortLabels } from "../painting/labels.js";
import { dotSize, Painter } from "../painting/painter.js";
import { hasStrips, headerHeight, stripRoom, stripTipAt } from "../painting/strips.js";
import { SvgPen } from "../painting/svg.js";
import { FigureNames, namedPositions } from "../export/names.js";
import { timeTicks } from "../export/time_axis.js";
import { addTreeParts, ViewState } from "../share/state.js";
import { datedDepths } from "../tree/calendar.js";
import { decodeFloats, Tree } from "../tree/tree.js";
import { Arrangement } from "./arrangement.js";
import { Filters } from "./filters.js";
import { Searches } from "./searches.js";

export const LAYOUTS = {
  disk: DiskLayout,
  rectangular: RectangularLayout,
  circular: CircularLayout,
  unrooted: UnrootedLayout,
  tanglegram: TanglegramLayout,
};
const LATE = 13; // milliseconds per frame
const EARLY = 5;

export class Viewer extends EventTarget {
  constructor(canvas, tree, data) {
    super();
    Object.assign(this, { canvas, tree });
    this.others = othersOf(data); // trees to compare with
    tree.other = this.others[0]?.tree ?? null;
    this.pen = canvas.getContext("2d");
    this.layouts = {}; // made when first shown
    this.painter = new Painter(tree);
    this.attributes = data.attributes.map((attribute) => new Attribute(attribute, tree));
    this.attribute = this.attributes[data.color] ?? null;
    this.shapes = data.shapes;
    this.shape = data.shapes.find(({ name }) => name === data.lengths) ?? data.shapes[0];
    this.spread = 1;
    this.plain = new Int32Array(tree.n).fill(1);
    this.hidden = null; // flags of filtered points, by node id
    this.showLabels = hasShortLabels(tree);
    this.marks = { hover: -1, chosen: -1, from: -1, path: null, selection: null };
    this.lasso = [];
    this.movingDetail = 0;
    this.lastMove = -Infinity;
    this.flight = null;
    this.frames = { walk: 0, paint: 0, drawn: 0 };
    this.figureNames = { all: 0, missing: 0 }; // of the last figure
    this.theme = "light";
    this.dates = data.dates ? decodeFloats(data.dates) : null; // years of the data points; NaN if unknown
    this.strips = []; // attributes shown beside the tips
    this.filters = new Filters(this);
    this.searches = new Searches(this);
    this.layout = this.#made(data.layout ?? "disk");
    this.arrangement = new Arrangement(this);
    this.faint = new FaintEdges();
    this.views = new ViewState();
    this.arrangement.align();
    addTreeParts(this.views, this);
    this.resize();
  }

  // Layouts.

  /** The layout of a kind, with the lengths that are shown now. */
  #made(kind) {
    this.#measureWindow(kind);
    const layout = (this.layouts[kind] ??= new LAYOUTS[kind](this.tree));
    layout.labelRoom = this.#labelRoom(kind);
    layout.setWindow(this.window);
    layout.setRings?.(this.strips.length > 0);
    if (layout.shape !== this.shape || layout.spread !== this.spread) {
      Object.assign(layout, { shape: this.shape, spread: this.spread });
      layout.setLengths(this.shape, this.spread);
    }
    return layout;
  }

  /** Pixels beside the tips for labels and strips. */
  #labelRoom(kind) {
    if (!hasStrips(kind) || this.strips.length === 0) return this.#textRoom(kind);
    const least = this.showLabels && kind === "rectangular" ? 64 : 0; // strips would cover the ends of some labels
    return Math.max(this.#textRoom(kind), least) + stripRoom(this.strips.length);
  }

  /** Pixels beside the tips for labels, if all labels have room. */
  #textRoom(kind) {
    const { tree, window } = this;
    const fits = kind === "rectangular" ? window.room.height / 9 : window.room.height / 5;
    if (!this.showLabels || tree.nPoints > fits) return kind === "rectangular" ? 24 : 8;
    let longest = 0;
    for (let k = 0; k < tree.n; k++) longest = Math.max(longest, Math.min(tree.name(k).length, 26));
    return Math.min(0.3 * window.room.width, 18 + 7 * longest);
  }

  /** Whether there is a layout of a kind. A tanglegram needs a second tree. */
  canShow(kind) {
    return kind in LAYOUTS && (kind !== "tanglegram" || this.tree.other !== null);
  }

  /** Show attributes as strips of color beside the tips. */
  setStrips(attributes) {
    this.strips = attributes;
    this.layout = this.#made(this.layout.kind);
    this.#changed();
  }

  /** Show the tree in another layout. The choice and the selection stay. */
  setLayout(kind) {
    if (kind === this.layout.kind || !this.canShow(kind)) return;
    this.flight = null;
    this.layout = this.#made(kind);
    this.#moved();
    this.#changed();
  }

  #isStill() {
    return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  /** Place everything again after a change of `tree.collapsed`. */
  rearrange() {
    for (const layout of Object.values(this.layouts)) layout.arrange?.();
    this.#moved();
    this.#changed();
  }

  // Drawing.

  resize() {
    this.#measureWindow();
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    this.layout.labelRoom = this.#labelRoom(this.layout.kind);
    this.layout.setWindow(this.window);
    this.redraw();
  }

  #measureWindow(kind = this.layout?.kind) {
    const box = this.canvas.getBoundingClientRect();
    this.ratio = pixelRatio();
    this.width = Math.max(1, Math.round(box.width));
    this.height = Math.max(1, Math.round(box.height));
    // The panel is next to the tree in wide windows, and above it in narrow ones.
    const wide = this.width >= 720;
    const axis = this.dates === null ? 0 : 24; // room for the time axis
    const [left, right, top, bottom] = wide ? [276 + 18, 60 + 18, 18, 18 + axis] : [8, 8, 64 + 8, 120 + 8 + axis];
    const header = kind === "rectangular" ? headerHeight(this.strips) : 0;
    const room = { left, top: top + header, right: this.width - right, bottom: this.height - bottom };
    room.width = Math.max(80, room.right - left);
    room.height = Math.max(80, room.bottom - room.top);
    this.window = { width: this.width, height: this.height, room };
  }

  /** Everything the painter needs. */
  scene(detail) {
    const scene = {
      layout: this.layout,
      width: this.width,
      height: this.height,
      theme: THEMES[this.theme],
      classes: this.attribute ? this.attribute.classes() : this.plain,
      palette: this.attribute ? this.attribute.palette(this.theme) : this.#plainPalette(),
      hidden: this.hidden,
      marks: this.marks,
      lasso: this.lasso,
      strips: this.strips.map((one) => ({
        name: one.name,
        classes: one.classes(),
        palette: one.palette(this.theme),
      })),
      highlights: this.searches.highlights(this.theme),
      showLabels: this.showLabels,
      detail,
    };
    const faint = this.faint.apply(scene, this.tree);
    return this.layout.colored?.(faint) ?? faint;
  }

  #plainPalette() {
    return [THEMES[this.theme].edge, THEMES[this.theme].plain];
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
    if (this.flight) this.#flyOn(time);
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
    this.layout.place(detail);
    const walked = performance.now();
    this.pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.painter.paint(this.pen, this.scene(detail));
    this.frames = { walk: walked - start, paint: performance.now() - walked, drawn: this.layout.count };
    this.dispatchEvent(new Event("drawn"));
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

  get zoom() {
    return this.layout.zoom;
  }

  /** The pixel in the middle of the room for the tree. */
  get middle() {
    const { room } = this.window;
    return [room.left + room.width / 2, room.top + room.height / 2];
  }

  /** Move the point at one pixel to another pixel. */
  drag(from, to) {
    this.flight = null;
    this.layout.drag(from, to);
    this.#moved();
  }

  /** Move in a direction of the screen. */
  pan(dx, dy) {
    this.flight = null;
    this.layout.pan(dx, dy);
    this.#moved();
  }

  /** Zoom by a factor. The point at the pixel does not move. `axis` is "x", "y" or "both" in the rectangular layout. */
  zoomBy(factor, pixel = this.middle, axis = "y") {
    this.layout.zoomBy(factor, pixel, axis, this.flight !== null);
    this.#moved();
  }

  home() {
    this.#fly(this.layout.flightHome());
  }

  /** Bring a position to the middle. */
  center(k) {
    this.#fly(this.layout.flightTo(k));
  }

  /** Center a position that is outside the room for the tree. */
  reveal(k) {
    const [x, y] = this.layout.pixelOf(k);
    const { room } = this.window;
    const isIn = x > room.left && x < room.right && y > room.top && y < room.bottom;
    if (!isIn || !this.layout.isDrawn(k)) this.center(k);
  }

  #fly(flight) {
    if (flight === null) return;
    this.flight = null;
    if (this.#isStill() || flight.time === 0) flight.step(1);
    else this.flight = { ...flight, start: null };
    this.#moved();
  }

  #flyOn(time) {
    const { flight } = this;
    flight.start ??= time;
    const share = Math.min(1, (time - flight.start) / flight.time);
    flight.step(share);
    this.#moved();
    if (share === 1) this.flight = null;
  }

  // Choice and selection.

  /** The placed position drawn nearest to a pixel, or -1. */
  nodeAt(px, py, reach = 12) {
    const { layout, tree } = this;
    let best = stripTipAt(layout, this.strips.length, [px, py]);
    if (best >= 0) return best;
    let least = Infinity;
    for (let i = 0; i < layout.count; i++) {
      const k = layout.shown[i];
      if (!layout.isDrawn(k)) continue;
      const away = Math.hypot(px - layout.px[k], py - layout.py[k]);
      // Steiner nodes are harder to hit, because users usually look for data points.
      const radius = dotSize(tree.n) * layout.sizeAt(k);
      const cost = away - radius + (tree.isPoint(k) ? 0 : 2);
      if (away < reach + radius && cost < least) [best, least] = [k, cost];
    }
    return best;
  }

  /** Choose a position where it is. If a path was started, it ends here. */
  choose(k) {
    if (this.marks.from >= 0 && this.marks.from !== k) this.showPath(this.marks.from, k);
    this.marks.chosen = k;
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
    this.#fly(this.layout.flightAround(this.marks.path.positions));
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

  /** Select the data points that a function of their ids accepts. */
  selectNodes(accepts) {
    const { tree } = this;
    this.#select(Uint8Array.from(tree.node, (id, k) => Number(tree.isPoint(k) && Boolean(accepts(id)))));
  }

  /** Select the data points inside a polygon of pixels. */
  selectInside(polygon) {
    const { layout, tree } = this;
    const isInside = (k) => inside(polygon, ...layout.pixelOf(k));
    if (layout.kind !== "disk") {
      this.#select(Uint8Array.from({ length: tree.n }, (_, k) => tree.isPoint(k) && isInside(k)));
      return;
    }
    const flags = new Uint8Array(tree.n).fill(isInside(layout.top));
    // A node too close to the rim to be placed counts as being at its nearest placed ancestor.
    for (let k = layout.top; k < layout.top + tree.size[layout.top]; k++) {
      flags[k] = layout.isPlaced(k) ? isInside(k) : flags[tree.up[k]];
    }
    this.#select(flags.map((flag, k) => flag && tree.isPoint(k)));
  }

  /** The pixel of a position. */
  pixelOf(k) {
    return this.layout.pixelOf(k);
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

  /** Show another rooting or order of the same tree. Marks keep their nodes. */
  setTree(tree) {
    const { marks, layout } = this;
    const moved = (k) => (k < 0 ? -1 : (tree.position[this.tree.node[k]] ?? -1));
    const selection = marks.selection && Uint8Array.from(tree.node, (id) => marks.selection[this.tree.position[id]]);
    const [chosen, from] = [marks.chosen, marks.from].map(moved);
    const path = marks.path && { ...marks.path, ...this.#newPath(tree, [marks.path.from, marks.path.to].map(moved)) };
    const at = layout.position();
    const stays = layout.kind === "disk" ? at.anchor < tree.n : tree.node[0] === this.tree.node[0];
    this.marks = { hover: -1, chosen, from, path, selection };
    this.tree = tree;
    this.painter = new Painter(tree);
    this.plain = new Int32Array(tree.n).fill(1);
    for (const attribute of this.attributes) attribute.setTree(tree);
    this.layouts = {};
    this.layout = this.#made(layout.kind);
    this.flight = null;
    if (stays) this.layout.flightToPosition(at).step(1);
    this.#moved();
    this.#changed();
  }

  /** How dates follow the depth in the tree, or null without dates. */
  calendar() {
    if (this.dates === null) return null;
    if (this.dated?.tree !== this.tree) this.dated = { tree: this.tree, line: datedDepths(this.tree, this.dates) };
    return this.dated.line;
  }

  #newPath(tree, [from, to]) {
    return { from, to, positions: tree.path(from, to).positions };
  }

  // The view as a plain object.

  viewState(options) {
    return this.views.read(options);
  }

  restore(state) {
    this.views.restore(state);
    this.flight = null;
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

  /** Draw edges of the disk longer or shorter than initially. */
  setSpread(spread) {
    this.spread = Math.min(spread, this.shape.most_spread);
    this.layout = this.#made(this.layout.kind);
    this.#moved();
  }

  /** Draw original lengths, or powers of them. */
  setShape(number) {
    this.shape = this.shapes[number];
    this.setSpread(this.spread);
    this.#changed();
  }

  /** Redraw, and tell the panel that something changed. */
  refresh() {
    this.#changed();
  }

  #changed() {
    this.redraw();
    this.dispatchEvent(new Event("change"));
  }

  /** The picture as SVG text. */
  svg() {
    const pen = new SvgPen(this.width, this.height, this.pen);
    this.layout.place(DETAILS[0]);
    this.painter.paint(pen, this.scene(DETAILS[0]));
    return pen.text();
  }

  /** Draw the current view with a pen in another size. Returns { lengthPerPixel, ticks } for its rulers. */
  paintInto(pen, width, height, theme) {
    const edge = 8;
    const header = this.layout.kind === "rectangular" ? headerHeight(this.strips) : 0;
    const room = { left: edge, top: edge + header, right: width - edge, bottom: height - edge };
    const size = { width: Math.max(1, width - 2 * edge), height: Math.max(1, room.bottom - room.top) };
    const window = { width, height, room: { ...room, ...size } };
    const scene = { ...this.scene(DETAILS[0]), width, height, theme, lasso: [] };
    this.painter.paint(pen, { ...scene, ...this.#named(pen, scene, window) });
    const rulers = { lengthPerPixel: this.layout.lengthPerPixel, ticks: timeTicks(this.calendar(), this.layout) };
    this.#countNames(width, height);
    this.layout = this.#made(this.layout.kind); // as in the window again
    this.redraw();
    return rulers;
  }

  /** Set the layout to the window of a figure, and choose how its names are written. */
  #named(pen, scene, window) {
    const { layout } = this;
    const planned = new FigureNames(this, pen);
    const inRows = layout.kind === "rectangular" || layout.kind === "tanglegram";
    if (this.showLabels && inRows && planned.besideRows(window)) return { names: planned };
    layout.setWindow(window);
    layout.place(DETAILS[0]);
    if (!this.showLabels || inRows) return {};
    // Names beside their points are easier to read, if all of them fit.
    this.painter.paint(new SvgPen(window.width, window.height, pen), { ...scene, isFull: true });
    if (this.painter.labels.written >= planned.units.size) return { isFull: true };
    return planned.aroundRing(window) || planned.atPoints(window) ? { names: planned } : {};
  }

  /** Count the points in the last figure whose names have no room. */
  #countNames(width, height) {
    const isIn = ([x, y]) => x > 0 && y > 0 && x < width && y < height;
    const all = this.showLabels ? namedPositions(this.tree).filter((k) => isIn(this.layout.pixelOf(k))).length : 0;
    this.figureNames = { all, missing: Math.max(0, all - this.painter.labels.written) };
  }
}

/** Further trees of the same data points, each with its name. */
function othersOf({ others = [], labels }) {
  return others.map((other) => ({ name: other.name, tree: Tree.decode({ ...other, labels }) }));
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

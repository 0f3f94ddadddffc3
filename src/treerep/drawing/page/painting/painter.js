// Draws one frame with a pen: a canvas context, or an object with the same interface that writes SVG.

import { Cells, Fans } from "./detail.js";
import { paintHighlights } from "./highlights.js";
import { Labels, triangleSize } from "./labels.js";
import { paintStrips } from "./strips.js";
import { paintSupport } from "./support_labels.js";
import { isCollapsed } from "../layouts/rows.js";
import { allBelow, anyBelow } from "../tree/flags.js";

// Edges and dots of the disk have three sizes, by distance to the rim: |a|^2 up to the first number, up to the second,
// and beyond. In the plane, the sizes are for thick branches, other branches and tips.
const NEAR = [2.5, 12];
const EDGE_WIDTHS = [1.6, 1, 0.7]; // lines of at most one pixel are drawn much faster
const THICK = 60; // pixels across a thick branch
const MANY_TIPS = 2000; // tips that are drawn thin and translucent
const CHUNK = 50; // edges per stroke, because browsers are slow with long paths
const FAINT = 0.16; // opacity of filtered points

export class Painter {
  constructor(tree) {
    this.tree = tree;
    this.next = new Int32Array(tree.n); // linked lists of positions drawn in one stroke
    this.radius = new Float32Array(tree.n); // radius of each dot, in pixels
    this.dotCells = new Cells();
    this.edgeCells = new Cells();
    this.fans = new Fans(tree);
    this.labels = new Labels(tree);
  }

  /** Draw a scene: see `Viewer.scene`. */
  paint(pen, scene) {
    this.scene = scene;
    this.pen = pen;
    this.faint = scene.hidden ? allBelow(this.tree, scene.hidden) : null;
    pen.lineCap = "butt";
    scene.layout.paintGround(pen, scene);
    this.#edges();
    this.#dots();
    this.#triangles();
    this.#selectedEdges();
    this.#path();
    paintHighlights(pen, scene, this.radius);
    this.#rings();
    this.labels.paint(pen, scene, this.radius);
    scene.layout.paintOver?.(pen, scene);
    paintSupport(pen, scene, this.tree);
    paintStrips(pen, scene);
    this.#lasso();
  }

  /** The color class of a position: the last class is for filtered points. */
  #class(k) {
    return this.faint !== null && this.faint[k] ? this.scene.palette.length : this.scene.classes[k];
  }

  #edges() {
    const { pen, scene, next } = this;
    const { palette, theme } = scene;
    const isDisk = scene.layout.kind === "disk";
    const heads = isDisk ? this.#diskEdges() : this.#planeEdges();
    const widen = this.#widen();
    const thin = this.tree.nPoints > MANY_TIPS ? 0.6 : 0.75; // opacity of tips
    for (let bucket = heads.length - 1; bucket >= 0; bucket--) {
      if (heads[bucket] < 0) continue;
      const [kind, size] = [Math.floor(bucket / 3), bucket % 3];
      pen.strokeStyle = palette[kind] === undefined || kind === 0 ? theme.edge : palette[kind];
      const mixed = isDisk || this.tree.nPoints <= MANY_TIPS ? 0.9 : 0.5; // many mixed branches are side by side
      pen.globalAlpha = kind === palette.length ? FAINT : kind === 0 ? mixed : size === 2 ? thin : 0.75;
      pen.lineWidth = EDGE_WIDTHS[size] * (size === 0 || widen > 1.1 ? widen : 1);
      let left = CHUNK;
      pen.beginPath();
      for (let k = heads[bucket]; k >= 0; k = next[k]) {
        if (isDisk) scene.layout.trace(pen, k);
        else this.#branch(k);
        if (--left > 0) continue;
        pen.stroke();
        pen.beginPath();
        left = CHUNK;
      }
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  /** The line to a position of the plane, and the line that joins its children. */
  #branch(k) {
    const { layout } = this.scene;
    if (k > 0) this.#polyline(layout.stem(k));
    const spine = layout.spine(k);
    if (spine !== null) this.#polyline(spine);
  }

  #polyline(line) {
    this.pen.moveTo(line[0], line[1]);
    for (let i = 2; i < line.length; i += 2) this.pen.lineTo(line[i], line[i + 1]);
  }

  /** Linked lists of positions of the plane by color and width. Returns the heads, or -1. */
  #planeEdges() {
    const { scene, next } = this;
    const { layout } = scene;
    const heads = new Int32Array(3 * (scene.palette.length + 1)).fill(-1);
    const manyTips = this.tree.nPoints > 200;
    for (let i = layout.count - 1; i >= 0; i--) {
      const k = layout.shown[i];
      const isTip = this.tree.size[k] === 1 || layout.isBundle(k);
      const bucket = 3 * this.#class(k) + (isTip && manyTips ? 2 : layout.room(k) > THICK ? 0 : 1);
      next[k] = heads[bucket];
      heads[bucket] = k;
    }
    return heads;
  }

  /** Linked lists of edges of the disk by color and width, each edge given by its lower end. */
  #diskEdges() {
    const { scene, next } = this;
    const { layout, detail } = scene;
    const { cx, cy, radius, x, y, grow, shown, count } = layout;
    const { up } = this.tree;
    const half = radius / 2;
    const [least, long] = [detail.edge, detail.long].map((pixels) => (pixels / radius) ** 2);
    const heads = new Int32Array(3 * (scene.palette.length + 1)).fill(-1);
    // Part of an edge whose midpoint is outside may be inside.
    this.edgeCells.clear(scene.width, scene.height, detail.edgeCell, Math.min(detail.long, 120) / 2);
    this.fans.update(scene);
    for (let i = 0; i < count; i++) {
      const k = shown[i];
      if (k === layout.top) continue;
      const parent = up[k];
      const near = Math.min(grow[k], grow[parent]);
      const chord = (x[k] - x[parent]) ** 2 + (y[k] - y[parent]) ** 2;
      if (near > layout.drawLimit || chord < least) continue;
      if (this.fans.hidden[k]) continue;
      if (chord < long && this.edgeCells.take(cx + half * (x[k] + x[parent]), cy - half * (y[k] + y[parent]))) continue;
      const bucket = 3 * this.#class(k) + this.#width(k, near);
      next[k] = heads[bucket];
      heads[bucket] = k;
    }
    return heads;
  }

  /** The width of an edge of the disk. Thousands of tips are thin, so that they do not hide the branches. */
  #width(k, near) {
    return this.tree.size[k] === 1 && this.tree.nPoints > MANY_TIPS ? 2 : sizeClass(near);
  }

  /** Small trees are drawn bolder. */
  #widen() {
    const n = this.tree.n;
    const { room } = this.scene.layout.window;
    const size = (Math.min(room.width, room.height) / 2) * Math.min(this.scene.layout.zoom, 2);
    return (n < 60 ? 1.5 : n < 600 ? 1.2 : 1) * Math.min(1.6, Math.max(0.8, size / 380));
  }

  /** Collapsed subtrees: a triangle that reaches as far as the subtree, or a small one in the disk. */
  #triangles() {
    const { pen, scene } = this;
    const { layout, palette, theme } = scene;
    if (this.tree.collapsed === undefined) return;
    for (let i = 0; i < layout.count; i++) {
      const k = layout.shown[i];
      if (!isCollapsed(this.tree, k) || layout.isBundle(k) || !layout.isDrawn(k)) continue;
      const kind = this.#class(k);
      const [x, y] = [layout.px[k], layout.py[k]];
      const angle = layout.angleAt(k);
      const [long, half] = triangleSize(layout, k);
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      pen.fillStyle = kind > 0 && kind < palette.length ? palette[kind] : theme.edge;
      pen.beginPath();
      pen.moveTo(x, y);
      pen.lineTo(x + c * long - s * half, y + s * long + c * half);
      pen.lineTo(x + c * long + s * half, y + s * long - c * half);
      pen.closePath();
      pen.fill();
    }
  }

  /** The tips and bundles with selected points, in the color of the selection. */
  #selectedEdges() {
    const { pen, scene } = this;
    const { layout, marks, theme } = scene;
    if (!marks.selection || layout.kind === "disk") return;
    const below = anyBelow(this.tree, marks.selection);
    pen.strokeStyle = theme.select;
    pen.lineWidth = 1.6;
    pen.globalAlpha = 0.85;
    pen.beginPath();
    for (let i = 0; i < layout.count; i++) {
      const k = layout.shown[i];
      if (k > 0 && below[k] && (this.tree.size[k] === 1 || layout.isBundle(k))) this.#polyline(layout.stem(k));
    }
    pen.stroke();
    pen.globalAlpha = 1;
  }

  #path() {
    const { pen, scene } = this;
    const { marks, theme, layout } = scene;
    if (!marks.path) return;
    const { positions } = marks.path;
    pen.strokeStyle = theme.path;
    pen.lineCap = "round";
    pen.lineWidth = 3.2;
    pen.beginPath();
    for (let i = 1; i < positions.length; i++) {
      const [from, to] = [positions[i - 1], positions[i]];
      const isSeen = layout.isDrawn(from) || layout.isDrawn(to);
      if (layout.kind === "disk" && !(isSeen && layout.isPlaced(from) && layout.isPlaced(to))) continue;
      layout.trace(pen, Math.max(from, to)); // the lower end is later in preorder
    }
    pen.stroke();
  }

  #dots() {
    const { pen, scene, next, radius } = this;
    const { layout, palette, theme, detail } = scene;
    const base = dotSize(this.tree.n) * this.#widen();
    this.dotCells.clear(scene.width, scene.height, detail.cell);
    const heads = new Int32Array(2 * (palette.length + 1)).fill(-1);
    for (let i = 0; i < layout.count; i++) {
      const k = layout.shown[i];
      radius[k] = 0;
      if (!layout.isDrawn(k) || layout.isBundle(k)) continue;
      const point = this.tree.isPoint(k);
      radius[k] = (point ? base : 0.45 * base) * layout.sizeAt(k);
      if (radius[k] < (point ? 0.45 : detail.steiner)) continue;
      if (radius[k] < 2.5 && this.dotCells.take(layout.px[k], layout.py[k])) continue;
      const bucket = 2 * this.#class(k) + (point ? 1 : 0);
      next[k] = heads[bucket];
      heads[bucket] = k;
    }
    for (let bucket = 0; bucket < heads.length; bucket++) {
      if (heads[bucket] < 0) continue;
      const kind = bucket >> 1;
      pen.globalAlpha = kind === palette.length ? FAINT : 1;
      pen.fillStyle = kind > 0 && kind < palette.length ? palette[kind] : bucket % 2 ? theme.missing : theme.edge;
      pen.beginPath();
      for (let k = heads[bucket]; k >= 0; k = next[k]) this.#dot(k);
      pen.fill();
    }
    pen.globalAlpha = 1;
    if (this.tree.n <= 2000) this.#outlines();
  }

  #dot(k) {
    const { px, py } = this.scene.layout;
    const [x, y, r] = [px[k], py[k], this.radius[k]];
    if (r < 1.3) {
      this.pen.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
    } else {
      this.pen.moveTo(x + r, y);
      this.pen.arc(x, y, r, 0, 2 * Math.PI);
    }
  }

  /** A thin outline in the background color around large dots, which separates neighbors. */
  #outlines() {
    const { pen, scene, radius } = this;
    pen.strokeStyle = scene.theme.disk;
    pen.lineWidth = 1;
    pen.beginPath();
    for (let i = 0; i < scene.layout.count; i++) {
      const k = scene.layout.shown[i];
      if (radius[k] > 3 && this.tree.isPoint(k)) this.#dot(k);
    }
    pen.stroke();
  }

  #rings() {
    const { scene } = this;
    const { marks, theme } = scene;
    if (marks.selection) this.#selection(marks.selection);
    if (marks.path) for (const k of [marks.path.from, marks.path.to]) this.#ring(k, theme.path, 2.5, 4);
    if (marks.from >= 0) this.#ring(marks.from, theme.path, 2.5, 4);
    const ends = [marks.from, marks.path?.from, marks.path?.to];
    if (marks.chosen >= 0 && !ends.includes(marks.chosen)) this.#ring(marks.chosen, theme.text, 2, 3.5);
  }

  #selection(selection) {
    const { pen, scene, radius } = this;
    const { shown, count, px, py } = scene.layout;
    pen.strokeStyle = scene.theme.select;
    // Thinner and closer around small dots, which are close to each other.
    for (const [least, most, width, gap] of [[0.45, 2, 0.7, 0.6], [2, Infinity, 1.5, 2.2]]) {
      pen.lineWidth = width;
      pen.beginPath();
      for (let i = 0; i < count; i++) {
        const k = shown[i];
        if (!selection[k] || radius[k] < least || radius[k] >= most) continue;
        const r = radius[k] + gap;
        pen.moveTo(px[k] + r, py[k]);
        pen.arc(px[k], py[k], r, 0, 2 * Math.PI);
      }
      pen.stroke();
    }
  }

  #ring(k, color, width, gap) {
    const { pen, scene } = this;
    const { layout } = scene;
    if (layout.kind === "disk" && !layout.isDrawn(k)) return;
    const [x, y] = layout.pixelOf(k);
    pen.strokeStyle = color;
    pen.lineWidth = width;
    pen.beginPath();
    pen.arc(x, y, this.ringRadius(k, gap), 0, 2 * Math.PI);
    pen.stroke();
  }

  /** The radius of a ring around a position, in pixels. */
  ringRadius(k, gap = 3) {
    return Math.max(this.scene.layout.isPlaced(k) ? this.radius[k] : 0, 1.5) + gap;
  }

  #lasso() {
    const { pen, scene } = this;
    if (scene.lasso.length < 2) return;
    pen.strokeStyle = scene.theme.select;
    pen.lineWidth = 1.5;
    pen.beginPath();
    scene.lasso.forEach(([x, y], i) => (i === 0 ? pen.moveTo(x, y) : pen.lineTo(x, y)));
    pen.closePath();
    pen.stroke();
    pen.globalAlpha = 0.08;
    pen.fillStyle = scene.theme.select;
    pen.fill();
    pen.globalAlpha = 1;
  }
}

const sizeClass = (grow) => (grow <= NEAR[0] ? 0 : grow <= NEAR[1] ? 1 : 2);

/** Radius of a data point in the middle, in pixels. */
export const dotSize = (n) => (n < 60 ? 7 : n < 600 ? 5.5 : n < 6000 ? 4.5 : 3.8);

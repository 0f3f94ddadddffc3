// Draws one frame with a pen: a canvas context, or an object with the same interface that writes SVG.

import { Cells, Fans } from "./detail.js";
import { geodesicCircle } from "../layouts/geometry.js";

const FONT = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";
// Edges and dots have three sizes, by distance to the rim: |a|^2 up to the first number, up to the second, and beyond.
const NEAR = [2.5, 12];
const EDGE_WIDTHS = [1.6, 1, 0.7]; // lines of at most one pixel are drawn much faster
const CHUNK = 50; // edges per stroke, because browsers are slow with long paths
const MOST_LABELS = 70;
const LABEL_CANDIDATES = 500;

export class Painter {
  constructor(tree) {
    this.tree = tree;
    this.next = new Int32Array(tree.n); // linked lists of positions drawn in one stroke
    this.radius = new Float32Array(tree.n); // radius of each dot, in pixels
    this.dotCells = new Cells();
    this.edgeCells = new Cells();
    this.fans = new Fans(tree);
  }

  /** Draw a scene: see `Viewer.scene`. */
  paint(pen, scene) {
    this.scene = scene;
    this.pen = pen;
    this.cx = scene.cx;
    this.cy = scene.cy;
    pen.lineCap = "butt";
    this.#ground();
    this.#edges();
    this.#marked();
    this.#dots();
    this.#rings();
    this.#labels();
    this.#lasso();
  }

  #screen(k) {
    const { layout, disk } = this.scene;
    return [this.cx + disk * layout.x[k], this.cy - disk * layout.y[k]];
  }

  #isDrawn(k) {
    const { layout, drawLimit } = this.scene;
    return layout.isPlaced(k) && layout.grow[k] <= drawLimit;
  }

  #ground() {
    const { pen, cx, cy, scene } = this;
    const { theme, disk } = scene;
    pen.fillStyle = theme.outside;
    pen.fillRect(0, 0, scene.width, scene.height);
    const shade = pen.createRadialGradient(cx, cy, 0, cx, cy, disk);
    shade.addColorStop(0, theme.disk);
    shade.addColorStop(0.72, theme.disk);
    shade.addColorStop(1, theme.diskEdge);
    pen.fillStyle = shade;
    pen.strokeStyle = theme.rim;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.arc(cx, cy, disk, 0, 2 * Math.PI);
    pen.fill();
    pen.stroke();
  }

  /** Add the geodesic from one placed position to another to the path. */
  #geodesic(from, to) {
    const { pen, scene, cx, cy } = this;
    const { layout, disk } = scene;
    const [x, y, u, v] = [layout.x[from], layout.y[from], layout.x[to], layout.y[to]];
    const chord = Math.hypot(u - x, v - y);
    const circle = chord * disk > 6 ? geodesicCircle(x, y, u, v) : null;
    pen.moveTo(cx + disk * x, cy - disk * y);
    // An arc that deviates by less than a third of a pixel is drawn as a line.
    if (circle === null || (chord * chord * disk) / (8 * circle[2]) < 0.3) {
      pen.lineTo(cx + disk * u, cy - disk * v);
      return;
    }
    const [a, b, radius] = circle;
    const start = Math.atan2(b - y, x - a);
    const end = Math.atan2(b - v, u - a);
    const counterclockwise = Math.sin(end - start) < 0;
    pen.arc(cx + disk * a, cy - disk * b, disk * radius, start, end, counterclockwise);
  }

  #edges() {
    const { pen, scene, next } = this;
    const { palette, theme } = scene;
    const heads = this.#sortedEdges();
    const widen = this.#widen();
    for (let bucket = heads.length - 1; bucket >= 0; bucket--) {
      if (heads[bucket] < 0) continue;
      const kind = Math.floor(bucket / 3);
      pen.strokeStyle = kind === 0 ? theme.edge : palette[kind];
      pen.globalAlpha = kind === 0 ? 0.9 : 0.75;
      pen.lineWidth = EDGE_WIDTHS[bucket % 3] * (bucket % 3 === 0 || widen > 1.1 ? widen : 1);
      let left = CHUNK;
      pen.beginPath();
      for (let k = heads[bucket]; k >= 0; k = next[k]) {
        this.#geodesic(this.tree.up[k], k);
        if (--left > 0) continue;
        pen.stroke();
        pen.beginPath();
        left = CHUNK;
      }
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  /** Linked lists of edges by color and width, each edge given by its lower end. Returns the heads, or -1. */
  #sortedEdges() {
    const { scene, next, cx, cy } = this;
    const { layout, disk, classes, detail } = scene;
    const { up } = this.tree;
    const { x, y, grow, shown, count } = layout;
    const half = disk / 2;
    const [least, long] = [detail.edge, detail.long].map((pixels) => (pixels / disk) ** 2);
    const heads = new Int32Array(3 * scene.palette.length).fill(-1);
    // Part of an edge whose midpoint is outside may be inside.
    this.edgeCells.clear(scene.width, scene.height, detail.edgeCell, Math.min(detail.long, 120) / 2);
    this.fans.update(scene);
    for (let i = 0; i < count; i++) {
      const k = shown[i];
      if (k === layout.top) continue;
      const parent = up[k];
      const near = Math.min(grow[k], grow[parent]);
      const chord = (x[k] - x[parent]) ** 2 + (y[k] - y[parent]) ** 2;
      if (near > scene.drawLimit || chord < least) continue;
      if (this.fans.hidden[k]) continue;
      if (chord < long && this.edgeCells.take(cx + half * (x[k] + x[parent]), cy - half * (y[k] + y[parent]))) continue;
      const bucket = 3 * classes[k] + sizeClass(near);
      next[k] = heads[bucket];
      heads[bucket] = k;
    }
    return heads;
  }

  /** Small trees are drawn bolder. */
  #widen() {
    const n = this.tree.n;
    return (n < 60 ? 1.5 : n < 600 ? 1.2 : 1) * Math.min(1.6, Math.max(0.8, this.scene.disk / 380));
  }

  #marked() {
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
      if (!layout.isPlaced(from) || !layout.isPlaced(to)) continue;
      if (this.#isDrawn(from) || this.#isDrawn(to)) this.#geodesic(from, to);
    }
    pen.stroke();
  }

  #dots() {
    const { pen, scene, next, radius } = this;
    const { layout, palette, classes, theme, detail } = scene;
    const { grow, shown, count } = layout;
    const base = dotSize(this.tree.n) * this.#widen();
    this.dotCells.clear(scene.width, scene.height, detail.cell);
    const heads = new Int32Array(2 * palette.length).fill(-1);
    for (let i = 0; i < count; i++) {
      const k = shown[i];
      if (grow[k] > scene.drawLimit) continue;
      const point = this.tree.isPoint(k);
      radius[k] = (point ? base : 0.45 * base) / Math.sqrt(grow[k]);
      if (radius[k] < (point ? 0.45 : detail.steiner)) continue;
      if (radius[k] < 2.5 && this.dotCells.take(...this.#screen(k))) continue;
      const bucket = point ? 2 * classes[k] + 1 : 2 * classes[k];
      next[k] = heads[bucket];
      heads[bucket] = k;
    }
    for (let bucket = 0; bucket < heads.length; bucket++) {
      if (heads[bucket] < 0) continue;
      const kind = bucket >> 1;
      pen.fillStyle = kind > 0 ? palette[kind] : bucket % 2 ? theme.missing : theme.edge;
      pen.beginPath();
      for (let k = heads[bucket]; k >= 0; k = next[k]) this.#dot(k);
      pen.fill();
    }
    if (this.tree.n <= 2000) this.#outlines();
  }

  #dot(k) {
    const [x, y] = this.#screen(k);
    const r = this.radius[k];
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
      if (radius[k] > 3 && scene.layout.grow[k] <= scene.drawLimit && this.tree.isPoint(k)) this.#dot(k);
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
    const { pen, scene } = this;
    const { shown, count, grow } = scene.layout;
    pen.strokeStyle = scene.theme.select;
    // Thinner and closer around small dots, which are close to each other.
    for (const [least, most, width, gap] of [[0, 2, 0.7, 0.6], [2, Infinity, 1.5, 2.2]]) {
      pen.lineWidth = width;
      pen.beginPath();
      for (let i = 0; i < count; i++) {
        const k = shown[i];
        if (!selection[k] || grow[k] > scene.drawLimit || this.radius[k] < least || this.radius[k] >= most) continue;
        const [x, y] = this.#screen(k);
        const r = this.radius[k] + gap;
        pen.moveTo(x + r, y);
        pen.arc(x, y, r, 0, 2 * Math.PI);
      }
      pen.stroke();
    }
  }

  #ring(k, color, width, gap) {
    const { pen, scene } = this;
    if (!this.#isDrawn(k)) return;
    const [x, y] = this.#screen(k);
    pen.strokeStyle = color;
    pen.lineWidth = width;
    pen.beginPath();
    pen.arc(x, y, this.ringRadius(k, gap), 0, 2 * Math.PI);
    pen.stroke();
  }

  /** The radius of a ring around a position, in pixels. */
  ringRadius(k, gap = 3) {
    return Math.max(this.radius[k], 1.5) + gap;
  }

  #labels() {
    const { pen, scene } = this;
    const boxes = [];
    this.big = [];
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    const { marks } = scene;
    const first = [marks.chosen, marks.from, marks.path?.from ?? -1, marks.path?.to ?? -1];
    const done = new Set();
    for (const k of first) {
      if (k >= 0 && !done.has(k) && this.#isDrawn(k)) {
        this.#label(k, boxes, true);
        done.add(k);
      }
    }
    if (!scene.showLabels) return;
    this.big = this.#bigDots();
    for (const k of this.#labeled()) {
      if (boxes.length >= MOST_LABELS) break;
      if (!done.has(k)) this.#label(k, boxes, false);
    }
  }

  /** Boxes of dots that labels should not cover, if there are few dots. */
  #bigDots() {
    const { layout } = this.scene;
    if (this.tree.n > 200) return [];
    const drawn = Array.from(layout.shown.subarray(0, layout.count)).filter((k) => this.#isDrawn(k));
    return drawn.map((k) => {
      const [x, y] = this.#screen(k);
      const r = this.radius[k];
      return [x - r, y - r, x + r, y + r];
    });
  }

  /** Data points sorted by distance to the focus. */
  #labeled() {
    const { layout } = this.scene;
    const few = this.tree.nPoints <= 80;
    const far = few ? 60 : 14;
    let found = [];
    for (let i = 0; i < layout.count && found.length < 20000; i++) {
      const k = layout.shown[i];
      if (layout.grow[k] < far && this.tree.isPoint(k)) found.push(k);
    }
    found.sort((one, two) => layout.grow[one] - layout.grow[two]);
    if (found.length > LABEL_CANDIDATES) found = found.slice(0, LABEL_CANDIDATES);
    return found;
  }

  #label(k, boxes, always) {
    const { pen, scene } = this;
    const text = shortened(this.tree.name(k));
    if (text === "") return;
    const [x, y] = this.#screen(k);
    const share = 1 / Math.sqrt(scene.layout.grow[k]);
    const size = Math.round(2 * (always ? 13 : 9.5 + 4 * share)) / 2;
    pen.font = `${always ? 600 : 500} ${size}px ${FONT}`;
    const wide = pen.measureText(text).width;
    const gap = Math.max(this.radius[k], 1) + (always ? 7 : 4);
    const places = labelPlaces(x, y, wide, size, gap, x < this.cx - 1);
    const free = places.find((box) => this.#fits(box, boxes));
    if (!free && !always) return;
    const box = free ?? places[0];
    boxes.push(box);
    const from = box[0] + 2;
    const middle = (box[1] + box[3]) / 2;
    pen.textAlign = "left";
    pen.globalAlpha = always ? 1 : Math.min(1, 0.45 + share);
    pen.strokeStyle = scene.theme.halo;
    pen.lineWidth = 3;
    pen.strokeText(text, from, middle);
    pen.fillStyle = scene.theme.text;
    pen.fillText(text, from, middle);
    pen.globalAlpha = 1;
  }

  #fits(box, boxes) {
    const { width, height } = this.scene;
    if (box[0] < 0 || box[1] < 0 || box[2] > width || box[3] > height) return false;
    return !boxes.some((other) => overlap(box, other)) && !this.big.some((other) => overlap(box, other));
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

/** Radius of a data point at the focus, in pixels. */
export const dotSize = (n) => (n < 60 ? 7 : n < 600 ? 5.5 : n < 6000 ? 4.5 : 3.8);

/** Truncate a text to `most` characters. A surrogate pair counts as one. */
export function shortened(text, most = 40) {
  const signs = [...text.slice(0, 2 * most + 2)]; // texts may be very long
  return signs.length > most ? `${signs.slice(0, most - 1).join("")}…` : text;
}

/** Candidate boxes of a label: outward, inward, above and below its dot, as [left, top, right, bottom]. */
function labelPlaces(x, y, wide, size, gap, left) {
  const [half, tall] = [wide / 2 + 2, size * 0.65];
  const beside = (side) => {
    const middle = x + side * (gap + half - 2);
    return [middle - half, y - tall, middle + half, y + tall];
  };
  const over = (side) => {
    const middle = y + side * (gap + tall);
    return [x - half, middle - tall, x + half, middle + tall];
  };
  return [beside(left ? -1 : 1), beside(left ? 1 : -1), over(-1), over(1)];
}

const overlap = (one, two) => one[0] < two[2] && two[0] < one[2] && one[1] < two[3] && two[1] < one[3];

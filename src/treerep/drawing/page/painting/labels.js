// Labels of data points, without overlaps.

import { Cells } from "./detail.js";
import { isCollapsed } from "../layouts/rows.js";

export const FONT = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";
const MOST_LABELS = 70;
const MOST_BESIDE_TIPS = 400;
const LABEL_CANDIDATES = 500;
const LEAST_ROOM = 4; // pixels between tips with labels, of which some may overlap and are left out
const FEW_DOTS = 3000;
const CELL = 4; // pixels of the grid that keeps labels apart in the plane

// Labels are hidden at first if there are more points, and the labels are numbers or longer, such as barcodes of cells.
const MANY_POINTS = 80;
const LONG_LABEL = 14; // characters, in the median

/** Whether the labels of a tree do not hide the tree. */
export function hasShortLabels(tree) {
  if (tree.nPoints <= MANY_POINTS) return true;
  if (tree.labels === null) return false;
  const sizes = tree.labels.map((label) => label.length).sort((one, two) => one - two);
  return sizes[sizes.length >> 1] <= LONG_LABEL;
}

export class Labels {
  constructor(tree) {
    this.tree = tree;
    this.cells = new Cells();
  }

  paint(pen, scene, radius) {
    Object.assign(this, { pen, scene, radius, boxes: [], big: [], written: 0 });
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    const { marks, layout } = scene;
    const first = [marks.chosen, marks.from, marks.path?.from ?? -1, marks.path?.to ?? -1];
    const done = new Set(first.filter((k) => k >= 0 && layout.isDrawn(k) && !scene.names?.has(k)));
    if (layout.kind === "disk") this.#inDisk(done);
    else this.#inPlane(done);
  }

  #inDisk(done) {
    for (const k of done) this.#beside(k, true);
    this.#planned();
    if (!this.scene.showLabels || this.scene.names) return;
    this.big = this.#bigDots();
    for (const k of this.#nearest()) {
      if (this.boxes.length >= MOST_LABELS) break;
      if (!done.has(k)) this.#beside(k, false);
    }
  }

  /** Boxes of dots that labels should not cover, if there are few dots. */
  #bigDots() {
    const { layout } = this.scene;
    if (this.tree.n > 200) return [];
    const drawn = Array.from(layout.shown.subarray(0, layout.count)).filter((k) => layout.isDrawn(k));
    return drawn.map((k) => {
      const [x, y, r] = [layout.px[k], layout.py[k], this.radius[k]];
      return [x - r, y - r, x + r, y + r];
    });
  }

  /** Data points of the disk sorted by distance to the focus. */
  #nearest() {
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

  /** The label of a position, or the number of points of a collapsed subtree. */
  #text(k) {
    if (isCollapsed(this.tree, k)) return this.tree.pointsBelow[k].toLocaleString("en");
    return this.scene.isFull ? this.tree.name(k) : shortened(this.tree.name(k));
  }

  /** Write the names whose places are planned in a figure, with lines from their points. */
  #planned() {
    const { pen, scene } = this;
    for (const [k, { text, full, size, x, y, angle, from, mayOverlap }] of scene.names?.placed ?? []) {
      if (from) this.#leader(from, [x, y], this.radius[k]);
      pen.font = `${k === scene.marks.chosen ? 600 : 450} ${size}px ${FONT}`;
      const wide = pen.measureText(text).width;
      if (!this.#takes([x, y], [Math.cos(angle), Math.sin(angle)], wide, size) && !mayOverlap) continue;
      pen.fullText = text === full ? null : full; // for formats that can hold it
      this.#turned(text, [x, y], angle);
      pen.fullText = null;
    }
  }

  /** A line from a dot to its name. */
  #leader([x, y], [u, v], radius) {
    const { pen, scene } = this;
    const long = Math.hypot(u - x, v - y);
    if (long < radius + 6) return;
    const on = (far) => [x + (far / long) * (u - x), y + (far / long) * (v - y)];
    pen.globalAlpha = 0.6;
    pen.strokeStyle = scene.theme.edge;
    pen.lineWidth = 0.6;
    pen.beginPath();
    pen.moveTo(...on(radius + 1));
    pen.lineTo(...on(long - 3));
    pen.stroke();
    pen.globalAlpha = 1;
  }

  #beside(k, always) {
    const { pen, scene } = this;
    const { layout } = scene;
    const text = this.#text(k);
    if (text === "") return;
    const [x, y] = [layout.px[k], layout.py[k]];
    const share = Math.max(layout.sizeAt(k), this.tree.nPoints <= 80 ? 0.55 : 0); // a few labels are all readable
    const size = Math.round(2 * (always ? 13 : 9.5 + 4 * share)) / 2;
    pen.font = `${always ? 600 : 500} ${size}px ${FONT}`;
    const wide = pen.measureText(text).width;
    const gap = Math.max(this.radius[k], 1) + (always ? 7 : 4);
    const places = labelPlaces(x, y, wide, size, gap, x < layout.cx - 1);
    const free = places.find((box) => this.#fits(box));
    if (!free && !always) return;
    const box = free ?? places[0];
    this.boxes.push(box);
    pen.textAlign = "left";
    pen.globalAlpha = always ? 1 : Math.min(1, 0.68 + share);
    this.#write(text, box[0] + 2, (box[1] + box[3]) / 2);
  }

  #fits(box) {
    const { width, height } = this.scene;
    if (box[0] < 0 || box[1] < 0 || box[2] > width || box[3] > height) return false;
    return !this.boxes.some((other) => overlap(box, other)) && !this.big.some((other) => overlap(box, other));
  }

  #write(text, x, y) {
    const { pen, scene } = this;
    this.written++;
    pen.strokeStyle = scene.theme.halo;
    pen.lineWidth = 3;
    pen.strokeText(text, x, y);
    pen.fillStyle = scene.theme.text;
    pen.fillText(text, x, y);
    pen.globalAlpha = 1;
  }

  #inPlane(done) {
    const { scene } = this;
    this.cells.clear(scene.width, scene.height, CELL);
    this.#avoidDots();
    this.#planned();
    for (const k of done) this.#outward(k, true);
    if (!scene.showLabels) return;
    let left = MOST_BESIDE_TIPS;
    for (const k of this.#roomy()) {
      if (done.has(k) || scene.names?.has(k)) continue;
      if (this.#outward(k, false) && --left === 0) break;
    }
  }

  /** Labels of the plane do not cover dots, if there are few dots. */
  #avoidDots() {
    const { layout } = this.scene;
    if (layout.count > FEW_DOTS) return;
    for (let i = 0; i < layout.count; i++) {
      const k = layout.shown[i];
      if (this.radius[k] > 1) this.cells.take(layout.px[k], layout.py[k]);
    }
  }

  /** Positions of the plane with enough room for a label, those with the most room first. */
  #roomy() {
    const { layout } = this.scene;
    const found = [];
    for (let i = 0; i < layout.count; i++) {
      const k = layout.shown[i];
      const hasText = this.tree.isPoint(k) || isCollapsed(this.tree, k);
      if (hasText && !layout.isBundle(k) && layout.room(k) >= LEAST_ROOM && layout.isDrawn(k)) found.push(k);
    }
    return found.sort((one, two) => layout.room(two) - layout.room(one) || one - two).slice(0, 4 * LABEL_CANDIDATES);
  }

  /** Write a label away from the parent, if it is free there. */
  #outward(k, always) {
    const { pen, scene } = this;
    const { layout } = scene;
    const text = this.#text(k);
    if (text === "") return false;
    const isTip = this.tree.size[k] === 1 || isCollapsed(this.tree, k);
    const size = always ? 13 : Math.min(12.5, Math.max(8.5, 0.8 * layout.room(k)));
    pen.font = `${always ? 600 : isTip ? 450 : 600} ${Math.round(2 * size) / 2}px ${FONT}`;
    const wide = pen.measureText(text).width;
    const angle = layout.angleAt(k);
    const gap = this.radius[k] + (always ? 7 : 4) + (isCollapsed(this.tree, k) ? triangleSize(layout, k)[0] : 0);
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    const from = [layout.px[k] + c * gap, layout.py[k] + s * gap];
    if (!this.#takes(from, [c, s], wide, size) && !always) return false;
    this.#turned(text, from, angle);
    return true;
  }

  /** Write a text from a pixel in a direction. Texts on the left are turned to be upright. */
  #turned(text, from, angle) {
    const { pen } = this;
    const upright = Math.cos(angle) >= -1e-9;
    pen.save();
    pen.translate(...from);
    pen.rotate(upright ? angle : angle + Math.PI);
    pen.textAlign = upright ? "left" : "right";
    this.#write(text, 0, 0);
    pen.restore();
  }

  /** Take the cells along a label. Return whether all of them were free. */
  #takes([x, y], [c, s], wide, size) {
    const along = Math.ceil(wide / CELL);
    const across = Math.max(1, Math.ceil(size / CELL));
    const spots = [];
    for (let i = 0; i <= along; i++) {
      for (let j = 0; j <= across; j++) {
        const [a, b] = [(i * wide) / along, (j / across - 0.5) * size];
        spots.push([x + a * c - b * s, y + a * s + b * c]);
      }
    }
    if (spots.some(([px, py]) => this.cells.isTaken(px, py))) return false;
    for (const [px, py] of spots) this.cells.take(px, py);
    return true;
  }
}

/** Length and half the width of the triangle of a collapsed subtree, in pixels. */
export function triangleSize(layout, k) {
  if (layout.kind === "disk") return [22 * layout.sizeAt(k), 9 * layout.sizeAt(k)];
  const long = Math.max(6, (layout.reach[k] - layout.depth[k]) * layout.sx);
  return [long, Math.max(2, 0.42 * Math.min(layout.room(k), 1.2 * long))];
}

/** Truncate a text to `most` characters. A surrogate pair counts as one. */
export function shortened(text, most = 40) {
  const signs = [...text.slice(0, 2 * most + 2)]; // texts may be very long
  return signs.length > most ? `${signs.slice(0, most - 1).join("")}…` : text;
}

/** Candidate boxes of a label around its dot, the best ones first, as [left, top, right, bottom]. */
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
  const corner = (side, down) => {
    const [from, top, to, bottom] = beside(side);
    return [from - 2 * side, top + 1.1 * down * tall, to - 2 * side, bottom + 1.1 * down * tall];
  };
  const sides = left ? [-1, 1] : [1, -1];
  const corners = sides.flatMap((side) => [corner(side, -1), corner(side, 1)]);
  return [...sides.map(beside), over(-1), over(1), ...corners];
}

const overlap = (one, two) => one[0] < two[2] && two[0] < one[2] && one[1] < two[3] && two[1] < one[3];

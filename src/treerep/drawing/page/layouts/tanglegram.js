// The tanglegram: the tree on the left, another tree of the same points on the right, and lines between equal points.
//
// The tree on the left is a rectangular layout in a part of the room. The background shows everything else.

import { compareSplits } from "../tree/splits.js";
import { facing } from "../tree/facing.js";
import { FONT, shortened } from "../painting/labels.js";
import { RectangularLayout } from "./rectangular.js";
import { TALLEST_ROW } from "./plane.js";
import { depthsOf, lastChildren, rowsOf } from "./rows.js";

const TREE_SHARE = 0.4; // of the width, for a tree and its labels
const MOST_LINES = 4000;
const MOST_LEADERS = 1000; // points with lines from their label to the middle
const LABEL_ROW = 8; // least height of a row with a label, in pixels

export class TanglegramLayout extends RectangularLayout {
  constructor(tree) {
    super(tree);
    this.kind = "tanglegram";
    this.other = facing(tree, tree.other);
    this.otherLast = lastChildren(this.other);
    this.otherRows = rowsOf(this.other);
    this.splits = compareSplits(tree, this.other);
  }

  compute() {
    super.compute();
    const { depth, reach } = depthsOf(this.other, this.power);
    Object.assign(this, { otherDepth: depth, otherReach: reach });
    this.box = [0, 0, Math.max(this.reach[0], reach[0]), this.rows.total];
  }

  fitted(room, wide, high) {
    const across = Math.max(40, TREE_SHARE * room.width - this.labelRoom) / wide;
    return [across, Math.min(TALLEST_ROW, room.height / high)];
  }

  get beside() {
    return this.window.room.width - this.wide * this.fx;
  }

  /** The pixel of a position of the other tree, which is mirrored. */
  otherPixel(k) {
    const { top, bottom, total } = this.otherRows;
    const row = (0.5 * (top[k] + bottom[k]) * this.rows.total) / total;
    return [this.#mirrored(this.otherDepth[k]), this.oy + row * this.sy];
  }

  #mirrored(depth) {
    const { room } = this.window;
    return room.left + room.right - (this.ox + depth * this.sx);
  }

  paintGround(pen, scene) {
    super.paintGround(pen, scene);
    this.#paintLines(pen, scene);
    this.#paintOther(pen, scene);
  }

  /** Lines between equal points, in their color; selected points last. */
  #paintLines(pen, scene) {
    const { nPoints, position } = this.tree;
    const step = Math.ceil(nPoints / MOST_LINES);
    const selection = scene.marks.selection;
    const isMarked = (k) => k === scene.marks.chosen || (selection !== null && selection[k]);
    pen.lineWidth = nPoints > 300 ? 0.6 : 1;
    for (const marked of [false, true]) {
      for (let id = 0; id < nPoints; id += marked ? 1 : step) {
        const k = position[id];
        if (Boolean(isMarked(k)) !== marked || scene.hidden?.[id]) continue;
        pen.strokeStyle = marked ? scene.theme.select : (scene.palette[scene.pointClasses[k]] ?? scene.theme.edge);
        pen.globalAlpha = marked ? 1 : 0.45;
        this.#line(pen, k, id, scene.names);
      }
    }
    pen.globalAlpha = 1;
  }

  #line(pen, k, id, names) {
    const [x, y] = this.pixelOf(k);
    const [u, v] = this.otherPixel(this.other.position[id]);
    const { height } = this.window;
    if (Math.max(y, v) < 0 || Math.min(y, v) > height) return;
    const ends = [this.ox + this.reach[0] * this.sx, this.#mirrored(this.otherReach[0])];
    const [left, right] = [ends[0] + this.labelRoom, ends[1] - this.labelRoom];
    pen.beginPath();
    pen.moveTo(left, y);
    pen.lineTo(right, v);
    if (this.tree.nPoints <= MOST_LEADERS) {
      pen.moveTo(Math.min(left, x + this.#labelEnd(id, names)), y);
      pen.lineTo(left, y);
      pen.moveTo(right, v);
      pen.lineTo(Math.max(right, u - this.#labelEnd(id, names)), v);
    }
    pen.stroke();
  }

  /** Pixels beside a tip that its label takes. */
  #labelEnd(id, names) {
    if (names) return 16 + names.width(this.tree.position[id]);
    const name = this.tree.name(this.tree.position[id]);
    return this.sy < LABEL_ROW ? 4 : 16 + 6.6 * Math.min(name.length, 40);
  }

  #paintOther(pen, scene) {
    const { height } = this.window;
    const { theme } = scene;
    const kinds = [[], []]; // positions with splits of both trees, and of this one only
    for (let k = 0; k < this.other.n; ) {
      const { top, bottom, total } = this.otherRows;
      const scale = (this.rows.total / total) * this.sy;
      const isThin = (bottom[k] - top[k]) * scale < 0.5;
      const isSeen = this.oy + bottom[k] * scale > 0 && this.oy + top[k] * scale < height;
      if (isSeen) kinds[this.splits.otherMissing[k]].push(k);
      k += isThin || !isSeen ? this.other.size[k] : 1;
    }
    kinds.forEach((positions, kind) => {
      pen.strokeStyle = kind === 1 ? theme.path : theme.edge;
      pen.lineWidth = kind === 1 ? 1.6 : 1.2;
      for (const k of positions) this.#otherBranch(pen, k);
    });
  }

  /** Texts are above the tree. */
  paintOver(pen, scene) {
    if (scene.showLabels && (scene.names || this.sy >= LABEL_ROW)) this.#otherLabels(pen, scene);
  }

  #otherBranch(pen, k) {
    const [x, y] = this.otherPixel(k);
    pen.beginPath();
    if (k > 0) {
      pen.moveTo(this.#mirrored(this.otherDepth[this.other.up[k]]), y);
      pen.lineTo(x, y);
    }
    if (this.otherLast[k] >= 0) {
      pen.moveTo(x, this.otherPixel(k + 1)[1]);
      pen.lineTo(x, this.otherPixel(this.otherLast[k])[1]);
    }
    pen.stroke();
  }

  /** On the screen, a label of a point inside the tree is left out if it would cover another label. */
  #otherLabels(pen, { theme, height, names }) {
    const end = this.#mirrored(this.otherReach[0]) - this.labelRoom + 8;
    const size = names?.size ?? Math.min(12.5, 0.8 * this.sy);
    const font = `450 ${size}px ${FONT}`;
    const { nPoints } = this.tree;
    const { position, size: below } = this.other;
    const taken = []; // row and both ends of the labels so far
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    pen.fillStyle = theme.text;
    for (let i = 0; i < 2 * nPoints; i++) {
      const id = i % nPoints; // tips first
      const isTip = below[position[id]] === 1;
      const [x, y] = this.otherPixel(position[id]);
      if (isTip !== (i < nPoints) || !(y > 0 && y < height)) continue;
      const k = this.tree.position[id];
      const name = this.tree.name(k);
      const text = names ? names.fitted(k, x - 6 - end) : shortened(name);
      pen.font = font;
      if (!names) {
        const left = x - 6 - pen.measureText(text).width;
        const covers = ([row, from, to]) => Math.abs(row - y) < 0.9 * size && left < to && from < x;
        if (!isTip && taken.some(covers)) continue;
        taken.push([y, left, x]);
      }
      pen.fullText = text === name ? null : name;
      pen.fillText(text, x - 6, y);
    }
    pen.textAlign = "left";
    pen.fullText = null;
  }

  /** The color class of the splits that the other tree does not have comes last. */
  colored({ classes, palette, theme, ...scene }) {
    const kind = palette.length;
    return {
      ...scene,
      theme,
      palette: [...palette, theme.path],
      pointClasses: classes, // the lines keep the colors of their points
      classes: classes.map((own, k) => (this.splits.missing[k] ? kind : own)),
    };
  }
}

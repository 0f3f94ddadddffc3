// The change from one layout to another: every edge and every dot moves in a straight line.

import { dotSize } from "./painter.js";

const CORNERS = 5; // points of an edge
const STRIDE = 2 * CORNERS;

export class Morph {
  constructor(tree, from, to) {
    this.tree = tree;
    this.to = to;
    this.lines = [from, to].map((layout) => edgeCorners(tree, layout));
    this.sizes = [from, to].map((layout) => Float32Array.from({ length: tree.n }, (_, k) => layout.sizeAt(k)));
  }

  /** The pixel of a position at a share of the way. */
  pixelOf(k, share) {
    const at = STRIDE * k + STRIDE - 2;
    return [0, 1].map((i) => this.#mix(at + i, share));
  }

  #mix(at, share) {
    return (1 - share) * this.lines[0][at] + share * this.lines[1][at];
  }

  paint(pen, scene, share) {
    const { classes, palette, theme } = scene;
    const groups = palette.map(() => []);
    for (let k = 0; k < this.tree.n; k++) groups[classes[k]].push(k);
    this.to.paintGround(pen, scene);
    pen.lineWidth = this.tree.n < 600 ? 1.4 : 0.8;
    pen.globalAlpha = 0.75;
    groups.forEach((group, kind) => {
      pen.strokeStyle = kind === 0 ? theme.edge : palette[kind];
      pen.beginPath();
      for (const k of group) if (k > 0) this.#edge(pen, k, share);
      pen.stroke();
    });
    pen.globalAlpha = 1;
    groups.forEach((group, kind) => {
      pen.fillStyle = palette[kind];
      pen.beginPath();
      for (const k of group) this.#dot(pen, k, share);
      pen.fill();
    });
  }

  #edge(pen, k, share) {
    const at = STRIDE * k;
    pen.moveTo(this.#mix(at, share), this.#mix(at + 1, share));
    for (let i = 2; i < STRIDE; i += 2) pen.lineTo(this.#mix(at + i, share), this.#mix(at + i + 1, share));
  }

  #dot(pen, k, share) {
    const size = (1 - share) * this.sizes[0][k] + share * this.sizes[1][k];
    const r = dotSize(this.tree.n) * size;
    if (!this.tree.isPoint(k) || r < 0.6) return;
    const [x, y] = this.pixelOf(k, share);
    pen.moveTo(x + r, y);
    pen.arc(x, y, r, 0, 2 * Math.PI);
  }
}

/** The same number of points on every edge, equally far apart, as pixels. The last one is the lower end. */
function edgeCorners(tree, layout) {
  const corners = new Float32Array(STRIDE * tree.n);
  layout.placeAll();
  for (let k = 0; k < tree.n; k++) {
    const line = k > 0 ? layout.line(k) : [...layout.pixelOf(0), ...layout.pixelOf(0)];
    corners.set(resampled(line), STRIDE * k);
  }
  return corners;
}

function resampled(line) {
  const marks = [0]; // length of the line up to each of its points
  for (let i = 2; i < line.length; i += 2) {
    marks.push(marks.at(-1) + Math.hypot(line[i] - line[i - 2], line[i + 1] - line[i - 1]));
  }
  const points = [];
  let i = 0;
  for (let j = 0; j < CORNERS; j++) {
    const wanted = (marks.at(-1) * j) / (CORNERS - 1);
    while (i < marks.length - 2 && marks[i + 1] < wanted) i++;
    const share = (wanted - marks[i]) / (marks[i + 1] - marks[i] || 1);
    points.push(line[2 * i] + share * (line[2 * i + 2] - line[2 * i]));
    points.push(line[2 * i + 1] + share * (line[2 * i + 3] - line[2 * i + 1]));
  }
  return points;
}

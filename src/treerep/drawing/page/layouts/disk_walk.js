// Positions of the nodes in the Poincaré disk as seen from the focus, the center of the disk.
//
// Global coordinates would run out of digits at a radius of 37, so none are stored. The input is the length of every
// edge and its direction at the upper end. The layout starts at the anchor, a node near the focus whose frame the
// isometry `view` maps into the disk. It walks outward from frame to frame, so that nodes near the focus are accurate
// to the last digit, however deep in the tree they are.
//
// In the frame of a node, its parent is at angle pi. Let an edge of length l start at angle t, and let r = tanh(l/2). A
// point at y in the frame of the lower end is at x = e^(it) (y + r) / (1 + r y) in the frame of the upper end. This is
// the isometry a = e^(it/2) cosh(l/2), b = e^(it/2) sinh(l/2).

import { isCollapsed } from "./rows.js";
import { compose, geodesicCircle, IDENTITY, imageOfOrigin, normalized, translationAlong } from "./geometry.js";

const STEP = 3; // hyperbolic length after which the anchor follows a move towards a node
const MOST_EDGES = 64; // of a node, for the distance to the tree
const FARTHEST = 1e10; // |a|^2 of the anchor: 24 from the focus

export class DiskWalk {
  constructor(tree) {
    const n = tree.n;
    this.tree = tree;
    this.anchor = 0;
    this.view = IDENTITY;
    this.x = new Float64Array(n);
    this.y = new Float64Array(n);
    this.grow = new Float64Array(n); // |a|^2 = 1 / (1 - |z|^2) of each placed node
    this.shown = new Int32Array(n); // the placed positions, `count` of them
    this.count = 0;
    this.seen = new Int32Array(n); // the last walk that placed each position
    this.walks = 0;
    this.top = 0; // the placed position whose parent is not placed, or the root
    this.frames = new Float64Array(4 * n);
    this.cosh = new Float64Array(n);
    this.sinh = new Float64Array(n);
    this.cos = Float64Array.from(tree.angle, (angle) => Math.cos(angle / 2));
    this.sin = Float64Array.from(tree.angle, (angle) => Math.sin(angle / 2));
  }

  /** Draw an edge with the hyperbolic length scale * length^power. */
  setLengths(scale, power = 1) {
    Object.assign(this, { scale, power });
    for (let k = 0; k < this.tree.n; k++) {
      const half = this.drawnLength(k) / 2;
      this.cosh[k] = Math.cosh(half);
      this.sinh[k] = Math.sinh(half);
    }
  }

  /** Hyperbolic length of the edge to a position. */
  drawnLength(k) {
    const length = this.tree.length[k];
    return length > 0 ? this.scale * length ** this.power : 0;
  }

  /** Move everything by an isometry of the disk. Moves out of sight are ignored, because digits would be lost there. */
  move(isometry) {
    const view = compose(isometry, this.view);
    if (view[0] ** 2 + view[1] ** 2 < FARTHEST) this.view = normalized(view);
  }

  /** Put the focus on a position. The picture gets the rotation of the isometry `turn`, if given. */
  jump(k, turn = IDENTITY) {
    const size = Math.hypot(turn[0], turn[1]);
    this.anchor = k;
    this.view = [turn[0] / size, turn[1] / size, 0, 0];
  }

  /** Move a position towards the focus by a hyperbolic length. */
  approach(k, length) {
    for (let left = length; left > 0; left -= STEP) {
      const { at } = this.locate(k);
      this.move(translationAlong([-at[0], -at[1]], Math.min(left, STEP)));
      this.#follow();
    }
  }

  /** Move the anchor to a neighbor that is closer to the focus, as long as there is one. */
  #follow() {
    for (let next = this.#nearerNeighbor(); next >= 0; next = this.#nearerNeighbor()) {
      const climbs = next === this.tree.up[this.anchor];
      this.view = normalized(climbs ? this.#upper(this.view, this.anchor) : this.#lower(this.view, next));
      this.anchor = next;
    }
  }

  /** Hyperbolic distance between the focus and the edges of the nearest node. */
  distanceToTree() {
    this.#follow();
    const { up, size } = this.tree;
    const { anchor } = this;
    const here = imageOfOrigin(this.view);
    let least = Math.hypot(...here);
    const look = (frame) => {
      least = Math.min(least, nearestOnEdge(here, imageOfOrigin(frame)));
    };
    if (up[anchor] >= 0) look(this.#upper(this.view, anchor));
    let left = MOST_EDGES;
    for (let k = anchor + 1; k < anchor + size[anchor] && left > 0; k += size[k]) {
      look(this.#lower(this.view, k));
      left--;
    }
    return 2 * Math.atanh(Math.min(least, 1 - 1e-16));
  }

  #nearerNeighbor() {
    const { up, size } = this.tree;
    const { anchor, cosh, sinh, cos, sin } = this;
    const [ar, ai, br, bi] = this.view;
    let best = -1;
    let least = (ar * ar + ai * ai) * (1 - 1e-12); // prevents endless loops due to rounding
    if (up[anchor] >= 0) {
      const [r, i] = this.#upper(this.view, anchor);
      if (r * r + i * i < least) [best, least] = [up[anchor], r * r + i * i];
    }
    for (let k = anchor + 1; k < anchor + size[anchor]; k += size[k]) {
      // Computes only the |a|^2 of #lower, because a node may have many children.
      const r = cosh[k] * (ar * cos[k] - ai * sin[k]) + sinh[k] * (br * cos[k] + bi * sin[k]);
      const i = cosh[k] * (ar * sin[k] + ai * cos[k]) + sinh[k] * (bi * cos[k] - br * sin[k]);
      if (r * r + i * i < least) [best, least] = [k, r * r + i * i];
    }
    return best;
  }

  /**
   * Place all nodes whose |a|^2 is at most `limit`, and the first nodes beyond it. All others are closer to the rim.
   * The node nearest to the focus becomes the anchor of the next walk.
   */
  walk(limit) {
    const { up, size } = this.tree;
    this.#follow(); // after a long move, the anchor may be beyond the limit
    this.#leaveCollapsed();
    this.count = 0;
    this.walks++;
    this.frames.set(this.view, 4 * this.anchor);
    this.#place(this.anchor);
    if (!isCollapsed(this.tree, this.anchor)) this.#descend(this.anchor + 1, this.anchor + size[this.anchor], limit);
    let child = this.anchor;
    while (up[child] >= 0 && this.grow[child] <= limit) {
      const parent = up[child];
      this.#climb(child, parent);
      this.#place(parent);
      if (this.grow[parent] <= limit) {
        this.#descend(parent + 1, child, limit);
        this.#descend(child + size[child], parent + size[parent], limit);
      }
      child = parent;
    }
    this.top = child;
    this.#anchorNearest();
  }

  /** Move an anchor inside a collapsed subtree to the top of this subtree. */
  #leaveCollapsed() {
    let outermost = -1;
    for (let k = this.tree.up[this.anchor]; k >= 0; k = this.tree.up[k]) if (isCollapsed(this.tree, k)) outermost = k;
    while (outermost >= 0 && this.anchor !== outermost) {
      this.view = normalized(this.#upper(this.view, this.anchor));
      this.anchor = this.tree.up[this.anchor];
    }
  }

  #anchorNearest() {
    let best = this.anchor;
    for (let i = 0; i < this.count; i++) if (this.grow[this.shown[i]] < this.grow[best]) best = this.shown[i];
    this.anchor = best;
    this.view = normalized(this.frame(best));
  }

  /** Whether the last walk placed a position. */
  isPlaced(k) {
    return this.seen[k] === this.walks;
  }

  /** The isometry that maps the frame of a placed position into the disk. */
  frame(k) {
    return Array.from(this.frames.subarray(4 * k, 4 * k + 4));
  }

  /** Preorder positions from `start` to `end`, whose parents are placed. */
  #descend(start, end, limit) {
    const { up, size, collapsed } = this.tree;
    const { frames, cosh, sinh, cos, sin, grow } = this;
    for (let k = start; k < end; ) {
      const from = 4 * up[k];
      const to = 4 * k;
      const c = cos[k];
      const s = sin[k];
      const pr = frames[from] * c - frames[from + 1] * s;
      const pi = frames[from] * s + frames[from + 1] * c;
      const qr = frames[from + 2] * c + frames[from + 3] * s;
      const qi = frames[from + 3] * c - frames[from + 2] * s;
      frames[to] = cosh[k] * pr + sinh[k] * qr;
      frames[to + 1] = cosh[k] * pi + sinh[k] * qi;
      frames[to + 2] = sinh[k] * pr + cosh[k] * qr;
      frames[to + 3] = sinh[k] * pi + cosh[k] * qi;
      this.#place(k);
      k += grow[k] > limit || (collapsed !== undefined && collapsed[k]) ? size[k] : 1;
    }
  }

  #climb(k, parent) {
    this.frames.set(this.#upper(this.frame(k), k), 4 * parent);
  }

  #upper([ar, ai, br, bi], k) {
    const [cosh, sinh, c, s] = [this.cosh[k], this.sinh[k], this.cos[k], this.sin[k]];
    const pr = cosh * ar - sinh * br;
    const pi = cosh * ai - sinh * bi;
    const qr = cosh * br - sinh * ar;
    const qi = cosh * bi - sinh * ai;
    return [pr * c + pi * s, pi * c - pr * s, qr * c - qi * s, qi * c + qr * s];
  }

  #lower(above, k) {
    const [c, s] = [this.cos[k], this.sin[k]];
    const turned = compose(above, [c, s, 0, 0]);
    return compose(turned, [this.cosh[k], 0, this.sinh[k], 0]);
  }

  #place(k) {
    const { frames } = this;
    const at = 4 * k;
    const [ar, ai, br, bi] = [frames[at], frames[at + 1], frames[at + 2], frames[at + 3]];
    const size = ar * ar + ai * ai;
    this.grow[k] = size;
    this.x[k] = (br * ar - bi * ai) / size;
    this.y[k] = (br * ai + bi * ar) / size;
    this.seen[k] = this.walks;
    this.shown[this.count++] = k;
  }

  /** The frame of any position, however far, up to a positive factor e^log: { frame, log, distance, at }. */
  locate(k) {
    const { positions } = this.tree.path(this.anchor, k);
    let frame = this.view;
    let log = 0;
    for (let i = 1; i < positions.length; i++) {
      const [from, to] = [positions[i - 1], positions[i]];
      frame = this.tree.up[to] === from ? this.#lower(frame, to) : this.#upper(frame, from);
      const size = Math.hypot(frame[0], frame[1]);
      if (size > 1e100) {
        frame = frame.map((part) => part / size);
        log += Math.log(size);
      }
    }
    const shift = Math.hypot(frame[2], frame[3]);
    const distance = log > 0 ? 2 * (log + Math.log(2 * shift)) : 2 * Math.asinh(shift);
    return { frame, distance, at: imageOfOrigin(frame) };
  }
}

/** Distance from the origin to the geodesic between two points, in the units of the disk. */
function nearestOnEdge([x, y], [u, v]) {
  const ends = Math.min(Math.hypot(x, y), Math.hypot(u, v));
  const circle = geodesicCircle(x, y, u, v);
  if (circle === null) return x * u + y * v < 0 ? 0 : ends;
  const [cx, cy, r] = circle;
  // The foot is in the direction of the center. It is on the edge if the ends are on both sides of it.
  const isBetween = (cx * y - cy * x) * (cx * v - cy * u) < 0;
  return isBetween ? Math.min(ends, Math.hypot(cx, cy) - r) : ends;
}

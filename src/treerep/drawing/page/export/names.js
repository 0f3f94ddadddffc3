// The names of the points of a figure. No name of a tip is left out: the tree gets smaller, the text gets smaller, or the
// name is shortened with an ellipsis.

import { DETAILS } from "../painting/detail.js";
import { FONT, shortened, triangleSize } from "../painting/labels.js";
import { stripRoom } from "../painting/strips.js";
import { isCollapsed } from "../layouts/rows.js";

export const MOST_NAMES = 1500;
const LARGEST_NAME = 12.5; // pixels
const READABLE_NAME = 7; // longer names are shortened, not written smaller
const LEAST_NAME = 2;
const NAME_LINE = 1.15; // height of a line of text of size 1
const NAME_GAP = 10; // pixels between a tip and its name
const NAME_SHARE = { rectangular: 0.6, tanglegram: 0.27 }; // of the width, for names beside rows
const RING_SHARE = 0.55; // of the radius, for names around the tree

/** Positions whose names a figure contains: data points and collapsed subtrees. */
export function namedPositions(tree) {
  const found = [];
  for (let k = 0; k < tree.n; k += isCollapsed(tree, k) ? tree.size[k] : 1) {
    if ((tree.isPoint(k) && tree.name(k) !== "") || isCollapsed(tree, k)) found.push(k);
  }
  return found;
}

/** Sizes and places of names, in a layout that this class sets to the window of a figure. */
export class FigureNames {
  constructor({ layout, tree, strips }, pen) {
    Object.assign(this, { layout, tree, pen });
    this.beside = layout.kind === "disk" || layout.kind === "unrooted" ? 0 : stripRoom(strips.length);
    this.placed = new Map(); // { text, full, size, x, y, angle, from, mayOverlap }, by position
    this.units = new Map(); // widths of names of size 1, by position
    pen.font = `450 10px ${FONT}`;
    for (const k of namedPositions(tree)) this.units.set(k, pen.measureText(this.#full(k)).width / 10);
    this.widest = Math.max(0, ...this.units.values());
  }

  has(k) {
    return this.placed.has(k);
  }

  #full(k) {
    return isCollapsed(this.tree, k) ? this.tree.pointsBelow[k].toLocaleString("en") : this.tree.name(k);
  }

  width(k, size = this.size) {
    return this.units.get(k) * size;
  }

  /** The name of a position, shortened to a width in pixels. */
  fitted(k, space, size = this.size) {
    const full = this.#full(k);
    if (this.width(k, size) <= space) return full;
    this.pen.font = `450 ${size}px ${FONT}`;
    let most = Math.max(2, Math.ceil((full.length * space) / this.width(k, size)));
    while (most > 2 && this.pen.measureText(shortened(full, most)).width > space) most--;
    return shortened(full, most);
  }

  /** Plan names beside rows. Return whether rows are high enough. */
  besideRows(window) {
    const { layout, tree, beside } = this;
    layout.setWindow(window);
    const most = NAME_SHARE[layout.kind] * window.room.width;
    this.size = Math.min(LARGEST_NAME, 0.8 * layout.sy);
    if (this.size < LEAST_NAME || this.units.size > MOST_NAMES) return false;
    while (this.size > READABLE_NAME && this.widest * this.size + 2 * NAME_GAP > most) this.size -= 0.5;
    layout.labelRoom = Math.min(most, this.widest * this.size + 2 * NAME_GAP) + beside;
    layout.setWindow(window);
    layout.place(DETAILS[0]);
    const line = layout.tipLine().x + layout.labelRoom - beside;
    let limit = window.width;
    if (layout.kind === "tanglegram") limit = line - NAME_GAP;
    else if (beside > 0) limit = Math.min(line, window.room.right - beside);
    for (const k of this.units.keys()) {
      const [px, y] = layout.pixelOf(k);
      if ((tree.size[k] > 1 && !isCollapsed(tree, k)) || !(px > 0 && px < window.width && y > 0 && y < window.height)) continue;
      const tip = px + NAME_GAP + (isCollapsed(tree, k) ? triangleSize(layout, k)[0] : 0);
      const x = Math.min(tip, limit - Math.min(this.width(k), 4 * NAME_GAP)); // lengths may be magnified
      this.#put(k, { x, y, angle: 0, space: limit - x });
    }
    return true;
  }

  #put(k, { space, size = this.size, from = null, mayOverlap = true, ...place }) {
    this.placed.set(k, { ...place, size, from, mayOverlap, full: this.#full(k), text: this.fitted(k, space, size) });
  }

  /** Plan names at the points of a part of the tree that has been magnified. Return whether there are few enough. */
  atPoints(window) {
    const { layout } = this;
    if (layout.kind === "disk" || this.units.size > MOST_NAMES) return false;
    for (const k of this.units.keys()) {
      if (!layout.isDrawn(k)) continue;
      const angle = layout.angleAt(k);
      const [x, y] = [layout.px[k] + NAME_GAP * Math.cos(angle), layout.py[k] + NAME_GAP * Math.sin(angle)];
      const size = Math.min(LARGEST_NAME, 0.8 * layout.room(k));
      const space = spaceTo(window, [x, y], angle) - size / 2;
      if (size >= LEAST_NAME && space > 3 * size) this.#put(k, { x, y, angle, space, size, mayOverlap: false });
    }
    return true;
  }

  /** Plan names on a ring around the whole tree. Return whether this is possible. */
  aroundRing(window) {
    const half = Math.min(window.room.width, window.room.height) / 2 - this.beside;
    const room = this.#isWhole() ? this.#ringRoom(half) : 0;
    if (room === 0) return false;
    const { center, radius, toward } = this.#framed(window, half, room);
    const found = Array.from(this.units.keys(), (k) => {
      const [x, y] = this.layout.pixelOf(k);
      const [c, s] = toward(k, x, y);
      const [u, v] = [x - center[0], y - center[1]];
      const along = u * c + v * s;
      const reach = Math.sqrt(Math.max(0, along * along - u * u - v * v + radius * radius)) - along;
      return { k, from: [x, y], angle: Math.atan2(v + reach * s, u + reach * c) };
    });
    for (const { k, from, angle } of spreadAngles(found, (NAME_LINE * this.size) / radius)) {
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      const [x, y] = [center[0] + radius * c, center[1] + radius * s];
      const space = this.beside > 0 ? room - NAME_GAP : spaceTo(window, [x, y], angle) - this.size / 2;
      this.#put(k, { x, y, angle, space, from });
    }
    return true;
  }

  /** Whether the whole tree is in sight. */
  #isWhole() {
    const { camera, zoom, kind } = this.layout;
    if (kind === "disk") return zoom <= 1;
    return [camera.zx, camera.zy, 2 * camera.u, 2 * camera.v].every((share) => Math.abs(share - 1) < 1e-3);
  }

  /** Choose the size of the names. Return the pixels for them outside the ring; 0 if there are too many names. */
  #ringRoom(half) {
    if (this.units.size > MOST_NAMES) return 0;
    const most = RING_SHARE * half;
    const room = (size) => Math.min(most, this.widest * size + 2 * NAME_GAP);
    const isFree = (size) => NAME_LINE * size * this.units.size <= 2 * Math.PI * (half - room(size));
    this.size = LARGEST_NAME;
    while (this.size > READABLE_NAME && !(isFree(this.size) && this.widest * this.size + 2 * NAME_GAP <= most)) this.size -= 0.5;
    while (this.size >= LEAST_NAME && !isFree(this.size)) this.size -= 0.5;
    return this.size < LEAST_NAME ? 0 : room(this.size);
  }

  /** Draw the tree inside the ring: its center and radius, and the direction of the line from a point to the ring. */
  #framed(window, half, room) {
    const { layout } = this;
    const { left, top, width, height } = window.room;
    const middle = [left + width / 2, top + height / 2];
    const radial = (_k, x, y) => unitVector(x - middle[0], y - middle[1]);
    if (layout.kind === "disk") {
      layout.setWindow({ ...window, room: { left: left + room, top: top + room, width: width - 2 * room, height: height - 2 * room } });
      layout.place(DETAILS[0]);
      return { center: middle, radius: layout.radius + NAME_GAP, toward: radial };
    }
    layout.setRings?.(true); // the root is in the middle
    layout.labelRoom = room + this.beside + NAME_GAP;
    layout.setWindow(window);
    if (layout.kind === "unrooted") {
      const points = Array.from(layout.x, (x, k) => Math.hypot(x - layout.box[0] - layout.wide / 2, layout.y[k] - layout.box[1] - layout.high / 2));
      layout.fx = layout.fy = (half - room - NAME_GAP) / Math.max(...points, 1e-300);
    }
    layout.place(DETAILS[0]);
    const outward = (k) => [Math.cos(layout.angleAt(k)), Math.sin(layout.angleAt(k))];
    return { center: middle, radius: half - room, toward: layout.kind === "unrooted" ? outward : radial };
  }
}

const unitVector = (x, y) => (Math.hypot(x, y) > 0 ? [x / Math.hypot(x, y), y / Math.hypot(x, y)] : [1, 0]);

/** The way from a pixel in a direction to the side of a window. */
function spaceTo({ width, height }, [x, y], angle) {
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const across = (c > 0 ? width - x : x) / Math.max(Math.abs(c), 1e-9);
  return Math.min(across, (s > 0 ? height - y : y) / Math.max(Math.abs(s), 1e-9));
}

/** Move angles as little as possible until neighbors are `gap` apart. */
function spreadAngles(items, gap) {
  const whole = 2 * Math.PI;
  const sorted = items.sort((one, two) => one.angle - two.angle || one.k - two.k);
  const before = (i) => (i > 0 ? sorted[i - 1].angle : sorted.at(-1).angle - whole);
  let cut = 0; // the widest gap is before this item
  for (let i = 1; i < sorted.length; i++) {
    if (sorted[i].angle - before(i) > sorted[cut].angle - before(cut)) cut = i;
  }
  const start = (sorted[cut].angle + before(cut)) / 2;
  const turned = sorted.map((_, i) => sorted[(cut + i) % sorted.length]);
  // Without the gaps, the angles must not decrease: neighbors that do are replaced by their mean.
  const blocks = [];
  turned.forEach(({ angle }, i) => {
    let block = { sum: ((angle - start + 2 * whole) % whole) - i * gap, count: 1 };
    while (blocks.length > 0 && blocks.at(-1).sum * block.count >= block.sum * blocks.at(-1).count) {
      const last = blocks.pop();
      block = { sum: last.sum + block.sum, count: last.count + block.count };
    }
    blocks.push(block);
  });
  const last = whole - items.length * gap;
  const moved = blocks.flatMap(({ sum, count }) => new Array(count).fill(Math.min(last, Math.max(0, sum / count))));
  return turned.map((item, i) => ({ ...item, angle: start + moved[i] + i * gap }));
}

// Where the view is: a small map of a plane layout, or an arrow at the rim of the disk. Both bring the tree back.

import { DETAILS } from "../painting/detail.js";
import { Painter } from "../painting/painter.js";
import { LAYOUTS } from "./viewer.js";

// Fields of a layout that the small layout does not share.
const OWN = ["px", "py", "shown", "count", "seen", "bundled", "walks", "camera", "window", "labelRoom"];
const NO_MARKS = { hover: -1, chosen: -1, from: -1, path: null, selection: null };
const IN_SIGHT = 8; // |a|^2 of a root that is not too close to the rim

export class Overview {
  constructor(viewer) {
    this.viewer = viewer;
    this.map = document.getElementById("map");
    this.arrow = document.getElementById("compass");
    this.picture = document.createElement("canvas");
    this.arrow.addEventListener("click", () => viewer.home());
    for (const type of ["pointerdown", "pointermove"]) this.map.addEventListener(type, (event) => this.#go(event));
    viewer.addEventListener("drawn", () => this.update());
    viewer.addEventListener("change", () => (this.key = null));
  }

  update() {
    const { layout } = this.viewer;
    const isDisk = layout.kind === "disk";
    const isAway = !isDisk && isZoomed(layout.camera);
    this.map.hidden = !isAway;
    this.arrow.hidden = !isDisk || !this.#pointHome(layout);
    if (isAway) this.#drawMap(layout);
  }

  /** Put the arrow at the rim, towards the root. Return whether the root is out of sight. */
  #pointHome(layout) {
    const { room } = layout.window;
    const [x, y] = layout.pixelOf(0);
    const isNear = layout.isPlaced(0) && layout.grow[0] < IN_SIGHT;
    if (isNear && x > room.left && x < room.right && y > room.top && y < room.bottom) return false;
    const angle = Math.atan2(y - layout.cy, x - layout.cx);
    const far = layout.radius0 - 22;
    this.arrow.style.left = `${layout.cx + far * Math.cos(angle)}px`;
    this.arrow.style.top = `${layout.cy + far * Math.sin(angle)}px`;
    this.arrow.firstElementChild.style.transform = `rotate(${angle}rad)`;
    return true;
  }

  /** The same tree in a small window. Its picture is kept until the tree looks different. */
  #small(layout) {
    const { viewer, map } = this;
    const [width, height] = [map.clientWidth, map.clientHeight];
    const key = [layout.kind, layout.shape.name, viewer.theme, width, height, layout.rows.total].join();
    if (this.key === key) return this.small;
    this.key = key;
    const small = (this.small = new LAYOUTS[layout.kind](viewer.tree));
    const shared = Object.entries(layout).filter(([name]) => !OWN.includes(name));
    Object.assign(small, Object.fromEntries(shared));
    const room = { left: 5, top: 5, right: width - 5, bottom: height - 5, width: width - 10, height: height - 10 };
    small.setWindow({ width, height, room });
    [this.picture.width, this.picture.height] = [2 * width, 2 * height];
    const pen = this.picture.getContext("2d");
    pen.scale(2, 2);
    small.place(DETAILS[1]);
    const plain = { marks: NO_MARKS, lasso: [], showLabels: false };
    new Painter(viewer.tree).paint(pen, { ...viewer.scene(DETAILS[1]), layout: small, width, height, ...plain });
    return small;
  }

  #drawMap(layout) {
    const { map, picture } = this;
    const small = this.#small(layout);
    const { room } = layout.window;
    [map.width, map.height] = [picture.width, picture.height];
    const pen = map.getContext("2d");
    pen.drawImage(picture, 0, 0);
    pen.scale(2, 2);
    const [left, top] = small.pixel(...layout.pointAt(room.left, room.top));
    const [right, bottom] = small.pixel(...layout.pointAt(room.right, room.bottom));
    pen.strokeStyle = getComputedStyle(map).color;
    pen.lineWidth = 1.5;
    pen.strokeRect(left, top, Math.max(2, right - left), Math.max(2, bottom - top));
  }

  #go(event) {
    if (event.buttons !== 1) return;
    const box = this.map.getBoundingClientRect();
    const { viewer } = this;
    const at = this.small.pointAt(event.clientX - box.left, event.clientY - box.top);
    viewer.drag(viewer.layout.pixel(...at), viewer.middle);
  }
}

const isZoomed = ({ zx, zy }) => zx > 1.1 || zy > 1.1;

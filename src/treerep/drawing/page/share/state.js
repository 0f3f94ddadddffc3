// The whole view as one plain object: every part of the page adds its share, and can restore it.

import { normalized } from "../layouts/geometry.js";

export class ViewState {
  constructor() {
    this.parts = [];
  }

  /**
   * Add a part: `read` returns its value as plain JSON, and `restore` takes such a value. The value at this time is the
   * default, which is not stored. Parts are restored in the order in which they were added, parts of the camera last.
   */
  add(name, read, restore, { camera = false } = {}) {
    this.parts.push({ name, read, restore, camera, first: read() });
    this.parts.sort((one, two) => one.camera - two.camera);
  }

  /** The view. Without the camera, only what the user chose. */
  read({ camera = true } = {}) {
    const state = {};
    for (const part of this.parts) {
      if (part.camera && !camera) continue;
      const value = part.read();
      if (JSON.stringify(value) !== JSON.stringify(part.first)) state[part.name] = value;
    }
    return state;
  }

  restore(state) {
    const values = {};
    for (const { name, first } of this.parts) values[name] = sameKind(state[name], first);
    for (const part of this.parts) {
      try {
        part.restore(values[part.name], values);
      } catch {
        part.restore(part.first, values); // users edit links
      }
    }
  }
}

/** A value of the same type as the default; the default if there is none. Links have numbers as text. */
function sameKind(value, first) {
  if (Array.isArray(first)) return Array.isArray(value) && value.every(Number.isInteger) ? value : first;
  if (typeof first === "number") return value !== "" && Number.isFinite(Number(value ?? "x")) ? Number(value) : first;
  if (typeof first === "boolean") return value === undefined ? first : String(value) === "true";
  if (typeof first === "string") return value === undefined ? first : String(value);
  return typeof value === "object" && value !== null ? value : first;
}

/** The arrangement of the tree, its colors and its marks. Nodes are stored by id. */
export function addTreeParts(views, viewer) {
  const { arrangement } = viewer;
  const kept = () => {};
  for (const name of ["root", "order", "rotated", "collapsed"]) {
    const restore = name === "root" ? (_, state) => arrangement.restore(state) : kept;
    views.add(name, () => arrangement.state()[name], restore);
  }
  const compared = () => viewer.others.findIndex(({ tree }) => tree === viewer.tree.other);
  views.add("compare", compared, (number) => {
    if (number !== compared() && number in viewer.others) arrangement.compareWith(viewer.others[number].tree);
  });
  views.add("layout", () => viewer.layout.kind, (kind) => viewer.setLayout(kind));
  views.add("lengths", () => viewer.shape.name, (name) => {
    const number = viewer.shapes.findIndex((shape) => shape.name === name);
    if (number >= 0 && viewer.shapes[number] !== viewer.shape) viewer.setShape(number);
  });
  views.add("spread", () => rounded(viewer.spread), (spread) => {
    if (spread > 0 && spread !== rounded(viewer.spread)) viewer.setSpread(spread);
  });
  views.add("labels", () => viewer.showLabels, (shown) => viewer.setLabels(Boolean(shown)));
  const isShare = (number) => number >= 0 && number <= 1;
  views.add("support", () => viewer.faint.least, (least) => viewer.setLeastSupport(isShare(least) ? least : 0));
  addMarks(views, viewer);
  views.add("at", () => cameraText(viewer), (text) => restoreCamera(viewer, text), { camera: true });
}

/** The numbers of the camera. Layouts in the plane have four, and the disk has the node in the middle and five. */
function cameraText(viewer) {
  return Object.values(viewer.layout.position()).flat().map(rounded).join(",");
}

function restoreCamera(viewer, text) {
  const { layout, tree } = viewer;
  const numbers = text.split(",").map(Number);
  const isDisk = layout.kind === "disk";
  const isValid = numbers.length === (isDisk ? 6 : 4) && numbers.every(Number.isFinite);
  if (!isValid || (isDisk && !(numbers[0] in tree.position))) {
    layout.flightHome().step(1);
    return;
  }
  const [u, v, zx, zy] = numbers;
  const at = isDisk ? { anchor: u, view: normalized(numbers.slice(1, 5)), zoom: numbers[5] } : { u, v, zx, zy };
  layout.flightToPosition(at).step(1);
}

function addMarks(views, viewer) {
  const { original } = viewer.arrangement;
  const id = (k) => (k < 0 ? -1 : viewer.tree.node[k]);
  const at = (node) => viewer.tree.position[node] ?? -1;
  views.add("chosen", () => id(viewer.marks.chosen), (node) => viewer.mark(at(node)));
  const ends = ({ from, to }) => [from, to].map(id).join(",");
  views.add("path", () => (viewer.marks.path ? ends(viewer.marks.path) : ""), (text) => {
    const [from, to] = text.split(",").map((node) => (node === "" ? -1 : at(Number(node))));
    if (from >= 0 && to >= 0) viewer.showPath(from, to);
    else if (viewer.marks.path) viewer.clearPath();
  });
  // Branches are ranges of positions.
  const selected = () => {
    const found = [];
    viewer.marks.selection?.forEach((flag, k) => flag && found.push(original.position[viewer.tree.node[k]]));
    return found.sort((one, two) => one - two);
  };
  views.add("selected", selected, (positions) => {
    const nodes = positions.filter((k) => k >= 0 && k < original.n).map((k) => original.node[k]);
    const chosen = new Set(nodes);
    if (chosen.size > 0 || viewer.marks.selection) viewer.selectNodes((node) => chosen.has(node));
  });
}

/** Seven significant digits. */
const rounded = (number) => Number(number.toPrecision(7));

/** The scale of numeric colors as text: its kind, limits and center; "" for the default. */
export function scaleText(attribute) {
  if (attribute?.kind !== "number") return "";
  const { kind, limits, center } = attribute.scale;
  const text = [kind, ...limits.map((limit) => limit ?? ""), center].join(",");
  return text === "linear,,,0" ? "" : text;
}

export function restoreScale(attribute, text) {
  if (attribute?.kind !== "number" || text === scaleText(attribute)) return;
  const [kind = "linear", low = "", high = "", center = "0"] = text === "" ? [] : text.split(",");
  const limits = [low, high].map((limit) => (limit === "" || Number.isNaN(Number(limit)) ? null : Number(limit)));
  const known = attribute.scale.kinds.includes(kind) ? kind : "linear";
  attribute.setScale({ kind: known, limits, center: Number(center) || 0 });
}

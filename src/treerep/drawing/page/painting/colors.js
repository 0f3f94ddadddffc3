// Colors of the two themes, of categories and of numbers.

import { decodeFloats, decodeInts } from "../tree/tree.js";

export const THEMES = {
  light: {
    outside: "#f4f5f8",
    disk: "#ffffff",
    diskEdge: "#eef0f6",
    rim: "#c9cedb",
    edge: "#a3abbd",
    plain: "#7a8398",
    text: "#1c2333",
    halo: "rgba(255,255,255,0.88)",
    path: "#d6004b",
    select: "#0b57d0",
    missing: "#b3b9c6",
    categories: [
      "#3366cc", "#e8710a", "#1b9e77", "#d13b6c", "#7b57c8", "#a6761d",
      "#0aa3c2", "#6a9e12", "#c23bb0", "#5b6b7f", "#d4a000", "#8c3b2a",
      "#7fa8f0", "#f4b26b", "#7fcdb4", "#ec91b0", "#b8a2ea", "#cfae6e", "#7ed3e3", "#b3d175",
    ],
  },
  dark: {
    outside: "#0d1017",
    disk: "#181d29",
    diskEdge: "#11151e",
    rim: "#3a4358",
    edge: "#5c6780",
    plain: "#8a94ab",
    text: "#eef1f8",
    halo: "rgba(16,20,30,0.85)",
    path: "#ff5c8a",
    select: "#7db2ff",
    missing: "#566076",
    categories: [
      "#6fa0ff", "#ff9d4d", "#4fd1a5", "#ff7aa5", "#b197ff", "#dcae57",
      "#4fd0ea", "#a8d84a", "#ec82dc", "#a7b4c6", "#f2cf52", "#e38b76",
      "#3f6fd0", "#c76a1c", "#239a72", "#cc4475", "#7d62d6", "#a57b25", "#2298b5", "#74a51b",
    ],
  },
};

/** Maximum number of categories with distinct colors. Others share the color of missing values. */
export const MOST_COLORS = THEMES.light.categories.length;

// Dark blue to yellow with evenly increasing lightness. On a dark background the low end is lighter.
const RAMPS = {
  light: ["#3b1c71", "#3d4a94", "#2f728f", "#249487", "#54b567", "#a9cc35", "#f2d21f"],
  dark: ["#7a5cc9", "#5b7fe0", "#3fa3cf", "#3cc0a4", "#7bd67a", "#c1e152", "#fbe94c"],
};
const STEPS = 32;

const channels = (hex) => [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16));

/** Color at a fraction from 0 to 1 of a theme's ramp. */
export function rampColor(theme, share) {
  const stops = RAMPS[theme];
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  const [from, to] = [channels(stops[low]), channels(stops[low + 1])];
  return `rgb(${from.map((part, i) => Math.round(part + (at - low) * (to[i] - part))).join(",")})`;
}

/** Attributes of the data points, decoded when first used. */
export class Attribute {
  constructor({ name, kind, categories, values }, tree) {
    Object.assign(this, { name, kind, categories, tree });
    this.values = kind === "number" ? decodeFloats(values) : decodeInts(values);
    if (kind === "number") {
      this.low = this.values.reduce((low, value) => (value < low ? value : low), Infinity);
      this.high = this.values.reduce((high, value) => (value > high ? value : high), -Infinity);
    }
  }

  /** Color the positions of another arrangement of the tree. */
  setTree(tree) {
    this.tree = tree;
    this.cached = undefined;
  }

  /** The value of a data point as text. */
  text(node) {
    const value = this.values[node];
    if (this.kind === "number") return Number.isNaN(value) ? "missing" : formatNumber(value);
    return value < 0 ? "missing" : this.categories[value];
  }

  /** A color class for every position, an index into `palette`. Class 0 is for missing values. */
  classes() {
    this.cached ??= this.kind === "number" ? this.#meanClasses() : this.#commonClasses();
    return this.cached;
  }

  /** The colors of the classes. */
  palette(theme) {
    const { missing, categories } = THEMES[theme];
    if (this.kind === "number") {
      return [missing, ...Array.from({ length: STEPS }, (_, i) => rampColor(theme, i / (STEPS - 1)))];
    }
    return [missing, ...categories, missing];
  }

  // A Steiner node has the category of the data points below it, if they all agree.
  #commonClasses() {
    const shown = (category) => (this.cycles ? 1 + ((category - 1) % MOST_COLORS) : Math.min(category, MOST_COLORS + 1));
    return this.#commonCategories().map((category) => (category > 0 ? shown(category) : 0));
  }

  #commonCategories() {
    const { n, up } = this.tree;
    const classes = new Int32Array(n).fill(-1); // -1: no data point yet; 0: missing or mixed
    for (let k = n - 1; k >= 0; k--) {
      const own = this.tree.isPoint(k) ? this.values[this.tree.node[k]] + 1 : -1;
      const below = classes[k];
      const common = own < 0 ? below : below < 0 || below === own ? own : 0;
      classes[k] = own >= 0 ? own : Math.max(below, 0);
      if (k > 0 && common >= 0) classes[up[k]] = classes[up[k]] < 0 || classes[up[k]] === common ? common : 0;
    }
    return classes;
  }

  // The value of a Steiner node is the mean over the data points below it.
  #meanClasses() {
    const { n, up } = this.tree;
    const sum = new Float64Array(n);
    const count = new Int32Array(n);
    const classes = new Int32Array(n);
    const span = this.high - this.low || 1;
    for (let k = n - 1; k >= 0; k--) {
      const value = this.tree.isPoint(k) ? this.values[this.tree.node[k]] : Number.NaN;
      if (!Number.isNaN(value)) {
        sum[k] += (value - this.low) / span;
        count[k]++;
      }
      const share = Number.isNaN(value) ? sum[k] / count[k] : (value - this.low) / span;
      const missing = count[k] === 0 || (this.tree.isPoint(k) && Number.isNaN(value));
      classes[k] = missing ? 0 : 1 + Math.round(share * (STEPS - 1));
      if (k > 0) {
        sum[up[k]] += sum[k];
        count[up[k]] += count[k];
      }
    }
    return classes;
  }
}

/** Six significant digits, without trailing zeros. */
export function formatNumber(value) {
  return Number.isFinite(value) ? String(Number(value.toPrecision(6))) : String(value);
}

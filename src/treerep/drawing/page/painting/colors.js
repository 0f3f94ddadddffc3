// Colors of the two themes, of categories and of numbers.

import { decodeBytes, decodeFloats, decodeInts } from "../tree/tree.js";
import { Scale } from "./scales.js";

export const THEMES = {
  light: {
    outside: "#f4f5f8",
    disk: "#ffffff",
    diskEdge: "#eef0f6",
    rim: "#c9cedb",
    edge: "#858d9f",
    plain: "#7a8398",
    text: "#1c2333",
    halo: "rgba(255,255,255,0.88)",
    path: "#d6004b",
    select: "#0b57d0",
    missing: "#868e9f",
  },
  dark: {
    outside: "#0d1017",
    disk: "#181d29",
    diskEdge: "#11151e",
    rim: "#3a4358",
    edge: "#667089",
    plain: "#8a94ab",
    text: "#eef1f8",
    halo: "rgba(16,20,30,0.85)",
    path: "#ff5c8a",
    select: "#7db2ff",
    missing: "#6f7890",
  },
};

// The palettes of both themes, as Python stored them: see `useThemeColors`.
const PALETTES = { light: null, dark: null };
// Colors repeat with another lightness, toward white (positive) or black (negative). Dark colors only get lighter, and
// pale colors only darker.
const SHADES = { light: [0, -0.4, 0.4, -0.62, 0.62], dark: [0, 0.45, -0.25, 0.7, -0.4] };
const DARK_SHADES = [0, 0.2, 0.5, 0.35, 0.68];
const PALE_SHADES = [0, -0.2, -0.5, -0.35, -0.65];
const [DARK_COLOR, PALE_COLOR] = [90, 200]; // limits of the mean of the channels
const STEPS = 32; // colors of a color bar
// Types of the stored numbers of sparse attributes.
const ARRAYS = { u1: Uint8Array, u2: Uint16Array, i4: Int32Array, f4: Float32Array };

/** Use the palettes that Python stored. */
export function useThemeColors(colors) {
  Object.assign(PALETTES, colors);
}

const channels = (hex) => [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16));
const hexColor = (parts) => `#${parts.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
const mixed = (from, to, share) => hexColor(channels(from).map((part, i) => part + share * (channels(to)[i] - part)));

/** Color at a fraction from 0 to 1 of some colors. */
export function colorAt(stops, share) {
  const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(at), stops.length - 2);
  return mixed(stops[low], stops[low + 1], at - low);
}

/** Default colors of categories. Each color of the palette occurs in several shades. */
function categoryColors(theme, count) {
  const { categories } = PALETTES[theme];
  return Array.from({ length: Math.min(count, categories.length * SHADES[theme].length) }, (_, i) => {
    const color = categories[i % categories.length];
    const mean = channels(color).reduce((sum, part) => sum + part, 0) / 3;
    const shades = mean < DARK_COLOR ? DARK_SHADES : mean > PALE_COLOR ? PALE_SHADES : SHADES[theme];
    const shade = shades[Math.floor(i / categories.length)];
    return mixed(color, shade > 0 ? "#ffffff" : "#000000", Math.abs(shade));
  });
}

/** Attributes of the data points, decoded when first used. */
export class Attribute {
  #encoded;
  #values = null;
  #scale = null;

  constructor({ name, kind, categories, values, rows, types, colors, ramp }, tree) {
    Object.assign(this, { name, kind, categories, tree, colors, ramp });
    this.sparse = rows !== undefined; // such as genes: only values other than 0 are stored
    this.palettes = {}; // by theme
    this.#encoded = { values, rows, types };
  }

  /** The value of each data point: numbers, or indices of categories; NaN or -1 if missing. */
  get values() {
    this.#values ??= this.#decoded();
    return this.#values;
  }

  #decoded() {
    const { values, rows, types } = this.#encoded;
    if (typeof values !== "string") return values;
    if (this.kind !== "number") return decodeInts(values);
    if (!this.sparse) return decodeFloats(values);
    const all = new Float64Array(this.tree.nPoints);
    const [positions, known] = [rows, values].map((text, i) => new ARRAYS[types[i]](decodeBytes(text)));
    positions.forEach((row, i) => (all[row] = known[i]));
    return all;
  }

  /** The color scale of numbers. */
  get scale() {
    this.#scale ??= new Scale(this.values);
    return this.#scale;
  }

  /** Change the color scale. Return whether the change was possible. */
  setScale(changes) {
    this.cached = undefined;
    this.palettes = {};
    return this.scale.set(changes);
  }

  /** Color the positions of another arrangement of the tree. */
  setTree(tree) {
    this.tree = tree;
    this.cached = undefined;
  }

  /** Change the name, the categories and the values, as the number of clusters changes. */
  redefine({ name, categories, values }) {
    Object.assign(this, { name, categories, palettes: {}, cached: undefined, counted: undefined });
    this.#values = values;
  }

  /** The value of a data point as text. */
  text(node) {
    const value = this.values[node];
    if (this.kind === "number") return Number.isNaN(value) ? "missing" : formatNumber(value);
    return value < 0 ? "missing" : this.categories[value];
  }

  /** How many data points each category has. */
  counts() {
    if (!this.counted) {
      this.counted = new Int32Array(this.categories.length);
      for (const code of this.values) if (code >= 0) this.counted[code]++;
    }
    return this.counted;
  }

  /** Whether some data points have no value. */
  get hasMissing() {
    return this.kind === "number" ? this.values.some(Number.isNaN) : this.values.includes(-1);
  }

  /** A color class for every position, an index into `palette`. Class 0 is for missing values. */
  classes() {
    this.cached ??= this.kind === "number" ? this.#meanClasses() : this.#commonClasses();
    return this.cached;
  }

  /** The color class of a data point. */
  classOf(node) {
    const value = this.values[node];
    if (this.kind !== "number") return this.classOfCategory(value);
    return Number.isNaN(value) ? 0 : 1 + Math.round(this.scale.share(value) * (STEPS - 1));
  }

  /** The colors of the classes. The same array is returned until the colors change. */
  palette(theme) {
    this.palettes[theme] ??= [THEMES[theme].missing, ...this.#colors(theme)];
    return this.palettes[theme];
  }

  /** Colors of the whole color bar of numbers. */
  bar(theme) {
    const { ramp, diverging } = PALETTES[theme];
    return this.ramp ?? (this.scale.kind === "diverging" ? diverging : ramp);
  }

  #colors(theme) {
    if (this.kind !== "number") return this.colors ?? categoryColors(theme, Math.max(1, this.categories.length));
    return Array.from({ length: STEPS }, (_, i) => colorAt(this.bar(theme), i / (STEPS - 1)));
  }

  /** The color class of a category. Colors repeat if there are too many categories. */
  classOfCategory(code) {
    const most = this.colors?.length ?? PALETTES.light.categories.length * SHADES.light.length;
    return code < 0 ? 0 : 1 + (code % most);
  }

  // A Steiner node has the category of the data points below it, if they all agree.
  #commonClasses() {
    return this.#commonCategories().map((category) => this.classOfCategory(category - 1));
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

  // The color of a Steiner node is at the mean place of the data points below it.
  #meanClasses() {
    const { n, up } = this.tree;
    const sum = new Float64Array(n);
    const count = new Int32Array(n);
    const classes = new Int32Array(n);
    for (let k = n - 1; k >= 0; k--) {
      const value = this.tree.isPoint(k) ? this.values[this.tree.node[k]] : Number.NaN;
      const own = Number.isNaN(value) ? Number.NaN : this.scale.share(value);
      if (!Number.isNaN(own)) {
        sum[k] += own;
        count[k]++;
      }
      const share = Number.isNaN(own) ? sum[k] / count[k] : own;
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

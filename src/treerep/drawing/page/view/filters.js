// Points that the user hides by category or by number. Hidden points are drawn faint.

export class Filters {
  constructor(viewer) {
    this.viewer = viewer;
    this.codes = new Map(); // attribute -> hidden categories; -1 for missing values
    this.ranges = new Set(); // attributes whose numbers outside the limits are hidden
  }

  get isActive() {
    return this.codes.size > 0 || this.ranges.size > 0;
  }

  isShown(attribute, code) {
    return !this.codes.get(attribute)?.has(code);
  }

  /** Hide a category, or show it again. */
  toggle(attribute, code) {
    const hidden = new Set(this.codes.get(attribute));
    if (!hidden.delete(code)) hidden.add(code);
    this.#setCodes(attribute, hidden);
  }

  /** Show only one category. If it already is the only one, show all. */
  isolate(attribute, code) {
    const others = attribute.categories.map((_, other) => other).filter((other) => other !== code);
    if (attribute.hasMissing && code !== -1) others.push(-1);
    const alone = this.isShown(attribute, code) && others.every((other) => !this.isShown(attribute, other));
    this.#setCodes(attribute, new Set(alone ? [] : others));
  }

  #setCodes(attribute, hidden) {
    if (hidden.size > 0) this.codes.set(attribute, hidden);
    else this.codes.delete(attribute);
    this.apply();
  }

  /** Hide numbers outside the limits of the color scale, or show them again. */
  setRange(attribute, on) {
    if (on) this.ranges.add(attribute);
    else this.ranges.delete(attribute);
    this.apply();
  }

  clear() {
    this.codes.clear();
    this.ranges.clear();
    this.apply();
  }

  /** Recompute which data points are hidden. */
  apply() {
    const { viewer } = this;
    const { nPoints } = viewer.tree;
    viewer.hidden = this.isActive ? Uint8Array.from({ length: nPoints }, (_, node) => Number(this.#hides(node))) : null;
    viewer.refresh();
  }

  #hides(node) {
    for (const [attribute, hidden] of this.codes) if (hidden.has(attribute.values[node])) return true;
    for (const { values, scale } of this.ranges) {
      if (!(values[node] >= scale.low && values[node] <= scale.high)) return true;
    }
    return false;
  }

  /** How many data points are hidden. */
  get count() {
    return this.viewer.hidden?.reduce((sum, flag) => sum + flag, 0) ?? 0;
  }

  /** A plain object: hidden categories and ranges by the name of the attribute. */
  state() {
    return {
      hidden: [...this.codes].map(([{ name }, codes]) => [name, [...codes]]),
      ranges: [...this.ranges].map(({ name }) => name),
    };
  }

  restore({ hidden = [], ranges = [] }) {
    const named = (name) => this.viewer.attributes.find((attribute) => attribute.name === name);
    this.codes = new Map(hidden.map(([name, codes]) => [named(name), new Set(codes)]).filter(([found]) => found));
    this.ranges = new Set(ranges.map(named).filter((found) => found?.kind === "number"));
    this.apply();
  }
}

// Scales of numeric colors: the place of each number on the color bar, from 0 to 1.

export const SCALES = ["linear", "log", "quantile", "diverging"];

export class Scale {
  constructor(values) {
    this.sorted = values.filter((value) => !Number.isNaN(value)).sort(); // typed arrays sort by value
    this.kind = "linear";
    this.center = 0;
    this.limits = [null, null]; // chosen by the user; null: from the data
  }

  get isEmpty() {
    return this.sorted.length === 0;
  }

  /** The scales that these numbers allow. */
  get kinds() {
    return SCALES.filter((kind) => kind !== "log" || this.sorted.at(-1) > 0);
  }

  /** The number at the low end of the color bar. */
  get low() {
    return this.limits[0] ?? this.#least();
  }

  get high() {
    return this.limits[1] ?? (this.isEmpty ? 1 : this.sorted.at(-1));
  }

  #least() {
    if (this.isEmpty) return 0;
    return this.kind === "log" ? this.sorted[this.#rank(0, true)] : this.sorted[0];
  }

  /** Change the kind, the limits or the center. Return whether the change was possible. */
  set({ kind = this.kind, limits = this.limits, center = this.center }) {
    const before = [this.kind, this.limits, this.center];
    Object.assign(this, { kind, limits, center });
    const chosen = limits.some((end) => end !== null);
    if (!chosen || (this.low < this.high && (kind !== "log" || this.low > 0))) return true;
    [this.kind, this.limits, this.center] = before;
    return false;
  }

  /** The place of a number on the color bar. */
  share(value) {
    const at = this.#place(value);
    return Number.isNaN(at) ? 0.5 : Math.min(Math.max(at, 0), 1); // NaN if all numbers are equal
  }

  #place(value) {
    const { low, high, kind } = this;
    if (kind === "log") return Math.log(Math.max(value, low) / low) / Math.log(high / low);
    if (kind === "quantile") return this.#quantile(value);
    if (kind === "diverging") return 0.5 + (value - this.center) / (2 * this.#reach());
    return (value - low) / (high - low);
  }

  /** Half the length of a diverging scale. */
  #reach() {
    return Math.max(Math.abs(this.high - this.center), Math.abs(this.center - this.low));
  }

  /** The share of the numbers within the limits that are smaller; half of equal numbers count. */
  #quantile(value) {
    const [from, to] = [this.#rank(this.low, false), this.#rank(this.high, true)];
    const middle = (this.#rank(value, false) + this.#rank(value, true) - 1) / 2;
    return (middle - from) / (to - from - 1);
  }

  /** How many numbers are smaller than a value, or, with `equal`, not larger. */
  #rank(value, equal) {
    let [from, to] = [0, this.sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.sorted[middle] < value || (equal && this.sorted[middle] === value)) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** The number at a place of the color bar. */
  value(share) {
    const { low, high, kind } = this;
    if (kind === "log") return low * (high / low) ** share;
    if (kind === "diverging") return this.center + (2 * share - 1) * this.#reach();
    if (kind === "linear") return low + share * (high - low);
    const [from, to] = [this.#rank(low, false), this.#rank(high, true) - 1];
    return this.sorted[Math.round(from + share * (to - from))] ?? low;
  }

  /** How many numbers each part of the color bar has. */
  histogram(parts) {
    const counts = new Array(parts).fill(0);
    const { low, high } = this;
    for (const value of this.sorted) {
      if (value >= low && value <= high) counts[Math.min(parts - 1, Math.floor(parts * this.share(value)))]++;
    }
    return counts;
  }
}

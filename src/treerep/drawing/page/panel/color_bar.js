// The color bar of numbers: histogram, ticks, and the choice of scale and limits.

import { colorAt, formatNumber } from "../painting/colors.js";
import { counted, element } from "./dom.js";

const BINS = 32;
const TICK_SHARES = [0, 0.5, 1];
const tickText = (value) => formatNumber(Number(value.toPrecision(3)));

export class ColorBar {
  constructor(viewer, attribute) {
    Object.assign(this, { viewer, attribute });
    this.picture = element("div", {});
    this.fault = element("p", { class: "fault", role: "alert", hidden: "" });
    this.low = this.#numberField("From", () => this.#setLimits());
    this.high = this.#numberField("To", () => this.#setLimits());
    this.center = this.#numberField("Center", () => this.#set({ center: Number(this.center.input.value) || 0 }));
    this.kind = element("select", { "aria-label": "Color scale" });
    this.kind.append(...attribute.scale.kinds.map((kind) => element("option", { value: kind }, `${kind} scale`)));
    this.kind.addEventListener("change", () => this.#set({ kind: this.kind.value }));
    this.box = element("div", { class: "numbers" }, this.picture, this.kind, this.#fields(), this.#outside(), this.fault);
    this.update();
  }

  #numberField(name, run) {
    const input = element("input", { type: "number", step: "any" });
    input.addEventListener("change", run);
    return { input, label: element("label", {}, name, input) };
  }

  #fields() {
    const fields = [this.low, this.high, this.center];
    return element("div", { class: "fields" }, ...fields.map(({ label }) => label));
  }

  #outside() {
    this.check = element("input", { type: "checkbox" });
    this.check.addEventListener("change", () => this.viewer.filters.setRange(this.attribute, this.check.checked));
    return element("label", { class: "check" }, this.check, "Fade values outside");
  }

  #setLimits() {
    const end = ({ input }) => (input.value === "" ? null : Number(input.value));
    this.#set({ limits: [end(this.low), end(this.high)] });
  }

  #set(changes) {
    const possible = this.attribute.setScale(changes);
    const log = this.attribute.scale.kind === "log" || changes.kind === "log";
    this.fault.textContent = log
      ? "A log scale needs limits above 0, the first below the second."
      : "The first limit must be below the second: change one of them.";
    this.fault.hidden = possible;
    this.viewer.filters.apply(); // the limits may hide points; this also redraws
  }

  /** Show the current scale. */
  update() {
    const { scale } = this.attribute;
    const state = JSON.stringify([scale.kind, scale.low, scale.high, scale.center]);
    this.check.checked = this.viewer.filters.ranges.has(this.attribute);
    if (state === this.state) return;
    this.state = state;
    this.kind.value = scale.kind;
    this.low.input.placeholder = formatNumber(scale.low);
    this.high.input.placeholder = formatNumber(scale.high);
    for (const [i, field] of [this.low, this.high].entries()) field.input.value = scale.limits[i] ?? "";
    this.center.label.hidden = scale.kind !== "diverging";
    this.center.input.value = scale.center;
    this.#draw(scale);
  }

  #draw(scale) {
    const bar = element("div", { class: "bar" });
    const stops = Array.from({ length: 17 }, (_, i) => colorAt(this.attribute.bar(this.viewer.theme), i / 16));
    bar.style.background = `linear-gradient(to right,${stops.join(",")})`;
    const missing = this.attribute.values.length - scale.sorted.length;
    const places = scale.isEmpty ? [] : TICK_SHARES.map((share) => element("span", {}, tickText(scale.value(share))));
    const note = missing > 0 ? [element("p", {}, `${counted(missing, "point")} missing`)] : [];
    this.picture.replaceChildren(this.#histogram(scale), bar, element("div", { class: "ends" }, ...places), ...note);
  }

  #histogram(scale) {
    const counts = scale.histogram(BINS);
    const most = Math.max(1, ...counts);
    const columns = counts.map((count) => {
      const column = element("span", { title: counted(count, "point") });
      column.style.height = `${count > 0 ? Math.max(4, (100 * count) / most) : 0}%`;
      return column;
    });
    return element("div", { class: "histogram", "aria-hidden": "true" }, ...columns);
  }
}

// The legend: the colors of categories, or the color bar of numbers.

import { formatNumber, MOST_COLORS, rampColor } from "../painting/colors.js";
import { byId, element } from "./dom.js";

/** Fill the legend for the attribute that the tree is colored by. */
export function showLegend(viewer) {
  const { attribute, theme } = viewer;
  const legend = byId("legend");
  legend.replaceChildren();
  legend.hidden = attribute === null;
  if (attribute === null) return;
  if (attribute.kind === "number") {
    const stops = Array.from({ length: 9 }, (_, i) => rampColor(theme, i / 8)).join(",");
    const bar = element("div", { class: "bar" });
    bar.style.background = `linear-gradient(to right,${stops})`;
    const ends = attribute.low <= attribute.high ? [attribute.low, attribute.high].map(formatNumber) : ["", ""];
    legend.append(bar, element("div", { class: "ends" }, ...ends.map((end) => element("span", {}, end))));
    return;
  }
  const palette = attribute.palette(theme);
  const many = attribute.categories.length;
  const entry = (color, name) => {
    const swatch = element("span", { class: "swatch", color });
    legend.append(element("div", { class: "entry" }, swatch, element("span", { title: name }, name)));
  };
  attribute.categories.slice(0, MOST_COLORS).forEach((name, i) => entry(palette[i + 1], name));
  if (many > MOST_COLORS) entry(palette[0], `${(many - MOST_COLORS).toLocaleString("en")} more`);
}

// The legend of a figure: categories with their colors, or the color bar of numbers.

import { colorAt, formatNumber } from "../painting/colors.js";
import { shortened } from "../painting/labels.js";

const LEGEND_ROW = 19;
const LEGEND_BAR = { width: 14, height: 150, steps: 60 };
const LONGEST_NAME = 26; // characters of a name

/** The shown categories of an attribute as { color, name }. */
function entriesOf({ attribute, theme, filters }) {
  const palette = attribute.palette(theme);
  const codes = attribute.categories.map((_, code) => code).filter((code) => filters.isShown(attribute, code));
  return codes.map((code) => ({
    color: palette[attribute.classOfCategory(code)],
    name: shortened(attribute.categories[code], LONGEST_NAME),
  }));
}

/** What a figure shows about the colors of a viewer: a list of rows, or a color bar; null without colors. */
export function figureLegend(viewer, height) {
  const { attribute, theme } = viewer;
  if (attribute === null) return null;
  const title = shortened(attribute.name, LONGEST_NAME);
  if (attribute.kind === "number") {
    const { scale } = attribute;
    const tick = (share) => formatNumber(Number(scale.value(share).toPrecision(3)));
    return { title, colors: attribute.bar(theme), ticks: scale.isEmpty ? [] : [1, 0.5, 0].map(tick) };
  }
  const entries = entriesOf(viewer);
  const most = Math.max(1, Math.floor(height / LEGEND_ROW) - 2);
  const rows = entries.length > most ? entries.slice(0, most - 1) : entries;
  const left = entries.length - rows.length;
  return { title, rows: left > 0 ? [...rows, { color: null, name: `${left.toLocaleString("en")} more` }] : rows };
}

/** The width of a legend in pixels. */
export function legendWidth(pen, legend, font) {
  pen.font = `450 12px ${font}`;
  const names = legend.rows ? legend.rows.map(({ name }) => name) : legend.ticks;
  const widest = Math.max(...names.map((name) => pen.measureText(name).width), 0);
  pen.font = `600 12px ${font}`;
  return Math.max(pen.measureText(legend.title).width, widest + 22) + 8;
}

export function paintLegend(pen, legend, theme, font, [x, y]) {
  const write = (text, left, middle, weight = 450) => {
    pen.font = `${weight} 12px ${font}`;
    pen.fillStyle = theme.text;
    pen.fillText(text, left, middle);
  };
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  write(legend.title, x, y + LEGEND_ROW / 2, 600);
  if (!legend.rows) {
    paintBar(pen, legend, write, [x, y + 1.5 * LEGEND_ROW]);
    return;
  }
  legend.rows.forEach(({ color, name }, i) => {
    const middle = y + (i + 1.6) * LEGEND_ROW;
    if (color !== null) {
      pen.fillStyle = color;
      pen.beginPath();
      pen.arc(x + 6, middle, 5, 0, 2 * Math.PI);
      pen.fill();
    }
    write(name, x + 18, middle);
  });
}

function paintBar(pen, { colors, ticks }, write, [x, y]) {
  const step = LEGEND_BAR.height / LEGEND_BAR.steps;
  for (let i = 0; i < LEGEND_BAR.steps; i++) {
    pen.fillStyle = colorAt(colors, 1 - (i + 0.5) / LEGEND_BAR.steps);
    const overlap = i < LEGEND_BAR.steps - 1 ? 0.5 : 0; // no gaps between the pieces
    pen.fillRect(x, y + i * step, LEGEND_BAR.width, step + overlap);
  }
  const between = LEGEND_BAR.height / Math.max(1, ticks.length - 1);
  ticks.forEach((text, i) => write(text, x + LEGEND_BAR.width + 6, y + i * between));
}

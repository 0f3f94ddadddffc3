// A figure of the current view: the tree in the middle, a title above, a legend on the right and a scale bar below.

import { THEMES } from "../painting/colors.js";
import { FONT, shortened } from "../painting/labels.js";
import { SvgPen } from "../painting/svg.js";
import { figureLegend, legendWidth, paintLegend } from "./figure_legend.js";
import { MOST_NAMES, namedPositions } from "./names.js";
import { paintScaleBar, scaleBar } from "./scale_bar.js";
import { paintTimeAxis } from "./time_axis.js";

const FIGURE_MARGIN = 16;
const TITLE_HEIGHT = 30; // height of the title
const SCALE_HEIGHT = 34; // height of the scale bar
const NO_COLOR = "rgba(0,0,0,0)";
const NAME_ROW = 10; // least height of a row with a name
const LARGEST_SIDE = 4000; // pixels; a canvas has at most four times as many

/** The colors of a figure on a background: "white", "transparent" or "page". */
function figureTheme(theme, background) {
  if (background === "page") return THEMES[theme];
  const ground = background === "white" ? "#ffffff" : NO_COLOR;
  return { ...THEMES[theme], outside: ground, disk: ground, diskEdge: ground };
}

/** Draw the view of a viewer. Options: width, height, background, title, legend. */
function paintFigure(viewer, pen, { width, height, background, title = "", legend = true }) {
  const shown = viewer.theme;
  if (background === "white") viewer.theme = "light";
  const theme = figureTheme(viewer.theme, background);
  if (background !== "transparent") {
    pen.fillStyle = theme.outside;
    pen.fillRect(0, 0, width, height);
  }
  const top = title ? TITLE_HEIGHT : 0;
  const names = legend ? figureLegend(viewer, height - top - 2 * FIGURE_MARGIN) : null;
  const beside = names ? legendWidth(pen, names, FONT) + FIGURE_MARGIN : 0;
  const hasScale = viewer.layout.lengthPerPixel !== null;
  const around = top + 2 * FIGURE_MARGIN + (hasScale ? SCALE_HEIGHT : 0);
  const box = [FIGURE_MARGIN, FIGURE_MARGIN + top, width - 2 * FIGURE_MARGIN - beside, height - around];
  const { lengthPerPixel, ticks } = inArea(pen, box, () => viewer.paintInto(pen, box[2], box[3], theme));
  const low = height - FIGURE_MARGIN;
  if (title) paintTitle(pen, title, theme, width);
  if (names) paintLegend(pen, names, theme, FONT, [width - beside, FIGURE_MARGIN + top]);
  const bar = scaleBar(lengthPerPixel);
  if (ticks) paintTimeAxis(pen, movedTicks(ticks, box[0]), theme, FONT, [box[0], box[0] + box[2], low - 20]);
  else if (bar) paintScaleBar(pen, bar, theme, FONT, [FIGURE_MARGIN + 8, low - 4]);
  viewer.theme = shown;
}

function paintTitle(pen, title, theme, width) {
  pen.font = `600 17px ${FONT}`;
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  pen.fillStyle = theme.text;
  const most = Math.max(8, Math.floor((width - 2 * FIGURE_MARGIN) / 9));
  pen.fillText(shortened(title, most), width / 2, FIGURE_MARGIN + TITLE_HEIGHT / 2 - 4);
  pen.textAlign = "left";
}

const movedTicks = (ticks, by) => ticks.map(({ x, text }) => ({ x: x + by, text }));

/** Draw inside a box, whose corner becomes the origin. Returns what `paint` returns. */
function inArea(pen, box, paint) {
  const [x, y, width, height] = box;
  if (pen.openArea) {
    pen.openArea(x, y, width, height);
    const result = paint();
    pen.closeArea();
    return result;
  }
  pen.save();
  pen.translate(x, y);
  pen.beginPath();
  pen.rect(0, 0, width, height);
  pen.clip();
  const result = paint();
  pen.restore();
  return result;
}

/** The figure as SVG text. */
export function svgFigure(viewer, options) {
  const pen = new SvgPen(options.width, options.height, viewer.pen);
  paintFigure(viewer, pen, options);
  return pen.text();
}

/** The figure as a PNG blob, with several pixels per unit. */
export function pngFigure(viewer, options, factor = 2) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.round(factor * options.width), Math.round(factor * options.height)];
  const pen = canvas.getContext("2d");
  pen.scale(factor, factor);
  paintFigure(viewer, pen, options);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** The size at which the tree fills the figure as it fills the window; a square in the disk. Many names need more. */
export function screenSize(viewer, title, legend) {
  const { layout, window } = viewer;
  const names = namesSize(viewer);
  const room = { width: Math.max(window.room.width, names.around), height: Math.max(window.room.height, names.around) };
  const side = Math.min(room.width, room.height);
  const beside = legend && viewer.attribute ? 170 : 0;
  const above = title ? TITLE_HEIGHT : 0;
  // A few rows do not fill the height of the room.
  const filled = Math.min(room.height, Math.max(240, layout.high * layout.sy + 40 + SCALE_HEIGHT));
  const rows = Math.max(filled, names.rows);
  const high = { disk: side, rectangular: rows, tanglegram: rows }[layout.kind] ?? room.height;
  const wide = layout.kind === "disk" ? side : room.width;
  return { width: Math.round(wide + 2 * FIGURE_MARGIN + beside), height: Math.round(high + 2 * FIGURE_MARGIN + above) };
}

/** The least side of a figure with names around the tree, and the least height with names beside rows, in pixels. */
function namesSize({ layout, tree, showLabels }) {
  if (!showLabels || layout.zoom !== 1) return { around: 0, rows: 0 };
  const named = namedPositions(tree);
  if (named.length > MOST_NAMES) return { around: 0, rows: 0 };
  if (layout.kind === "rectangular" || layout.kind === "tanglegram") {
    return { around: 0, rows: Math.min(LARGEST_SIDE, NAME_ROW * layout.high + 40 + SCALE_HEIGHT) };
  }
  const longest = Math.max(0, ...named.map((k) => Math.min(60, tree.name(k).length)));
  return { around: Math.min(LARGEST_SIDE, 2 * Math.round(1.3 * named.length + 4 * longest)), rows: 0 }; // for small text
}

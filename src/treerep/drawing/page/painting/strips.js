// Strips of color beside the tips: one column or ring for each chosen attribute.

import { isCollapsed } from "../layouts/rows.js";
import { shortened } from "./labels.js";

const STRIP_WIDTH = 13; // pixels
const STRIP_GAP = 3;
const STRIP_MARGIN = 10; // between labels and strips
const FAINT_STRIP = 0.16; // opacity of filtered points
const HEADER_FONT = "500 11px ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const LONGEST_HEADER = 16; // characters

/** Pixels above the rectangular layout for the names of the strips. */
export function headerHeight(strips) {
  const longest = Math.max(0, ...strips.map(({ name }) => Math.min(name.length, LONGEST_HEADER)));
  return longest === 0 ? 0 : 14 + 6.5 * longest;
}

/** Layouts whose tips are in order, so that strips can be beside them. */
export const hasStrips = (kind) => kind === "rectangular" || kind === "circular";

/** Pixels that a number of strips needs beside the labels. */
export const stripRoom = (count) => (count === 0 ? 0 : STRIP_MARGIN + count * (STRIP_WIDTH + STRIP_GAP));

/** Draw the strips of a scene: { name, classes, palette } each. */
export function paintStrips(pen, scene) {
  const { strips, layout } = scene;
  if (strips.length === 0 || !hasStrips(layout.kind)) return;
  const labels = layout.labelRoom - stripRoom(strips.length) + STRIP_MARGIN;
  const line = layout.tipLine();
  if (layout.kind === "circular") {
    strips.forEach((strip, i) => paintRing(pen, scene, strip, line, line.r + labels + i * (STRIP_WIDTH + STRIP_GAP)));
    nameRings(pen, scene, line, line.r + labels - 6);
    return;
  }
  const left = stripLeft(layout, line, labels, strips.length);
  pen.fillStyle = scene.theme.disk;
  pen.fillRect(left - STRIP_GAP, 0, stripRoom(strips.length), scene.height);
  strips.forEach((strip, i) => paintColumn(pen, scene, strip, left + i * (STRIP_WIDTH + STRIP_GAP)));
}

/** The tip whose strip is at a pixel, or -1. */
export function stripTipAt(layout, count, [px, py]) {
  if (count === 0 || !hasStrips(layout.kind)) return -1;
  const line = layout.tipLine();
  const labels = layout.labelRoom - stripRoom(count) + STRIP_MARGIN;
  const wide = stripRoom(count) - STRIP_MARGIN;
  const isCircle = layout.kind === "circular";
  const inner = isCircle ? line.r + labels : stripLeft(layout, line, labels, count);
  const across = isCircle ? Math.hypot(px - line.cx, py - line.cy) : px;
  if (across < inner || across > inner + wide) return -1;
  const angle = isCircle ? Math.atan2(py - line.cy, px - line.cx) : 0;
  const row = isCircle ? (angle < 0 ? angle + 2 * Math.PI : angle) / layout.turn : (py - layout.oy) / layout.sy;
  const tips = tipsOf(layout);
  return row < 0 || row > layout.rows.total || tips.length === 0 ? -1 : tips[tipAt(layout, tips, row)];
}

/** The left end of the strips. Strips of a magnified tree stay in the window. */
function stripLeft(layout, line, labels, count) {
  return Math.min(line.x + labels, layout.window.room.right - stripRoom(count) + STRIP_MARGIN);
}

/** Tips in order: positions without shown children. */
function tipsOf(layout) {
  if (layout.stripTips?.rows === layout.rows) return layout.stripTips.tips;
  const { tree } = layout;
  const tips = [];
  for (let k = 0; k < tree.n; ) {
    const isTip = tree.size[k] === 1 || isCollapsed(tree, k);
    if (isTip) tips.push(k);
    k += isTip ? tree.size[k] : 1;
  }
  layout.stripTips = { rows: layout.rows, tips };
  return tips;
}

/** The index of the tip at a row. */
function tipAt(layout, tips, row) {
  let [from, to] = [0, tips.length - 1];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (layout.rows.bottom[tips[middle]] <= row) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * Runs of equal color along the tips: { from, to, key }, in pixels from `first` to `last`. `start` and `step` map rows
 * to pixels. If a pixel has several tips, it gets the color of the one in its middle.
 */
function runsOf(scene, { classes }, { start, step, first, last }) {
  const { layout, hidden } = scene;
  const { rows, tree } = layout;
  const tips = tipsOf(layout);
  const runs = [];
  let i = tipAt(layout, tips, (first - start) / step);
  let from = Math.max(first, start + rows.top[tips[i]] * step);
  while (i < tips.length && from < last) {
    const k = tips[i];
    const end = start + rows.bottom[k] * step;
    const to = Math.max(end, from + 1);
    const key = 2 * classes[k] + (hidden && tree.isPoint(k) && hidden[tree.node[k]] ? 1 : 0);
    const before = runs.at(-1);
    if (before?.key === key) before.to = to;
    else runs.push({ key, from, to });
    i = Math.max(i + 1, end < from + 1 ? tipAt(layout, tips, (to + 0.5 - start) / step) : i + 1);
    from = to;
  }
  return runs;
}

/** Fill shapes of runs by color. `trace` adds the shape of a run to the path. */
function fillRuns(pen, runs, palette, trace) {
  const groups = new Map();
  for (const run of runs) {
    if (!groups.has(run.key)) groups.set(run.key, []);
    groups.get(run.key).push(run);
  }
  for (const group of groups.values()) {
    const { key } = group[0];
    pen.globalAlpha = key % 2 === 1 ? FAINT_STRIP : 1;
    pen.fillStyle = palette[Math.floor(key / 2)];
    pen.beginPath();
    for (const run of group) trace(run);
    pen.fill();
  }
  pen.globalAlpha = 1;
}

function paintColumn(pen, scene, strip, left) {
  const { layout, height } = scene;
  const { top } = layout.window.room;
  const runs = runsOf(scene, strip, { start: layout.oy, step: layout.sy, first: top, last: height });
  fillRuns(pen, runs, strip.palette, ({ from, to }) => {
    const start = Math.round(from); // whole pixels leave no lines between the colors
    pen.rect(left, start, STRIP_WIDTH, Math.max(1, Math.round(Math.min(to, height)) - start));
  });
  // The name is written upwards.
  pen.save();
  pen.translate(left + STRIP_WIDTH / 2, Math.max(top, layout.oy) - 6);
  pen.rotate(-Math.PI / 2);
  header(pen, scene, strip.name, "left");
  pen.restore();
}

function header(pen, scene, name, align, x = 0, y = 0) {
  pen.font = HEADER_FONT;
  pen.textAlign = align;
  pen.textBaseline = "middle";
  pen.fillStyle = scene.theme.text;
  pen.fillText(shortened(name, LONGEST_HEADER), x, y);
}

function paintRing(pen, scene, strip, { cx, cy }, inner) {
  const { layout } = scene;
  const outer = inner + STRIP_WIDTH;
  if (outer < layout.r0 * layout.sx || inner > layout.r1 * layout.sx) return; // outside the window
  const step = layout.turn * outer;
  const runs = layout.ranges.flatMap(([from, to]) => {
    const [first, last] = [Math.max(0, from * outer), Math.min(to * outer, layout.rows.total * step)];
    return first < last ? runsOf(scene, strip, { start: 0, step, first, last }) : [];
  });
  const arc = (radius, from, to) => {
    const steps = Math.max(1, Math.ceil(Math.abs(to - from) * Math.sqrt(radius / 2.4)));
    return Array.from({ length: steps + 1 }, (_, i) => {
      const angle = from + ((to - from) * i) / steps;
      return [cx + radius * Math.cos(angle), cy + radius * Math.sin(angle)];
    });
  };
  fillRuns(pen, runs, strip.palette, ({ from, to }) => {
    const [start, end] = [from / outer, (to + 0.4) / outer]; // a small overlap hides seams
    const shape = [...arc(outer, start, end), ...arc(inner, end, start)];
    shape.forEach(([x, y], i) => (i === 0 ? pen.moveTo(x, y) : pen.lineTo(x, y)));
    pen.closePath();
  });
}

/** The names of the rings, from the inner one outwards, inside the gap of the circle. */
function nameRings(pen, scene, { cx, cy }, radius) {
  const { strips, layout } = scene;
  const middle = cy + radius * Math.sin((layout.rows.total * layout.turn) / 2 + Math.PI);
  strips.forEach(({ name }, i) => {
    header(pen, scene, name, "right", cx + radius, middle + 12 * (i - (strips.length - 1) / 2));
  });
}

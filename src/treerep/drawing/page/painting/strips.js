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
  // Strips of a magnified tree stay in the window.
  const rightmost = layout.window.room.right - stripRoom(strips.length) + STRIP_MARGIN;
  const left = Math.min(line.x + labels, rightmost);
  pen.fillStyle = scene.theme.disk;
  pen.fillRect(left - STRIP_GAP, 0, stripRoom(strips.length), scene.height);
  strips.forEach((strip, i) => paintColumn(pen, scene, strip, left + i * (STRIP_WIDTH + STRIP_GAP)));
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

/**
 * Runs of equal color along the tips: { from, to, kind, faint }, in pixels. `place` maps rows to pixels along the strip.
 * Tips that share a pixel get the color of most of them.
 */
function runsOf(scene, { classes }, place, first, last) {
  const { layout, hidden } = scene;
  const { rows, tree } = layout;
  const runs = [];
  let votes = new Map();
  let pixel = null;
  const flush = () => {
    if (votes.size === 0) return;
    const [key, { from, to }] = [...votes].reduce((best, one) => (one[1].count > best[1].count ? one : best));
    const start = Math.min(...[...votes.values()].map((vote) => vote.from), from);
    const end = Math.max(...[...votes.values()].map((vote) => vote.to), to);
    const before = runs.at(-1);
    if (before?.key === key) before.to = end;
    else runs.push({ key, kind: Math.floor(key / 2), faint: key % 2 === 1, from: start, to: end });
    votes = new Map();
  };
  for (const k of tipsOf(layout)) {
    const [from, to] = [place(rows.top[k]), place(rows.bottom[k])];
    if (to < first || from > last) continue;
    if (Math.floor(from) !== pixel) flush();
    pixel = Math.floor(from);
    const key = 2 * classes[k] + (hidden && tree.isPoint(k) && hidden[tree.node[k]] ? 1 : 0);
    const vote = votes.get(key) ?? { count: 0, from, to };
    votes.set(key, { count: vote.count + 1, from: vote.from, to });
  }
  flush();
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
    pen.globalAlpha = group[0].faint ? FAINT_STRIP : 1;
    pen.fillStyle = palette[group[0].kind];
    pen.beginPath();
    for (const run of group) trace(run);
    pen.fill();
  }
  pen.globalAlpha = 1;
}

function paintColumn(pen, scene, strip, left) {
  const { layout, height } = scene;
  const { top } = layout.window.room;
  const place = (row) => layout.oy + row * layout.sy;
  const runs = runsOf(scene, strip, place, top, height);
  fillRuns(pen, runs, strip.palette, ({ from, to }) => {
    const start = Math.round(Math.max(from, top)); // whole pixels leave no lines between the colors
    pen.rect(left, start, STRIP_WIDTH, Math.max(1, Math.round(Math.min(to, height)) - start));
  });
  // The name is written upwards.
  pen.save();
  pen.translate(left + STRIP_WIDTH / 2, Math.max(top, place(0)) - 6);
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
  const runs = runsOf(scene, strip, (row) => row * layout.turn * outer, -1, Infinity);
  const arc = (radius, from, to) => {
    const steps = Math.max(1, Math.ceil(Math.abs(to - from) * Math.sqrt(radius / 2.4)));
    return Array.from({ length: steps + 1 }, (_, i) => {
      const angle = from + ((to - from) * i) / steps;
      return [cx + radius * Math.cos(angle), cy + radius * Math.sin(angle)];
    });
  };
  fillRuns(pen, runs, strip.palette, ({ from, to }) => {
    const [start, end] = [from / outer, (Math.max(to, from + 0.6) + 0.4) / outer]; // a small overlap hides seams
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

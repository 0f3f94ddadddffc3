// The support of edges, written beside edges that have room for it.

import { FONT } from "./labels.js";

const SUPPORT_SIZE = 9.5;
const SUPPORT_ROOM = 13; // pixels across the subtree
const MOST_SUPPORT = 400;

/** Write support above the middle of the last straight piece of each edge. */
export function paintSupport(pen, { layout, theme, showLabels }, tree) {
  if (!tree.hasSupport || !showLabels || layout.kind === "disk") return;
  pen.font = `450 ${SUPPORT_SIZE}px ${FONT}`;
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  pen.fillStyle = theme.text;
  pen.globalAlpha = 0.75;
  let left = MOST_SUPPORT;
  for (let i = 0; i < layout.count && left > 0; i++) {
    const k = layout.shown[i];
    if (Number.isNaN(tree.support[k]) || layout.isBundle(k) || layout.room(k) < SUPPORT_ROOM) continue;
    if (writeSupport(pen, layout.line(k), shownSupport(tree, k))) left--;
  }
  pen.globalAlpha = 1;
  pen.textAlign = "left";
}

/** Support as in the file, or in percent. */
export function shownSupport(tree, k) {
  return tree.supportTexts?.[k] || String(Math.round(100 * tree.support[k]));
}

function writeSupport(pen, line, text) {
  const [x, y, u, v] = line.slice(-4);
  const wide = pen.measureText(text).width;
  if (Math.hypot(u - x, v - y) < wide + 8) return false;
  // Texts stay upright: the line is read from left to right.
  const angle = Math.atan2(v - y, u - x);
  const upright = Math.cos(angle) >= -1e-9 ? angle : angle + Math.PI;
  pen.save();
  pen.translate((x + u) / 2, (y + v) / 2);
  pen.rotate(upright);
  pen.fillText(text, 0, -0.7 * SUPPORT_SIZE);
  pen.restore();
  return true;
}

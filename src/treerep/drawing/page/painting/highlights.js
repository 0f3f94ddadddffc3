// Marks of the matches of searches: a ring around a dot, or a small square where dots are tiny.

import { isCollapsed } from "../layouts/rows.js";

const SMALL = 1.6; // radius of a dot too small for a ring, in pixels

/** Draw the highlights of a scene. `radius` has the radius of every placed dot. */
export function paintHighlights(pen, scene, radius) {
  scene.highlights.forEach(({ flags, below, color }, i) => {
    const { layout } = scene;
    pen.strokeStyle = pen.fillStyle = color;
    pen.lineWidth = 2;
    const rings = [];
    const squares = [];
    for (let j = 0; j < layout.count; j++) {
      const k = layout.shown[j];
      if (!layout.isDrawn(k) || !isMatch(layout, k, flags, below)) continue;
      (radius[k] > SMALL ? rings : squares).push(k);
    }
    pen.beginPath();
    for (const k of rings) {
      // The rings of several searches are concentric, outside the ring of selected points.
      const r = radius[k] + 4.2 + 2.4 * i;
      pen.moveTo(layout.px[k] + r, layout.py[k]);
      pen.arc(layout.px[k], layout.py[k], r, 0, 2 * Math.PI);
    }
    pen.stroke();
    pen.beginPath();
    for (const k of squares) pen.rect(layout.px[k] - SMALL, layout.py[k] - SMALL, 2 * SMALL, 2 * SMALL);
    pen.fill();
  });
}

/** Whether a position matches, or a subtree drawn as one line or triangle has matches. */
function isMatch(layout, k, flags, below) {
  const { tree } = layout;
  if (layout.isBundle(k) || isCollapsed(tree, k)) return below[k] === 1;
  return tree.isPoint(k) && flags[tree.node[k]] === 1;
}

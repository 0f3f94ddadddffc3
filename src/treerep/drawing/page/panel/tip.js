// The tooltip of the node under the mouse.

import { shortened } from "../painting/labels.js";
import { byId, element, LONGEST } from "./dom.js";

export class Tip {
  constructor(viewer, cards) {
    Object.assign(this, { viewer, cards });
  }

  /** Show or hide the ring around the node under the mouse, and the tooltip next to it. */
  show(k, [px, py] = [0, 0]) {
    const tip = byId("tip");
    const changed = this.viewer.marks.hover !== k;
    this.viewer.marks.hover = k;
    tip.hidden = byId("ring").hidden = k < 0;
    if (k < 0) return;
    if (changed) this.#fill(tip, k);
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(px + 16, this.viewer.width - width - 8))}px`;
    tip.style.top = `${py + 20 + height > this.viewer.height ? Math.max(4, py - height - 12) : py + 20}px`;
  }

  #fill(tip, k) {
    const short = (text) => shortened(text, LONGEST);
    const lines = this.cards.facts(k).slice(0, 8).map(([name, value]) => element("span", {}, short(`${name}: ${value}`)));
    tip.replaceChildren(element("strong", {}, short(this.cards.titleOf(k))), ...lines);
    // The ring is a separate element, so that the tree need not be redrawn.
    const [x, y] = this.viewer.pixelOf(k);
    const radius = this.viewer.painter.ringRadius(k);
    const wide = `${2 * radius}px`;
    Object.assign(byId("ring").style, { left: `${x}px`, top: `${y}px`, width: wide, height: wide });
  }
}

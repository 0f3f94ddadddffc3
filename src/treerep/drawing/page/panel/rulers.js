// The scale bar and the time axis on the screen.

import { timeTicks } from "../export/time_axis.js";
import { scaleBar } from "../export/scale_bar.js";
import { byId, element } from "./dom.js";

export class Rulers {
  constructor(viewer) {
    Object.assign(this, { viewer, bar: byId("scalebar"), axis: byId("timeaxis") });
    viewer.addEventListener("drawn", () => this.update());
  }

  update() {
    const { layout } = this.viewer;
    const ticks = timeTicks(this.viewer.calendar(), layout);
    const bar = ticks ? null : scaleBar(layout.lengthPerPixel);
    this.#showBar(bar);
    this.#showAxis(ticks);
  }

  #showBar(bar) {
    const box = this.bar;
    box.hidden = bar === null;
    if (bar === null) return;
    box.style.width = `${bar.pixels.toFixed(1)}px`;
    if (box.textContent === bar.text) return;
    box.textContent = bar.text;
    box.setAttribute("aria-label", `Scale bar: ${bar.text}`);
  }

  #showAxis(ticks) {
    const box = this.axis;
    box.hidden = ticks === null;
    if (ticks === null) return;
    const mark = ({ x, text }) => {
      const tick = element("span", {}, text);
      tick.style.left = `${x.toFixed(1)}px`;
      return tick;
    };
    box.replaceChildren(...ticks.map(mark));
    box.title = this.viewer.calendar().note;
  }
}

// The card of exports: pictures with their size and background, files of the tree, and printing.

import { pngFigure, screenSize, svgFigure } from "../export/figure.js";
import { byId, counted, download, element } from "./dom.js";

const MOST_PIXELS = 10000; // pixels of a side
const BACKGROUNDS = { white: "white", transparent: "transparent", page: "as on screen" };

export class Exports {
  constructor(viewer, fileName, title) {
    Object.assign(this, { viewer, fileName, title });
    this.width = sizeField("figure-width", "Width");
    this.height = sizeField("figure-height", "Height");
    this.background = element("select", { id: "figure-background", "aria-label": "Background" });
    const option = ([value, name]) => element("option", { value }, name);
    this.background.append(...Object.entries(BACKGROUNDS).map(option));
    this.titled = element("input", { type: "checkbox", checked: "" });
    this.legend = element("input", { type: "checkbox", checked: "" });
    byId("figure").append(
      element("label", {}, "Size ", this.width, " × ", this.height),
      element("label", {}, "Background ", this.background),
      element("label", {}, this.titled, " title"),
      element("label", {}, this.legend, " legend"),
    );
    this.note = element("p", { id: "exportnote", role: "status" });
    byId("exports").append(this.note);
    window.addEventListener("beforeprint", () => this.#fillPrint());
    window.addEventListener("afterprint", () => byId("print").replaceChildren());
  }

  /** The chosen options. An empty field is the size on screen. */
  options() {
    const title = this.titled.checked ? this.title : "";
    const size = screenSize(this.viewer, title, this.legend.checked);
    const side = ({ value }, standard) => (Number(value) > 0 ? Math.min(MOST_PIXELS, Number(value)) : standard);
    return {
      title,
      legend: this.legend.checked,
      background: this.background.value,
      width: side(this.width, size.width),
      height: side(this.height, size.height),
    };
  }

  /** Show the size on screen in the empty fields. */
  update() {
    const { width, height } = screenSize(this.viewer, this.titled.checked, this.legend.checked);
    this.width.placeholder = width;
    this.height.placeholder = height;
  }

  // Each of these returns whether there is a note to read.

  svg() {
    download(`${this.fileName}.svg`, svgFigure(this.viewer, this.options()), "image/svg+xml");
    return this.#noteNames();
  }

  async png(factor) {
    download(`${this.fileName}.png`, await pngFigure(this.viewer, this.options(), factor));
    return this.#noteNames();
  }

  /** Open the browser's dialog for printing, which also saves PDF files. */
  print() {
    window.print();
    return this.#noteNames();
  }

  /** Say how many names the last figure lacks. */
  #noteNames() {
    const { all, missing } = this.viewer.figureNames;
    const counts = `${missing.toLocaleString("en")} of ${counted(all, "name")}`;
    this.note.textContent = missing > 0 ? `${counts} do not fit. Enlarge the figure, or zoom out.` : "";
    return missing > 0;
  }

  /** Every printed page is white, whatever the theme. */
  #fillPrint() {
    const text = svgFigure(this.viewer, { ...this.options(), background: "white" });
    const picture = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    byId("print").replaceChildren(document.importNode(picture, true));
  }
}

const sizeField = (id, name) => element("input", { id, type: "number", min: 1, max: MOST_PIXELS, "aria-label": name });

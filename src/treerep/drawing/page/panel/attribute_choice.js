// The choice of attributes: the color, a gene by name, and the strips beside the tips.

import { hasStrips } from "../painting/strips.js";
import { byId, element } from "./dom.js";

export class AttributeChoice {
  constructor(viewer) {
    this.viewer = viewer;
    byId("colorby").addEventListener("change", (event) => viewer.colorBy(Number(event.target.value)));
    byId("gene").addEventListener("input", (event) => this.#gene(event.target.value, false));
    byId("gene").addEventListener("change", (event) => this.#gene(event.target.value, true));
    this.update();
  }

  /** Attributes to list: all but sparse ones, of which only the chosen ones are listed. */
  #listed() {
    const { attributes, attribute, strips } = this.viewer;
    return attributes.filter((one) => !one.sparse || one === attribute || strips.includes(one));
  }

  update() {
    const { viewer } = this;
    const listed = this.#listed();
    const state = JSON.stringify([viewer.attributes.length, listed.map(({ name }) => name)]);
    if (state !== this.state) {
      this.state = state;
      this.#fill(listed);
    }
    byId("colorby").value = viewer.attributes.indexOf(viewer.attribute);
    byId("strips").hidden = !hasStrips(viewer.layout.kind);
    for (const box of byId("striplist").querySelectorAll("input")) {
      box.checked = viewer.strips.includes(viewer.attributes[Number(box.value)]);
    }
  }

  #fill(listed) {
    const { attributes } = this.viewer;
    const option = (one) => element("option", { value: attributes.indexOf(one) }, one.name);
    byId("colorby").replaceChildren(element("option", { value: -1 }, "nothing"), ...listed.map(option));
    byId("striplist").replaceChildren(...listed.map((one) => this.#stripBox(one)));
    const genes = attributes.filter(({ sparse }) => sparse);
    byId("genelabel").hidden = genes.length === 0;
    if (byId("genenames").childElementCount === genes.length) return;
    byId("genenames").replaceChildren(...genes.map(({ name }) => element("option", { value: name })));
  }

  #stripBox(attribute) {
    const { viewer } = this;
    const box = element("input", { type: "checkbox", value: viewer.attributes.indexOf(attribute) });
    box.addEventListener("change", () => {
      const others = viewer.strips.filter((one) => one !== attribute);
      viewer.setStrips(box.checked ? [...others, attribute] : others);
    });
    return element("label", { class: "check" }, box, element("span", { class: "name" }, attribute.name));
  }

  /** Color by the gene with this name. While typing, only a full name counts. */
  #gene(name, entered) {
    const { viewer } = this;
    const wanted = name.trim().toLowerCase();
    const genes = viewer.attributes.filter(({ sparse }) => sparse);
    const begin = genes.filter((one) => one.name.toLowerCase().startsWith(wanted));
    const found = genes.find((one) => one.name.toLowerCase() === wanted) ?? (begin.length === 1 ? begin[0] : null);
    byId("gene").setCustomValidity("");
    if (wanted !== "" && found) viewer.colorBy(viewer.attributes.indexOf(found));
    else if (wanted !== "" && entered) {
      byId("gene").setCustomValidity(`No gene of this page is named ${name}`);
      byId("gene").reportValidity();
    }
  }
}

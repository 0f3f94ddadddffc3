// Tables that the user drops onto the page or opens: their columns become attributes.

import { Attribute } from "../painting/colors.js";
import { byId, counted } from "./dom.js";
import { readTable } from "./table_text.js";

const LARGEST_TABLE = 200e6; // bytes

export class Tables {
  constructor(viewer, changed) {
    Object.assign(this, { viewer, changed });
    byId("addtable").addEventListener("click", () => byId("tablefile").click());
    byId("tablefile").addEventListener("change", ({ target }) => {
      this.#read(target.files[0]);
      target.value = ""; // so that the same file can be opened again
    });
    this.#listenToDrops();
  }

  #listenToDrops() {
    const area = byId("droparea");
    const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
    document.addEventListener("dragover", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      area.hidden = false;
    });
    document.addEventListener("dragleave", (event) => (area.hidden = event.relatedTarget === null || area.hidden));
    document.addEventListener("drop", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      area.hidden = true;
      this.#read(event.dataTransfer.files[0]);
    });
  }

  async #read(file) {
    if (!file) return;
    try {
      if (file.size > LARGEST_TABLE) throw new Error("the file is larger than 200 MB: remove columns");
      this.add(await file.text(), file.name);
    } catch (error) {
      this.#say(`${file.name}: ${error.message}`, true);
    }
  }

  /** Add the columns of a table, and color by the first one. */
  add(text, name) {
    const { viewer } = this;
    const { columns, matched, rows } = readTable(text, viewer.tree);
    const added = columns.map((column) => new Attribute({ ...column, name: this.#freeName(column.name) }, viewer.tree));
    viewer.attributes.push(...added);
    viewer.colorBy(viewer.attributes.indexOf(added[0]));
    this.changed();
    const unused = rows - matched;
    const points = `${matched.toLocaleString("en")} of ${counted(viewer.tree.nPoints, "point")} matched`;
    const rest = unused > 0 ? `, ${counted(unused, "row")} unused` : "";
    this.#say(`${name}: ${points}${rest}, ${counted(columns.length, "column")} added.`, false);
  }

  #freeName(name) {
    const taken = new Set(this.viewer.attributes.map((attribute) => attribute.name));
    let free = name;
    for (let i = 2; taken.has(free); i++) free = `${name} (${i})`;
    return free;
  }

  #say(text, isFault) {
    byId("tablenote").textContent = text;
    byId("tablenote").classList.toggle("fault", isFault);
  }
}

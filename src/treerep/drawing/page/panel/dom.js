// Building blocks of the panel. Text from the data is inserted as text, never as HTML.

import { shortened } from "../painting/labels.js";

/** Maximum number of characters of a text in a card; labels may be very long. */
export const LONGEST = 120;

export const byId = (id) => document.getElementById(id);

/** An element with attributes and children: elements or text. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") made.addEventListener("click", value);
    else if (name === "color") made.style.background = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.map((child) => (child instanceof Node ? child : document.createTextNode(child))));
  return made;
}

export const counted = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

export const heading = (...names) => element("h2", {}, names.map((name) => shortened(name, LONGEST)).join(" – "));

export function list(rows) {
  const terms = rows.flatMap(([name, value, id]) => [
    element("dt", {}, name),
    element("dd", id ? { id } : {}, shortened(value, LONGEST)),
  ]);
  return element("dl", {}, ...terms);
}

export function actions(...entries) {
  const buttons = entries.map(([name, run]) => element("button", { type: "button", onclick: run }, name));
  return element("div", { class: "actions" }, ...buttons);
}

/** Let the browser download a file. */
export function download(name, content, type = "text/plain") {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

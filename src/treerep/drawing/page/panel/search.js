// The search box: lists labels that start with the typed text, then labels that contain it.

import { shortened } from "../painting/labels.js";

const MOST_FOUND = 8;
const LONGEST_FOUND = 100; // characters of a label in the list

/** Positions whose label matches, best first. */
function findLabels(tree, text, most) {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  const [same, begin, contain] = [[], [], []];
  for (let node = 0; node < tree.nPoints; node++) {
    const k = tree.position[node];
    const at = tree.name(k).toLowerCase();
    if (at === wanted) same.push(k);
    else if (begin.length < most && at.startsWith(wanted)) begin.push(k);
    else if (contain.length < most && at.includes(wanted)) contain.push(k);
  }
  return [...same, ...begin, ...contain].slice(0, most);
}

export function searchBox(viewer, choose) {
  const input = document.getElementById("search");
  const list = document.getElementById("found");
  let found = [];
  let at = 0;

  const show = (open) => {
    list.hidden = !open;
    input.setAttribute("aria-expanded", open);
    if (!open) input.removeAttribute("aria-activedescendant");
  };
  const mark = () => {
    [...list.children].forEach((entry, i) => entry.setAttribute("aria-selected", i === at && found.length > 0));
    if (found.length > 0) {
      input.setAttribute("aria-activedescendant", `found${at}`);
      list.children[at].scrollIntoView({ block: "nearest" });
    }
  };
  const entry = (k, i) => {
    const item = document.createElement("li");
    item.id = `found${i}`;
    item.setAttribute("role", "option");
    item.textContent = shortened(viewer.tree.name(k), LONGEST_FOUND);
    item.addEventListener("pointerdown", (event) => event.preventDefault()); // keep the focus in the box
    item.addEventListener("click", () => take(i));
    return item;
  };
  const remark = (text) => {
    const item = document.createElement("li");
    item.className = "none";
    item.textContent = text;
    return item;
  };
  const take = (i) => {
    if (found.length === 0) return;
    show(false);
    choose(found[i]);
  };
  const update = () => {
    found = findLabels(viewer.tree, input.value, MOST_FOUND + 1);
    const more = found.length > MOST_FOUND;
    if (more) found.pop();
    at = 0;
    list.replaceChildren(...found.map(entry));
    if (more) list.append(remark("more matches: keep typing"));
    else if (found.length === 0) list.append(remark("no matching label"));
    show(input.value.trim() !== "");
    mark();
  };

  input.addEventListener("input", update);
  input.addEventListener("focus", () => input.value.trim() !== "" && update());
  input.addEventListener("blur", () => show(false));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") take(at);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      at = (at + (event.key === "ArrowDown" ? 1 : -1) + found.length) % Math.max(found.length, 1);
      mark();
    }
  });

  return {
    /** Leave the box. Return whether it had the focus. */
    close() {
      const active = document.activeElement === input;
      show(false);
      input.blur();
      return active;
    },
  };
}

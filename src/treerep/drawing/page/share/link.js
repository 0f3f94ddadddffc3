// Keeps the view in the fragment of the URL, so that links, reloads, back and forward show it again.

import { readFragment, writeFragment } from "./fragment.js";

const LINK_PAUSE = 400; // milliseconds without a move, because browsers limit the number of changes

export class Link {
  constructor(viewer) {
    this.viewer = viewer;
    // The frame of a notebook has no address.
    this.works = /^(file|https?):$/.test(window.location.protocol);
    this.restoring = false;
    if (!this.works) return;
    this.choices = JSON.stringify({});
    this.shown = "";
    this.restore();
    viewer.addEventListener("change", () => this.#changed());
    viewer.addEventListener("move", () => this.#wait());
    window.addEventListener("popstate", () => this.restore());
    window.addEventListener("hashchange", () => this.restore());
  }

  /** The address of the current view. */
  url() {
    const fragment = writeFragment(this.viewer.viewState());
    return `${window.location.href.split("#")[0]}${fragment ? `#${fragment}` : ""}`;
  }

  /** Show the view of the address. */
  restore() {
    if (window.location.hash === this.shown) return;
    this.shown = window.location.hash;
    this.restoring = true;
    this.viewer.restore(readFragment(window.location.hash, this.viewer.tree.n));
    this.restoring = false;
    this.choices = this.#chosen();
  }

  #chosen() {
    return JSON.stringify(this.viewer.viewState({ camera: false }));
  }

  // A choice is a step of the history. Sliders send many changes, which are one step.
  #changed() {
    if (this.restoring) return;
    clearTimeout(this.choosing);
    this.choosing = setTimeout(() => {
      const choices = this.#chosen();
      if (choices !== this.choices) this.#write("pushState");
      this.choices = choices;
    }, 50);
  }

  #wait() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.#write("replaceState"), LINK_PAUSE);
  }

  #write(method) {
    const url = this.url();
    try {
      if (url !== window.location.href) window.history[method](null, "", url);
      this.shown = window.location.hash;
    } catch {
      this.works = false; // some browsers forbid it for files
    }
  }
}

/** Copy text to the clipboard. Returns whether this worked. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text); // older browsers, and files in some browsers
  }
}

function copyBySelection(text) {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}

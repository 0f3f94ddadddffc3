// Chooses between the canvas and WebGL by measuring both, because neither is faster in every browser.
//
// The page starts with the canvas. If it cannot move the tree in full detail, WebGL gets a trial. The faster one stays.

const LATE_FRAMES = 8; // with reduced detail, before a trial starts
const TRIAL_FRAMES = 14;
const WARM_UP = 4; // frames of a trial that do not count

export class PenChoice {
  constructor(viewer) {
    this.viewer = viewer;
    this.isSlowOk = false; // whether to try WebGL without a graphics card; tests set it
    this.phase = "canvas"; // then "trial", then "done"
    this.seen = [];
  }

  /** Take note of a frame of a moving tree: the milliseconds since the frame before, and its level of detail. */
  observe(between, level) {
    if (this.phase === "done" || between === 0) return;
    if (this.phase === "canvas" && level === 0) {
      this.seen = [];
      return;
    }
    this.seen.push(between * 1.3 ** level); // less detail counts like slower frames
    if (this.phase === "canvas" && this.seen.length === LATE_FRAMES) this.#begin();
    else if (this.phase === "trial" && this.seen.length === TRIAL_FRAMES) this.#end();
  }

  #begin() {
    this.canvasCost = middleOf(this.seen);
    this.seen = [];
    this.viewer.useWebGl(true, this.isSlowOk);
    this.phase = this.viewer.glPen === null ? "done" : "trial";
  }

  #end() {
    this.phase = "done";
    if (middleOf(this.seen.slice(WARM_UP)) > this.canvasCost) this.viewer.useWebGl(false);
  }
}

function middleOf(values) {
  return [...values].sort((one, two) => one - two)[Math.floor(values.length / 2)];
}

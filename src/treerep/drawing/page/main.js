// Entry point: connects the parts of the page.

import { keyCommands, listen, listenToKeys, markTabFocus } from "./view/input.js";
import { pngFigure } from "./export/figure.js";
import { Link } from "./share/link.js";
import { Overview } from "./view/overview.js";
import { Panel } from "./panel/panel.js";
import { useThemeColors } from "./painting/colors.js";
import { Tree } from "./tree/tree.js";
import { Viewer } from "./view/viewer.js";

const data = JSON.parse(document.getElementById("data").textContent);
useThemeColors(data.theme_colors);
const viewer = new Viewer(document.getElementById("disk"), Tree.decode(data), data);
const panel = new Panel(viewer, data.title);
new Overview(viewer);
const commands = keyCommands(viewer, panel);

panel.listKeys(commands);
listenToKeys(commands);
markTabFocus(viewer.canvas);
listen(viewer, {
  onHover: (k, pixel) => panel.tip.show(k, pixel),
  isLasso: () => panel.lassoMode,
  endLasso: () => panel.toggleLasso(false),
});
new ResizeObserver(() => viewer.resize()).observe(viewer.canvas);

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const follow = () => panel.followSystem(dark.matches ? "dark" : "light");
dark.addEventListener("change", follow);
follow();

panel.link = new Link(viewer);

// For tests and measurements.
window.treerep = {
  viewer,
  /** The picture that the page exports, as a PNG blob. */
  png: () => pngFigure(viewer, panel.exports.options()),
  /** [x, y] of every node by id, including nodes very close to the rim. */
  positions() {
    viewer.layout.walk?.(Infinity);
    const { x, y } = viewer.layout;
    return Array.from(viewer.tree.position, (k) => [x[k], y[k]]);
  },
  /** The pixel of a node. */
  pixel(node) {
    return viewer.layout.pixelOf(viewer.tree.position[node]);
  },
  /** Ids of the chosen and selected nodes, and the state of the view. */
  state() {
    const id = (k) => (k < 0 ? null : viewer.tree.node[k]);
    const { chosen, hover, path } = viewer.marks;
    return {
      chosen: id(chosen),
      hover: id(hover),
      path: path && { nodes: path.positions.map(id), length: path.length, truth: path.truth },
      selected: viewer.selectedLabels(),
      anchor: id(viewer.layout.anchor),
      zoom: viewer.zoom,
      scale: viewer.layout.scale,
      layout: viewer.layout.kind,
      lengths: viewer.shape.name,
      theme: viewer.theme,
      flying: viewer.flight !== null,
      frames: viewer.frames,
    };
  },
};

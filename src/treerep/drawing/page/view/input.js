// Mouse, touch and keys.

/** Handle drag, pinch, wheel, click and hover on the canvas. */
export function listen(viewer, { onHover, isLasso, endLasso }) {
  const { canvas } = viewer;
  const pointers = new Map();
  let traveled = 0;
  let lassoing = false;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    onHover(-1, place(event));
    pointers.set(event.pointerId, place(event));
    if (pointers.size === 1) {
      traveled = 0;
      lassoing = event.shiftKey || isLasso();
      viewer.lasso = lassoing ? [place(event)] : [];
    } else {
      [lassoing, viewer.lasso, traveled] = [false, [], Infinity];
    }
  });

  canvas.addEventListener("pointermove", (event) => {
    const to = place(event);
    const from = pointers.get(event.pointerId);
    if (!from) {
      if (event.pointerType === "mouse") onHover(viewer.nodeAt(...to), to);
      return;
    }
    traveled += Math.hypot(to[0] - from[0], to[1] - from[1]);
    if (pointers.size === 2) pinch(viewer, pointers, event.pointerId, to);
    else if (lassoing) {
      viewer.lasso.push(to);
      viewer.redraw();
    } else if (traveled > 4) {
      onHover(-1, to);
      viewer.drag(from, to);
    } else return; // the mouse may move slightly during a click
    pointers.set(event.pointerId, to);
  });

  const release = (event) => {
    if (!pointers.delete(event.pointerId) || pointers.size > 0) return;
    const polygon = viewer.lasso;
    viewer.lasso = [];
    viewer.redraw();
    if (event.type === "pointercancel") return;
    if (lassoing && polygon.length > 2) {
      viewer.selectInside(polygon);
      endLasso();
    } else if (traveled <= 4) click(viewer, event, place(event));
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("dblclick", (event) => {
    const k = viewer.nodeAt(...place(event));
    if (k >= 0) viewer.center(k);
  });
  canvas.addEventListener("pointerleave", () => onHover(-1, [0, 0]));

  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const turned = event.deltaY || event.deltaX; // with Shift, some browsers scroll sideways
      const pixels = turned * (event.deltaMode === 1 ? 18 : 1);
      const axis = event.shiftKey ? "x" : event.ctrlKey ? "both" : "y"; // a pinch on a touch pad comes with Ctrl
      viewer.zoomBy(Math.exp(-Math.max(-240, Math.min(240, pixels)) * 0.0016), place(event), axis);
    },
    { passive: false },
  );
}

function click(viewer, event, pixel) {
  const k = viewer.nodeAt(...pixel, event.pointerType === "touch" ? 22 : 12);
  if (k < 0) return;
  if (event.shiftKey && viewer.marks.chosen >= 0 && viewer.marks.from < 0) viewer.beginPath(viewer.marks.chosen);
  viewer.choose(k);
}

function pinch(viewer, pointers, id, to) {
  const [other] = [...pointers].filter(([key]) => key !== id).map(([, place]) => place);
  const from = pointers.get(id);
  const spread = (place) => Math.hypot(place[0] - other[0], place[1] - other[1]);
  const middle = (place) => [(place[0] + other[0]) / 2, (place[1] + other[1]) / 2];
  viewer.drag(middle(from), middle(to));
  viewer.zoomBy(Math.max(spread(to), 1) / Math.max(spread(from), 1), middle(to), "both");
}

/** The command of each key, for the listener and for the help panel. */
export function keyCommands(viewer, panel) {
  const current = () => {
    if (viewer.marks.chosen >= 0) return viewer.marks.chosen;
    return viewer.layout.anchor;
  };
  return [
    { keys: ["ArrowLeft"], shown: "← → ↑ ↓", help: "move", run: () => viewer.pan(-1, 0) },
    { keys: ["ArrowRight"], run: () => viewer.pan(1, 0) },
    { keys: ["ArrowUp"], run: () => viewer.pan(0, -1) },
    { keys: ["ArrowDown"], run: () => viewer.pan(0, 1) },
    { keys: ["+", "="], shown: "+ −", help: "zoom", run: () => viewer.zoomBy(1.25) },
    { keys: ["-", "_"], run: () => viewer.zoomBy(0.8) },
    { keys: ["h"], shown: "h", help: "show the whole tree", run: () => viewer.home() },
    { keys: ["/"], shown: "/", help: "search", run: () => panel.focusSearch() },
    { keys: ["n"], shown: "n N", help: "choose the next or previous match of the search",
      run: () => viewer.searches.step(viewer.searches.last, 1) },
    { keys: ["N"], run: () => viewer.searches.step(viewer.searches.last, -1) },
    { keys: ["Enter"], shown: "Enter", help: "choose the node nearest to the middle, or center the chosen node",
      run: () => (viewer.marks.chosen < 0 ? viewer.choose(viewer.layout.anchor) : viewer.center(viewer.marks.chosen)) },
    { keys: ["u"], shown: "u", help: "choose the next node towards the root",
      run: () => {
        viewer.choose(Math.max(0, viewer.tree.up[current()]));
        viewer.reveal(viewer.marks.chosen);
      } },
    { keys: ["v"], shown: "v", help: "next layout", run: () => panel.nextLayout() },
    { keys: [">"], shown: "< >", help: "zoom the lengths of the rectangular layout",
      run: () => viewer.zoomBy(1.25, viewer.middle, "x") },
    { keys: ["<"], run: () => viewer.zoomBy(0.8, viewer.middle, "x") },
    { keys: ["p"], shown: "p", help: "start a path at the chosen node, then choose its other end",
      run: () => viewer.beginPath(current()) },
    { keys: ["b"], shown: "b", help: "select the branch below the chosen node",
      run: () => viewer.selectBranch(current()) },
    { keys: ["r"], shown: "r", help: "put the root on the chosen node",
      run: () => viewer.arrangement.rerootAt(current()) },
    { keys: ["m"], shown: "m", help: "put the root in the middle of the longest path",
      run: () => viewer.arrangement.rerootAtMidpoint() },
    { keys: ["c"], shown: "c", help: "collapse or expand the clade of the chosen node",
      run: () => viewer.arrangement.toggleCollapse(current()) },
    { keys: ["o"], shown: "o", help: "rotate the branches of the chosen node",
      run: () => viewer.arrangement.rotate(current()) },
    { keys: ["l"], shown: "l", help: "lasso: draw around the points to select (or Shift-drag)",
      run: () => panel.toggleLasso() },
    { keys: ["t"], shown: "t", help: "show or hide labels", run: () => panel.toggleLabels() },
    { keys: ["d"], shown: "d", help: "light or dark theme", run: () => panel.toggleTheme() },
    { keys: ["?"], shown: "?", help: "show this help", run: () => panel.toggleHelp() },
    { keys: ["Escape"], shown: "Esc", help: "close, or clear the choice", run: () => panel.escape() },
  ];
}

/** Show a focus ring around the tree only if the Tab key has moved the focus there. */
export function markTabFocus(canvas) {
  let tabbed = false;
  document.addEventListener("keydown", ({ key }) => (tabbed = key === "Tab"), true);
  document.addEventListener("pointerdown", () => (tabbed = false), true);
  canvas.addEventListener("focus", () => canvas.classList.toggle("tabbed", tabbed));
}

export function listenToKeys(commands) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key !== "Escape" && isForOthers(event)) return;
    const command = commands.find(({ keys }) => keys.includes(event.key));
    if (!command) return;
    event.preventDefault();
    command.run();
  });
}

/** Whether a key belongs to a field, a button or an open dialog. */
function isForOthers({ target, key }) {
  if (document.querySelector("dialog[open]")) return key !== "?";
  if (target.closest("input, select")) return true;
  return target.closest("button") && (key === "Enter" || key === " ");
}

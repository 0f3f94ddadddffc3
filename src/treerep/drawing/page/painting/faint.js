// Edges whose support is below a threshold are drawn in a faint color.

export class FaintEdges {
  constructor() {
    this.least = 0; // share of support; 0 shows all edges alike
    this.from = {};
  }

  /** Add the faint color to the palette of a scene, and use it for edges with too little support. */
  apply({ classes, palette, theme, ...scene }, tree) {
    if (this.least === 0 || !tree.hasSupport) return { ...scene, theme, classes, palette };
    const key = { classes, tree, least: this.least, kind: palette.length };
    if (Object.keys(key).some((name) => key[name] !== this.from[name])) {
      this.from = key;
      this.classes = classes.map((own, k) => (tree.support[k] < this.least ? key.kind : own));
    }
    return { ...scene, theme, classes: this.classes, palette: [...palette, theme.rim] };
  }
}

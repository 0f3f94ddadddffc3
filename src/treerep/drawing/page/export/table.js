// The selected points with their attributes, as CSV.

const csvCell = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** One row per selected point in the order of the tree. Missing values are empty. */
export function selectionTable(viewer) {
  const { tree, marks } = viewer;
  const attributes = viewer.attributes.filter((attribute) => !attribute.sparse || attribute === viewer.attribute);
  const value = (attribute, node) => {
    const own = attribute.values[node];
    if (attribute.kind === "number") return Number.isNaN(own) ? "" : String(own);
    return own < 0 ? "" : attribute.categories[own];
  };
  const rows = [["label", ...attributes.map(({ name }) => name)]];
  marks.selection?.forEach((flag, k) => {
    if (flag) rows.push([tree.name(k), ...attributes.map((attribute) => value(attribute, tree.node[k]))]);
  });
  return rows.map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}

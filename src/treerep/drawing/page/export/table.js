// The selected points with their attributes, as CSV.

/** A cell of CSV. Spreadsheets run text that starts with = + - or @ as a formula, unless an apostrophe is in front. */
function csvCell(text) {
  const isFormula = /^'*[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text));
  const cell = isFormula ? `'${text}` : text;
  return /[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

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

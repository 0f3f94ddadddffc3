// Read a CSV or TSV text, and match its rows with the data points.

import { naturalOrder } from "../view/queries.js";

const MOST_INTEGER_CATEGORIES = 20; // integers with more distinct values are numbers
const MISSING = new Set(["", "na", "nan", "none", "null"]);

/** Rows of cells. Quoted cells may have delimiters, line breaks and doubled quotes. */
export function tableRows(text) {
  const content = text.replace(/^\ufeff/, "");
  const [head] = content.split(/\r?\n/, 1);
  const delimiter = ["\t", ";", ","].reduce((best, sign) => (head.split(sign).length > head.split(best).length ? sign : best), ",");
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|(?!")([^${delimiter}\\r\\n]*))(${delimiter}|\\r?\\n|$)`, "gy");
  const rows = [];
  let row = [];
  while (cell.lastIndex < content.length) {
    const found = cell.exec(content);
    if (found === null) throw new Error(`row ${rows.length + 1} has an unclosed quote: close it`);
    const text = found[1] === undefined ? found[2].trim() : found[1].replaceAll('""', '"');
    row.push(text.replace(/^'(?='*[=+\-@\t\r])/, "")); // see `csvCell`
    if (found[3] === delimiter && cell.lastIndex < content.length) continue;
    if (found[3] === delimiter) row.push("");
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  }
  return rows;
}

/** Columns of a table for the data points: { columns: [{ name, kind, categories, values }], matched, rows }. */
export function readTable(text, tree) {
  const [header, ...body] = tableRows(text);
  if (header === undefined || body.length === 0) throw new Error("the table is empty: add a header and a row for each point");
  const uneven = body.findIndex((row) => row.length !== header.length);
  if (uneven >= 0) {
    const count = body[uneven].length;
    throw new Error(`row ${uneven + 2} has ${count} cells, but the header has ${header.length}: add or remove cells`);
  }
  const nodes = new Map(Array.from({ length: tree.nPoints }, (_, node) => [tree.name(tree.position[node]), node]));
  const key = keyColumn(header, body, nodes);
  const rowOf = rowsByNode(body, key, nodes);
  const columns = header
    .map((name, i) => ({ name: name || `column ${i + 1}`, i }))
    .filter(({ i }) => i !== key)
    .map(({ name, i }) => ({ name, ...typed(Array.from(rowOf, (row) => (row < 0 ? "" : body[row][i]))) }));
  if (columns.length === 0) throw new Error("the table has only labels: add a column of attributes");
  return { columns, matched: rowOf.reduce((sum, row) => sum + (row >= 0), 0), rows: body.length };
}

/** The column that has most labels of the tree; the first one if several do. */
function keyColumn(header, body, nodes) {
  const counts = header.map((_, i) => body.reduce((sum, row) => sum + nodes.has(row[i]), 0));
  const most = Math.max(...counts);
  if (most === 0) throw new Error("no cell is a label of the tree: put the labels into the first column");
  return counts.indexOf(most);
}

function rowsByNode(body, key, nodes) {
  const rowOf = new Int32Array(nodes.size).fill(-1);
  body.forEach((row, i) => {
    const node = nodes.get(row[key]);
    if (node === undefined) return;
    if (rowOf[node] >= 0) throw new Error(`two rows have the label ${row[key]}: remove one of them`);
    rowOf[node] = i;
  });
  return rowOf;
}

/** Numbers if all cells are numbers, otherwise categories in natural order. */
function typed(cells) {
  const known = cells.filter((cell) => !MISSING.has(cell.toLowerCase()));
  const distinct = [...new Set(known)];
  const numeric = distinct.length > 0 && distinct.every((cell) => Number.isFinite(Number(cell)));
  const whole = distinct.every((cell) => /^[+-]?\d+$/.test(cell));
  if (numeric && !(whole && distinct.length <= MOST_INTEGER_CATEGORIES)) {
    const values = Float64Array.from(cells, (cell) => (MISSING.has(cell.toLowerCase()) ? Number.NaN : Number(cell)));
    return { kind: "number", values };
  }
  const categories = distinct.sort(numeric ? (one, two) => one - two : naturalOrder);
  const codes = new Map(categories.map((name, code) => [name, code]));
  return { kind: "category", categories, values: Int32Array.from(cells, (cell) => codes.get(cell) ?? -1) };
}

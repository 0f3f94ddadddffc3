// Search queries: free text, /pattern/, "column: text", and numbers such as "column > 2".

const COMPARISON = /^(.*?)\s*(>=|<=|!=|:|=|>|<)\s*(.*)$/s;
const PATTERN = /^\/(.+)\/([a-z]*)$/s;
const COMPARE = {
  ">": (order) => order > 0,
  "<": (order) => order < 0,
  ">=": (order) => order >= 0,
  "<=": (order) => order <= 0,
  "=": (order) => order === 0,
  "!=": (order) => order !== 0,
};

/** Order of texts in which b2 comes before b10. */
export const naturalOrder = new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare;

/** What a query matches: `test` of a data point, and `column`, or `fault` if the query is wrong. */
export function parseQuery(text, viewer) {
  const query = text.trim();
  const parts = query.match(COMPARISON);
  const column = parts && namedColumn(parts[1], viewer);
  try {
    if (column) return { column, test: columnTest(column, parts[2], parts[3]) };
    if (PATTERN.test(query)) return { column: null, test: patternTest(query, viewer) };
  } catch (error) {
    return { column: null, test: () => false, fault: error.message };
  }
  return { column: null, test: textTest(query.toLowerCase(), viewer) };
}

/** The column with a name, or with a unique beginning. Without a name, the numbers that color the tree. */
function namedColumn(name, viewer) {
  const { attributes, attribute, tree } = viewer;
  if (name === "") return attribute?.kind === "number" ? attribute : null;
  const wanted = name.toLowerCase();
  if (wanted === "label") return labelColumn(tree);
  const exact = attributes.find((one) => one.name.toLowerCase() === wanted);
  const begin = attributes.filter((one) => !one.sparse && one.name.toLowerCase().startsWith(wanted));
  return exact ?? (begin.length === 1 ? begin[0] : null);
}

const labelColumn = (tree) => ({
  name: "label",
  kind: "label",
  text: (node) => tree.name(tree.position[node]),
});

function columnTest(column, sign, text) {
  if (column.kind === "number") return numberTest(column, sign === ":" ? "=" : sign, text);
  const matches = valueTest(sign, text);
  if (column.kind === "label") return (node) => matches(column.text(node));
  const codes = column.categories.map(matches); // each category is compared once
  return (node) => codes[column.values[node]] ?? false;
}

function numberTest(column, sign, text) {
  if (text === "missing") return (node) => Number.isNaN(column.values[node]) === (sign !== "!=");
  const wanted = Number(text);
  if (text === "" || Number.isNaN(wanted)) throw new Error(`Compare ${column.name} with a number, e.g. ${column.name} > 2`);
  return (node) => !Number.isNaN(column.values[node]) && COMPARE[sign](Math.sign(column.values[node] - wanted));
}

/** A test of the text of one value. */
function valueTest(sign, text) {
  if (sign !== ":") return (value) => COMPARE[sign](naturalOrder(value, text));
  const pattern = text.match(PATTERN);
  if (pattern) {
    const compiled = compile(pattern);
    return (value) => compiled.test(value);
  }
  const wanted = text.toLowerCase();
  return (value) => value.toLowerCase().includes(wanted);
}

function compile([, pattern, flags]) {
  try {
    return new RegExp(pattern, flags === "" ? "i" : flags.replace(/[gy]/g, ""));
  } catch {
    throw new Error(`/${pattern}/ is not a regular expression: close its brackets`);
  }
}

function patternTest(query, viewer) {
  const pattern = compile(query.match(PATTERN));
  return anywhere(viewer, (value) => pattern.test(value), () => false);
}

function textTest(wanted, viewer) {
  const number = wanted === "" ? Number.NaN : Number(wanted);
  return anywhere(viewer, (value) => value.toLowerCase().includes(wanted), (value) => value === number);
}

/** A test of the label, all categories and all numbers of a data point. */
function anywhere(viewer, isText, isNumber) {
  const { tree } = viewer;
  const dense = viewer.attributes.filter((one) => !one.sparse);
  const categories = dense.filter(({ kind }) => kind === "category");
  const codes = categories.map((one) => one.categories.map(isText));
  const numbers = dense.filter(({ kind }) => kind === "number");
  return (node) =>
    isText(tree.name(tree.position[node])) ||
    categories.some((one, i) => codes[i][one.values[node]]) ||
    numbers.some((one) => isNumber(one.values[node]));
}

/** The attribute because of which a data point matches, as text; "" if its label matches. */
export function matchReason(text, node, column, viewer) {
  if (column) return column.kind === "label" ? "" : `${column.name}: ${column.text(node)}`;
  const wanted = text.trim().toLowerCase();
  const has = (value) => (PATTERN.test(text.trim()) ? compile(text.trim().match(PATTERN)).test(value) : value.toLowerCase().includes(wanted));
  if (has(viewer.tree.name(viewer.tree.position[node]))) return "";
  const found = viewer.attributes.find((one) => !one.sparse && has(one.text(node)));
  return found ? `${found.name}: ${found.text(node)}` : "";
}

/** Data points that match a query, sorted: equal labels, then beginnings, then all others. */
export function matchingNodes(text, viewer) {
  const query = parseQuery(text, viewer);
  const { tree } = viewer;
  const wanted = text.trim().toLowerCase();
  const [same, begin, others] = [[], [], []];
  for (let node = 0; node < tree.nPoints; node++) {
    if (!query.test(node)) continue;
    const name = tree.name(tree.position[node]).toLowerCase();
    (name === wanted ? same : name.startsWith(wanted) ? begin : others).push(node);
  }
  // Labels that contain the text come before points with a matching attribute.
  const inLabel = (node) => tree.name(tree.position[node]).toLowerCase().includes(wanted);
  const [contain, rest] = [others.filter(inLabel), others.filter((node) => !inLabel(node))];
  return { nodes: [...same, ...begin, ...contain, ...rest], ...query };
}

// Newick text of a tree, or of the subtree that some data points span.

/** `chosen` flags positions. The root of the text is the root of the tree. */
export function newickOf(tree, chosen) {
  const own = (k) => chosen[k] && tree.isPoint(k);
  const branches = new Int32Array(tree.n); // number of branches with chosen points, plus one for a chosen node
  let missing = 0;
  for (let k = tree.n - 1; k >= 0; k--) {
    if (own(k)) branches[k]++;
    else if (tree.isPoint(k)) missing++;
    if (k > 0 && branches[k] > 0) branches[tree.up[k]]++;
  }
  return written(keptRows(tree, own, branches, missing === 0));
}

/**
 * Keep nodes that are chosen or where branches meet. Other nodes pass their length and support on to the node below.
 * A part of the points has other splits than the tree, so support is written for the whole tree only.
 */
function keptRows(tree, own, branches, whole) {
  const row = new Int32Array(tree.n).fill(-1); // row of the nearest kept node at or above each position
  const carried = new Float64Array(tree.n);
  const support = new Float64Array(tree.n).fill(Number.NaN);
  const rows = [];
  for (let k = 0; k < tree.n; k++) {
    if (branches[k] === 0) continue;
    const parent = k > 0 ? row[tree.up[k]] : -1;
    const length = k > 0 ? carried[tree.up[k]] + tree.length[k] : 0;
    const stays = own(k) || branches[k] > 1;
    row[k] = stays ? rows.length : parent;
    carried[k] = stays ? 0 : length;
    const passed = stays || k === 0 ? Number.NaN : support[tree.up[k]];
    support[k] = stays ? Number.NaN : larger(passed, tree.support[k]);
    if (!stays) continue;
    const top = rows.length === 0; // no edge above the root of the text
    const above = top || !whole ? Number.NaN : larger(support[tree.up[k]], tree.support[k]);
    const inner = whole ? innerName(tree, k, above) : "";
    if (!own(k)) {
      rows.push({ parent, name: inner, length });
    } else if (branches[k] > 1) {
      // A point inside the tree becomes a leaf, because other programs lose it otherwise.
      rows.push({ parent, name: supportText(above), length });
      rows.push({ parent: row[k], name: quoted(tree.name(k)), length: 0 });
    } else {
      rows.push({ parent, name: quoted(tree.name(k)), length });
    }
  }
  return rows;
}

const larger = (one, two) => (Number.isNaN(one) ? two : Number.isNaN(two) ? one : Math.max(one, two));

/** The name of a clade, or else the support of the edge above it. */
function innerName(tree, k, support) {
  const clade = tree.clades[tree.node[k]];
  if (clade !== undefined) return LIKE_SUPPORT.test(clade) ? inQuotes(clade) : quoted(clade);
  return Number.isNaN(support) ? "" : tree.supportTexts?.[k] || supportText(support);
}

const LIKE_SUPPORT = /^[\d./eE+-]+$/;

/** Support with four decimals, and always with a point, so that it is not taken for the number of a node. */
export function supportText(share) {
  if (Number.isNaN(share)) return "";
  const rounded = Math.round(share * 1e4) / 1e4;
  return Number.isInteger(rounded) ? `${rounded}.0` : String(rounded);
}

const inQuotes = (name) => `'${name.replaceAll("'", "''")}'`;
const quoted = (name) => (/^[^\s()[\]',:;]+$/.test(name) ? name : inQuotes(name));

/** Newick of nodes in preorder, without recursion, because trees may be deep. */
function written(rows) {
  const tail = (i) => rows[i].name + (i > 0 ? `:${rows[i].length}` : "");
  const pieces = [];
  const open = [];
  for (let i = 1; i < rows.length; i++) {
    if (rows[i].parent === i - 1) {
      pieces.push("(");
      open.push(i - 1);
      continue;
    }
    pieces.push(tail(i - 1));
    while (open.at(-1) !== rows[i].parent) pieces.push(")", tail(open.pop()));
    pieces.push(",");
  }
  if (rows.length > 0) pieces.push(tail(rows.length - 1));
  while (open.length > 0) pieces.push(")", tail(open.pop()));
  return `${pieces.join("")};`;
}

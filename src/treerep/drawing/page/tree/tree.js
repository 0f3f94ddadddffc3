// The tree, as arrays by preorder position. Every subtree is a contiguous range.

function bytes(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out.buffer;
}

export const decodeFloats = (text) => new Float64Array(bytes(text));
export const decodeBytes = (text) => bytes(text);
export const decodeInts = (text) => new Int32Array(bytes(text));

export class Tree {
  constructor(data) {
    this.node = decodeInts(data.node); // node id at each position; ids below nPoints are data points
    this.up = decodeInts(data.up); // position of the parent; -1 at position 0
    this.length = decodeFloats(data.length); // length of the edge to the parent, in units of the data
    this.angle = decodeFloats(data.angle); // direction of this edge at its upper end, whose parent is at angle pi
    this.n = this.node.length;
    this.nPoints = data.points;
    this.labels = data.labels; // labels of the data points, or null
    this.distances = data.distances ? decodeFloats(data.distances) : null; // true distances: rows of the upper triangle
    this.position = new Int32Array(this.n);
    this.size = new Int32Array(this.n).fill(1); // nodes in the subtree
    this.pointsBelow = new Int32Array(this.n); // data points in the subtree
    this.degree = new Int32Array(this.n);
    for (let k = 0; k < this.n; k++) this.position[this.node[k]] = k;
    for (let k = this.n - 1; k >= 0; k--) {
      if (this.isPoint(k)) this.pointsBelow[k]++;
      if (k === 0) break;
      const parent = this.up[k];
      this.size[parent] += this.size[k];
      this.pointsBelow[parent] += this.pointsBelow[k];
      this.degree[parent]++;
      this.degree[k]++;
    }
  }

  isPoint(k) {
    return this.node[k] < this.nPoints;
  }

  /** The name of a position: its label or its number, "" for a Steiner node. */
  name(k) {
    if (!this.isPoint(k)) return "";
    return this.labels ? this.labels[this.node[k]] : String(this.node[k]);
  }

  /** Positions from one to another, both included, and the length of the path. */
  path(from, to) {
    const rise = [];
    const fall = [];
    let [i, j] = [from, to];
    let length = 0; // summed edge by edge, because differences of depths would cancel
    while (i !== j) {
      // The later position in preorder cannot be an ancestor of the other.
      if (i > j) {
        rise.push(i);
        length += this.length[i];
        i = this.up[i];
      } else {
        fall.push(j);
        length += this.length[j];
        j = this.up[j];
      }
    }
    return { positions: [...rise, i, ...fall.reverse()], length };
  }

  /** The true distance between two positions, or null if it is not stored. */
  trueDistance(from, to) {
    if (!this.distances || !this.isPoint(from) || !this.isPoint(to)) return null;
    const [i, j] = [this.node[from], this.node[to]].sort((one, two) => one - two);
    return i === j ? 0 : this.distances[i * this.nPoints - (i * (i + 3)) / 2 + j - 1];
  }

  /** The subtree spanned by some data points, as Newick. `chosen` flags positions. */
  newick(chosen) {
    const own = (k) => chosen[k] && this.isPoint(k);
    const branches = new Int32Array(this.n); // number of branches with chosen points, plus one for a chosen node
    for (let k = this.n - 1; k >= 0; k--) {
      if (own(k)) branches[k]++;
      if (k > 0 && branches[k] > 0) branches[this.up[k]]++;
    }
    // Keep nodes that are chosen or where branches meet. Other nodes pass their length on to the node below.
    const row = new Int32Array(this.n).fill(-1); // row of the nearest kept node at or above each position
    const carried = new Float64Array(this.n);
    const rows = [];
    for (let k = 0; k < this.n; k++) {
      if (branches[k] === 0) continue;
      const parent = k > 0 ? row[this.up[k]] : -1;
      const length = k > 0 ? carried[this.up[k]] + this.length[k] : 0;
      const stays = own(k) || branches[k] > 1;
      row[k] = stays ? rows.length : parent;
      carried[k] = stays ? 0 : length;
      if (!stays) continue;
      const name = own(k) ? quoted(this.name(k)) : "";
      if (own(k) && branches[k] > 1) {
        // A point inside the tree becomes a leaf, because other programs lose it otherwise.
        rows.push({ parent, name: "", length }, { parent: row[k], name, length: 0 });
      } else {
        rows.push({ parent, name, length });
      }
    }
    return written(rows);
  }
}

const quoted = (name) => (/^[^\s()[\]',:;]+$/.test(name) ? name : `'${name.replaceAll("'", "''")}'`);

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

// Another root, or another order of the children. Every function returns a new tree in O(N), without recursion.
//
// Node ids stay the same. A root in the middle of an edge is a new node, whose id is the number of nodes.

import { byFallingCount, sarkarAngles } from "./sarkar.js";
import { Tree } from "./tree.js";

/**
 * The tree with a root and an order: { root, order, rotated }.
 *
 * `root` is null for the root of the file, { node }, or { edge: [a, b], share } for a point of the edge from node a to
 * node b, at this share of its length. `order` is "original", "ascending" or "descending". `rotated` is a set of ids
 * of nodes whose children are reversed.
 */
export function arranged(original, { root = null, order = "original", rotated = new Set() }) {
  const rooted = root === null ? original : rootedAt(original, root);
  if (order === "original" && rotated.size === 0) return rooted;
  return ordered(rooted, order, rotated);
}

/** Whether a root names an edge or a node of the tree. */
export function isRoot(tree, root) {
  const isNode = (id) => Number.isInteger(id) && id >= 0 && id < tree.n;
  if (root?.edge) {
    const [k, above] = root.edge.every(isNode) ? lowerFirst(tree, root.edge) : [0, 0];
    return k > 0 && tree.up[k] === above && root.share >= 0 && root.share <= 1;
  }
  return root !== null && isNode(root.node);
}

const lowerFirst = (tree, edge) => edge.map((id) => tree.position[id]).sort((one, two) => two - one);

export function rootedAt(tree, { node, edge, share }) {
  if (!edge) return rerooted(tree, tree.position[node]);
  const [k] = lowerFirst(tree, edge);
  const fromBelow = tree.node[k] === edge[0] ? share : 1 - share;
  const extra = tree.n;
  const fields = {
    node: extended(tree.node, extra),
    up: extended(tree.up, tree.up[k]),
    length: extended(tree.length, (1 - fromBelow) * tree.length[k]),
    support: extended(tree.support, tree.support[k]),
  };
  fields.up[k] = extra;
  fields.length[k] = fromBelow * tree.length[k];
  const texts = tree.supportTexts && [...tree.supportTexts, tree.supportTexts[k]];
  return rerooted({ ...tree, ...fields, n: extra + 1, supportTexts: texts }, extra);
}

function extended(array, value) {
  const longer = new array.constructor(array.length + 1);
  longer.set(array);
  longer[array.length] = value;
  return longer;
}

/** Root a tree at an index: the edges above it turn around. Children keep their order, a former parent comes last. */
function rerooted(tree, at) {
  const up = Int32Array.from(tree.up);
  const length = Float64Array.from(tree.length);
  const support = Float64Array.from(tree.support);
  const texts = tree.supportTexts && [...tree.supportTexts];
  const turned = [];
  for (let k = at; tree.up[k] >= 0; k = tree.up[k]) {
    const parent = tree.up[k];
    [up[parent], length[parent], support[parent]] = [k, tree.length[k], tree.support[k]];
    if (texts) texts[parent] = tree.supportTexts[k];
    turned.push(parent);
  }
  [up[at], length[at], support[at]] = [-1, 0, Number.NaN];
  if (texts) texts[at] = "";
  const late = new Uint8Array(tree.n);
  for (const k of turned) late[k] = 1;
  const ranked = new Int32Array(tree.n);
  let count = 0;
  for (let k = 0; k < tree.n; k++) if (!late[k]) ranked[count++] = k;
  ranked.set(turned, count);
  const from = preorderOf(up, at, ranked);
  const angle = new Float64Array(tree.n);
  const moved = inOrder({ ...tree, up, length, support, angle, supportTexts: texts }, from);
  moved.angle.set(sarkarAngles(moved));
  return moved;
}

/** Sort the children of every node by their number of points, and reverse the children of rotated nodes. */
function ordered(tree, order, rotated) {
  const key = { original: tree.node.map(() => 0), ascending: tree.pointsBelow.map((count) => tree.n - count) };
  const ranked = byFallingCount(key[order] ?? tree.pointsBelow);
  const reversed = new Uint8Array(tree.n);
  for (const id of rotated) if (id < tree.n) reversed[tree.position[id]] = 1;
  return inOrder(tree, preorderOf(tree.up, 0, ranked, reversed));
}

/** The index at each preorder position, given parents. Siblings are in the order of `ranked`, or reversed. */
function preorderOf(up, root, ranked, reversed = null) {
  const n = up.length;
  const start = new Int32Array(n + 1); // children of k: members[start[k]] to members[start[k + 1] - 1]
  for (let k = 0; k < n; k++) if (up[k] >= 0) start[up[k] + 1]++;
  for (let k = 0; k < n; k++) start[k + 1] += start[k];
  const next = start.slice(0, n);
  const members = new Int32Array(n);
  for (const k of ranked) if (up[k] >= 0) members[next[up[k]]++] = k;
  if (reversed) for (let k = 0; k < n; k++) if (reversed[k]) members.subarray(start[k], start[k + 1]).reverse();
  const order = new Int32Array(n);
  const stack = new Int32Array(n);
  let [count, top] = [0, 1];
  stack[0] = root;
  while (top > 0) {
    const k = stack[--top];
    order[count++] = k;
    for (let i = start[k + 1] - 1; i >= start[k]; i--) stack[top++] = members[i];
  }
  return order;
}

/** The tree with the children of every node sorted by a key of their position. */
export function childrenSorted(tree, key) {
  const ranked = Int32Array.from(tree.node, (_, k) => k).sort((one, two) => key[one] - key[two] || one - two);
  return inOrder(tree, preorderOf(tree.up, 0, ranked));
}

/** The same tree in another preorder. `from` has the former index at each position. */
function inOrder(tree, from) {
  const to = new Int32Array(from.length);
  for (let k = 0; k < from.length; k++) to[from[k]] = k;
  const taken = (array) => from.reduce((out, k, i) => ((out[i] = array[k]), out), new array.constructor(from.length));
  const { nPoints, labels, clades, distances, hasSupport, other } = tree;
  const fields = { nPoints, labels, clades, distances, hasSupport, other };
  return new Tree({
    ...fields,
    node: taken(tree.node),
    up: Int32Array.from(from, (k) => (tree.up[k] < 0 ? -1 : to[tree.up[k]])),
    length: taken(tree.length),
    angle: taken(tree.angle),
    support: taken(tree.support),
    supportTexts: tree.supportTexts && Array.from(from, (k) => tree.supportTexts[k]),
  });
}

/** The tree rooted at a node, with children sorted by the smallest id in their subtree, as in Python. */
export function canonicallyRooted(tree, node) {
  const rooted = tree.node[0] === node ? tree : rerooted(tree, tree.position[node]);
  const least = Int32Array.from(rooted.node);
  for (let k = rooted.n - 1; k > 0; k--) least[rooted.up[k]] = Math.min(least[rooted.up[k]], least[k]);
  return childrenSorted(rooted, least);
}

/** The root in the middle of the longest path between data points, as in `Tree.root_at_midpoint`. */
export function midpointRoot(tree) {
  const start = farthestPoint(tree, tree.distancesFrom(tree.position[0]));
  const far = tree.distancesFrom(start);
  const end = farthestPoint(tree, far);
  const half = far[end] / 2;
  if (half === 0) return null;
  const { positions } = tree.path(start, end);
  const same = positions.filter((k) => Math.abs(far[k] - half) <= 2e-12 * half);
  if (same.length > 0) return { node: Math.max(...same.map((k) => tree.node[k])) };
  const i = positions.findIndex((k) => far[k] > half);
  const [a, b] = [positions[i - 1], positions[i]];
  return { edge: [tree.node[a], tree.node[b]], share: (half - far[a]) / (far[b] - far[a]) };
}

/** The first data point, by id, with the largest distance. */
function farthestPoint(tree, far) {
  let best = tree.position[0];
  for (let id = 1; id < tree.nPoints; id++) if (far[tree.position[id]] > far[best]) best = tree.position[id];
  return best;
}

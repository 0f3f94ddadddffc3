// Two trees that face each other: the same root, and an order of the leaves with few crossings.

import { childrenSorted, rootedAt } from "./arrange.js";
import { splitKeys } from "./splits.js";

const SORTING_ROUNDS = 4;

/** The other tree with the root of this one: its point, or the edge with the split of its largest branch. */
export function rootedAlike(tree, other) {
  if (tree.isPoint(0)) return rootedAt(other, { node: tree.node[0] });
  const place = new Map(Array.from(splitKeys(other), (key, k) => [key, k]));
  const keys = splitKeys(tree);
  const branches = [];
  for (let k = 1; k < tree.n; k += tree.size[k]) branches.push(k);
  branches.sort((one, two) => tree.size[two] - tree.size[one]);
  const found = branches.map((k) => (keys[k] < 0 ? undefined : place.get(keys[k]))).find((k) => k !== undefined);
  if (found === undefined) return other;
  return rootedAt(other, { edge: [other.node[found], other.node[other.up[found]]], share: 0.5 });
}

/** The rank of every data point in preorder, by id. */
function ranksOf(tree) {
  const rank = new Float64Array(tree.nPoints);
  let count = 0;
  for (let k = 0; k < tree.n; k++) if (tree.isPoint(k)) rank[tree.node[k]] = count++;
  return rank;
}

/** Sort the children of every node by the mean rank of the data points below them. */
function sortedByRank(tree, rank) {
  const mean = new Float64Array(tree.n);
  for (let k = tree.n - 1; k >= 0; k--) {
    if (tree.isPoint(k)) mean[k] += rank[tree.node[k]];
    if (k > 0) mean[tree.up[k]] += mean[k];
  }
  return childrenSorted(tree, mean.map((sum, k) => (tree.pointsBelow[k] > 0 ? sum / tree.pointsBelow[k] : 0)));
}

/** How many pairs of data points are in opposite orders: inversions, by merging. O(n log n). */
export function crossings(tree, other) {
  const rank = ranksOf(other);
  let from = Float64Array.from(tree.node.filter((id) => id < tree.nPoints), (id) => rank[id]);
  let to = new Float64Array(from.length);
  let count = 0;
  for (let width = 1; width < from.length; width *= 2) {
    for (let start = 0; start < from.length; start += 2 * width) {
      const [middle, end] = [Math.min(start + width, from.length), Math.min(start + 2 * width, from.length)];
      let [i, j] = [start, middle];
      for (let k = start; k < end; k++) {
        const left = j >= end || (i < middle && from[i] <= from[j]);
        if (!left) count += middle - i;
        to[k] = left ? from[i++] : from[j++];
      }
    }
    [from, to] = [to, from];
  }
  return count;
}

/** The other tree, rooted alike and with its branches in the order of this tree. */
export function facing(tree, other) {
  return sortedByRank(rootedAlike(tree, other), ranksOf(tree));
}

/** This tree with its branches in the order that crosses least, after sorting both trees in turn. */
export function untangled(tree, other) {
  let best = { tree, count: crossings(tree, facing(tree, other)) };
  let [mine, theirs] = [tree, facing(tree, other)];
  for (let round = 0; round < SORTING_ROUNDS && best.count > 0; round++) {
    mine = sortedByRank(mine, ranksOf(theirs));
    theirs = sortedByRank(theirs, ranksOf(mine));
    const count = crossings(mine, theirs);
    if (count < best.count) best = { tree: mine, count };
  }
  return best.tree;
}

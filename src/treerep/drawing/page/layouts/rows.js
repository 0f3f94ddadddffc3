// Depths and rows of a rooted tree, which all layouts in the plane share. O(N).

/** Depth of every position with edges of length^power, and the largest depth below it. */
export function depthsOf(tree, power) {
  const { n, up, length } = tree;
  const depth = new Float64Array(n);
  const reach = new Float64Array(n);
  for (let k = 1; k < n; k++) depth[k] = depth[up[k]] + (length[k] > 0 ? length[k] ** power : 0);
  reach.set(depth);
  for (let k = n - 1; k > 0; k--) if (reach[k] > reach[up[k]]) reach[up[k]] = reach[k];
  return { depth, reach };
}

/** The height of a position without children, in rows. The triangle of a collapsed subtree is higher than a tip. */
function heightOf(tree, k) {
  return isCollapsed(tree, k) ? 1 + Math.log10(Math.max(1, tree.pointsBelow[k])) : 1;
}

export const isCollapsed = (tree, k) => tree.collapsed !== undefined && tree.collapsed[k] === 1 && tree.size[k] > 1;

/**
 * Rows of all positions. Every tip gets one row, and an internal node is halfway between its first and its last tip.
 * `top` and `bottom` bound the rows of a subtree. Positions inside a collapsed subtree are on its row.
 */
export function rowsOf(tree) {
  const { n, up, size } = tree;
  const top = new Float64Array(n);
  const bottom = new Float64Array(n);
  let total = 0;
  for (let k = 0; k < n; ) {
    top[k] = total;
    if (size[k] > 1 && !isCollapsed(tree, k)) {
      k++;
      continue;
    }
    const end = k + size[k];
    const next = total + heightOf(tree, k);
    top.fill(total, k, end);
    bottom.fill(next, k, end);
    total = next;
    k = end;
  }
  for (let k = n - 1; k > 0; k--) if (bottom[k] > bottom[up[k]]) bottom[up[k]] = bottom[k];
  return { top, bottom, total };
}

/** The last child of every position, or -1. */
export function lastChildren(tree) {
  const last = new Int32Array(tree.n).fill(-1);
  for (let k = 1; k < tree.n; k++) last[tree.up[k]] = k;
  return last;
}

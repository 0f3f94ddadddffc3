// Flags of positions derived from flags of data points. The last result is kept, because frames ask again and again.

function kept(compute) {
  let last = [null, null, null];
  return (tree, flags) => {
    if (last[0] !== tree || last[1] !== flags) last = [tree, flags, compute(tree, flags)];
    return last[2];
  };
}

/** Positions with at least one flagged position in their subtree. */
export const anyBelow = kept((tree, flags) => {
  const any = Uint8Array.from(flags);
  for (let k = tree.n - 1; k > 0; k--) if (any[k]) any[tree.up[k]] = 1;
  return any;
});

/** Positions whose subtree has only flagged data points. `flags` is indexed by node id. */
export const allBelow = kept((tree, flags) => {
  const all = new Uint8Array(tree.n).fill(1);
  for (let k = tree.n - 1; k >= 0; k--) {
    if (tree.isPoint(k) && !flags[tree.node[k]]) all[k] = 0;
    if (k > 0 && !all[k]) all[tree.up[k]] = 0;
  }
  return all;
});

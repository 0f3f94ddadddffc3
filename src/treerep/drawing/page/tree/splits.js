// Splits of two trees on the same data points: which are in both, and how many differ.
//
// Every data point has a random number of 52 bits. The exclusive or over the points below an edge identifies its split.

const KEY_HALF = 2 ** 26;

/** Pseudo-random whole numbers below 2^26, the same on every page. */
function randomHalves(count) {
  let state = 0x9e3779b9;
  return Int32Array.from({ length: count }, () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % KEY_HALF;
  });
}

/** The key of the split above each position; -1 if all data points are on one side. */
export function splitKeys(tree) {
  const { n, up, nPoints, pointsBelow } = tree;
  const random = randomHalves(2 * nPoints);
  const [high, low] = [new Int32Array(n), new Int32Array(n)];
  for (let k = n - 1; k >= 0; k--) {
    if (tree.isPoint(k)) {
      high[k] ^= random[2 * tree.node[k]];
      low[k] ^= random[2 * tree.node[k] + 1];
    }
    if (k === 0) break;
    high[up[k]] ^= high[k];
    low[up[k]] ^= low[k];
  }
  // The side without point 0 names the split, wherever the root is.
  const first = new Uint8Array(n);
  for (let k = tree.position[0]; k >= 0; k = up[k]) first[k] = 1;
  return Float64Array.from(up, (_, k) => {
    if (k === 0 || pointsBelow[k] === 0 || pointsBelow[k] === nPoints) return -1;
    const [a, b] = first[k] ? [high[k] ^ high[0], low[k] ^ low[0]] : [high[k], low[k]];
    return a * KEY_HALF + b;
  });
}

/** Keys of the splits: edges of positive length with at least two data points on both sides. */
function innerSplits(tree, keys) {
  const { nPoints, pointsBelow, length } = tree;
  return new Set(keys.filter((key, k) => pointsBelow[k] >= 2 && pointsBelow[k] <= nPoints - 2 && length[k] > 0));
}

/**
 * Compare two trees: { missing, otherMissing, distance }. The flags by position are for edges whose split the other
 * tree does not have. `distance` counts such splits, as `Tree.difference` in Python: a leaf or an edge of length 0
 * makes no split, and edges along a chain of internal nodes are one split.
 */
export function compareSplits(tree, other) {
  const [keys, otherKeys] = [splitKeys(tree), splitKeys(other)];
  const [own, others] = [innerSplits(tree, keys), innerSplits(other, otherKeys)];
  const flags = (ownKeys, mine, theirs) =>
    Uint8Array.from(ownKeys, (key) => (mine.has(key) && !theirs.has(key) ? 1 : 0));
  const alone = (mine, theirs) => [...mine].filter((key) => !theirs.has(key)).length;
  return {
    missing: flags(keys, own, others),
    otherMissing: flags(otherKeys, others, own),
    distance: alone(own, others) + alone(others, own),
  };
}

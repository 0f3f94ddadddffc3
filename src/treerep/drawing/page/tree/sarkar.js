// Directions of the edges in the disk, by Sarkar's construction: the same rule as `sarkar` in Python.
//
// The edges around a node repel each other with the weight (points behind the edge)^0.4.

const EXPONENT = 0.4;
const MOST_SPREAD = 24; // nodes with more edges keep their sectors
const SWEEPS = 4;
const TOLERANCE = 1e-4;

/** The angle of the edge to each position, at its upper end, whose parent is at angle pi. O(N). */
export function sarkarAngles(tree) {
  const { head, start, members } = edgesAround(tree);
  const { n, nPoints, pointsBelow } = tree;
  const angle = new Float64Array(n);
  for (let v = 0; v < n; v++) {
    if (head[v] !== v || start[v] === start[v + 1]) continue;
    const around = members.subarray(start[v], start[v + 1]);
    const weights = Array.from(around, (k) => weightOf(pointsBelow[k]));
    if (v > 0) weights.unshift(weightOf(nPoints - pointsBelow[v]));
    const { x, y } = directions(weights);
    const first = v > 0 ? 1 : 0;
    around.forEach((k, i) => (angle[k] = Math.atan2(y[first + i], x[first + i])));
  }
  return rightHanded(tree, angle);
}

const weightOf = (traffic) => (traffic > 1 ? traffic ** EXPONENT : 1);

/** Nodes joined by edges of length 0 are one point. Edges of positive length by point, most data points first. */
function edgesAround({ n, up, length, pointsBelow }) {
  const head = new Int32Array(n);
  const start = new Int32Array(n + 1);
  for (let k = 1; k < n; k++) {
    head[k] = length[k] > 0 ? k : head[up[k]];
    if (length[k] > 0) start[head[up[k]] + 1]++;
  }
  for (let k = 0; k < n; k++) start[k + 1] += start[k];
  const next = start.slice(0, n);
  const members = new Int32Array(start[n]);
  for (const k of byFallingCount(pointsBelow)) if (k > 0 && length[k] > 0) members[next[head[up[k]]]++] = k;
  return { head, start, members };
}

/** Positions sorted by falling count, stable: a counting sort. */
export function byFallingCount(counts) {
  const most = counts.reduce((largest, count) => Math.max(largest, count), 0);
  const next = new Int32Array(most + 2);
  for (const count of counts) next[most - count + 1]++;
  for (let i = 0; i <= most; i++) next[i + 1] += next[i];
  const sorted = new Int32Array(counts.length);
  counts.forEach((count, k) => (sorted[next[most - count]++] = k));
  return sorted;
}

/** Unit vectors around a node for edges with these weights. The first is (-1, 0). */
function directions(weights) {
  if (weights.length <= 2) return { x: [-1, 1], y: [0, 0] };
  if (weights.length === 3) return three(weights);
  const vectors = sectors(weights);
  if (weights.length <= MOST_SPREAD) spread(vectors, weights);
  return vectors;
}

/** Least energy: cot(half the angle of i and j) = w_k / sqrt(w_1 w_2 + w_2 w_3 + w_3 w_1). */
function three([first, second, third]) {
  const products = first * second + second * third + third * first;
  const beside = (weight) => (products - weight * weight) / (products + weight * weight);
  const across = (weight) => (2 * weight * Math.sqrt(products)) / (products + weight * weight);
  return { x: [-1, beside(third), beside(second)], y: [0, across(third), -across(second)] };
}

/** The middle of sectors with widths by weight. The second is opposite to the first, the others alternate sides. */
function sectors(weights) {
  const roots = weights.map(Math.sqrt);
  let [total, left] = [0, 0];
  roots.forEach((root, i) => {
    total += root;
    if (i > 1 && i % 2) left += root;
  });
  const unit = (2 * Math.PI) / total;
  const [x, y] = [[-1], [0]];
  let begin = Math.PI + unit * (0.5 * roots[0] + left);
  let end = begin;
  for (let i = 1; i < roots.length; i++) {
    const width = unit * roots[i];
    const before = i > 1 && i % 2 === 1;
    const angle = before ? begin - width / 2 : end + width / 2;
    if (before) begin -= width;
    else end += width;
    x.push(Math.cos(angle));
    y.push(Math.sin(angle));
  }
  return { x, y };
}

/** Lower the energy -sum of w_i w_j ln |u_i - u_j|, direction by direction. The first stays in place. */
function spread({ x, y }, weights) {
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let largest = 0;
    for (let i = 1; i < weights.length; i++) largest = Math.max(largest, relax(x, y, weights, i));
    if (largest < TOLERANCE) break;
  }
}

/** One Newton step of direction i; returns the squared step. */
function relax(x, y, weights, i) {
  let [total, nearest, px, py] = [0, 4, 0, 0];
  for (let j = 0; j < weights.length; j++) {
    if (j === i) continue;
    const [dx, dy] = [x[i] - x[j], y[i] - y[j]];
    const square = dx * dx + dy * dy;
    nearest = Math.min(nearest, square);
    const strength = weights[j] / square;
    total += strength;
    px += strength * dx;
    py += strength * dy;
  }
  const radial = px * x[i] + py * y[i];
  px = (px - radial * x[i]) / total;
  py = (py - radial * y[i]) / total;
  const step = px * px + py * py;
  const shrink = step > 0.25 * nearest ? Math.sqrt((0.25 * nearest) / step) : 1;
  const [u, v] = [x[i] + shrink * px, y[i] + shrink * py];
  const size = Math.sqrt(u * u + v * v);
  x[i] = u / size;
  y[i] = v / size;
  return step;
}

/** Python carries frames along an edge by a reflection, unless the edge is straight ahead. All frames here turn left. */
function rightHanded({ n, up }, angle) {
  const left = new Uint8Array(n);
  const turned = new Float64Array(n);
  for (let k = 1; k < n; k++) {
    turned[k] = left[up[k]] ? -angle[k] : angle[k];
    left[k] = left[up[k]] ^ (angle[k] !== 0 ? 1 : 0);
  }
  return turned;
}

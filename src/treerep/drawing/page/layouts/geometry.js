// Isometries of the Poincaré disk.
//
// An isometry is z -> (a z + b) / (conj(b) z + conj(a)) with |a|^2 - |b|^2 = 1, kept as [Re a, Im a, Re b, Im b].
// It moves the origin by the distance 2 asinh |b|, and 1 - |image of the origin|^2 is 1 / |a|^2.

export const IDENTITY = [1, 0, 0, 0];

/** First `inner`, then `outer`. */
export function compose(outer, inner) {
  const [ar, ai, br, bi] = outer;
  const [cr, ci, dr, di] = inner;
  return [
    ar * cr - ai * ci + br * dr + bi * di,
    ar * ci + ai * cr - br * di + bi * dr,
    ar * dr - ai * di + br * cr + bi * ci,
    ar * di + ai * dr - br * ci + bi * cr,
  ];
}

/** The same isometry, normalized to |a|^2 - |b|^2 = 1, because rounding errors accumulate over many drags. */
export function normalized([ar, ai, br, bi]) {
  const size = Math.sqrt(ar * ar + ai * ai - br * br - bi * bi);
  return [ar / size, ai / size, br / size, bi / size];
}

/** The image of the origin. */
export function imageOfOrigin([ar, ai, br, bi]) {
  const size = ar * ar + ai * ai;
  return [(br * ar - bi * ai) / size, (br * ai + bi * ar) / size];
}

/** The translation along a diameter that takes the origin to (x, y). */
export function translation(x, y) {
  const a = 1 / Math.sqrt(1 - x * x - y * y);
  return [a, 0, a * x, a * y];
}

/** The translation along a diameter that takes one point of the disk to another. */
export function translationBetween([x, y], [u, v]) {
  // (z + t) / (1 + conj(t) z) = w  means  t - w z conj(t) = w - z.
  const pr = u * x - v * y;
  const pi = u * y + v * x;
  const dr = u - x;
  const di = v - y;
  const rest = 1 - pr * pr - pi * pi;
  return translation((dr + pr * dr + pi * di) / rest, (di + pi * dr - pr * di) / rest);
}

/** The translation by a hyperbolic length in the direction of (x, y). */
export function translationAlong([x, y], length) {
  const size = Math.hypot(x, y);
  if (size === 0) return IDENTITY;
  const b = Math.sinh(length / 2) / size;
  return [Math.cosh(length / 2), 0, b * x, b * y];
}

/** The rotation about the origin. */
export function rotation(angle) {
  return [Math.cos(angle / 2), Math.sin(angle / 2), 0, 0];
}

/** The angle by which an isometry rotates the point that it moves to the origin, from -pi to pi. */
export function turnOf([ar, ai]) {
  return 2 * Math.atan(ai / ar); // a and -a are the same isometry
}

/** Center and radius of the circle of a geodesic between two points, or null if it is nearly straight. */
export function geodesicCircle(x, y, u, v) {
  // The circle meets the rim at right angles: 2 p.c = 1 + |p|^2 for each of its points p.
  const cross = 2 * (x * v - y * u);
  if (Math.abs(cross) < 1e-9) return null;
  const one = 1 + x * x + y * y;
  const two = 1 + u * u + v * v;
  const cx = (one * v - two * y) / cross;
  const cy = (two * x - one * u) / cross;
  return [cx, cy, Math.sqrt(Math.max(0, cx * cx + cy * cy - 1))];
}

// Dates along the tree, by regression of the dates of data points on their distance to the root.

/**
 * The line date = start + slope * depth that fits the dated points best, and the share of the variance that it
 * explains. Dates are in years. Null with fewer than three dated points, or if dates fall with the depth.
 */
export function datedDepths(tree, dates) {
  const depth = tree.distancesFrom(0);
  const known = [];
  dates.forEach((date, node) => Number.isFinite(date) && known.push([depth[tree.position[node]], date]));
  if (known.length < 3) return null;
  const mean = (i) => known.reduce((sum, pair) => sum + pair[i], 0) / known.length;
  const [far, late] = [mean(0), mean(1)];
  let [xx, xy, yy] = [0, 0, 0];
  for (const [x, y] of known) {
    xx += (x - far) ** 2;
    xy += (x - far) * (y - late);
    yy += (y - late) ** 2;
  }
  const slope = xy / xx;
  if (!(slope > 0)) return null;
  const fit = yy === 0 ? 0 : (xy * xy) / (xx * yy);
  const note = `Dates by regression on the distance to the root (R² = ${fit.toFixed(2)})`;
  return { start: late - slope * far, slope, fit, note };
}

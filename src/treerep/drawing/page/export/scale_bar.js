// Scale bars: a round length of the tree, and how long it is in the picture.

/** The largest of 1, 2 and 5 times a power of ten that is at most a number. */
export function roundBelow(number) {
  const power = 10 ** Math.floor(Math.log10(number) + 1e-12);
  const factor = [5, 2, 1].find((digit) => digit * power <= number * (1 + 1e-12)) ?? 1;
  return factor * power;
}

/** A bar of at most some pixels: { length, pixels, text }; null if lengths have no fixed scale. */
export function scaleBar(lengthPerPixel, most = 120) {
  if (!(lengthPerPixel > 0) || !Number.isFinite(lengthPerPixel)) return null;
  const length = roundBelow(most * lengthPerPixel);
  return { length, pixels: length / lengthPerPixel, text: String(Number(length.toPrecision(1))) };
}

/** Draw a bar with its length above it; (x, y) is its left end. */
export function paintScaleBar(pen, bar, theme, font, [x, y]) {
  pen.strokeStyle = theme.text;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(x, y - 4);
  pen.lineTo(x, y);
  pen.lineTo(x + bar.pixels, y);
  pen.lineTo(x + bar.pixels, y - 4);
  pen.stroke();
  pen.font = `450 12px ${font}`;
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  pen.fillStyle = theme.text;
  pen.fillText(bar.text, x + 4, y - 10);
}

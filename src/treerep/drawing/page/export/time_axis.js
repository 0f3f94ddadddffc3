// Ticks of a time axis: round dates and their pixels.

import { roundBelow } from "./scale_bar.js";

const MONTH_NAMES = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const LEAST_TICK_GAP = 70; // pixels between ticks

/** Ticks { x, text } of the visible part of the rectangular layout, or null without dates. */
export function timeTicks(calendar, layout) {
  if (calendar === null || layout.kind !== "rectangular" || layout.lengthPerPixel === null) return null;
  const { room } = layout.window;
  const at = (pixel) => calendar.start + calendar.slope * layout.pointAt(pixel, 0)[0];
  const [first, last] = [at(room.left), at(room.right)];
  const perPixel = (last - first) / (room.right - room.left);
  const dates = roundDates(first, last, LEAST_TICK_GAP * perPixel);
  return dates.map(({ date, text }) => ({ text, x: room.left + (date - first) / perPixel }));
}

/** Round dates between two years, at least `gap` years apart. */
function roundDates(first, last, gap) {
  const months = 12 * gap;
  if (months > 6) return steppedDates(first, last, roundAbove(Math.max(gap, 1)), yearText);
  const step = [1, 3, 6].find((count) => count >= months) / 12;
  if (months > 0.25) return steppedDates(first, last, step, monthText);
  return steppedDates(first, last, roundAbove(365.25 * gap) / 365.25, dayText);
}

/** The smallest of 1, 2 and 5 times a power of ten that is at least a number. */
const roundAbove = (number) => 1 / roundBelow(1 / number);

function steppedDates(first, last, step, text) {
  const found = [];
  for (let i = Math.ceil(first / step - 1e-9); i * step <= last + 1e-9 * step && found.length < 100; i++) {
    found.push({ date: i * step, text: text(i * step) });
  }
  return found;
}

const yearText = (year) => (year < 0 ? `${Math.round(-year)} BC` : String(Math.round(year)));

function monthText(year) {
  const whole = Math.floor(year + 1e-6);
  return `${MONTH_NAMES[Math.round(12 * (year - whole)) % 12]} ${whole}`;
}

/** A date in years as day, month and year. Years have different lengths, as in Python. */
function dayText(year) {
  const whole = Math.floor(year + 1e-9);
  const [start, end] = [Date.UTC(whole, 0, 1), Date.UTC(whole + 1, 0, 1)];
  const day = new Date(Math.round((start + (year - whole) * (end - start)) / 864e5) * 864e5);
  return `${day.getUTCDate()} ${MONTH_NAMES[day.getUTCMonth()]} ${day.getUTCFullYear()}`;
}

/** Draw an axis with its ticks; y is the height of its line. */
export function paintTimeAxis(pen, ticks, theme, font, [from, to, y]) {
  pen.strokeStyle = theme.text;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(from, y);
  pen.lineTo(to, y);
  for (const { x } of ticks) {
    pen.moveTo(x, y);
    pen.lineTo(x, y + 4);
  }
  pen.stroke();
  pen.font = `450 12px ${font}`;
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  pen.fillStyle = theme.text;
  for (const { x, text } of ticks) pen.fillText(text, x, y + 13);
  pen.textAlign = "left";
}

// A pen that writes PDF 1.4. It implements the part of a canvas context that the painter uses.
//
// Lengths are CSS pixels, of which 96 are an inch. Text is in Helvetica, which every reader has.

import { helveticaWidth, winAnsi } from "./winansi.js";

const POINTS = 0.75; // points per pixel
const MIDDLE = 0.35; // height of the middle of a line of text above its baseline, for a size of 1
const CAPS = { butt: 0, round: 1, square: 2 };
const JOINS = { miter: 0, round: 1, bevel: 2 };

export class PdfPen {
  constructor(width, height, title = "") {
    Object.assign(this, { width, height, title });
    Object.assign(this, { globalAlpha: 1, lineWidth: 1, lineCap: "butt", lineJoin: "miter", textAlign: "left" });
    Object.assign(this, { fillStyle: "#000000", strokeStyle: "#000000", font: "10px Helvetica" });
    this.body = [];
    this.path = [];
    this.alphas = new Map(); // names of graphics states, by opacity
    this.saved = [];
    this.lost = new Set(); // characters that the fonts do not have
  }

  // Transformations.

  save() {
    this.body.push("q");
    const { globalAlpha, lineWidth, fillStyle, strokeStyle, font, textAlign } = this;
    this.saved.push({ globalAlpha, lineWidth, fillStyle, strokeStyle, font, textAlign });
  }

  restore() {
    this.body.push("Q");
    Object.assign(this, this.saved.pop());
  }

  translate(x, y) {
    this.body.push(`1 0 0 1 ${decimal(x)} ${decimal(y)} cm`);
  }

  rotate(angle) {
    const [c, s] = [Math.cos(angle).toFixed(6), Math.sin(angle).toFixed(6)];
    this.body.push(`${c} ${s} ${-s} ${c} 0 0 cm`);
  }

  scale(x, y) {
    this.body.push(`${decimal(x)} 0 0 ${decimal(y)} 0 0 cm`);
  }

  // Paths.

  beginPath() {
    this.path = [];
  }

  moveTo(x, y) {
    this.path.push(`${decimal(x)} ${decimal(y)} m`);
  }

  lineTo(x, y) {
    this.path.push(`${decimal(x)} ${decimal(y)} ${this.path.length > 0 ? "l" : "m"}`);
  }

  bezierCurveTo(...numbers) {
    this.path.push(`${numbers.map(decimal).join(" ")} c`);
  }

  closePath() {
    this.path.push("h");
  }

  rect(x, y, width, height) {
    this.path.push(`${[x, y, width, height].map(decimal).join(" ")} re`);
  }

  /** A circular arc in pieces of at most a quarter. As on a canvas, a line leads to its start. */
  arc(cx, cy, r, start, end, counterclockwise = false) {
    const turn = sweep(start, end, counterclockwise);
    const pieces = Math.max(1, Math.ceil(Math.abs(turn) / (Math.PI / 2) - 1e-9));
    const step = turn / pieces;
    const pull = (4 / 3) * Math.tan(step / 4) * r;
    this.lineTo(cx + r * Math.cos(start), cy + r * Math.sin(start));
    for (let i = 0; i < pieces; i++) {
      const [a, b] = [start + i * step, start + (i + 1) * step];
      const [x, y, u, v] = [Math.cos(a), Math.sin(a), Math.cos(b), Math.sin(b)];
      const ends = [cx + r * x - pull * y, cy + r * y + pull * x, cx + r * u + pull * v, cy + r * v - pull * u];
      this.bezierCurveTo(...ends, cx + r * u, cy + r * v);
    }
  }

  stroke() {
    this.#paint(this.strokeStyle, "RG", [...this.#line(), this.path.join("\n"), "S"]);
  }

  fill() {
    this.#paint(this.fillStyle, "rg", [this.path.join("\n"), "f"]);
  }

  fillRect(x, y, width, height) {
    this.#paint(this.fillStyle, "rg", [`${[x, y, width, height].map(decimal).join(" ")} re f`]);
  }

  /** Start a part of the picture with its origin at (x, y). It is cut off at its sides. */
  openArea(x, y, width, height) {
    this.save();
    this.translate(x, y);
    this.body.push(`0 0 ${decimal(width)} ${decimal(height)} re W n`);
  }

  closeArea() {
    this.restore();
  }

  #line() {
    return [`${decimal(this.lineWidth)} w ${CAPS[this.lineCap] ?? 0} J ${JOINS[this.lineJoin] ?? 0} j`];
  }

  #paint(style, operator, commands) {
    if (commands.includes("")) return; // an empty path
    const { rgb, alpha } = inkOf(style);
    const state = this.#alpha(alpha * this.globalAlpha);
    this.body.push("q", `${rgb.map(decimal).join(" ")} ${operator}${state}`, ...commands, "Q");
  }

  /** The command that sets an opacity. */
  #alpha(opacity) {
    if (opacity >= 1) return "";
    const key = opacity.toFixed(3);
    if (!this.alphas.has(key)) this.alphas.set(key, `A${this.alphas.size}`);
    return ` /${this.alphas.get(key)} gs`;
  }

  // Text.

  measureText(text) {
    const { size, bold } = this.#font();
    return { width: size * helveticaWidth(text, bold) };
  }

  fillText(text, x, y) {
    this.#paint(this.fillStyle, "rg", [`BT 0 Tr ${this.#shown(text, x, y)} ET`]);
  }

  strokeText(text, x, y) {
    this.#paint(this.strokeStyle, "RG", [...this.#line(), `BT 1 Tr ${this.#shown(text, x, y)} ET`]);
  }

  #shown(text, x, y) {
    const { size, bold } = this.#font();
    const share = { center: 0.5, right: 1, end: 1 }[this.textAlign] ?? 0;
    const left = x - share * this.measureText(text).width;
    const place = `1 0 0 -1 ${decimal(left)} ${decimal(y + MIDDLE * size)} Tm`;
    return `/${bold ? "B" : "R"} ${decimal(size)} Tf ${place} <${hex(winAnsi(text, this.lost))}> Tj`;
  }

  #font() {
    const size = Number(/([\d.]+)px/.exec(this.font)?.[1] ?? 10);
    const weight = /^(\d+|bold)\b/.exec(this.font)?.[1];
    return { size, bold: weight === "bold" || Number(weight) >= 600 };
  }

  /** Gradients become their first color. */
  createRadialGradient() {
    const stops = [];
    return { addColorStop: (_, color) => stops.push(color), toString: () => stops[0] ?? "#ffffff" };
  }

  // The document.

  /** The whole document as a blob. */
  async blob() {
    const [width, height] = [this.width, this.height].map((pixels) => decimal(POINTS * pixels));
    const flipped = `${POINTS} 0 0 ${-POINTS} 0 ${height} cm`;
    const content = await deflated(latin([flipped, ...this.body].join("\n")));
    const states = [...this.alphas].map(([value, name]) => `/${name} << /CA ${value} /ca ${value} >>`).join(" ");
    const font = (name) => `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`;
    const resources = `<< /Font << /R 5 0 R /B 6 0 R >> /ExtGState << ${states} >> >>`;
    const filter = content.packed ? " /Filter /FlateDecode" : "";
    return documentOf([
      ["<< /Type /Catalog /Pages 2 0 R >>"],
      ["<< /Type /Pages /Kids [3 0 R] /Count 1 >>"],
      [`<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Resources ${resources} /Contents 4 0 R >>`],
      [`<< /Length ${content.bytes.length}${filter} >>\nstream\n`, content.bytes, "\nendstream"],
      [font("Helvetica")],
      [font("Helvetica-Bold")],
      [`<< /Title <feff${utf16(this.title)}> /Producer (treerep) >>`],
    ]);
  }
}

/** Two decimals, without trailing zeros or exponents. */
const decimal = (number) => String(Math.round(number * 100) / 100);
const hex = (codes, digits = 2) => codes.map((code) => code.toString(16).padStart(digits, "0")).join("");
const utf16 = (text) => hex(text.split("").map((unit) => unit.charCodeAt(0)), 4);
const latin = (text) => Uint8Array.from(text, (sign) => sign.charCodeAt(0));

function sweep(start, end, counterclockwise) {
  const full = 2 * Math.PI;
  const turn = counterclockwise ? start - end : end - start;
  const covered = turn >= full ? full : ((turn % full) + full) % full;
  return counterclockwise ? -covered : covered;
}

/** Red, green and blue from 0 to 1, and the opacity, of a color in CSS. */
function inkOf(style) {
  const text = String(style);
  const numbers = (/\(([^)]*)\)/.exec(text)?.[1] ?? "").split(/[\s,/]+/).map(Number);
  if (numbers.length >= 3) return { rgb: numbers.slice(0, 3).map((part) => part / 255), alpha: numbers[3] ?? 1 };
  const digits = text.length === 4 ? text.replace(/[^#]/g, "$&$&") : text;
  const part = (i) => Number.parseInt(digits.slice(i, i + 2), 16) || 0;
  return { rgb: [part(1) / 255, part(3) / 255, part(5) / 255], alpha: digits.length > 7 ? part(7) / 255 : 1 };
}

async function deflated(bytes) {
  if (typeof CompressionStream === "undefined") return { bytes, packed: false };
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return { bytes: new Uint8Array(await new Response(stream).arrayBuffer()), packed: true };
}

/** Objects 1, 2, ... of which the first is the catalog and the last the information, with their table of offsets. */
function documentOf(objects) {
  const pieces = [latin("%PDF-1.4\n%\u00e2\u00e3\u00cf\u00d3\n")];
  let at = pieces[0].length;
  const add = (content) => {
    const bytes = typeof content === "string" ? latin(content) : content;
    pieces.push(bytes);
    at += bytes.length;
  };
  const offsets = objects.map((parts, i) => {
    const start = at;
    [`${i + 1} 0 obj\n`, ...parts, "\nendobj\n"].forEach(add);
    return `${String(start).padStart(10, "0")} 00000 n \n`;
  });
  const table = at;
  const count = objects.length + 1;
  add(`xref\n0 ${count}\n0000000000 65535 f \n${offsets.join("")}`);
  add(`trailer\n<< /Size ${count} /Root 1 0 R /Info ${objects.length} 0 R >>\nstartxref\n${table}\n%%EOF\n`);
  return new Blob(pieces, { type: "application/pdf" });
}

// A pen that writes SVG. It implements the part of a canvas context that the painter uses.

const round = (value) => Math.round(value * 100) / 100;
// XML does not allow most control characters, not even escaped.
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const escaped = (text) =>
  text.replace(FORBIDDEN, "\ufffd").replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

export class SvgPen {
  constructor(width, height, canvas) {
    Object.assign(this, { width, height, canvas });
    this.body = [];
    this.defs = [];
    this.globalAlpha = 1;
    this.lineCap = "butt";
    this.lineJoin = "miter";
    this.path = [];
    this.transform = "";
    this.fullText = null;
  }

  // Only texts are moved and rotated.

  save() {}

  translate(x, y) {
    this.transform += `translate(${round(x)} ${round(y)})`;
  }

  rotate(angle) {
    this.transform += `rotate(${round((angle * 180) / Math.PI)})`;
  }

  restore() {
    this.transform = "";
  }

  beginPath() {
    this.path = [];
  }

  moveTo(x, y) {
    this.path.push(`M${round(x)} ${round(y)}`);
  }

  lineTo(x, y) {
    this.path.push(`L${round(x)} ${round(y)}`);
  }

  closePath() {
    this.path.push("Z");
  }

  rect(x, y, width, height) {
    this.path.push(`M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}Z`);
  }

  /** A full circle, or an arc of less than half a circle that starts at the current point. */
  arc(cx, cy, r, start, end, counterclockwise = false) {
    const [radius, y] = [round(r), round(cy)];
    if (Math.abs(end - start) >= 2 * Math.PI) {
      this.path.push(`M${round(cx + r)} ${y}a${radius} ${radius} 0 1 1 ${round(-2 * r)} 0`);
      this.path.push(`a${radius} ${radius} 0 1 1 ${round(2 * r)} 0Z`);
      return;
    }
    const [u, v] = [round(cx + r * Math.cos(end)), round(cy + r * Math.sin(end))];
    this.path.push(`A${radius} ${radius} 0 0 ${counterclockwise ? 0 : 1} ${u} ${v}`);
  }

  stroke() {
    const style = `fill="none" stroke="${this.strokeStyle}" stroke-width="${round(this.lineWidth)}"`;
    this.#add("path", `d="${this.path.join("")}" ${style} stroke-linecap="${this.lineCap}"`);
  }

  fill() {
    this.#add("path", `d="${this.path.join("")}" fill="${this.fillStyle}"`);
  }

  /** Start a part of the picture with its origin at (x, y). It is cut off at its sides. */
  openArea(x, y, width, height) {
    this.body.push(`<svg x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}">`);
  }

  closeArea() {
    this.body.push("</svg>");
  }

  fillRect(x, y, width, height) {
    const place = `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"`;
    this.#add("rect", `${place} fill="${this.fillStyle}"`);
  }

  measureText(text) {
    this.canvas.font = this.font;
    return this.canvas.measureText(text);
  }

  strokeText(text, x, y) {
    this.#text(text, x, y, `fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"`);
  }

  /** Write a text. If it is a shortened name, `fullText` is the whole name, which viewers show as a tooltip. */
  fillText(text, x, y) {
    this.#text(text, x, y, `fill="${this.fillStyle}"`, this.fullText);
  }

  createRadialGradient(cx, cy, _inner, _x, _y, r) {
    const id = `shade${this.defs.length}`;
    const stops = [];
    const place = `gradientUnits="userSpaceOnUse" cx="${cx}" cy="${cy}" r="${r}"`;
    this.defs.push(() => `<radialGradient id="${id}" ${place}>${stops.join("")}</radialGradient>`);
    return {
      addColorStop: (offset, color) => stops.push(`<stop offset="${offset}" stop-color="${color}"/>`),
      toString: () => `url(#${id})`,
    };
  }

  #text(text, x, y, style, full = null) {
    const font = `style="font:${escaped(this.font)}" dominant-baseline="central" stroke-linejoin="round"`;
    const place = this.transform ? ` transform="${this.transform}"` : "";
    const anchors = { right: ' text-anchor="end"', center: ' text-anchor="middle"' };
    const anchor = anchors[this.textAlign] ?? "";
    const title = full === null ? "" : `<title>${escaped(full)}</title>`;
    this.#add("text", `x="${round(x)}" y="${round(y)}"${place}${anchor} ${font} ${style}`, escaped(text) + title);
  }

  #add(tag, attributes, content = "") {
    const alpha = this.globalAlpha < 1 ? ` opacity="${round(this.globalAlpha)}"` : "";
    this.body.push(`<${tag} ${attributes}${alpha}${content ? `>${content}</${tag}>` : "/>"}`);
  }

  /** The whole document. */
  text() {
    const size = `width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"`;
    const defs = this.defs.map((make) => make()).join("");
    const head = `<svg xmlns="http://www.w3.org/2000/svg" ${size}>`;
    return `${head}<defs>${defs}</defs>\n${this.body.join("\n")}\n</svg>\n`;
  }
}

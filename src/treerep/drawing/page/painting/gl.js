// A pen that draws lines and dots with WebGL. It implements the part of a canvas context that draws the tree.
//
// Lines and dots are collected in two arrays and drawn by one call each: dots are above lines. Texts, rings and the
// lasso are drawn on a canvas above.

const LINE_NUMBERS = 6; // x, y, x, y, half the width, color
const DOT_NUMBERS = 4; // x, y, radius, color
const CURVE = 0.35; // pixels by which lines may differ from their arc

const LINE_SHADER = `#version 300 es
in vec2 corner;
in vec4 ends;
in float half_width;
in vec4 color;
uniform vec2 window;
out vec4 tint;
out float across;
out float reach;
void main() {
  vec2 along = ends.zw - ends.xy;
  float size = max(length(along), 1e-4);
  vec2 side = vec2(-along.y, along.x) / size;
  reach = half_width + 0.5;
  across = corner.y * reach;
  vec2 place = mix(ends.xy, ends.zw, corner.x) + side * across;
  tint = color;
  gl_Position = vec4(place.x / window.x * 2.0 - 1.0, 1.0 - place.y / window.y * 2.0, 0.0, 1.0);
}`;
// Lines thinner than a pixel are lighter instead.
const LINE_FRAGMENT = `#version 300 es
precision mediump float;
in vec4 tint;
in float across;
in float reach;
out vec4 shown;
void main() {
  float cover = clamp(reach - abs(across), 0.0, min(1.0, 2.0 * reach - 1.0));
  shown = vec4(tint.rgb, 1.0) * (tint.a * cover);
}`;
const DOT_SHADER = `#version 300 es
in vec2 corner;
in vec3 place;
in vec4 color;
uniform vec2 window;
out vec4 tint;
out vec2 away;
out float radius;
void main() {
  vec2 offset = vec2(corner.x * 2.0 - 1.0, corner.y) * (place.z + 0.5);
  away = offset;
  radius = place.z;
  tint = color;
  vec2 at = place.xy + offset;
  gl_Position = vec4(at.x / window.x * 2.0 - 1.0, 1.0 - at.y / window.y * 2.0, 0.0, 1.0);
}`;
const DOT_FRAGMENT = `#version 300 es
precision mediump float;
in vec4 tint;
in vec2 away;
in float radius;
out vec4 shown;
void main() {
  float cover = clamp(radius + 0.5 - length(away), 0.0, 1.0);
  shown = vec4(tint.rgb, 1.0) * (tint.a * cover);
}`;
// The disk: white up to 0.72 of its radius, then slightly darker, with a rim.
const GROUND_SHADER = `#version 300 es
in vec2 corner;
uniform vec2 window;
out vec2 at;
void main() {
  at = vec2(corner.x, 0.5 - 0.5 * corner.y) * window;
  gl_Position = vec4(corner.x * 2.0 - 1.0, corner.y, 0.0, 1.0);
}`;
const GROUND_FRAGMENT = `#version 300 es
precision highp float;
in vec2 at;
uniform vec3 circle;
uniform vec3 outside;
uniform vec3 middle;
uniform vec3 edge;
uniform vec3 rim;
out vec4 shown;
void main() {
  float far = distance(at, circle.xy);
  vec3 inner = mix(middle, edge, clamp((far / circle.z - 0.72) / 0.28, 0.0, 1.0));
  vec3 ground = mix(inner, outside, clamp(far - circle.z + 0.5, 0.0, 1.0));
  shown = vec4(mix(rim, ground, clamp(abs(far - circle.z), 0.0, 1.0)), 1.0);
}`;

export class GlPen {
  /**
   * A pen for a canvas, or null if the browser has no WebGL. WebGL without a graphics card is 2 to 60 times slower than
   * a canvas (measured in Chromium with SwiftShader), so it is refused unless `isSlowOk`.
   */
  static on(canvas, isSlowOk = false) {
    const options = { alpha: false, antialias: false, depth: false, failIfMajorPerformanceCaveat: !isSlowOk };
    const gl = canvas.getContext("webgl2", options);
    return gl === null || (isSoftware(gl) && !isSlowOk) ? null : new GlPen(gl);
  }

  constructor(gl) {
    this.gl = gl;
    this.corners = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.corners);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([0, -1, 0, 1, 1, -1, 1, 1]), gl.STATIC_DRAW);
    const made = (shaders, numbers, fields) => new Instances(gl, shaders, numbers, fields, this.corners);
    this.lines = made([LINE_SHADER, LINE_FRAGMENT], LINE_NUMBERS, { ends: 4, half_width: 1 });
    this.dots = made([DOT_SHADER, DOT_FRAGMENT], DOT_NUMBERS, { place: 3 });
    this.ground = made([GROUND_SHADER, GROUND_FRAGMENT], 0, {});
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.colors = new Map();
    this.globalAlpha = 1;
  }

  /** Start a frame. Coordinates are in CSS pixels of a window. */
  begin(width, height, ratio) {
    const { gl } = this;
    this.window = [width, height];
    gl.viewport(0, 0, Math.round(width * ratio), Math.round(height * ratio));
    this.lines.count = 0;
    this.dots.count = 0;
  }

  /** Draw what was collected since `begin`. */
  end() {
    this.lines.draw(this.window);
    this.dots.draw(this.window);
  }

  /** The four bytes of a color as one number, with the opacity of the pen. */
  #color(style) {
    const key = this.globalAlpha === 1 ? style : `${style} ${this.globalAlpha}`;
    let packed = this.colors.get(key);
    if (packed === undefined) {
      const [r, g, b] = channelsOf(style);
      packed = (Math.round(255 * this.globalAlpha) << 24) | (b << 16) | (g << 8) | r;
      this.colors.set(key, packed);
    }
    return packed;
  }

  fillRect() {
    const [r, g, b] = channelsOf(this.fillStyle);
    this.gl.clearColor(r / 255, g / 255, b / 255, 1);
    this.gl.clear(this.gl.COLOR_BUFFER_BIT);
  }

  /** Draw the disk on a ground. */
  disk([cx, cy, radius], { outside, disk, diskEdge, rim }) {
    const { gl } = this;
    const { program } = this.ground;
    gl.useProgram(program);
    gl.uniform3f(gl.getUniformLocation(program, "circle"), cx, cy, radius);
    for (const [name, color] of Object.entries({ outside, middle: disk, edge: diskEdge, rim })) {
      gl.uniform3fv(gl.getUniformLocation(program, name), channelsOf(color).map((part) => part / 255));
    }
    this.ground.count = 1;
    this.ground.draw(this.window);
  }

  beginPath() {
    this.pathStart = this.lines.count;
    this.dotStart = this.dots.count;
  }

  moveTo(x, y) {
    this.x = x;
    this.y = y;
  }

  lineTo(x, y) {
    this.lines.add4(this.x, this.y, x, y);
    this.x = x;
    this.y = y;
  }

  rect(x, y, width, height) {
    this.dots.add3(x + width / 2, y + height / 2, 0.56 * width);
  }

  /** A full circle is a dot. Other arcs start at the current point. */
  arc(cx, cy, r, start, end, counterclockwise = false) {
    if (Math.abs(end - start) >= 2 * Math.PI) {
      this.dots.add3(cx, cy, r);
      return;
    }
    let turn = end - start;
    if (counterclockwise && turn > 0) turn -= 2 * Math.PI;
    if (!counterclockwise && turn < 0) turn += 2 * Math.PI;
    const steps = Math.max(1, Math.min(32, Math.ceil(Math.abs(turn) * Math.sqrt(r / (8 * CURVE)))));
    for (let i = 1; i <= steps; i++) {
      const angle = start + (turn * i) / steps;
      this.lineTo(cx + r * Math.cos(angle), cy + r * Math.sin(angle));
    }
  }

  stroke() {
    this.lines.finish(this.pathStart, this.lineWidth / 2, this.#color(this.strokeStyle));
    this.dots.count = this.dotStart; // outlines of dots are left out
  }

  fill() {
    this.dots.finish(this.dotStart, null, this.#color(this.fillStyle));
  }

  /** Wait until everything is drawn. For measurements. */
  wait() {
    this.gl.readPixels(0, 0, 1, 1, this.gl.RGBA, this.gl.UNSIGNED_BYTE, new Uint8Array(4));
  }
}

/** Whether a program draws, not a graphics card. Browsers do not report this reliably as a performance caveat. */
function isSoftware(gl) {
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  const renderer = String(gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer);
}

/** Copies of a rectangle with numbers each, of which the last is a color. */
class Instances {
  constructor(gl, shaders, numbers, fields, corners) {
    Object.assign(this, { gl, numbers, count: 0 });
    this.program = linked(gl, shaders);
    this.windowAt = gl.getUniformLocation(this.program, "window");
    this.array = gl.createVertexArray();
    this.buffer = gl.createBuffer();
    this.#grow(1024);
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, corners);
    this.#attribute("corner", 2, gl.FLOAT, false, 0, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    let offset = 0;
    for (const [name, size] of Object.entries(fields)) {
      this.#attribute(name, size, gl.FLOAT, false, 4 * numbers, offset, 1);
      offset += 4 * size;
    }
    if (numbers > 0) this.#attribute("color", 4, gl.UNSIGNED_BYTE, true, 4 * numbers, offset, 1);
    gl.bindVertexArray(null);
  }

  #attribute(name, size, type, normalized, stride, offset, divisor) {
    const { gl } = this;
    const at = gl.getAttribLocation(this.program, name);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, size, type, normalized, stride, offset);
    gl.vertexAttribDivisor(at, divisor);
  }

  #grow(most) {
    const bytes = new ArrayBuffer(4 * Math.max(1, this.numbers) * most);
    const floats = new Float32Array(bytes);
    if (this.floats) floats.set(this.floats);
    Object.assign(this, { most, floats, colors: new Uint32Array(bytes) });
  }

  add4(a, b, c, d) {
    if (this.count === this.most) this.#grow(2 * this.most);
    const at = this.numbers * this.count++;
    this.floats[at] = a;
    this.floats[at + 1] = b;
    this.floats[at + 2] = c;
    this.floats[at + 3] = d;
  }

  add3(a, b, c) {
    if (this.count === this.most) this.#grow(2 * this.most);
    const at = this.numbers * this.count++;
    this.floats[at] = a;
    this.floats[at + 1] = b;
    this.floats[at + 2] = c;
  }

  /** Set the color, and the number before it, of all instances since `start`. */
  finish(start, number, color) {
    for (let i = start; i < this.count; i++) {
      const last = this.numbers * (i + 1) - 1;
      if (number !== null) this.floats[last - 1] = number;
      this.colors[last] = color;
    }
  }

  draw(window) {
    const { gl } = this;
    if (this.count === 0) return;
    gl.useProgram(this.program);
    gl.uniform2f(this.windowAt, ...window);
    gl.bindVertexArray(this.array);
    if (this.numbers > 0) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
      gl.bufferData(gl.ARRAY_BUFFER, this.floats.subarray(0, this.numbers * this.count), gl.STREAM_DRAW);
    }
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.count);
    gl.bindVertexArray(null);
  }
}

function linked(gl, [vertex, fragment]) {
  const program = gl.createProgram();
  for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  return program;
}

/** Red, green and blue of #rrggbb or rgb(r,g,b). */
function channelsOf(style) {
  if (style.startsWith("#")) return [1, 3, 5].map((i) => Number.parseInt(style.slice(i, i + 2), 16));
  return style.match(/[\d.]+/g).slice(0, 3).map((part) => Math.round(Number(part)));
}

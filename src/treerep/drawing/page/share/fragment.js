// A view as the fragment of a URL: "color=tissue&root=12". Text stays readable, and lists of nodes are short.

const LONGEST_LIST = 20000; // characters; browsers reject very long links

/** Whole numbers as ranges: [3, 4, 5, 9] is "3-5.9". */
export function writeRanges(numbers) {
  const sorted = [...numbers].sort((one, two) => one - two);
  const pieces = [];
  for (let i = 0; i < sorted.length; ) {
    let j = i;
    while (j + 1 < sorted.length && sorted[j + 1] === sorted[j] + 1) j++;
    pieces.push(i === j ? `${sorted[i]}` : `${sorted[i]}-${sorted[j]}`);
    i = j + 1;
  }
  return pieces.join(".");
}

/** The numbers of ranges, at most `most` of them. */
export function readRanges(text, most) {
  const numbers = [];
  for (const piece of text.split(".")) {
    const [first, last = first] = piece.split("-").map(Number);
    if (!Number.isInteger(first) || !Number.isInteger(last)) continue;
    for (let i = first; i <= last && numbers.length < most; i++) numbers.push(i);
  }
  return numbers;
}

const isList = (value) => Array.isArray(value) && value.every((entry) => Number.isInteger(entry) && entry >= 0);

// A letter before the value says what it is, unless it is text: "*" ranges, "$" JSON.
function writeValue(value) {
  if (!/^[*$]/.test(value) && typeof value !== "object") return String(value);
  return isList(value) ? `*${writeRanges(value)}` : `$${JSON.stringify(value)}`;
}

function readValue(text, most) {
  if (text.startsWith("*")) return readRanges(text.slice(1), most);
  return text.startsWith("$") ? JSON.parse(text.slice(1)) : text;
}

/** The fragment of a view without "#". Lists that are too long are left out. */
export function writeFragment(state) {
  const pieces = Object.entries(state)
    .map(([name, value]) => [name, writeValue(value)])
    .filter(([, text]) => text.length <= LONGEST_LIST);
  return pieces.map(([name, text]) => `${name}=${readable(text)}`).join("&");
}

// Fragments may contain these characters, which are common in JSON.
const readable = (text) => encodeURIComponent(text).replace(/%(2C|3A|24|2F|40)/g, (code) => decodeURIComponent(code));

/** The view of a fragment. What cannot be read is left out, because users edit links. */
export function readFragment(fragment, most) {
  const state = {};
  for (const piece of fragment.replace(/^#/, "").split("&")) {
    const at = piece.indexOf("=");
    if (at < 1) continue;
    try {
      state[piece.slice(0, at)] = readValue(decodeURIComponent(piece.slice(at + 1)), most);
    } catch {
      // keep the default
    }
  }
  return state;
}

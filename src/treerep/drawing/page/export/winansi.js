// Text of PDF files in the standard Helvetica fonts: encoding and widths.

// Code points of the bytes 0x80 to 0x9f in WinAnsi; 0 where there is none.
const SPECIAL = [
  0x20ac, 0, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0, 0x17d, 0,
  0, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0, 0x17e, 0x178,
];
const REPLACEMENTS = { "−": "-", "≥": ">=", "≤": "<=", "→": "->", "\u2009": " ", "\t": " ", "\n": " " };

/** The byte of a character, or -1. */
function byteOf(sign) {
  const code = sign.codePointAt(0);
  if ((code >= 0x20 && code <= 0x7e) || (code >= 0xa0 && code <= 0xff)) return code;
  const special = SPECIAL.indexOf(code);
  return special >= 0 && code > 0 ? 0x80 + special : -1;
}

/** The bytes of a text. Characters that are not encodable become "?", and are added to `lost`. */
export function winAnsi(text, lost = new Set()) {
  const bytes = [];
  for (const sign of text.normalize("NFC")) {
    const tries = [sign, REPLACEMENTS[sign] ?? "", sign.normalize("NFKC")];
    const written = tries.find((option) => option !== "" && [...option].every((part) => byteOf(part) >= 0));
    if (written === undefined) lost.add(sign);
    bytes.push(...[...(written ?? "?")].map(byteOf));
  }
  return bytes;
}

// Widths of the bytes 32 to 126 in thousandths of the size, from the metrics of the standard fonts.
const REGULAR = widths(
  "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 " +
    "584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 " +
    "944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 " +
    "333 500 278 556 500 722 500 500 500 334 260 334 584",
);
const BOLD = widths(
  "278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 333 333 " +
    "584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778 722 667 611 722 667 " +
    "944 667 667 611 333 278 333 584 556 333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 " +
    "389 556 333 611 556 778 556 556 500 389 280 389 584",
);

function widths(text) {
  return text.split(" ").map(Number);
}

/** The width of a text, for a size of 1. Letters with accents are as wide as without. */
export function helveticaWidth(text, bold) {
  const table = bold ? BOLD : REGULAR;
  let total = 0;
  for (const byte of winAnsi(text)) {
    const plain = byte > 126 ? String.fromCharCode(byte).normalize("NFD").charCodeAt(0) : byte;
    total += table[plain - 32] ?? 556;
  }
  return total / 1000;
}

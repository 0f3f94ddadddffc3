"""Support in the comments of Newick text, as other programs write it.

| program | an internal node |
|---|---|
| BEAST | `(a:1,b:1)[&height=3.0,posterior=0.98]:0.5` |
| MrBayes | `(a:1,b:1)[&prob=9.8e-01,prob(percent)="98"]:0.5` |
| FigTree | `(a:1,b:1)[&bootstrap=95]:0.5`, with a key that the user chooses |
| NHX | `(a:1,b:1):0.5[&&NHX:S=human:B=95]` |
| RAxML | `(a:1,b:1):0.5[95]` |
"""

import re

#: The keys that mean support, in the order in which they are tried. A number after a length has
#: no key.
SUPPORT_KEYS = ("posterior", "prob", "bootstrap", "support", "B", "label", "")
# Possessive quantifiers, and pairs that begin at a separator, make any text take linear time.
_NHX = re.compile(r"\[&&NHX([^\[\]]*+)\]")
_NHX_PAIR = re.compile(r":([^=:]++)=([^:]*+)")
_HOT = re.compile(r"\[&(?!&)([^\[\]]*+)\]")
_HOT_PAIR = re.compile(r"""(?:^|,)\s*+([^=,]++)=("[^"]*+"|\{[^{}]*+\}|[^,]*+)""")
#: Keys that may also number the nodes. They are not support if leaves have them.
NUMBERING_KEYS = ("label", "")
_NUMBER = re.compile(r"\s*+\[([-+.0-9eE/]++)\]\s*+")


def noted_support(comments: str, after_length: str | None) -> list[tuple[str, str]]:
    """Return the keys that mean support in the comments of a node, with their values.

    `after_length` is the text after the length, or None if there is no length.

    >>> noted_support('[&height=3.0,range={1,2},prob="0.98"]', None)
    [('prob', '0.98')]
    >>> (
    ...     noted_support("[&&NHX:S=human:B=95]", "[&&NHX:S=human:B=95]"),
    ...     noted_support("[9]", "[9]"),
    ... )
    ([('B', '95')], [('', '9')])
    """
    pairs = [pair for found in _NHX.finditer(comments) for pair in _NHX_PAIR.findall(found[1])]
    pairs += [pair for found in _HOT.finditer(comments) for pair in _HOT_PAIR.findall(found[1])]
    number = _NUMBER.fullmatch(after_length or "")
    if number:
        pairs.append(("", number[1]))
    named = [(key if key == "B" else key.lower(), text) for key, text in pairs]
    return [(key, text.strip().strip('"')) for key, text in named if key in SUPPORT_KEYS]

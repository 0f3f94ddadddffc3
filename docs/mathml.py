"""A Sphinx extension that writes formulas as MathML, which browsers show without scripts or downloads.

docutils converts the TeX of the sources. An unknown TeX command fails the build.
"""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx

_SPACE = '<mspace width="0.1667em"></mspace>'
# Names of functions have two letters or more. docutils leaves out the spaces of TeX around them.
_BEFORE = re.compile(r"(?<=</m[in]>)(\s*(?:<msub>\s*)?<mi>[a-z]{2,}</mi>)")
_AFTER = re.compile(
    r"(<mi>[a-z]{2,}</mi>\s*(?:<mo>&ApplyFunction;</mo>|<mn>\d+</mn>\s*</msub>))(?=\s*<m[ins])"
)


def mathml(tex: str, *, block: bool = False) -> str:
    r"""Return a formula as MathML.

    >>> mathml(r"\delta").split()[-2:]
    ['<mi>δ</mi>', '</math>']
    """
    written = latex2mathml.tex2mathml(tex, as_block=block)
    return _AFTER.sub(rf"\1{_SPACE}", _BEFORE.sub(rf"{_SPACE}\1", written))


def visit_inline(translator: Any, node: nodes.math) -> None:
    """Write a formula of a line."""
    translator.body.append(mathml(node.astext()))
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.math_block) -> None:
    """Write a formula that has a line to itself."""
    translator.body.append(f'<div class="formula">{mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer. `html_math_renderer` selects it."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

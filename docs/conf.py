"""Sphinx: `make docs` builds these pages into docs/_build, with warnings as errors."""

import re
from typing import Any

import treerep

project = "treerep"
author = "The treerep developers"
copyright = f"2026, {author}"
version = release = treerep.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_default_options = {"members": True, "inherited-members": False}
napoleon_google_docstring = False
napoleon_use_rtype = False

# Docstrings write code in single backticks, as plain text does.
default_role = "literal"

html_theme = "pydata_sphinx_theme"
html_title = f"treerep {release}"
html_show_sourcelink = False
# All pages are of one level: there is nothing to navigate within, and tables want the width.
html_sidebars: dict[str, list[str]] = {"**": []}
html_theme_options = {"show_prev_next": False, "secondary_sidebar_items": ["page-toc"]}


def keep_bars(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Let |x| be an absolute value outside code: reStructuredText would take it for a substitution."""
    code = re.compile(r"(`[^`]*`|>>>.*|\.\.\. .*)|\|")
    lines[:] = [code.sub(lambda found: found[1] or r"\|", line) for line in lines]


def setup(app: Any) -> None:
    # Before napoleon, which moves lines about.
    app.connect("autodoc-process-docstring", keep_bars, priority=1)

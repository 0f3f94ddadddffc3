"""Sphinx: `make docs` builds these pages into docs/_build/html, with warnings as errors."""

import hashlib
import importlib
import os
import re
import sys
from pathlib import Path
from typing import Any

import treerep
from treerep.datasets._finding import locate

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "treerep"
author = "The treerep developers"
copyright = f"2026, {author}"
version = release = treerep.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

# The tutorials are notebooks, run when the pages are built; an error in a cell fails the build. Results are kept until
# a cell or the package itself changes: the folder of the cache is named by the package's sources.
_sources = sorted(Path(treerep.__file__).parent.rglob("*.py"))
_stamp = hashlib.sha256(b"".join(path.read_bytes() for path in _sources)).hexdigest()[:16]
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / ".jupyter_cache" / _stamp)
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # a cell may compile for minutes on a busy machine
nb_execution_in_temp = True
nb_merge_streams = True
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # no note of the debugger

# Kernels with settings of their own, not the reader's: and no warning that they speak over loopback unencrypted.
_profile = HERE / "_build" / ".ipython" / "profile_default"
_profile.mkdir(parents=True, exist_ok=True)
(_profile / "ipython_kernel_config.py").write_text(
    "c.IPKernelApp.log_level = 40\n", encoding="utf-8"
)
os.environ["IPYTHONDIR"] = str(_profile.parent)

# Real data is found as the tests find it. A page whose data is not on this machine is shown without its results, and
# says so (by the tag).
if "TREEREP_DATA" not in os.environ and (HERE.parents[1] / "shared" / "data").is_dir():
    os.environ["TREEREP_DATA"] = str(HERE.parents[1] / "shared" / "data")
if locate("paul15") is None:
    tags.add("no_cells")  # noqa: F821 (Sphinx brings it)
    nb_execution_excludepatterns = ["tutorials/cells.md"]

# The measured part of methods.md.
(HERE / "_build").mkdir(exist_ok=True)
_methods = importlib.import_module("method_table")
(HERE / "_build" / "method_table.md").write_text(_methods.table(), encoding="utf-8")
(HERE / "_build" / "method_details.md").write_text(_methods.details(), encoding="utf-8")

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
# The front page and pages of one level have nothing to navigate within.
html_sidebars: dict[str, list[str]] = {
    name: [] for name in ("index", "quickstart", "api", "citing")
}
html_static_path = ["static"]
html_css_files = ["wide.css"]  # room for tables
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 7,
}


def keep_bars(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Let |x| be an absolute value outside code: reStructuredText would take it for a substitution."""
    code = re.compile(r"(`[^`]*`|>>>.*|\.\.\. .*)|\|")
    lines[:] = [code.sub(lambda found: found[1] or r"\|", line) for line in lines]


def setup(app: Any) -> None:
    # Before napoleon, which moves lines about.
    app.connect("autodoc-process-docstring", keep_bars, priority=1)

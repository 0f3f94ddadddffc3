"""Configuration of Sphinx. `make docs` builds the pages into docs/_build/html, with warnings as errors."""

import hashlib
import importlib
import os
import shutil
import sys
from pathlib import Path

import treerep

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "treerep"
author = "The treerep developers"
copyright = f"2026, {author}"
version = release = treerep.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "api_pages",
    "mathml",
]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
smartquotes = False  # strings such as "auto" can be copied

# Tutorials are notebooks that are run by the build. An error in a cell fails the build. Results are cached until a cell
# or the package changes: the name of the cache folder depends on the package's sources.
_sources = sorted(Path(treerep.__file__).parent.rglob("*.py"))
_stamp = hashlib.sha256(b"".join(path.read_bytes() for path in _sources)).hexdigest()[:16]
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / ".jupyter_cache" / _stamp)
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # a cell may compile for minutes on a busy machine
nb_execution_in_temp = True
nb_merge_streams = True
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # silences a note of the debugger

# Run notebooks without the user's IPython settings, and silence the warning about unencrypted loopback connections.
_profile = HERE / "_build" / ".ipython" / "profile_default"
_profile.mkdir(parents=True, exist_ok=True)
(_profile / "ipython_kernel_config.py").write_text("c.IPKernelApp.log_level = 40\n", encoding="utf-8")
os.environ["IPYTHONDIR"] = str(_profile.parent)

# Find real data as the tests do.
if "TREEREP_DATA" not in os.environ and (HERE.parents[1] / "shared" / "data").is_dir():
    os.environ["TREEREP_DATA"] = str(HERE.parents[1] / "shared" / "data")

# The parts of the page of methods that are generated from records and measurements.
(HERE / "_build").mkdir(exist_ok=True)
_methods = importlib.import_module("method_table")
(HERE / "_build" / "method_table.md").write_text(_methods.table(), encoding="utf-8")
(HERE / "_build" / "method_details.md").write_text(_methods.details(), encoding="utf-8")

# The list of benchmarks, from their modules.
_benchmarks = importlib.import_module("benchmark_list")
(HERE / "_build" / "benchmark_list.md").write_text(_benchmarks.listed(), encoding="utf-8")

# The options of all commands, from the command line itself.
_commands = importlib.import_module("command_line_reference")
(HERE / "_build" / "command_line.md").write_text(_commands.reference(), encoding="utf-8")

# The reference has one page per public object. Each build writes them again, so no page of a removed object stays.
shutil.rmtree(HERE / "reference" / "generated", ignore_errors=True)
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # api_pages.py shows annotations as they are written
maximum_signature_line_length = 88
python_display_short_literal_types = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = False
add_module_names = True
toc_object_entries_show_parents = "hide"
default_role = "name"  # of api_pages.py: a link, or code

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = f"treerep {release}"
html_show_sourcelink = False
html_logo = "static/logo.svg"
html_favicon = "static/logo.svg"
# These pages have no pages below them.
html_sidebars: dict[str, list[str]] = {
    name: [] for name in ("index", "installation", "quickstart", "gallery", "faq", "glossary")
}
html_static_path = ["static"]
html_css_files = ["treerep.css"]
html_theme_options = {
    "logo": {"text": "treerep"},
    "show_prev_next": True,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
}

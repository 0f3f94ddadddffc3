"""A Sphinx extension for the API reference: signatures, links in docstrings, and columns of numbers.

Single backticks in docstrings link to public objects (`Tree`, `tr.fit`, `Tree.newick`) and are code otherwise.
Signatures show annotations as the source code writes them, so that `ArrayLike` is not expanded.
"""

import ast
import functools
import importlib
import inspect
import re
import textwrap
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxRole

PACKAGE = "treerep"
# Members for compiled code, or for other modules of the package.
HIDDEN = {
    "build_labels", "eps", "has_labels", "input_eps", "integral", "on_disk", "oracle", "random_access",
    "scattered", "search_cost",
}  # fmt: skip
# Classes whose members are described with their base class.
WITH_BASE = {"RefinedTree", "NeighborJoining", "TreeClustering"}
# Classes that users do not construct.
RESULTS = {
    "Alignment",
    "Cells",
    "DataSet",
    "Hyperbolicity",
    "LowerBound",
    "Metric",
    "MetricError",
    "Page",
    "RefinedTree",
    "Refinement",
    "Score",
}
# Aliases of treerep._core.typing, written out.
ALIASES = {
    "DeviceLike": "str | torch.device | None",
    "EngineLike": "str | Client | None",
    "RNGLike": "int | Generator | None",
    "DataFrame": "pd.DataFrame",
    "GraphLike": "sparse.sparray | ArrayLike | Any",
    "NetworkXGraph": "nx.Graph",
    "SkbioNode": "skbio.TreeNode",
    "np.random.Generator": "Generator",
    "MetricLike": "Metric | Any",
    "ColorValues": "ArrayLike | Sequence[object] | None",
    "Palette": "str | Colormap | Sequence[ColorType] | Mapping[Any, ColorType] | None",
    "Rows": "int | 'all' | None",
    "RandomState": "int | RandomState | None",
    "Attributes": "Mapping[str, Any]",
}
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(\(\))?")
_NUMBER = re.compile(r"[-+\u2212±]?[\d.,\s]+\s?(%|e[-+]?\d+)?|-|\u2013|")


def members(fullname: str) -> dict[str, list[str]]:
    """Return the public properties and methods of a class, in the order of the source code.

    The template of class pages calls this function.
    """
    module, _, name = fullname.rpartition(".")
    cls = getattr(importlib.import_module(module), name)
    bases = cls.__mro__[:1] if name in WITH_BASE else cls.__mro__
    found: dict[str, Any] = {}
    for base in reversed([base for base in bases if base.__module__.startswith(PACKAGE)]):
        found.update({key: value for key, value in vars(base).items() if value is not None})
    public = {key: value for key, value in found.items() if not key.startswith("_") and key not in HIDDEN}
    return {
        "properties": [key for key, value in public.items() if _is_property(value)],
        "methods": [key for key, value in public.items() if _is_method(value)],
    }


def _is_property(value: object) -> bool:
    return isinstance(value, (property, functools.cached_property))


def _is_method(value: object) -> bool:
    return inspect.isfunction(value) or isinstance(value, (classmethod, staticmethod))


def compact_attributes(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Show the type of an attribute beside its name. Napoleon puts it below the description."""
    written: list[str] = []
    for line in lines:
        found = re.match(r"\.\. attribute:: (.*)", line)
        kind = re.match(r"   :type: (.*)", line)
        if found:
            first, *others = found[1].split(", ")
            written += [
                f".. attribute:: {first}",
                *(f"               {other}" for other in others),
            ]
            place = len(written)
        elif kind:
            written.insert(place, f"   :type: {kind[1]}")
        else:
            written.append(line)
    lines[:] = written


class NameRole(SphinxRole):
    """Link to a Python object if the text is the name of one, and show code otherwise."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        literal = nodes.literal(self.rawtext, self.text, classes=["xref", "py", "py-obj"])
        if not _NAME.fullmatch(self.text):
            return [nodes.literal(self.rawtext, self.text)], []
        target = re.sub(r"^tr\.", f"{PACKAGE}.", self.text.removesuffix("()"))
        link = addnodes.pending_xref(
            self.rawtext,
            literal,
            refdomain="py",
            reftype="obj",
            reftarget=target,
            refdoc=self.env.docname,
            refwarn=False,
            refexplicit=False,
        )
        link["py:module"] = self.env.ref_context.get("py:module")
        link["py:class"] = self.env.ref_context.get("py:class")
        self.set_source_info(link)
        return [link], []


def resolve_short_name(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.Element
) -> nodes.Node | None:
    """Find `fit` as `treerep.fit` and `bfs` as `treerep.methods.bfs`, from any module."""
    target = node.get("reftarget", "").removesuffix("()")
    if node.get("refdomain") != "py" or not _NAME.fullmatch(target):
        return None
    domain = env.domains.python_domain
    for name in (f"{PACKAGE}.{target}", f"{PACKAGE}.methods.{target}"):
        if name in domain.objects:
            link = addnodes.pending_xref(**node.attributes)
            document = node["refdoc"]
            return domain.resolve_xref(env, document, app.builder, "obj", name, link, content)
    return None


def written_signature(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, arguments: str, returns: str
) -> tuple[str, str | None] | None:
    """Return the signature with annotations as they are written in the source code."""
    if what == "exception":
        return None
    if name.rpartition(".")[2] in RESULTS:
        return "", None
    function = obj.__init__ if inspect.isclass(obj) else getattr(obj, "func", obj)
    try:
        source = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
        node = ast.parse(source).body[0]
    except (OSError, TypeError, SyntaxError):
        return None
    if not isinstance(node, ast.FunctionDef):
        return None
    plain = [*node.args.posonlyargs, *node.args.args]
    if plain and plain[0].arg in {"self", "cls"}:
        (node.args.posonlyargs or node.args.args).pop(0)
    result = None
    if node.returns is not None and what != "class" and ast.unparse(node.returns) != "None":
        result = _written_out(node.returns)
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg) and argument.annotation is not None:
            argument.annotation = ast.Name(_written_out(argument.annotation))
    _show_constants(node.args, inspect.signature(function))
    return f"({ast.unparse(node.args)})", result


def _show_constants(arguments: ast.arguments, signature: inspect.Signature) -> None:
    """Replace names of constants, such as `DEFAULT`, by their values."""
    plain = [*arguments.posonlyargs, *arguments.args]
    with_default = plain[len(plain) - len(arguments.defaults) :]
    for names, defaults in (
        (with_default, arguments.defaults),
        (arguments.kwonlyargs, arguments.kw_defaults),
    ):
        for place, (name, default) in enumerate(zip(names, defaults, strict=True)):
            value = signature.parameters[name.arg].default
            if isinstance(default, ast.Name) and isinstance(value, (str, int, float)):
                defaults[place] = ast.Constant(value)


def _written_out(annotation: ast.expr) -> str:
    text = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    text = re.sub(r"Literal\[([^]]*)\]", lambda found: found[1].replace(", ", " | "), str(text))
    text = text.replace("NDArray[np.float64]", "NDArray").replace("NDArray[np.int64]", "NDArray")
    text = re.sub(r"[\"']((?:[A-Z]\w*))[\"']", r"\1", text)
    text = re.sub(r"\bos\.PathLike\[str\]", "PathLike", text)
    parts = [ALIASES.get(part, part) for part in text.split(" | ")]
    unique = dict.fromkeys(piece for part in parts for piece in part.split(" | "))
    if "None" in unique:
        unique["None"] = unique.pop("None")  # at the end
    return " | ".join(unique)


def keep_bars(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Keep |x| as an absolute value outside code. It is a substitution in reStructuredText."""
    code = re.compile(r"(`[^`]*`|>>>.*|\.\.\. .*)|\|")
    lines[:] = [code.sub(lambda found: found[1] or r"\|", line) for line in lines]


def keep_sizes(app: Sphinx, doctree: nodes.document) -> None:
    """Keep "(n, dim) array" as text. Sphinx would link `dim` to any attribute of this name."""
    for link in [*doctree.findall(addnodes.pending_xref)]:
        if link.get("refspecific") and link["reftarget"].islower():
            link.replace_self(link.children)


def mark_numbers(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Give the cells of a table's numeric columns the class "number"; CSS aligns them to the right."""
    for table in doctree.findall(nodes.tgroup):
        rows = [[*row.findall(nodes.entry, include_self=False)] for row in table.findall(nodes.row)]
        bodies = [
            [*row.findall(nodes.entry)]
            for body in table.findall(nodes.tbody)
            for row in body.findall(nodes.row)
        ]
        for column in range(min((len(row) for row in rows), default=0)):
            texts = [row[column].astext().strip() for row in bodies]
            if any(texts) and all(_NUMBER.fullmatch(text) for text in texts):
                for row in rows:
                    row[column]["classes"].append("number")


def offer_members(app: Sphinx) -> None:
    """Let templates call `public_members(class)`."""
    app.config.autosummary_context["public_members"] = members


def withdraw_members(app: Sphinx) -> None:
    """Remove the function from the configuration, which is pickled."""
    del app.config.autosummary_context["public_members"]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the role and the hooks."""
    app.add_role("name", NameRole())
    app.connect("builder-inited", offer_members, priority=1)
    app.connect("builder-inited", withdraw_members, priority=999)
    # Before napoleon, which moves lines.
    app.connect("autodoc-process-docstring", keep_bars, priority=1)
    app.connect("autodoc-process-docstring", compact_attributes, priority=900)
    app.connect("autodoc-process-signature", written_signature)
    app.connect("missing-reference", resolve_short_name)
    app.connect("doctree-read", keep_sizes)
    app.connect("doctree-resolved", mark_numbers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

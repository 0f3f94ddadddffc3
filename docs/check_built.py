"""Check the built pages for faults that Sphinx does not report: `python docs/check_built.py docs/_build/html`.

Sphinx renders a docstring with a misplaced section without a warning, for example. This script reads the HTML files and
fails if it finds such faults. It also counts the words of the pages for users.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from bs4 import BeautifulSoup, Tag

# Pages made from docstrings and from the help of the commands, pages for developers, and pages of the theme.
_OTHER_PAGES = re.compile(
    r"(reference/generated/|reference/command_line|reference/methods|developers/|_modules/|genindex|search|py-modindex)"
)
_ROLE = re.compile(r"(:|\{)(func|class|meth|attr|mod|obj|exc|doc|ref|term|name)(:|\})`?")
_NAMED = ("py-func", "py-class", "py-meth", "py-attr", "py-mod", "py-exc", "py-data")


def faults(html: str) -> list[str]:
    """Return one line for each fault of a page.

    >>> faults('<article><dl class="field-list"><dd>&gt;&gt;&gt; fit(x)</dd></dl></article>')
    ['example among the parameters: >>> fit(x)']
    """
    article = _article(html)
    return [
        *(f"example among the parameters: {text}" for text in _examples_in_fields(article)),
        *(f"text as the type of a property: {text}" for text in _false_types(article)),
        *(f"role in the text: {text}" for text in _visible_roles(article)),
        *(f"link without a target: {text}" for text in _unresolved_links(article)),
        *(f"error of the markup: {_start(tag)}" for tag in article.select(".system-message, .problematic")),
    ]


def words(html: str) -> int:
    """Count the words of a page, without code and its output.

    >>> words("<article><h1>Fit a tree</h1><p>In one line:</p><pre>fit(x)</pre></article>")
    6
    """
    article = _article(html)
    for tag in article.select("pre, script, style, a.headerlink, .output"):
        tag.decompose()
    return len(article.get_text(" ").split())


def is_user_page(path: str) -> bool:
    """Return whether a page counts as documentation for users, given its path below the root.

    >>> is_user_page("howto/refine.html"), is_user_page("reference/generated/treerep.fit.html")
    (True, False)
    """
    return not _OTHER_PAGES.match(path)


def _article(html: str) -> Tag:
    soup = BeautifulSoup(html, "html.parser")
    return soup.find("article") or soup


def _examples_in_fields(article: Tag) -> Iterator[str]:
    for fields in article.select("dl.field-list"):
        found = re.search(r">>>.*", fields.get_text())
        if found:
            yield found[0].strip()


def _false_types(article: Tag) -> Iterator[str]:
    # A property "Number of nodes: points and others." becomes "points and others. Type: Number of nodes".
    for term in article.select("dl.py.property > dd > dl.field-list > dt"):
        if term.get_text().strip().rstrip(":") == "Type":
            yield _start(term.parent.parent if term.parent else term)


def _visible_roles(article: Tag) -> Iterator[str]:
    for text in article.find_all(string=_ROLE):
        if not any(parent.name in {"pre", "code"} for parent in text.parents):
            yield text.strip()[:80]


def _unresolved_links(article: Tag) -> Iterator[str]:
    # Roles that name an object without a page. Single backticks in docstrings (py-obj) may be code.
    for code in article.select("code.xref"):
        named = any(name in code.get("class", ()) for name in _NAMED)
        if named and code.find_parent("a") is None:
            yield code.get_text()


def _start(tag: Tag) -> str:
    return " ".join(tag.get_text(" ").split())[:80]


def main(root: Path) -> int:
    """Print the faults of all pages and the words of the pages for users. Return 1 if something is wrong."""
    wrong = 0
    counts = {}
    for path in sorted(root.rglob("*.html")):
        name = path.relative_to(root).as_posix()
        if name.startswith(("_modules/", "_static/")):
            continue
        html = path.read_text(encoding="utf-8")
        if is_user_page(name):
            counts[name] = words(html)
        for fault in faults(html):
            print(f"{name}: {fault}")
            wrong += 1
    total = sum(counts.values())
    longest = sorted(counts.items(), key=lambda item: -item[1])[:5]
    print(
        f"{len(counts)} user pages, {total:,} words; longest: "
        + ", ".join(f"{name} {count:,}" for name, count in longest)
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

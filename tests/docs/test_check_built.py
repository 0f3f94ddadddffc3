"""The check of the built pages fails on pages with known faults, and passes good pages."""

import importlib
import sys
from pathlib import Path

import pytest

pytest.importorskip("bs4")

DOCS = Path(__file__).resolve().parents[2] / "docs"

GOOD = """
<nav>:func:`not part of the page`</nav>
<article class="bd-article"><h1>treerep.Tree<a class="headerlink" href="#x">#</a></h1>
<dl class="py property"><dt>n_nodes</dt><dd><p>Number of nodes.</p></dd></dl>
<dl class="field-list"><dt>Parameters:</dt><dd><strong>k</strong> (<em>int</em>) - Clusters, if n > 3.</dd></dl>
<p><a href="y"><code class="xref py py-func">fit</code></a> and <code class="xref py py-obj">obsm</code></p>
<pre>&gt;&gt;&gt; fit(x)  # {func}`fit`</pre></article>
"""
BAD = {
    "prompt": (
        '<dl class="field-list"><dt>Parameters:</dt><dd><ul><li>tree (&gt;&gt;&gt;)</li></ul></dd></dl>',
        "example among the parameters",
    ),
    "type": (
        '<dl class="py property"><dt>n_nodes</dt><dd><p>points and others.</p>'
        '<dl class="field-list"><dt>Type<span>:</span></dt><dd>Number of nodes</dd></dl></dd></dl>',
        "text as the type of a property",
    ),
    "reStructuredText role": ("<p>See :func:`treerep.fit` for more.</p>", "role in the text"),
    "MyST role": ("<p>See {func}<code>treerep.fit</code>.</p>", "role in the text"),
    "unknown object": (
        '<p><code class="xref py py-func docutils literal">treerep.fitt</code></p>',
        "link without a target: treerep.fitt",
    ),
    "error of the markup": (
        '<p><span class="problematic">|x</span></p>',
        "error of the markup: |x",
    ),
}


@pytest.fixture
def check(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    monkeypatch.delitem(sys.modules, "check_built", raising=False)
    return importlib.import_module("check_built")


def test_a_good_page_has_no_fault(check):
    assert check.faults(GOOD) == []


@pytest.mark.parametrize("fault", BAD)
def test_each_fault_is_found(check, fault):
    body, message = BAD[fault]
    found = check.faults(f"<article>{body}</article>")
    assert len(found) == 1
    assert found[0].startswith(message)


def test_words_are_those_of_the_article_without_code(check):
    text = "treerep.Tree n_nodes Number of nodes. Parameters: k ( int ) - Clusters, if n > 3. fit and obsm"
    assert check.words(GOOD) == len(text.split()) == 19


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("index.html", True),
        ("reference/index.html", True),
        ("tutorials/cells.html", True),
        ("reference/generated/treerep.fit.html", False),
        ("reference/command_line.html", False),
        ("reference/methods.html", False),
        ("developers/scaling.html", False),
        ("_modules/treerep/fit.html", False),
        ("search.html", False),
    ],
)
def test_pages_for_users(check, path, expected):
    assert check.is_user_page(path) is expected


def test_main_reports_faults_and_words(check, tmp_path, capsys):
    (tmp_path / "index.html").write_text(GOOD, encoding="utf-8")
    assert check.main(tmp_path) == 0
    assert "1 user pages, 19 words" in capsys.readouterr().out
    (tmp_path / "howto").mkdir()
    (tmp_path / "howto" / "bad.html").write_text("<article>:meth:`x`</article>", encoding="utf-8")
    assert check.main(tmp_path) == 1
    assert "howto/bad.html: role in the text: :meth:`x`" in capsys.readouterr().out

"""The check of our language finds what it should, in the places where readers look."""

from pathlib import Path

import pytest

from release import check_language


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(check_language, "ROOT", tmp_path)


PYTHON = '''"""What it holds."""


def check(x):
    """Return x.

    >>> check("nobody")
    'nobody'
    """
    # Of a file, the first
    # line is read.
    if x is None:
        raise ValueError(f"{x} is no metric: mend it")
'''


def test_docstrings_comments_and_messages_are_read(tmp_path):
    path = written(tmp_path, "a.py", PYTHON)
    found = check_language.faults([path])
    assert [line.partition(": ")[0] for line in found] == [
        "a.py:13",
        "a.py:13",
        "a.py:10",
    ]  # strings first
    assert "'is no metric'" in found[0] and '"is not a"' in found[0]


def test_markdown_is_read_without_code(tmp_path):
    text = "# A page\n\nThe tree is new,\ntoo.\n\n```python\nnobody = 1\n```\n\nUse `whoever` here.\n"
    path = written(tmp_path, "a.md", text)
    assert check_language.faults([path]) == ["a.md:3: ', too': write \"also\""]


def test_good_prose_has_no_faults(tmp_path):
    text = "There is no limit.\nThe file is no longer needed. It leaves room for a table.\n"
    assert check_language.faults([written(tmp_path, "a.md", text)]) == []


def test_habits_are_counted_by_words(tmp_path):
    text = "What it does. Four words are here, too.\n\nWhat is a tree? It comes back.\n"
    words, found = check_language.counts([written(tmp_path, "a.md", text)])
    assert words == 15
    assert {habit for habit, count in found.items() if count} == {
        "begins with What",
        "comes back, out, first, in",
        "too, after a comma",
    }
    assert found["begins with What"] == 1  # a question may


def test_sentences_have_their_places(tmp_path):
    text = "\nShort one.\n\nThis sentence has more than five words in it. So has this one, which is second.\n"
    found = check_language.sentences([written(tmp_path, "a.md", text)])
    assert [place for place, _ in found] == ["a.md:4", "a.md:4"]
    assert found[1][1].startswith("So has")


def test_the_command_fails_on_a_fault(tmp_path, capsys):
    written(tmp_path, "a.md", "Do it anew.\n")
    assert check_language.main(["a.md"]) == 1
    assert "a.md:1" in capsys.readouterr().out
    assert check_language.main(["missing"]) == 0

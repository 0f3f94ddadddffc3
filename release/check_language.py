"""Check the language of the package: `python -m release.check_language [--counts] [--sample N --seed S] [path ...]`.

Without options, list phrases that we do not write, each with its replacement, and fail if there are any. `--counts`
prints how often nine habits of an earlier dialect occur per 10,000 words. A review counted 71 in the sources, and 0.6
to 2.7 in three well-written packages. `--sample 100` prints random sentences for a reader with fresh eyes.

Prose means docstrings, comments and messages of Python files, and the text of Markdown files outside code blocks.
"""

import argparse
import ast
import io
import random
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
USER_FILES = ("src", "docs", "README.md", "CONTRIBUTING.md")
ALL_FILES = (*USER_FILES, "CHANGELOG.md", "benchmarks", "harden", "paper", "release")

#: Nine habits that a review counted, as regular expressions.
HABITS = {
    "is/are no (noun)": r"(?<!there )\b(?:is|are) no (?!longer\b|more\b|less\b|better\b|larger\b|worse\b)\w+",
    "begins with What": r"(?:^|(?<=[.!?:] ))What\b(?![^.!?]*\?)",
    "whoever, nobody, who does": r"\b(?:whoever|nobody|everybody|whom)\b|\bwho (?:does|is|has|wants|needs)\b",
    "of its own": r"\bof (?:its|their|your|one's|our) own\b",
    "comes back, out, first, in": r"\bcomes? (?:back|out|first|in)\b",
    "looked at, a look at": r"\b(?:looked at|a look at)\b",
    "so many, as many as": r"\bso many\b|\bas many as\b",
    "wished, mend, anew": r"\b(?:wished|mend(?:ed|ing)?|anew|for want of|ever after|of no use)\b",
    "too, after a comma": r", too(?=[.;:)])",
}
#: Phrases that we do not write, and what to write instead.
PHRASES = {
    HABITS["is/are no (noun)"]: '"is not a", "has no"',
    HABITS["whoever, nobody, who does"]: "things are not people: name the program, file or user",
    HABITS["of its own"]: '"separate", "custom", or nothing',
    HABITS["looked at, a look at"]: '"read", "examined", "compared"',
    HABITS["wished, mend, anew"]: '"requested", "fix", "again"',
    HABITS["too, after a comma"]: '"also"',
    r"\bso many\b": '"this many", or the number',
    r"\bthat is there\b": '"existing"',
    r"\bat the door\b|\bthe front door\b": '"on input", "the top-level namespace"',
    r"\b(?:room|rooms)\b(?! for\b| temperature)": '"package", "module"',
    r"\bcut short\b": '"truncated"',
    r"\bwithout ado\b": "state the cost or the effect",
    r"\b(?:more|fewer) than \d+ signs\b": '"characters"',
    r"(?:^|(?<=[.!?] ))(?-i:Of) [`\w][^.]*, ": "begin with the subject",
    r"\bis to be (?:said|done|had)\b": "an imperative",
    r"\bsome (?:ten|hundred|thousand|million)\b": '"about", "several thousand"',
    r"\bhas a say\b|\bhave a say\b": '"affects the result"',
}
#: Names and titles that hold such a phrase.
ALLOWED = re.compile(r"Tree! I am no Tree!|The Elements of Style")


class Passage(NamedTuple):
    """A piece of prose: a paragraph, a comment, a docstring or a message."""

    path: Path
    line: int
    text: str


def passages(path: Path) -> Iterator[Passage]:
    """Yield the prose of a file."""
    text = path.read_text(encoding="utf-8")
    found = _of_python(text) if path.suffix == ".py" else _of_markdown(text)
    for line, piece in found:
        yield Passage(path, line, ALLOWED.sub("", piece))


def _of_python(text: str) -> Iterator[tuple[int, str]]:
    """Yield docstrings, messages and comments; adjacent lines of comments are one passage."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield from _paragraphs(_without_doctests(node.value), node.lineno)
    comment: list[str] = []
    first = last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        words = token.string.lstrip("#: ")
        if token.start[0] != last + 1 and comment:
            yield first, " ".join(comment)
            comment = []
        if not comment:
            first = token.start[0]
        comment.append(words)
        last = token.start[0]
    if comment:
        yield first, " ".join(comment)


def _without_doctests(text: str) -> str:
    """Blank out examples: a prompt, and all lines up to the next empty one."""
    example = re.compile(r"^ *>>>.*?(?=\n\s*\n|\Z)", flags=re.DOTALL | re.MULTILINE)
    return example.sub(lambda found: "\n" * found[0].count("\n"), text)


def _of_markdown(text: str) -> Iterator[tuple[int, str]]:
    """Yield paragraphs outside code blocks, front matter and comments."""

    def blank(found: re.Match[str]) -> str:
        return "\n" * found[0].count("\n")

    text = re.sub(r"\A---\n.*?\n---\n", blank, text, flags=re.DOTALL)
    text = re.sub(r"^(`{3,})[^\n]*\n.*?^\1\s*$", blank, text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(?:    |%).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    yield from _paragraphs(text, 1)


def _paragraphs(text: str, line: int) -> Iterator[tuple[int, str]]:
    """Yield blocks between empty lines, headings and rows of tables, with the line where each starts."""
    block: list[str] = []
    start = line
    for number, row in enumerate([*text.splitlines(), ""], start=line):
        alone = re.match(r"\s*(?:#|\||[-*] |\d+\. )", row)
        if (alone or not row.strip()) and block:
            yield start, " ".join(block)
            block = []
        if row.strip():
            if not block:
                start = number
            block.append(row.strip().strip("#|").strip())


def files(names: Iterable[str]) -> list[Path]:
    """Return the Python and Markdown files below some paths, apart from generated ones and this list of phrases."""
    found: list[Path] = []
    for name in names:
        path = ROOT / name
        inside = [path] if path.is_file() else sorted(path.rglob("*"))
        found += [one for one in inside if one.suffix in {".py", ".md"}]
    left_out = {"_build", "generated", "__pycache__", "check"}
    return [path for path in found if not left_out & set(path.parts) and path != Path(__file__)]


def faults(paths: Iterable[Path]) -> list[str]:
    """Return a line for every phrase that we do not write."""
    rules = {re.compile(phrase, re.IGNORECASE): better for phrase, better in PHRASES.items()}
    return [
        f"{passage.path.relative_to(ROOT)}:{passage.line}: {found[0].strip()!r}: write {better}"
        for path in paths
        for passage in passages(path)
        for rule, better in rules.items()
        for found in rule.finditer(_without_code(passage.text))
    ]


def _without_code(text: str) -> str:
    return re.sub(r"`[^`]*`", "`code`", text)


def counts(paths: Iterable[Path]) -> tuple[int, dict[str, int]]:
    """Return the number of words, and how often each habit occurs."""
    texts = [_without_code(passage.text) for path in paths for passage in passages(path)]
    words = sum(len(re.findall(r"[A-Za-z][\w'-]*", text)) for text in texts)
    flags = {"begins with What": re.NOFLAG}
    found = {
        habit: sum(len(re.findall(rule, text, flags.get(habit, re.IGNORECASE))) for text in texts)
        for habit, rule in HABITS.items()
    }
    return words, found


def sentences(paths: Iterable[Path]) -> list[tuple[str, str]]:
    """Return the sentences of at least six words, each with its place."""
    found = []
    for path in paths:
        for passage in passages(path):
            place = f"{path.relative_to(ROOT)}:{passage.line}"
            parts = re.split(r"(?<=[.!?])\s+(?=[A-Z`])", " ".join(passage.text.split()))
            found += [(place, one) for one in parts if len(re.findall(r"[A-Za-z]{2,}", one)) >= 6]
    return found


def print_counts() -> None:
    """Print the habits per 10,000 words, in the sources and in the documentation."""
    groups = {"src": files(["src"]), "docs": files(["docs", "README.md", "CONTRIBUTING.md"])}
    results = {name: counts(paths) for name, paths in groups.items()}
    print(f"{'per 10,000 words':32}" + "".join(f"{name:>8}" for name in results))
    for habit in HABITS:
        rates = [1e4 * found[habit] / words for words, found in results.values()]
        print(f"{habit:32}" + "".join(f"{rate:8.1f}" for rate in rates))
    sums = [1e4 * sum(found.values()) / words for words, found in results.values()]
    print(f"{'sum':32}" + "".join(f"{rate:8.1f}" for rate in sums))
    print(f"{'words':32}" + "".join(f"{words:8,}" for words, _ in results.values()))


def main(arguments: list[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("paths", nargs="*", default=list(ALL_FILES))
    parser.add_argument("--counts", action="store_true", help="print the habits per 10,000 words")
    parser.add_argument("--sample", type=int, default=0, help="print this many random sentences")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    if chosen.counts:
        print_counts()
        return 0
    if chosen.sample:
        drawn = random.Random(chosen.seed).sample(sentences(files(chosen.paths)), chosen.sample)
        for number, (place, sentence) in enumerate(drawn, start=1):
            print(f"{number}. {place}: {sentence}")
        return 0
    found = faults(files(chosen.paths))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

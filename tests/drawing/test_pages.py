import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "howto" / "draw.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("picture", re.findall(r"\]\(\.\./(pictures/.*?)\)", PAGE))
def test_pictures_of_the_page_are_there_and_small(picture):
    assert 1_000 < (DOCS / picture).stat().st_size < 100_000

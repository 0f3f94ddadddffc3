"""Figures whose text stays text in vector files."""

from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

# TrueType fonts in PDF and PostScript, which journals accept and programs can edit. The default
# of matplotlib, Type 3, is often refused.
FONTS: dict[Any, Any] = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none"}


class TextFigure(Figure):
    """A matplotlib figure that embeds TrueType fonts in PDF files, and keeps text in SVG files."""

    def savefig(self, *args: Any, **options: Any) -> None:
        """Save the figure, as `matplotlib.figure.Figure.savefig` does."""
        with rc_context(FONTS):
            super().savefig(*args, **options)

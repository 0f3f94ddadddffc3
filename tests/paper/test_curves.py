import numpy as np
from matplotlib.figure import Figure

from paper.curves import curves


def test_curves_are_named_at_their_ends():
    ax = Figure().subplots()
    curves(ax, [2, 4, 8], {"one": [0.1, 0.2, 0.3], "two": [0.3, 0.2, np.nan], "none": [np.nan] * 3})
    assert [text.get_text() for text in ax.texts] == ["one", "two"]
    assert ax.get_xscale() == "log" and [line.get_xdata().tolist() for line in ax.lines] == [[2, 4, 8]] * 3


def test_names_of_curves_that_end_together_do_not_overlap():
    ax = Figure().subplots()
    curves(ax, [1, 10], {name: [0.0, 0.5 + 1e-3 * k] for k, name in enumerate("abcdef")})
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(box.overlaps(other) for k, box in enumerate(boxes) for other in boxes[:k])


def test_curves_that_end_at_zero_on_a_logarithmic_axis_are_named_at_their_last_positive_value():
    ax = Figure().subplots()
    curves(ax, [1, 2, 3], {"a": [1.0, 0.1, 0.0], "b": [0.0, 0.0, 0.0]}, log_y=True)
    assert [(text.get_text(), text.xy[1]) for text in ax.texts] == [("a", 0.1)]

import numpy as np
import pytest

from treerep.datasets import paper_points


@pytest.mark.parametrize(("dim", "scale", "draw"), [(2, 1, 1), (16, 1, 1), (10, 2, 1), (10, 2, 2)])
def test_they_lie_in_hyperbolic_space_of_that_dimension(dim, scale, draw, data_folder):
    metric = paper_points(dim, scale=scale, draw=draw)
    everything = np.arange(100)
    # cosh(D) is minus a Lorentzian Gram matrix: one positive eigenvalue, dim negative ones, the rest zero.
    values = np.linalg.eigvalsh(np.cosh(metric.block(everything, everything)))
    small = 1e-8 * values[-1]
    assert ((values > small).sum(), (values < -small).sum()) == (1, dim)


def test_every_setting_of_the_paper(data_folder):
    powers = [2**k for k in range(1, 11)]
    settings = [(k, 1, 1) for k in powers] + [(10, s, draw) for s in powers for draw in (1, 2)]
    firsts = {float(paper_points(dim, scale=scale, draw=draw).pairs(0, 1)) for dim, scale, draw in settings}
    assert len(firsts) == 30


@pytest.mark.parametrize(
    ("dim", "scale", "draw"),
    [(3, 1, 1), (2048, 1, 1), (10, 1, 1), (2, 2, 1), (10, 3, 1), (10, 2, 3), (2, 1, 2)],
)
def test_no_such_points(dim, scale, draw):
    with pytest.raises(
        ValueError,
        match=f"^no points for dim={dim}, scale={scale}, draw={draw}: use dim ",
    ):
        paper_points(dim, scale=scale, draw=draw)


def test_not_on_this_machine(monkeypatch, tmp_path):
    expected = (
        "^the points of the paper were not found: set TREEREP_DATA to a folder .* synthetic/hk_points.npz$"
    )
    for folder in ("", str(tmp_path)):
        monkeypatch.setenv("TREEREP_DATA", folder)
        with pytest.raises(FileNotFoundError, match=expected):
            paper_points(2)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04"])
def test_damaged(content, monkeypatch, tmp_path):
    path = tmp_path / "synthetic" / "hk_points.npz"
    path.parent.mkdir()
    path.write_bytes(content)
    monkeypatch.setenv("TREEREP_DATA", str(tmp_path))
    with pytest.raises(
        ValueError,
        match="hk_points.npz cannot be read: it is not an npz file, or it is truncated",
    ):
        paper_points(2)

"""Points are matched by label on a device as they are on the host."""

import numpy as np
import pytest

import treerep as tr
from tests.backends.devices import DEVICE

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("one_thread")]

PATH = tr.GraphMetric([(0, 1), (1, 2), (2, 3)], labels="abcd")
TREE = tr.fit(PATH, method="treerep")
SHUFFLED = tr.MatrixMetric(TREE.restrict("dacb").distances(), labels="dacb")
TEXT = tr.Tree.from_newick(TREE.newick("d"))
REFUSED = "labels in the order of a text file, and [a-z]+ has no labels"


@pytest.mark.parametrize("approx", [TREE.restrict("cadb"), TEXT, tr.embed(TREE.restrict("cadb"))])
def test_scores(approx):
    limit = 0.1 if isinstance(approx, tr.Embedding) else 1e-12
    for truth in (SHUFFLED, PATH):
        assert tr.average_distortion(approx, truth, device=DEVICE) < limit
        assert tr.average_distortion(truth, approx, device=DEVICE) < limit
    assert tr.mean_average_precision(approx, PATH, device=DEVICE) == 1


def test_refine():
    rough = tr.Tree.from_newick(TREE.with_weights(np.full(3, 2.0)).newick("d"))
    better = tr.refine(rough, SHUFFLED, moves=False, balance=0, weights="l2", device=DEVICE)
    assert (better.labels, better.order_known) == (SHUFFLED.labels, True)
    np.testing.assert_allclose(better.distances(), SHUFFLED.distances, atol=1e-6)


def test_a_text_is_not_matched_by_position():
    plain = TREE.distances()
    with pytest.raises(ValueError, match=REFUSED):
        tr.average_distortion(TEXT, plain, device=DEVICE)
    with pytest.raises(ValueError, match=REFUSED):
        tr.mean_average_precision(TEXT, tr.GraphMetric([(0, 1), (1, 2), (2, 3)]), device=DEVICE)
    with pytest.raises(ValueError, match=REFUSED):
        tr.refine(TEXT, plain, moves=False, balance=0, device=DEVICE)


def test_fit_keeps_what_is_known_of_the_order():
    embedding = tr.embed(TEXT, method="hmds")
    assert not embedding.order_known
    assert not tr.fit(embedding, device=DEVICE, method="treerep").order_known
    assert tr.fit(SHUFFLED, device=DEVICE, method="treerep").order_known


def test_starts_of_embeddings():
    start = tr.embed(TREE, scale=1.0)
    options = {"method": "pt", "epochs": 1, "rate": 1e-9, "rng": 0, "device": DEVICE}
    order = [TREE.labels.index(label) for label in SHUFFLED.labels]
    made = tr.embed(SHUFFLED, init=start, **options)
    expected = start.lorentz[order][:, 1:]
    np.testing.assert_allclose(made.lorentz[:4, 1 : expected.shape[1] + 1], expected[:4], atol=0.01)
    for init in (TREE.restrict("bdca"), TEXT):
        assert (
            tr.average_distortion(tr.embed(SHUFFLED, init=init, **options), SHUFFLED, scale="optimal") < 0.3
        )
    with pytest.raises(ValueError, match=REFUSED):
        tr.embed(SHUFFLED.distances, init=TEXT, **options)

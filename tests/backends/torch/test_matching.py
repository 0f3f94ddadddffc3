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

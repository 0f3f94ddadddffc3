"""SequenceMetric against scikit-bio, R's ape, brute force and hand-worked cases."""

import copy
import itertools
import math
import pickle
import re

import numpy as np
import pandas as pd
import pytest
import skbio.sequence.distance as reference
from hypothesis import given, settings
from hypothesis import strategies as st
from skbio import DNA

import treerep as tr
from treerep.metric.base import MetricError
from treerep.metric.sequences.models import MODELS

DNA_MODELS = [name for name, model in MODELS.items() if "dna" in model.alphabets]
AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"

SMALL = (
    "ACGTTACGATTGCAACGTTAGCCATGACTTAGGCATTACG",
    "ACGTTGCGATTACAACGTCAGCCATGACTAAGGC-TTACG",
    "ATGTTACGCTTGCAANGTTAGACATGACTTGGGCATCACR",
    "ACGATACGATCGCAACGTTAGCCGTGTCTTAGGAATTACG",
)
PAIRS = np.triu_indices(4, 1)
# dist.dna(x, model, pairwise.deletion=TRUE) of ape 5.7 in R, in the order of the pairs.
APE = {
    "p": "0.102564102564 0.131578947368 0.125 0.243243243243 0.230769230769 0.263157894737",
    "jc69": "0.110290063467 0.144677749593 0.136741167595 0.294031565832 0.275793585094 0.324100016393",
    "k2p": "0.112073805036 0.14600079781 0.136815678698 0.304170406683 0.279736521042 0.327391384286",
    "f81": "0.110305189793 0.144704193097 0.136764703305 0.29414870328 0.275895752012 0.324244396763",
    "f84": "0.112113647325 0.146049134728 0.13684203136 0.304455440791 0.279913370394 0.327608377254",
    "tn93": "0.112974286096 0.147346316301 0.136845975699 0.3044957632 0.281136485738 0.330105394769",
}
# The same with gamma=0.7.
APE_GAMMA = {
    "jc69": "0.122730408784 0.166577298378 0.156201144861 0.394158325751 0.362775927324 0.448338220019",
    "k2p": "0.127973320953 0.170738463747 0.156434867104 0.435870559196 0.378557297556 0.462803584397",
    "f81": "0.122772759988 0.166654758905 0.156269369792 0.3945777806 0.36313277141 0.448877035014",
    "tn93": "0.130872442734 0.175333132019 0.156524667506 0.437266216163 0.384872929815 0.476266656718",
}
# model="logdet", which is -1/4 ln det F - ln 4 in ape, without the correction for frequencies.
APE_LOGDET = "0.112985027081 0.167493902748 0.13752158443 0.31065754712 0.287797945387 0.355861888575"


def numbers(text):
    return np.array(text.split(), float)


def random_sequences(n, sites, rng, letters="ACGT", unknown="N-R?"):
    """Sequences that share most characters, with some unknown ones."""
    generator = np.random.default_rng(rng)
    first = generator.choice(list(letters), sites)
    rows = []
    for _ in range(n):
        row = first.copy()
        hit = generator.random(sites) < generator.uniform(0.05, 0.4)
        row[hit] = generator.choice(list(letters), hit.sum())
        row[generator.random(sites) < 0.05] = generator.choice(list(unknown))
        rows.append("".join(row))
    return rows


@pytest.mark.parametrize("model", APE)
def test_ape(model):
    found = tr.SequenceMetric(SMALL, model).pairs(*PAIRS)
    np.testing.assert_allclose(found, numbers(APE[model]), rtol=1e-10)


@pytest.mark.parametrize("model", APE_GAMMA)
def test_ape_with_gamma(model):
    found = tr.SequenceMetric(SMALL, model, gamma=0.7).pairs(*PAIRS)
    np.testing.assert_allclose(found, numbers(APE_GAMMA[model]), rtol=1e-10)


def test_ape_logdet():
    corrections = []
    for i, j in zip(*PAIRS, strict=True):
        both = [p for p in zip(SMALL[i], SMALL[j], strict=True) if set(p) <= set("ACGT")]
        columns = list(zip(*both, strict=True))
        shares = [[column.count(base) / len(both) for base in "ACGT"] for column in columns]
        corrections.append(math.log(4) + np.log(shares).sum() / 8)
    found = tr.SequenceMetric(SMALL, "logdet").pairs(*PAIRS)
    np.testing.assert_allclose(found, numbers(APE_LOGDET) + corrections, rtol=1e-10)


@pytest.mark.parametrize("gamma", [None, 0.5])
@pytest.mark.parametrize("model", DNA_MODELS)
def test_scikit_bio(model, gamma):
    if model == "p" or (gamma and model not in ("jc69", "k2p", "f81", "tn93")):
        return
    # More than one word of 64 sites, and a part of a word.
    rows = random_sequences(7, 333, rng=3)
    counts = np.array([sum(row.count(base) for row in rows) for base in "ACGT"])
    options = {"gamma": gamma} if gamma else {}
    if model in ("f81", "f84", "tn93"):
        options["freqs"] = counts / counts.sum()
    # Scikit-bio's name for LogDet with the correction for frequencies.
    function = getattr(reference, {"logdet": "paralin"}.get(model, model))
    dna = [DNA(row.replace("R", "N").replace("?", "N")) for row in rows]
    found = tr.SequenceMetric(rows, model, gamma=gamma)
    for i, j in itertools.combinations(range(7), 2):
        expected = function(dna[i], dna[j], **options)
        np.testing.assert_allclose(found.pairs(i, j), expected, rtol=1e-9)


def brute_proportion(a, b, letters):
    both = [(x, y) for x, y in zip(a, b, strict=True) if x in letters and y in letters]
    return sum(x != y for x, y in both) / len(both)


@pytest.mark.parametrize(
    ("model", "formula"),
    [
        ("p", lambda p: p),
        ("poisson", lambda p: -math.log(1 - p)),
        ("kimura", lambda p: -math.log(1 - p - p * p / 5)),
    ],
)
def test_proteins_by_brute_force(model, formula):
    rows = random_sequences(6, 150, rng=1, letters=AMINO_ACIDS, unknown="XBZJ*-U")
    found = tr.SequenceMetric(rows, model)
    assert found.alphabet == "protein"
    for i, j in itertools.combinations(range(6), 2):
        expected = formula(brute_proportion(rows[i], rows[j], AMINO_ACIDS))
        np.testing.assert_allclose(found.pairs(i, j), expected, rtol=1e-12)


def test_poisson_with_gamma():
    # Half of the sites differ: a ((1 - p)^(-1/a) - 1) = 2 (sqrt(2) - 1).
    found = tr.SequenceMetric(["MKVLWWRD", "MKVLHHEP"], "poisson", gamma=2.0)
    np.testing.assert_allclose(found.pairs(0, 1), 2 * (math.sqrt(2) - 1))


def test_hand_worked():
    # Ten sites: the first pair has one transition, the second two transversions.
    rows = ["ACGTACGTAC", "ACGTACGTAT", "ACGTTCGAAC"]
    jc69 = tr.SequenceMetric(rows, "jc69").pairs([0, 0], [1, 2])
    np.testing.assert_allclose(jc69, [-0.75 * math.log(1 - 0.4 / 3), -0.75 * math.log(1 - 0.8 / 3)])
    k2p = tr.SequenceMetric(rows).pairs([0, 0], [1, 2])
    np.testing.assert_allclose(k2p, [-0.5 * math.log(0.8), -0.5 * math.log(0.8) - 0.25 * math.log(0.6)])
    np.testing.assert_array_equal(tr.SequenceMetric(rows, "p").pairs([0, 0], [1, 2]), [0.1, 0.2])


def test_defaults():
    assert tr.SequenceMetric(["ACGU", "acga"]).model == "k2p"
    protein = tr.SequenceMetric(["MKVL", "MKIL"])
    assert (protein.model, protein.alphabet, protein.sites) == ("kimura", "protein", 4)
    assert tr.SequenceMetric(["ACGT", "ACGA"], alphabet="protein").model == "kimura"
    assert tr.as_metric(["ACGT", "ACGA"], metric="tn93", labels=["x", "y"]).labels == ("x", "y")


@pytest.mark.parametrize(
    "given",
    [
        [b"ACGTN", b"AC-TA"],
        ["acgun", "ac.ua"],
        np.array(["ACGTN", "AC-TA"]),
        np.array([list("ACGTN"), list("AC-TA")]),
        np.array([list("ACGTN"), list("AC-TA")], "S1"),
        np.frombuffer(b"ACGTNAC-TA", np.uint8).reshape(2, 5),
        (row for row in ("ACGTN", "AC-TA")),
    ],
)
def test_kinds_of_input(given):
    found = tr.SequenceMetric(given, "p")
    assert found.alphabet == "dna"
    # Three sites are known in both.
    assert found.pairs(0, 1) == 0
    assert found.sites == 5


BASES = st.text("ACGTN-", min_size=12, max_size=12)
SOME = st.lists(BASES, min_size=2, max_size=5)


def all_distances(rows, model, **options):
    return tr.SequenceMetric(rows, model, alphabet="dna", saturated="cap", **options).block(
        range(len(rows)), range(len(rows))
    )


@settings(max_examples=60, deadline=None)
@given(rows=SOME, model=st.sampled_from(DNA_MODELS), rng=st.integers(0, 99))
def test_invariances(rows, model, rng):
    found = all_distances(rows, model)
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(np.diag(found), 0)
    order = np.random.default_rng(rng).permutation(12)
    np.testing.assert_allclose(all_distances(["".join(row[k] for k in order) for row in rows], model), found)
    complement = str.maketrans("ACGT", "TGCA")
    np.testing.assert_allclose(
        all_distances([row.translate(complement) for row in rows], model), found, atol=1e-12
    )


@settings(max_examples=30, deadline=None)
@given(row=st.text("ACGT", min_size=1, max_size=200), model=st.sampled_from(DNA_MODELS))
def test_identical_sequences(row, model):
    found = tr.SequenceMetric([row, row, row.lower()], model, alphabet="dna")
    np.testing.assert_array_equal(found.block(range(3), range(3)), 0)


@pytest.mark.parametrize("gamma", [None, 0.3])
@pytest.mark.parametrize("model", ["jc69", "k2p"])
def test_distance_grows_with_differences(model, gamma):
    rows = ["A" * 100] + ["G" * k + "A" * (100 - k) for k in range(1, 45)]
    found = tr.SequenceMetric(rows, model, gamma=gamma).pairs(0, np.arange(45))
    assert (np.diff(found) > 0).all()


@pytest.mark.parametrize("model", MODELS)
def test_undefined_pairs(model):
    alphabet = MODELS[model].alphabets[0]
    labels = ["one", "two", "three", "four"]
    # The first two have no common site. All sites of the last two differ.
    rows = ["ACGTACGT--------", "--------ACGTACGT", "ACGTACGTACGTACGT", "CGTACGTACGTACGTA"]
    options = {"alphabet": alphabet, "labels": labels}
    strict = tr.SequenceMetric(rows, model, **options, saturated="raise")
    with pytest.raises(MetricError, match=f"the {model} distance of 'one' and 'two' is .* site"):
        strict.pairs(0, 1)
    expected = [[0, 1]] if model == "p" else [[0, 1], [0, 3], [1, 3], [2, 3]]
    assert strict.saturated_pairs().tolist() == expected
    if model != "p":
        with pytest.raises(MetricError, match="16 of their 16 common sites differ.*'cap'"):
            strict.block([2], [3])
    table = strict.distances()
    assert np.isnan(table[0, 1])
    assert np.isnan(table).sum() == 2 * len(expected)
    np.testing.assert_array_equal(table, table.T)
    with pytest.warns(UserWarning, match=f"^{len(expected)} of 6 pairs of sequences have no"):
        capped = tr.SequenceMetric(rows, model, **options)
    assert capped.saturated == "cap"
    assert capped.saturated_pairs().tolist() == expected
    found = capped.block(range(4), range(4))
    assert np.isfinite(found).all()
    defined = np.isfinite(table)
    np.testing.assert_array_equal(found[defined], table[defined])
    assert found[~defined].min() >= found[defined].max()
    partial = tr.SequenceMetric(rows, model, **options, missing=True)
    assert partial.has_missing
    for same in (partial, pickle.loads(pickle.dumps(partial)), partial.restrict(range(4))):
        np.testing.assert_array_equal(same.block(range(4), range(4)), table)
    assert not partial.restrict(["one", "three"]).has_missing


def far_and_near(n):
    """Return sequences of which the last is saturated with all others."""
    rows = np.full((n, 64), ord("A"), np.uint8)
    rows[np.arange(n), np.arange(n) % 60] = ord("C")
    rows[-1] = ord("T")
    return rows


def test_capped_pairs_of_many_sequences_are_sampled():
    n = 3000  # 4,498,500 pairs
    rows = far_and_near(n)
    rows[7, :60] = ord("-")  # few known sites, so it is always in the sample
    rows[8, 4:] = ord("-")  # no site in common with sequence 7
    with pytest.warns(UserWarning, match="sampled pairs of sequences") as caught:
        tr.SequenceMetric(rows)
    count, pairs = re.match(r"([\d,]+) of ([\d,]+) sampled", str(caught[0].message)).groups()
    assert 1000 < int(count.replace(",", "")) <= 3000
    assert 3_000_000 < int(pairs.replace(",", "")) < 4_498_500
    # The pair 7 and 8 alone.
    rows[-1] = ord("A")
    with pytest.warns(UserWarning, match="^1 of .* sampled pairs"):
        tr.SequenceMetric(rows)


@pytest.mark.filterwarnings("error")
def test_capped_pairs_are_not_reported_in_vain():
    tr.SequenceMetric(far_and_near(50)[:-1])
    metric = tr.SequenceMetric(far_and_near(50), saturated="cap")
    metric.restrict(range(10, 50))
    metric.resample(np.random.default_rng(0))


def test_missing_distances_of_sequences():
    """Fragments without a common site are placed by their distances to the others."""
    alignment = tr.datasets.random_alignment(16, sites=4000, depth=0.3, rng=4)
    rows = list(alignment.sequences)
    rows[0] = rows[0][:2000] + "-" * 2000
    rows[9] = "-" * 2000 + rows[9][2000:]
    labels = alignment.tree.labels
    metric = tr.as_metric(rows, metric="jc69", labels=labels, missing=True)
    assert metric.has_missing
    assert np.isnan(metric.pairs(0, 9))
    tree = tr.fit(metric, bootstrap=5)
    assert tree.difference(alignment.tree).robinson_foulds <= 2
    assert np.nanmin(tree.support) > 0
    with pytest.raises(MetricError, match="hyperbolicity needs all distances"):
        tr.hyperbolicity(metric)
    with pytest.raises(MetricError, match="method='upgma' needs all distances"):
        tr.fit(metric, method="upgma")
    complete = tr.as_metric(list(alignment.sequences), metric="jc69", missing=True)
    assert not complete.has_missing
    assert np.isfinite(tr.hyperbolicity(complete).delta)


@pytest.mark.parametrize("options", [{}, {"saturated": "raise"}, {"missing": True}])
@pytest.mark.filterwarnings("error")
def test_saturated_pairs_of_replicates_are_capped(options):
    # The distances of the data are defined, but not those of many replicates.
    rows = np.full((5, 16), ord("A"), np.uint8)
    for k in range(1, 5):
        rows[k, k : k + 6] = ord("C")
    tree = tr.fit(tr.SequenceMetric(rows, **options), method="upgma", bootstrap=40)
    assert np.isfinite(tree.support).any()


@pytest.mark.parametrize(
    ("data", "labels"),
    [
        (pd.Series({"x": "ACGT", "y": "ACGA"}), ("x", "y")),
        ({"x": "ACGT", "y": "ACGA"}, ("x", "y")),
        (pd.DataFrame([list("ACGT"), list("ACGA")], index=["x", "y"]), ("x", "y")),
    ],
)
def test_labels_of_tables(data, labels):
    found = tr.SequenceMetric(data, "p")
    assert found.labels == labels
    assert found.pairs(0, 1) == 0.25
    assert tr.SequenceMetric(data, labels=["a", "b"]).labels == ("a", "b")


def snps(rng):
    """Return biallelic sites of diploids, a third of which are heterozygous."""
    codes = {
        frozenset(pair): code
        for pair, code in zip(("AG", "CT", "CG", "AT", "GT", "AC"), "RYSWKM", strict=True)
    }
    rows = []
    for _ in range(400):
        pair = rng.permutation(list("ACGT"))[:2]
        kinds = rng.integers(3, size=5)
        rows.append([codes[frozenset(pair)] if k == 2 else pair[k] for k in kinds])
    return ["".join(column) for column in zip(*rows, strict=True)]


def test_dna_with_many_ambiguous_characters():
    rows = snps(np.random.default_rng(0))
    found = tr.SequenceMetric(rows, "p")
    assert found.alphabet == "dna"
    assert tr.SequenceMetric(rows, saturated="cap").model == "k2p"
    expected = brute_proportion(rows[0], rows[1], "ACGT")
    np.testing.assert_allclose(found.pairs(0, 1), expected)
    assert tr.SequenceMetric(["RYSWKMACGT", "ACGTACGCGT"]).alphabet == "dna"
    # A model that has only one alphabet decides about letters of both.
    assert tr.SequenceMetric(["RYSWKMACGT", "RYSWKMACAA"], "poisson").alphabet == "protein"
    assert tr.SequenceMetric(["RYRYA", "RYRYA"], "jc69").alphabet == "dna"


@pytest.mark.parametrize("unknown", ["-", "X"])
def test_the_alphabet_is_that_of_all_characters(unknown):
    gaps = unknown * 70_000
    rows = [gaps + row for row in random_sequences(4, 3000, rng=2, letters=AMINO_ACIDS)]
    rows[1] = (rows[1][70_000:] * 25)[:73_000]
    found = tr.SequenceMetric(rows, saturated="cap")
    assert (found.alphabet, found.model) == ("protein", "kimura")
    assert repr(found) == "SequenceMetric(4 points, protein, kimura)"
    dna = [gaps + row for row in random_sequences(4, 3000, rng=2)]
    assert tr.SequenceMetric(dna).alphabet == "dna"


def test_cap_is_half_a_site_below_saturation():
    rows = ["A" * 50, "T" * 50]
    np.testing.assert_allclose(
        tr.SequenceMetric(rows, "jc69", saturated="cap").pairs(0, 1), -0.75 * math.log(0.01)
    )


def test_an_error_names_the_labels_after_renumbering():
    # TreeRep copies the points of small zones, so compiled code sees other numbers.
    rows = random_sequences(40, 200, rng=5, unknown="N")
    rows[33] = "".join({"A": "C", "C": "A", "G": "T", "T": "G", "N": "N"}[x] for x in rows[32])
    labels = [f"taxon{k}" for k in range(40)]
    metric = tr.SequenceMetric(rows, labels=labels, saturated="raise")
    with pytest.raises(MetricError, match="'taxon.*' and 'taxon.*'") as caught:
        tr.fit(metric, method="treerep")
    assert "taxon33" in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (["ACGT", "ACG"], {}, "sequence '1' has 3 sites, but '0' has 4: .* not aligned: align"),
        (["ACGT", "AC!T"], {"labels": "ab"}, "sequence 'b' has '!' at position 3"),
        (["ACGT", "ACéT"], {}, "sequence '1' has 'é' at position 3"),
        (["MKVL", "MK1L"], {}, "'1' at position 3, which is not a protein character"),
        (["ACGT", ""], {}, "sequence '1' is empty"),
        ([], {}, "no sequences"),
        (["----", "ACGT"], {"labels": "ab"}, "sequence 'a' has no known character"),
        (["ACGT", "ACGA"], {"model": "k3"}, "unknown model 'k3': choose one of p, jc69"),
        (
            ["ACGT", "ACGA"],
            {"model": "kimura"},
            "for proteins, not for DNA: choose one of p, jc.*or pass alphabet='protein'",
        ),
        (["MKVL", "MKIL"], {"model": "k2p"}, "for DNA, not for proteins: choose one of p, poi"),
        (["ACGT", "ACGA"], {"gamma": 0}, "gamma must be a number above 0, not 0"),
        (["MKVL", "MKIL"], {"gamma": 1}, "gamma=1 does not apply to the model 'kimura'"),
        (["ACGT", "ACGA"], {"saturated": "drop"}, "saturated must be one of cap, raise"),
        (["ACGT", "ACGA"], {"saturated": "raise", "missing": True}, "leave out saturated or"),
        (["ACGT", "ACGA"], {"missing": "yes"}, "missing must be True or False"),
        (["ACGT", "ACGA"], {"alphabet": "rna"}, "alphabet must be one of dna, protein"),
        (["ACGT", "ACGA"], {"labels": "aa"}, "share the label 'a'"),
    ],
)
def test_errors(rows, options, message):
    with pytest.raises(ValueError, match=message):
        tr.SequenceMetric(rows, **options)


def test_wrong_types():
    with pytest.raises(TypeError, match="one string"):
        tr.SequenceMetric("ACGT")
    with pytest.raises(TypeError, match="must be a list of strings"):
        tr.SequenceMetric([1, 2])


@pytest.mark.parametrize("model", ["k2p", "tn93", "logdet"])
def test_copies(model):
    metric = tr.SequenceMetric(random_sequences(5, 100, rng=2), model, labels="abcde")
    every = np.arange(5)
    for other in (pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric)):
        np.testing.assert_array_equal(other.block(every, every), metric.block(every, every))
        assert other.labels == metric.labels
        assert not other.oracle.planes.flags.writeable


def test_restrict():
    rows = random_sequences(6, 100, rng=8)
    metric = tr.SequenceMetric(rows, "tn93", labels="abcdef", gamma=0.5, saturated="cap")
    some = metric.restrict(["e", 1, "a"])
    expected = tr.SequenceMetric([rows[4], rows[1], rows[0]], "tn93", gamma=0.5)
    assert (some.labels, some.gamma, some.saturated) == (("e", "b", "a"), 0.5, "cap")
    np.testing.assert_array_equal(some.pairs([0, 0, 1], [1, 2, 2]), expected.pairs([0, 0, 1], [1, 2, 2]))
    with pytest.raises(ValueError, match="no sequence 'z'"):
        metric.restrict(["a", "z"])
    with pytest.raises(IndexError, match="point 6 does not exist"):
        metric.restrict([6])


@pytest.mark.parametrize("letters", ["ACGT", AMINO_ACIDS])
def test_resample(letters):
    rows = random_sequences(6, 190, rng=4, letters=letters)
    metric = tr.SequenceMetric(rows, "p", labels="abcdef", saturated="cap")
    sample = metric.resample(np.random.default_rng(7))
    assert (sample.sites, sample.labels, sample.model) == (190, metric.labels, "p")
    # The same sites, drawn from the text.
    sites = np.random.default_rng(7).integers(190, size=190)
    drawn = ["".join(row[k] for k in sites) for row in rows]
    expected = tr.SequenceMetric(drawn, "p", alphabet=metric.alphabet)
    every = np.arange(6)
    np.testing.assert_allclose(sample.block(every, every), expected.block(every, every))


def test_resample_uses_the_frequencies_of_the_sample():
    rows = random_sequences(4, 64, rng=9)
    sample = tr.SequenceMetric(rows, "tn93").resample(np.random.default_rng(0))
    sites = np.random.default_rng(0).integers(64, size=64)
    drawn = tr.SequenceMetric(["".join(row[k] for k in sites) for row in rows], "tn93")
    np.testing.assert_allclose(sample.pairs(*PAIRS), drawn.pairs(*PAIRS))


def test_few_bases():
    # No purines, or one base only: terms of the formulas vanish.
    for rows in (["CTCTCT", "CTCCCT"], ["AAAA", "AAAN"], ["ACACAC", "ACAAAC"]):
        for model in ("f81", "f84", "tn93"):
            found = tr.SequenceMetric(rows, model, alphabet="dna", saturated="cap")
            assert np.isfinite(found.pairs(0, 1))
            assert (found.pairs(0, 1) > 0) == (rows[0] != rows[1].replace("N", "A"))

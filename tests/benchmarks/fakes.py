"""Rivals that do all that a rival can do wrong. Each runs in a process of its own, as real ones do."""

import itertools
import os
import time

import numpy as np

from benchmarks.rivals.answers import Edges
from benchmarks.rivals.rival import Rival


def fake(name, compute, version=lambda: "1.0", **options):
    return Rival(name, "tree", "fake", version, f"get {name}", compute, **options)


def star(d):
    n = len(d)
    return Edges(np.column_stack([np.full(n, n), np.arange(n)]), d.max() / 2 * np.ones(n))


turn = itertools.count()


def other_each_time(d):
    found = star(d)
    found.lengths[: next(turn)] = -1
    return found


def cycle(d):
    n = len(d)
    return Edges(np.column_stack([np.arange(n), np.roll(np.arange(n), 1)]), np.ones(n))


def slow_when_large(d):
    if len(d) > 20:
        time.sleep(60)
    return star(d)


def broken_when_large(d):
    if len(d) > 20:
        raise ValueError("too\nlarge")
    return star(d)


def dead_when_large(d):
    if len(d) > 20:
        os._exit(7)
    return star(d)


def count_cores(d):
    if len(d) > 20:
        raise ValueError(f"{len(os.sched_getaffinity(0))} core")
    return star(d)


RIVALS = [
    fake("star", star),
    fake("random", other_each_time, random=True),
    fake("cycle", cycle),
    fake("slow", slow_when_large),
    fake("broken", broken_when_large),
    fake("dead", dead_when_large),
    fake("absent", star, version=lambda: None),
    fake("never works", lambda d: 1 / 0),
    fake("treerep cores", count_cores, ours=True),
]

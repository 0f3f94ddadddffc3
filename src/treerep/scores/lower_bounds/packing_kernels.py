"""Packings of quadruples: list the quadruples, solve the linear program, repair the solution.

A pair p has two rows: row p limits how often quadruples ask to shorten p, and row P + p how often
they ask to lengthen it (P is the number of pairs). A quadruple is a column with six entries. The
entries of the largest and of the second largest sum are 1, those of the smallest sum `share`.

A triple that violates the triangle inequality is a column with three entries. The other three
entries are in row 2 P, which has no limit.
"""

from typing import Any

import numpy as np

from ..._core.kernel import helper, kernel


@helper
def _order(sums: Any) -> Any:
    """Return the positions of the largest, the middle and the smallest of three numbers."""
    first = 0
    if sums[1] > sums[first]:
        first = 1
    if sums[2] > sums[first]:
        first = 2
    second = (first + 1) % 3
    third = (first + 2) % 3
    if sums[third] > sums[second]:
        return first, third, second
    return first, second, third


@helper
def _pair(a: int, b: int) -> int:
    """Return the number of the pair a > b."""
    return a * (a - 1) // 2 + b


@helper
def _read(distances: Any, a: int, b: int, c: int, d: int, sums: Any, pairs: Any) -> None:
    """Store the three sums of a > b > c > d, and their pairs two by two."""
    sums[0] = distances[a, b] + distances[c, d]
    sums[1] = distances[a, c] + distances[b, d]
    sums[2] = distances[a, d] + distances[b, c]
    pairs[0] = _pair(a, b)
    pairs[1] = _pair(c, d)
    pairs[2] = _pair(a, c)
    pairs[3] = _pair(b, d)
    pairs[4] = _pair(a, d)
    pairs[5] = _pair(b, c)


@helper
def _counted(capacity: Any, pairs: Any) -> bool:
    """Return whether the error of each pair counts."""
    for k in range(len(pairs)):
        if capacity[pairs[k]] <= 0.0:
            return False
    return True


@helper
def _visit(distances: Any, capacity: Any, margin: float, rows: Any, gaps: Any, shares: Any) -> int:
    """Store the quadruples with a gap, as many as fit, and return their number."""
    n = len(distances)
    sums = np.empty(3)
    pairs = np.empty(6, np.int64)
    found = 0
    for a in range(3, n):
        for b in range(2, a):
            for c in range(1, b):
                for d in range(c):
                    _read(distances, a, b, c, d, sums, pairs)
                    first, second, third = _order(sums)
                    lost = margin * sums[first]
                    gap = sums[first] - sums[second] - lost
                    # false for NaN
                    if not (gap > 0.0 and _counted(capacity, pairs)):
                        continue
                    if found < len(gaps):
                        gaps[found] = gap
                        wider = sums[first] - sums[third] - lost
                        shares[found] = gap / wider
                        _fill(rows[found], pairs, len(capacity), first, second, third)
                    found += 1
    return found


@helper
def _fill(row: Any, pairs: Any, count: int, first: int, second: int, third: int) -> None:
    """Write the six rows of a quadruple: the largest sum has to shrink, the others to grow."""
    for k in range(2):
        row[k] = pairs[2 * first + k]
        row[2 + k] = count + pairs[2 * second + k]
        row[4 + k] = count + pairs[2 * third + k]


@helper
def _visit_triples(distances: Any, capacity: Any, margin: float, rows: Any, gaps: Any, shares: Any) -> int:
    """Store the triples that violate the triangle inequality. As `_visit`."""
    count = len(capacity)
    sides = np.empty(3)
    pairs = np.empty(3, np.int64)
    found = 0
    for a in range(2, len(distances)):
        for b in range(1, a):
            for c in range(b):
                sides[0] = distances[a, b]
                sides[1] = distances[a, c]
                sides[2] = distances[b, c]
                pairs[0] = _pair(a, b)
                pairs[1] = _pair(a, c)
                pairs[2] = _pair(b, c)
                first, second, third = _order(sides)
                longest = sides[first]
                gap = longest - sides[second] - sides[third] - margin * longest
                if not (gap > 0.0 and _counted(capacity, pairs)):
                    continue
                if found < len(gaps):
                    gaps[found] = gap
                    shares[found] = 1.0
                    rows[found] = 2 * count
                    rows[found, 0] = pairs[first]
                    rows[found, 2] = count + pairs[second]
                    rows[found, 3] = count + pairs[third]
                found += 1
    return found


@kernel
def list_quadruples(distances: Any, capacity: Any, margin: float) -> Any:
    """Return the rows (N, 6), gaps and shares of all quadruples and triples with a gap."""
    none = np.empty((0, 6), np.int32)
    empty = np.empty(0)
    three = _visit_triples(distances, capacity, margin, none, empty, empty)
    found = three + _visit(distances, capacity, margin, none, empty, empty)
    rows = np.empty((found, 6), np.int32)
    gaps = np.empty(found)
    shares = np.empty(found)
    _visit_triples(distances, capacity, margin, rows, gaps, shares)
    _visit(distances, capacity, margin, rows[three:], gaps[three:], shares[three:])
    return rows, gaps, shares


@helper
def _add(load: Any, rows: Any, q: int, share: float, amount: float) -> None:
    """Add an amount of quadruple q to the load of its six rows."""
    for k in range(4):
        load[rows[q, k]] += amount
    load[rows[q, 4]] += share * amount
    load[rows[q, 5]] += share * amount


@helper
def _price(prices: Any, rows: Any, q: int, share: float) -> float:
    """Return what one unit of quadruple q costs."""
    price = share * (prices[rows[q, 4]] + prices[rows[q, 5]])
    for k in range(4):
        price += prices[rows[q, k]]
    return price


@helper
def _step(rows: Any, gaps: Any, shares: Any, step: float, x: Any, prices: Any, load: Any) -> None:
    """Move x along the gradient, and store the load of 2 x_new - x_old."""
    load[:] = 0.0
    for q in range(len(gaps)):
        share = shares[q]
        price = _price(prices, rows, q, share)
        old = x[q]
        # tau_q = step / sum of the column
        new = old + step / (4.0 + 2.0 * share) * (gaps[q] - price)
        new = max(new, 0.0)
        x[q] = new
        ahead = 2.0 * new - old
        if ahead != 0.0:
            _add(load, rows, q, share, ahead)


@kernel
def solve(
    rows: Any,
    gaps: Any,
    shares: Any,
    capacity: Any,
    step: float,
    rounds: int,
    steps: int,
) -> Any:
    """Return the largest certified total of gap x, subject to A x <= capacity and x >= 0.

    The method is the primal-dual algorithm of Chambolle and Pock with diagonal steps and
    restarts from the average. The total is that of a repaired, feasible x after each round.
    """
    x = np.zeros(len(gaps))
    prices = np.zeros(len(capacity))
    load = np.zeros(len(capacity))
    degree = np.zeros(len(capacity))
    for q in range(len(gaps)):
        _add(degree, rows, q, shares[q], 1.0)
    best = 0.0
    for _ in range(rounds):
        mean_x = np.zeros(len(gaps))
        mean_prices = np.zeros(len(capacity))
        for _ in range(steps):
            _step(rows, gaps, shares, step, x, prices, load)
            for r in range(len(capacity)):
                if degree[r] > 0.0:
                    # sigma_r = 1 / (step * sum of the row)
                    sigma = 1.0 / (step * degree[r])
                    raised = prices[r] + sigma * (load[r] - capacity[r])
                    prices[r] = max(raised, 0.0)
            mean_x += x
            mean_prices += prices
        last = certified_total(rows, gaps, shares, capacity, x)
        x[:] = mean_x / steps
        prices[:] = mean_prices / steps
        mean = certified_total(rows, gaps, shares, capacity, x)
        best = max(best, last, mean)
    return best


@kernel
def certified_total(rows: Any, gaps: Any, shares: Any, capacity: Any, x: Any) -> float:
    """Return the total of gap x after scaling x to feasibility and filling what is left."""
    load = np.zeros(len(capacity))
    for q in range(len(gaps)):
        _add(load, rows, q, shares[q], x[q])
    # A row's load falls to its capacity if every quadruple shrinks by its worst row.
    factor = np.ones(len(capacity))
    for r in range(len(capacity)):
        if load[r] > capacity[r]:
            factor[r] = capacity[r] / load[r]
    load[:] = 0.0
    total = 0.0
    for q in range(len(gaps)):
        smallest = 1.0
        for k in range(6):
            smallest = min(smallest, factor[rows[q, k]])
        amount = smallest * x[q]
        _add(load, rows, q, shares[q], amount)
        total += gaps[q] * amount
    for q in range(len(gaps)):
        amount = _free_amount(rows, q, shares[q], capacity, load)
        if amount > 0.0:
            _add(load, rows, q, shares[q], amount)
            total += gaps[q] * amount
    return total


@helper
def _free_amount(rows: Any, q: int, share: float, capacity: Any, load: Any) -> float:
    """Return the largest amount of quadruple q that may be added."""
    amount = np.inf
    for k in range(6):
        r = rows[q, k]
        left = capacity[r] - load[r]
        if k >= 4:
            left /= share
        amount = min(amount, left)
    return amount

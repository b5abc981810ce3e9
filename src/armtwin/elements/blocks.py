"""Solving with J, the slopes of prescribed deformations with calculated coordinates, by blocks.

A matching of rows and columns and the strong components of what depends on what put J into block
lower triangular form: an open chain falls into blocks of 3 (a point) and 4 (a triad), and only a
closed loop makes a larger one. Within a block, LU with row exchanges.

Ref: [Duff-Erisman-Reid 2017, chapter 6]
"""

from typing import Any, NamedTuple

import numpy as np

from armtwin.maths.batch import Flags, Floats, Integers
from armtwin.maths.compiled import inlined

# Of a block's largest entry: a pivot below it is none. A loop laid flat is a double root, which
# Newton's method meets to the root of rounding only.
SINGULAR = 1e-6


class Blocks(NamedTuple):
    """Order in which rows and columns are solved, packed.

    Position i of the order pairs row[i] with column[i]; block b holds positions start[b] ..
    start[b + 1] and its factors begin at place[b].

    Attributes:
        row: Row of each position, (n,).
        column: Coordinate of each position, (n,).
        start: First position of each block, (blocks + 1,).
        place: First of each block's factors, (blocks + 1,).
        inside_start: First entry of each position within its block, (n + 1,).
        inside: Local column of the entry, and its place in the block, (entries, 2).
        outside_start: First entry of each position outside its block, (n + 1,).
        outside: Local column of the entry, and its coordinate, (entries, 2).
    """

    row: Integers
    column: Integers
    start: Integers
    place: Integers
    inside_start: Integers
    inside: Integers
    outside_start: Integers
    outside: Integers


def order_blocks(pattern: Flags) -> list[list[tuple[int, int]]] | None:
    """Blocks of (row, column) pairs of a square pattern, each after those it depends on.

    None where no matching pairs every row with a column.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

    sparse = csr_matrix(pattern.astype(np.int8))
    column_of = maximum_bipartite_matching(sparse, perm_type="column")
    if (column_of < 0).any():
        return None
    depends = pattern[:, column_of]  # row i depends on the row that is paired with the column
    count, label = connected_components(csr_matrix(depends), connection="strong")
    blocks: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for i, block in enumerate(label):
        blocks[block].append((i, int(column_of[i])))
    return [blocks[b] for b in _after_what_they_need(depends, label, count)]


def _after_what_they_need(depends: Flags, label: Integers, count: int) -> list[int]:
    """Components in an order in which each comes after all that it depends on."""
    needs: list[set[int]] = [set() for _ in range(count)]
    for i, j in zip(*np.nonzero(depends), strict=True):
        if label[i] != label[j]:
            needs[label[i]].add(int(label[j]))
    order: list[int] = []
    done: set[int] = set()
    while len(order) < count:
        for b in range(count):
            if b not in done and needs[b] <= done:
                order.append(b)
                done.add(b)
    return order


def pack(blocks: list[list[tuple[int, int]]], columns: Integers, known: Flags) -> Blocks:
    """Tables of an order.

    Args:
        blocks: Pairs of row and coordinate, block by block.
        columns: Coordinate of each local column, (rows, 14), -1 beyond the last.
        known: Which entries (rows, 14) can be other than zero and count: those of calculated and
            free coordinates.
    """
    lists = _Lists()
    for block in blocks:
        within = {column: j for j, (_, column) in enumerate(block)}
        for row, column in block:
            lists.add(row, column, columns[row], np.flatnonzero(known[row]), within)
    sizes = np.array([len(block) for block in blocks])
    return Blocks(
        row=_whole(lists.row),
        column=_whole(lists.column),
        start=_sums(sizes),
        place=_sums(sizes**2),
        inside_start=_whole(lists.inside_start),
        inside=_whole(lists.inside).reshape(-1, 2),
        outside_start=_whole(lists.outside_start),
        outside=_whole(lists.outside).reshape(-1, 2),
    )


class _Lists:
    """Collects the positions of an order, one by one."""

    def __init__(self) -> None:
        self.row: list[int] = []
        self.column: list[int] = []
        self.inside: list[tuple[int, int]] = []
        self.outside: list[tuple[int, int]] = []
        self.inside_start = [0]
        self.outside_start = [0]

    def add(
        self, row: int, column: int, columns: Integers, known: Integers, within: dict[int, int]
    ) -> None:
        """A row with its entries, those of its block and those outside it."""
        self.row.append(row)
        self.column.append(column)
        for k in known.tolist():
            other = int(columns[k])
            if other in within:
                self.inside.append((k, within[other]))
            else:
                self.outside.append((k, other))
        self.inside_start.append(len(self.inside))
        self.outside_start.append(len(self.outside))


def _whole(values: list[Any]) -> Integers:
    return np.array(values, dtype=np.int64)


def _sums(sizes: Integers) -> Integers:
    """Where each of some runs starts, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


@inlined
def _fill(blocks: Blocks, D: Floats, b: int, LU: Floats) -> float:
    """Put block b of the slopes into its place; return its largest entry."""
    first = blocks.start[b]
    at = blocks.place[b]
    n = blocks.start[b + 1] - first
    largest = 0.0
    for i in range(n * n):
        LU[at + i] = 0.0
    for i in range(n):
        row = blocks.row[first + i]
        begin = blocks.inside_start[first + i]
        end = blocks.inside_start[first + i + 1]
        for m in range(begin, end):
            value = D[row, blocks.inside[m, 0]]
            LU[at + i * n + blocks.inside[m, 1]] = value
            largest = max(largest, abs(value))
    return largest


@inlined
def _swap_values(x: Floats, one: int, other: int) -> None:
    """Exchange two values."""
    kept = x[one]
    x[one] = x[other]
    x[other] = kept


@inlined
def _exchange(LU: Floats, at: int, n: int, j: int) -> int:
    """Bring the largest entry of column j from its diagonal on to the diagonal; its row."""
    best = j
    largest = abs(LU[at + j * n + j])
    for i in range(j + 1, n):
        size = abs(LU[at + i * n + j])
        if size > largest:
            best = i
            largest = size
    if best != j:
        for k in range(n):
            _swap_values(LU, at + j * n + k, at + best * n + k)
    return best


@inlined
def factor(blocks: Blocks, D: Floats, LU: Floats, pivot: Integers) -> int:
    """Factors of every block at slopes D, (rows, 14).

    Returns:
        -1, or the first block that is singular.
    """
    for b in range(len(blocks.start) - 1):
        first = blocks.start[b]
        at = blocks.place[b]
        n = blocks.start[b + 1] - first
        largest = _fill(blocks, D, b, LU)
        for j in range(n):
            pivot[first + j] = _exchange(LU, at, n, j)
            top = at + j * n
            if not abs(LU[top + j]) > SINGULAR * largest:
                return b
            LU[top + j] = 1.0 / LU[top + j]
            for i in range(j + 1, n):
                here = at + i * n
                share = LU[here + j] * LU[top + j]
                LU[here + j] = share
                for k in range(j + 1, n):
                    LU[here + k] -= share * LU[top + k]
    return -1


@inlined
def solve(blocks: Blocks, D: Floats, LU: Floats, pivot: Integers, rhs: Floats, x: Floats) -> None:
    """Calculated coordinates x from J x = rhs; x comes with its free coordinates.

    Args:
        blocks: The order.
        D: Slopes, (rows, 14).
        LU: Factors of `factor`.
        pivot: Row exchanges of `factor`.
        rhs: Right-hand side of every row, (rows,).
        x: All coordinates; free ones are read, calculated ones written.
    """
    start, place, outside = blocks.start, blocks.place, blocks.outside
    row, column = blocks.row, blocks.column
    for b in range(len(start) - 1):
        first = start[b]
        last = start[b + 1]
        n = last - first
        for i in range(first, last):
            value = rhs[row[i]]
            for m in range(blocks.outside_start[i], blocks.outside_start[i + 1]):
                value -= D[row[i], outside[m, 0]] * x[outside[m, 1]]
            x[column[i]] = value
        for i in range(n):
            _swap_values(x, column[first + i], column[first + pivot[first + i]])
        for i in range(n):
            here = place[b] + i * n
            value = x[column[first + i]]
            for k in range(i):
                value -= LU[here + k] * x[column[first + k]]
            x[column[first + i]] = value
        for i in range(n - 1, -1, -1):
            here = place[b] + i * n
            value = x[column[first + i]]
            for k in range(i + 1, n):
                value -= LU[here + k] * x[column[first + k]]
            x[column[first + i]] = value * LU[here + i]


@inlined
def solve_transposed(
    blocks: Blocks, D: Floats, LU: Floats, pivot: Integers, g: Floats, s: Floats
) -> None:
    """Stresses s of the prescribed rows from J' s = g; g is left as g - D' s.

    Args:
        blocks: The order.
        D: Slopes, (rows, 14).
        LU: Factors of `factor`.
        pivot: Row exchanges of `factor`.
        g: Force on every coordinate; what is left of it on the free ones is what they need.
        s: Stress of every row, (rows,), of which the prescribed ones are written.
    """
    start, place, outside = blocks.start, blocks.place, blocks.outside
    row, column = blocks.row, blocks.column
    for b in range(len(start) - 2, -1, -1):
        first = start[b]
        at = place[b]
        n = start[b + 1] - first
        for i in range(n):
            value = g[column[first + i]]
            for k in range(i):
                value -= LU[at + k * n + i] * s[row[first + k]]
            s[row[first + i]] = value * LU[at + i * n + i]
        for i in range(n - 1, -1, -1):
            value = s[row[first + i]]
            for k in range(i + 1, n):
                value -= LU[at + k * n + i] * s[row[first + k]]
            s[row[first + i]] = value
        for i in range(n - 1, -1, -1):
            _swap_values(s, row[first + i], row[first + pivot[first + i]])
        for i in range(first, first + n):
            for m in range(blocks.outside_start[i], blocks.outside_start[i + 1]):
                g[outside[m, 1]] -= D[row[i], outside[m, 0]] * s[row[i]]

"""The tables of a structure for the kernels, packed once; what is not determined is refused."""

from __future__ import annotations

import numpy as np

from armtwin.elements import blocks, packing
from armtwin.elements.blocks import Integers
from armtwin.elements.packing import Tables
from armtwin.elements.rank import rank_problem
from armtwin.elements.structure import Structure
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Flags


def tables_of(structure: Structure) -> Tables:
    """Everything packed; a structure that is not determined is refused by a sentence."""
    if "tables" not in structure.kept:
        structure.kept["tables"] = _pack_tables(structure)
    tables: Tables = structure.kept["tables"]
    return tables


def _pack_tables(structure: Structure) -> Tables:
    columns, width = packing.columns(structure)
    pattern = packing.pattern(structure, columns, width)
    rows, unknowns = structure.prescribed_rows, structure.calculated_columns
    order = None
    if len(rows) == len(unknowns):
        order = blocks.order_blocks(_dense(pattern[rows], columns[rows], unknowns))
    if order is None:
        raise ArmtwinError(rank_problem(structure, structure.reference))
    pairs = []
    for block in order:
        pairs.append([(int(rows[i]), int(unknowns[j])) for i, j in block])
    modes = np.array(structure.column_modes)
    known = pattern & (modes[columns] != "held")
    return packing.pack(structure, columns, width, blocks.pack(pairs, columns, known))


def _dense(pattern: Flags, columns: Integers, unknowns: Integers) -> Flags:
    """Pattern of J, (rows, unknowns)."""
    width = int(max(columns.max(), unknowns.max())) + 1
    whole = np.zeros((len(pattern), width), dtype=bool)
    for row, entries in enumerate(pattern):
        whole[row, columns[row, entries]] = True
    return whole[:, unknowns]

"""The tables of a structure for the kernels, packed once; what is not determined is refused."""

from __future__ import annotations

import numpy as np

from armtwin.elements import blocks, packing
from armtwin.elements.packing import Tables
from armtwin.elements.rank import rank_problem
from armtwin.elements.structure import Structure
from armtwin.errors import ArmtwinError


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
        whole = np.zeros((len(pattern), len(structure.reference) + 1), dtype=bool)
        np.put_along_axis(whole, columns, pattern, axis=1)  # -1, beyond the last, is the added one
        order = blocks.order_blocks(whole[np.ix_(rows, unknowns)])
    if order is None:
        raise ArmtwinError(rank_problem(structure, structure.reference))
    pairs = []
    for block in order:
        pairs.append([(int(rows[i]), int(unknowns[j])) for i, j in block])
    modes = np.array(structure.column_modes)
    known = pattern & (modes[columns] != "held")
    return packing.pack(structure, columns, width, blocks.pack(pairs, columns, known))

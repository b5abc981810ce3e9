"""The tables of a structure for the kernels, packed once; what is not determined is refused."""

from __future__ import annotations

import numpy as np

from armtwin.elements import blocks
from armtwin.elements.packing import Tables, pack, pack_elements, pattern
from armtwin.elements.rank import rank_problem
from armtwin.elements.structure import Structure
from armtwin.elements.together import dense
from armtwin.errors import ArmtwinError


def tables_of(structure: Structure) -> Tables:
    """Everything packed; a structure that is not determined is refused by a sentence."""
    if "tables" not in structure.kept:
        structure.kept["tables"] = _pack_tables(structure)
    tables: Tables = structure.kept["tables"]
    return tables


def _pack_tables(structure: Structure) -> Tables:
    elements = pack_elements(structure)
    possible = pattern(elements)
    rows, unknowns = structure.prescribed_rows, structure.calculated_columns
    order = None
    if len(rows) == len(unknowns):
        whole = dense(elements, possible, len(structure.reference))
        order = blocks.order_blocks(whole[np.ix_(rows, unknowns)])
    if order is None:
        raise ArmtwinError(rank_problem(structure, structure.reference))
    pairs = []
    for block in order:
        pairs.append([(int(rows[i]), int(unknowns[j])) for i, j in block])
    modes = np.array(structure.column_modes)
    known = possible & (modes[elements.columns] != "held")
    return pack(structure, elements, blocks.pack(pairs, elements.columns, known))

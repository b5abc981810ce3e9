"""Finite elements: nodes, elements that measure deformations, and the mechanisms made of them."""

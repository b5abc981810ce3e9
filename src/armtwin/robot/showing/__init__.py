"""What a robot shows of itself: facts, tables, and its skeleton for the viewer."""

"""What nouns of all rooms show of themselves in Python and in notebooks: lines, tables, plots."""

"""What results show of themselves in Python and in notebooks: lines, tables, plots."""

"""Many predictions: what is run, the table of results, where it is run."""

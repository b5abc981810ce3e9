"""Jobs: a seam, a tool, a speed and a tolerance, as files."""

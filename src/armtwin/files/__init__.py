"""Files, knowing no format: opened and read within bounds, written whole or not at all."""

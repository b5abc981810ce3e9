"""Files: how they are opened and how much of them is read, knowing no format."""

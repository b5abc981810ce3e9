"""Robot programs: readers and writers of the dialects, one file each, and what they share."""

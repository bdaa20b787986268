"""Lines that match a pattern, in the files that the index knows."""

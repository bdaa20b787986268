"""Print results: for people as tables, for programs as JSON."""

"""Makes text, the output for people."""

"""Makes JSON, the output for programs."""

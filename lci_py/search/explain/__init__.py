"""What a score is made of, and what became of a file."""

"""The commands that answer a question about an index, a module each (`answering.Row`)."""

"""The commands that answer a question about an index; each module defines the `answering.Row` of a command."""

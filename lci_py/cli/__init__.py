"""The command line: parses flags into requests, and writes answers to streams with exit codes."""

"""The command line: flags to requests, answers to streams and exit codes."""

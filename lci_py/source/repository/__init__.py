"""Reads the files of a repository: the walk (which lists them), ignore rules, git, and workspaces."""

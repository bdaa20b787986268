"""The files of a repository: walk, ignore rules, git."""

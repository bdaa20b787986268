"""Which files a repository has: walk, ignore rules, git."""

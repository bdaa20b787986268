"""Output for programs."""

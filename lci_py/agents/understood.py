"""Why a file is left as it is."""

from __future__ import annotations


class NotUnderstoodError(Exception):
    """A file that this program must not change: it does not know what the file means, or whose it is."""

    def __init__(self, reason: str, *, ours: bool = False) -> None:
        """
        Args:
            reason: What is wrong with the file, to follow its name and a colon.
            ours: Whether there is something of lci in the file all the same.
        """
        super().__init__(reason)
        self.reason = reason
        self.ours = ours

"""What a search needs of a model, whatever it computes. For types only: no query pays for importing this."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class TextEncoder(Protocol):
    """`Encoder` (bags of tokens) and `ContextualEncoder` (text)."""

    @property
    def name(self) -> str: ...

    @property
    def sha256(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def reads_text(self) -> bool:
        """Whether it embeds chunks from their text (`encode_chunks`), not from bags (`encode_bags`)."""
        ...

    def encode_text(self, text: str, known: Callable[[str], list[int] | None] | None = None) -> NDArray[np.float32]:
        """Embed a query: [dimension], unit length, or zeros if it says nothing.

        Args:
            text: The query.
            known: Token ids of an identifier part if the index has them; only a model of bags asks.
        """
        ...

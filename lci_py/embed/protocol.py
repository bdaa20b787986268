"""The encoder as a search uses it. For types only, so that no query has to import this."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class TextEncoder(Protocol):
    """Implemented by `Encoder` (bags of tokens) and `ContextualEncoder` (text)."""

    @property
    def name(self) -> str: ...

    @property
    def sha256(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def reads_text(self) -> bool:
        """Whether it embeds the text of chunks (`encode_chunks`), not bags of tokens (`encode_bags`)."""
        ...

    def encode_text(
        self, text: str, known: Callable[[str], list[int] | None] | None = None, *, is_code: bool = False
    ) -> NDArray[np.float32]:
        """Embed a query: [dimension] of unit length, or zeros for a query without tokens.

        Args:
            is_code: Whether to embed the text as the chunks of an index are.
            known: Returns the token ids of an identifier part, or None if the index does not have it. Only a model of
                bags uses it.
        """
        ...

"""Opens a model folder with the encoder that fits it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lci_py.embed.folder import load_session
from lci_py.errors import BadModelError

if TYPE_CHECKING:
    from lci_py.embed.contextual import ContextualEncoder
    from lci_py.embed.encoder import Encoder
    from lci_py.embed.folder import ModelFolder


def open_encoder(folder: ModelFolder, *, threads: int = 1) -> Encoder | ContextualEncoder:
    """The encoder that fits the inputs of the model.

    Raises:
        BadModelError: The model or its tokenizer does not load, or the model is of neither kind.
    """
    from lci_py.embed.encoder import Encoder

    if folder.builtin:
        return Encoder(folder, threads=threads)  # tested, so it is loaded only when it is needed
    session = load_session(folder)
    names = {item.name for item in session.get_inputs()}
    if names - {"question"} == {"ids", "w"}:
        encoder = Encoder(folder, threads=threads)
        encoder.check()
        return encoder
    from lci_py.embed.contextual import INPUTS, ContextualEncoder

    if "input_ids" not in names or not names <= set(INPUTS):
        raise BadModelError(
            f"{folder.onnx}: its inputs are {', '.join(sorted(names)) or 'none'}",
            hint=f"an encoder takes input_ids and perhaps {' and '.join(INPUTS[1:])}, or ids and w (docs/model.md)",
        )
    return ContextualEncoder(folder, session, threads=threads)

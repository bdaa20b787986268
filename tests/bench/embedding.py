"""How fast text becomes vectors, on one core.

    python -m tests.bench.embedding FOLDER

Prints chunks per second from the chunks' texts to their vectors, as a build does it: splitting into words, counting and
tokenization included, parsing not. Also how long it takes to load the model and encode a first question, without
imports.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from lci_py.types.record import replace

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def main(folder: Path) -> None:
    import numpy as np
    import tokenizers  # noqa: F401

    from lci_py.embed.encoder import Encoder
    from lci_py.embed.folder import import_onnxruntime
    from lci_py.index.build.embedding import embed
    from lci_py.index.shards import text_fields
    from lci_py.index.shards.segment_rows import number_rows
    from lci_py.index.shards.term_counts import NumberedWords, chunk_bags
    from lci_py.source.file_record import count_words
    from lci_py.source.repository.walk import walk
    from tests.support.records import process_file

    import_onnxruntime()
    times = []
    for _ in range(5):
        start = time.perf_counter()
        Encoder().encode_text("where are expired sessions removed")
        times.append(time.perf_counter() - start)
    print(f"load and first question: {1e3 * times[0]:.1f} ms, again {1e3 * min(times):.1f} ms")

    records, texts = [], []
    for entry in walk(folder).files:
        record = process_file(folder, entry, texts=True)
        if not isinstance(record, str):
            records.append(record)
            texts.append([chunk.text for chunk in record.extract.chunks])
    chunks = sum(map(len, texts))
    start = time.perf_counter()
    counted = []
    for record, own in zip(records, texts, strict=True):
        words, bags = count_words(own)
        counted.append(replace(record, words=words, bags=bags))
    split = time.perf_counter()
    rows, numbered = number_rows(counted), NumberedWords()
    for record in counted:
        numbered.add(record.words)
    embedded = text_fields.embedded_words(rows, chunk_bags(counted, numbered), numbered.vocabulary)
    text = text_fields.TextFields({}, {}, numbered.vocabulary, embedded, chunks, len(counted))
    spread = time.perf_counter()
    vectors = np.asarray(embed(text, Encoder()).vectors)
    stop = time.perf_counter()
    assert np.isfinite(vectors).all()
    print(f"{chunks:,} chunks in {stop - start:.2f} s: {chunks / (stop - start):,.0f} chunks/s")
    print(f"  words {split - start:.2f} s, parts {spread - split:.2f} s, tokens and vectors {stop - spread:.2f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())

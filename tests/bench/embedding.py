"""How fast text becomes vectors, on one core: `python tests/bench/embedding.py FOLDER`.

From the text of the chunks (not the files: parsing is not counted) to their vectors, splitting into words, counting and
tokenization included, as a build does it; and from nothing to the vector of the first question, imports not counted.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

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
    from lci_py.index.shards.term_counts import Vocabulary, chunk_bags
    from lci_py.source.extract.extract import extract
    from lci_py.source.file_record import count_words, process_file
    from lci_py.source.repository.walk import walk
    from lci_py.source.syntax.languages import HEAD_BYTES, detect

    import_onnxruntime()
    times = []
    for _ in range(5):
        start = time.perf_counter()
        Encoder().encode_text("where are expired sessions removed")
        times.append(time.perf_counter() - start)
    print(f"load and first question: {1e3 * times[0]:.1f} ms, again {1e3 * min(times):.1f} ms")

    records, texts = [], []
    for entry in walk(folder).files:
        record = process_file(str(folder), entry)
        if not record.skip:
            data = (folder / entry.path).read_bytes()
            found = extract(entry.path, data, detect(entry.path, data[:HEAD_BYTES]))
            records.append(record)
            texts.append([chunk.text for chunk in found.chunks])
    chunks = sum(map(len, texts))
    start = time.perf_counter()
    counted = []
    for record, own in zip(records, texts, strict=True):
        words, bags = count_words(own)
        counted.append(replace(record, words=words, bags=bags))
    split = time.perf_counter()
    rows, vocabulary = number_rows(counted), Vocabulary()
    embedded = text_fields.embedded_words(rows, chunk_bags(counted, vocabulary), vocabulary)
    text = text_fields.TextFields([], {}, {}, vocabulary, embedded, chunks)
    spread = time.perf_counter()
    vectors = np.asarray(embed(text, Encoder()).vectors)
    stop = time.perf_counter()
    assert np.isfinite(vectors).all()
    print(f"{chunks:,} chunks in {stop - start:.2f} s: {chunks / (stop - start):,.0f} chunks/s")
    print(f"  words {split - start:.2f} s, parts {spread - split:.2f} s, tokens and vectors {stop - spread:.2f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())

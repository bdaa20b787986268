"""The work of a worker process: reads a file, and extracts it unless the cache has the record of that content.

The module imports neither numpy nor an encoder.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from lci_py import __version__
from lci_py.index.build.tasks import LOW_PRIORITY, Done, Task, Workplace
from lci_py.index.store.cache import Cache
from lci_py.source import record_codec
from lci_py.source.conditions import path_condition
from lci_py.source.dataflow.lower import is_followed
from lci_py.source.extract.extract import extract_stages
from lci_py.source.extract.manifests import MANIFESTS
from lci_py.source.file_record import define_data, process_stages
from lci_py.source.repository.content import content_reason
from lci_py.source.repository.files import read_file
from lci_py.source.repository.workspace import is_workspace
from lci_py.source.stated_values import is_own_code
from lci_py.source.syntax.languages import HEAD_BYTES, TEXT, QueryPart, detect, grammars_dir, load_languages
from lci_py.source.syntax.limits import UNPARSED
from lci_py.source.text import blake2b, digest
from lci_py.source.text.language_tables import has_rule
from lci_py.types.index import RECORD_FORMAT
from lci_py.types.source import FileRecord


def prepare_workers(staged: bool, *languages: Sequence[str]) -> None:
    """Load, before workers are forked, what they then share: the grammars for several batches; and, by extracting an
    empty file, the modules, tables and patterns that extraction loads when it first needs them.

    Args:
        staged: Whether the workers extract in stages.
        languages: The languages of each of the first batches.
    """
    for language in set.intersection(*map(set, languages)) if len(languages) > 1 else ():
        with suppress(Exception):  # what is wrong with a grammar is found again with the first file
            next(extract_stages("", b"", language, part=_first_part(staged)))


def _first_part(staged: bool) -> QueryPart:
    return QueryPart.DEFINITIONS if staged else QueryPart.WHOLE


def process_tasks(workplace: Workplace, tasks: list[Task], unparsable: str = "") -> list[Done]:
    """Extract the files of a batch. If `unparsable` states a reason, they are kept as plain text and not parsed."""
    shared = workplace.shared
    if len(shared) > 1 and is_workspace(workplace.root):  # a repository's files are in its own cache, if in any
        names = {task.entry.path.partition("/")[0] for task in tasks}
        shared = tuple(folder for folder in shared if folder.parent.name in names)
    if workplace.staged:
        gc.disable()  # its passes would go through all trees that are kept; of a small repository, cycles may stay
    folders = (workplace.index_dir, *shared) if workplace.use_cache else ()
    caches = [Cache(folder, workplace.secret) for folder in folders]
    try:
        return [_process(workplace, task, caches, unparsable) for task in tasks]
    finally:
        for cache in caches:
            cache.close()


#: The files of which only the first stage was sent: digest, key in the cache, and what makes the rest.
_begun: dict[str, tuple[str, bytes, Iterator[FileRecord]]] = {}


def finish_tasks(tasks: list[Task]) -> list[Done]:
    """Complete the records of files whose first stage this process extracted; other files get an empty result."""
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, LOW_PRIORITY)  # the search that waited for the first stage reads it now
    return [_finish(task) for task in tasks]


def _finish(task: Task) -> Done:
    begun = _begun.pop(task.entry.path, None)
    if begun is None:
        return Done(task.entry, "")
    sha, key, stages = begun
    record = next(stages)
    return Done(task.entry, sha, body=record_codec.encode(record), key=key, limit=record.limit)


def _cached_record(caches: Sequence[Cache], key: bytes) -> tuple[bytes, bool]:
    """(record, shared): the record from the first cache that has it, else b""; whether it is another index's cache."""
    for i, source in enumerate(caches):
        if body := source.get("records", [key]).get(key):
            return body, i > 0
    return b"", False


def _process(workplace: Workplace, task: Task, caches: Sequence[Cache], unparsable: str) -> Done:
    entry = task.entry
    if task.data is not None:
        return _process_blob(workplace, task, task.data, caches, unparsable)
    if task.key:
        body, shared = _cached_record(caches, task.key)
        if body:
            return Done(entry, task.sha, body=body, key=task.key, cached=True, shared=shared)
    data = read_file(workplace.root, entry.path)
    if isinstance(data, str):
        return Done(entry, digest(b""), skip=data)
    sha = digest(data)
    if reason := content_reason(entry.path, data, workplace.limits.max_line_bytes):
        return Done(entry, sha, skip=reason)
    language = detect(entry.path, data[:HEAD_BYTES])
    key = record_key(sha, entry.path, language, workplace)
    if sha in task.known:
        return Done(entry, sha, key=key)
    body, shared = _cached_record(caches, key)
    if body:
        return Done(entry, sha, body=body, key=key, cached=True, shared=shared)
    stages = process_stages(
        entry, data, language, texts=workplace.texts, limits=workplace.limits, flags=workplace.flags,
        unparsable=unparsable, part=_first_part(workplace.staged),
    )  # fmt: skip
    record = next(stages)
    staged = workplace.staged and language != TEXT and record.limit not in UNPARSED
    if staged:
        _begun[entry.path] = sha, key, stages
    else:
        record = next(stages, record)
    return Done(entry, sha, body=record_codec.encode(record), key=key, limit=record.limit, staged=staged)


def _process_blob(workplace: Workplace, task: Task, data: bytes, caches: Sequence[Cache], unparsable: str) -> Done:
    """Extract the definitions of another branch's version of a file."""
    # Not the whole record, which takes half as long again: if the branch is checked out, the file is parsed again.
    from lci_py.index.shards.branches import defined_in

    entry, oid = task.entry, task.oid
    sha = digest(data)
    if reason := content_reason(entry.path, data, workplace.limits.max_line_bytes):
        return Done(entry, sha, skip=reason, oid=oid)
    language = detect(entry.path, data[:HEAD_BYTES])
    key = record_key(sha, entry.path, language, workplace)
    body, _ = _cached_record(caches, key)
    if body:
        extract = record_codec.decode(body, record_codec.FileStat(entry.path, entry.size, 0, sha)).extract
        return Done(
            entry, sha, cached=True, limit=extract.limit, oid=oid, language=language, defined=defined_in(extract)
        )
    extract = define_data(
        entry.path, data, language, limits=workplace.limits, flags=workplace.flags, unparsable=unparsable
    )
    return Done(entry, sha, limit=extract.limit, oid=oid, language=language, defined=defined_in(extract))


def record_key(sha: str, path: str, language: str, workplace: Workplace) -> bytes:
    """The cache key of a record: a hash of everything that extraction depends on."""
    # Go has build constraints in file names, and a manifest names a package; elsewhere the folders can be a build
    # condition.
    base = path.rpartition("/")[2]
    name = base if has_rule(language, "packages") or base in MANIFESTS else path_condition(language, path) or ""
    options = f"{workplace.texts} {workplace.limits} {workplace.flags}"
    conditions = f"{options} {is_followed(path, language)} {is_own_code(path, language)}"
    parts = (str(RECORD_FORMAT), __version__, _extractor(language), sha, name, conditions)
    return blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=16).digest()


@cache
def _extractor(language: str) -> str:
    """A hash of the sizes and times of the files that extraction uses for a language: modules, grammar and queries."""
    files = sorted(Path(record_codec.__file__).parent.rglob("*.py"))
    if language != TEXT:
        spec = load_languages()[language]
        files += [grammars_dir() / language / "language.toml", *spec.query_files]
        module = find_spec(spec.module)
        for folder in (module.submodule_search_locations or ()) if module is not None else ():
            files += sorted(Path(folder).glob("_binding*"))
    name = blake2b(digest_size=16)
    for path in files:
        info = path.stat()
        name.update(f"{path.name} {info.st_size} {info.st_mtime_ns}\n".encode())
    return name.hexdigest()

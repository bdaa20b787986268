"""Which other forms of an English word code may use: resolution, resolve, resolver; valid, validate, validator.

Rules of derivation, no list of words: what they make need not be a word, and is looked up in a vocabulary. They read
and make *stems* (`words.stem`), in which plurals, -ing, -ed and a final e are gone already.

Source: the suffixes of Porter, Program 14(3), 1980, steps 2 to 4, as alternations instead of deletions, so that only
forms of one derivation meet (Krovetz, Viewing morphology as an inference process, SIGIR 1993); the alternations of
Latin verbs (resolve, resolution) after Marchand, The Categories and Types of Present-Day English Word-Formation, 1969.
"""

from __future__ import annotations

from functools import lru_cache

from lci_py.source.text.words import STOPWORDS, stem

#: Suffixes that a verb's stem takes, each with the shortest stem it is taken off: what is shorter is seldom a verb.
_SUFFIXES: tuple[tuple[str, int], ...] = (
    ("er", 4), ("or", 5), ("ion", 4), ("ation", 4), ("at", 5), ("ator", 4), ("ment", 4), ("ement", 4), ("abl", 4),
    ("ibl", 4), ("iv", 5), ("ativ", 5), ("ity", 5), ("ant", 5), ("ent", 5), ("anc", 5), ("enc", 5), ("ancy", 5),
    ("ency", 5),
)  # fmt: skip
#: The same with a change at the end of the stem: (what the verb ends with, what the derived word does). Each verb's
#: ending has its agent in -er or -or from `_SUFFIXES`.
_CHANGES: tuple[tuple[str, str], ...] = (
    ("lv", "lution"),  # resolve
    ("rib", "ription"),  # subscribe
    ("um", "umption"),  # consume
    ("ceiv", "ception"),  # receive
    ("uc", "uction"),  # reduce
    ("mit", "mission"),  # permit
    ("ced", "cession"),  # concede
    ("cid", "cision"),  # decide
    ("vid", "vision"),  # divide
    ("lud", "lusion"),  # include
    ("end", "ension"),  # extend
    ("and", "ansion"),  # expand
    ("vert", "version"),  # convert
    ("ir", "isition"),  # acquire
    ("fin", "finition"),  # define
    ("pos", "position"),  # compose
    ("pet", "petition"),  # compete
    ("y", "ication"),  # apply
    ("y", "ier"),  # modify
    ("y", "iabl"),  # justify
    ("y", "i"),  # applied
    ("ister", "istration"),  # register
    ("ov", "oval"),  # remove
    ("iev", "ieval"),  # retrieve
    ("ers", "ersal"),  # traverse
    ("pos", "posal"),  # dispose
    ("iz", "is"),  # serialise
    ("or", "our"),  # behaviour
)
#: A verb's final consonant that is doubled before -er and -ation: mapper, formatter, cancellation.
_DOUBLED = frozenset("bdfgklmnprt")
#: Words that are not derived from the word that is left of them.
_FALSE = frozenset(
    "better border buffer constant corner cover either folder former header important instant ladder latter layer "
    "letter lower master matter member mission number offer order paper power proper rather render station tender "
    "tower upper version water weather whether".split()
)
_STOPPED = frozenset(stem(word) for word in STOPWORDS)


@lru_cache(maxsize=4096)
def forms(word: str) -> tuple[str, ...]:
    """Stems of other forms of the word that a stem stands for, those of the base first; most of them are no words.

    Args:
        word: A stem.
    """
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return ()
    found: dict[str, None] = {}
    bases = _bases(word) if word not in _FALSE else []
    for base in bases or [word]:
        found.update(dict.fromkeys(_derived(base)))
    if bases:
        found.update(dict.fromkeys(_changed(word)))  # what looks like an agent may be a verb: register, registration
    return tuple(form for form in found if form != word and len(form) > 2 and form not in _STOPPED)


def _bases(word: str) -> list[str]:
    """Stems of the verb or the adjective that a word may be derived from."""
    found = [word[: -len(noun)] + verb for verb, noun in _CHANGES if _ends(word, noun)]
    for suffix, least in _SUFFIXES:
        base = word[: -len(suffix)]
        if word.endswith(suffix) and len(base) >= least:
            found.append(base)
            if base[-1] == base[-2] and base[-1] in _DOUBLED:
                found.append(base[:-1])
    if word.endswith("er") and len(word) == 5:
        found.append(word[:-1])  # timer: a stem of four letters keeps its e
    return list(dict.fromkeys(found))


def _ends(word: str, ending: str) -> bool:
    return word.endswith(ending) and len(word) - len(ending) >= 2


def _changed(verb: str) -> list[str]:
    return [verb[: -len(before)] + after for before, after in _CHANGES if _ends(verb, before)]


def _derived(base: str) -> list[str]:
    """A base, and the stems of what may be derived from it."""
    found = [base, *_changed(base), *(base + suffix for suffix, least in _SUFFIXES if len(base) >= least)]
    if len(base) >= 3 and base[-1] in _DOUBLED:
        found += [f"{base}{base[-1]}{suffix}" for suffix in ("er", "ation")]
    if len(base) == 4 and base.endswith("e"):
        found.append(f"{base}r")
    return found

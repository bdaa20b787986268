"""Other forms of an English word that code may use: resolution, resolve, resolver; valid, validate, validator.

These are rules of derivation, not a list of words: their results need not be words, and are looked up in a vocabulary.
They work on *stems* (`words.stem`), which have no plural, -ing, -ed or final e.

Source: the suffixes of Porter, Program 14(3), 1980, steps 2 to 4, as alternations instead of deletions, so that only
forms of one derivation meet (Krovetz, Viewing morphology as an inference process, SIGIR 1993); the alternations of
Latin verbs (resolve, resolution) after Marchand, The Categories and Types of Present-Day English Word-Formation, 1969.
"""

from __future__ import annotations

from functools import lru_cache

from lci_py.source.text.words import STOPWORDS, stem

#: Suffixes of words derived from verbs, each with the least length of the verb's stem: shorter ones are seldom verbs.
_SUFFIXES: tuple[tuple[str, int], ...] = (
    ("er", 4), ("or", 5), ("ion", 4), ("ation", 4), ("at", 5), ("ator", 4), ("ment", 4), ("ement", 4), ("abl", 4),
    ("ibl", 4), ("iv", 5), ("ativ", 5), ("ity", 5), ("ant", 5), ("ent", 5), ("anc", 5), ("enc", 5), ("ancy", 5),
    ("ency", 5),
)  # fmt: skip
#: Derivations that change the end of the stem: (ending of the verb, ending of the derived word).
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
#: Final consonants of verbs that are doubled before -er and -ation: mapper, formatter, cancellation.
_DOUBLED = frozenset("bdfgklmnprt")
#: Words that are not derived from what is left without their suffix.
_FALSE = frozenset(
    "better border buffer constant corner cover either folder former header important instant ladder latter layer "
    "letter lower master matter member mission number offer order paper power proper rather render station tender "
    "tower upper version water weather whether".split()
)
_STOPPED = frozenset(stem(word) for word in STOPWORDS)


@lru_cache(maxsize=4096)
def forms(word: str) -> tuple[str, ...]:
    """Stems of other forms of a word (itself a stem), those of its base first. Most of them are not words."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return ()
    found: dict[str, None] = {}
    bases = _bases(word) if word not in _FALSE else []
    for base in bases or [word]:
        found.update(dict.fromkeys(_derived_stems(base)))
    if bases:
        found.update(dict.fromkeys(_changed_stems(word)))  # a word in -er may be a verb: register, registration
    return tuple(form for form in found if form != word and len(form) > 2 and form not in _STOPPED)


def _bases(word: str) -> list[str]:
    """Stems of verbs and adjectives that a word may be derived from."""
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


def _changed_stems(verb: str) -> list[str]:
    return [verb[: -len(before)] + after for before, after in _CHANGES if _ends(verb, before)]


def _derived_stems(base: str) -> list[str]:
    """A base, and the stems of words that may be derived from it."""
    found = [base, *_changed_stems(base), *(base + suffix for suffix, least in _SUFFIXES if len(base) >= least)]
    if len(base) >= 3 and base[-1] in _DOUBLED:
        found += [f"{base}{base[-1]}{suffix}" for suffix in ("er", "ation")]
    if len(base) == 4 and base.endswith("e"):
        found.append(f"{base}r")
    return found

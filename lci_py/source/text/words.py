"""Splits text into words and words into parts, for BM25 and embeddings alike.

A *word* is a run of letters, digits and underscores of the text. Its *parts* are separated by camelCase, digits and
underscores, and are in lower case. Each distinct word is split once per index build.

It also derives forms of an English word that code may use: resolution, resolve, resolver; valid, validate, validator.

The forms come from rules of derivation, not from a list of words: the results need not be words, and are looked up in
a vocabulary. The rules work on *stems* (`words.stem`), which have no plural, -ing, -ed or final e.

Source: the suffixes of Porter, Program 14(3), 1980, steps 2 to 4, as alternations instead of deletions, so that only
forms of one derivation meet (Krovetz, Viewing morphology as an inference process, SIGIR 1993); the alternations of
Latin verbs (resolve, resolution) after Marchand, The Categories and Types of Present-Day English Word-Formation, 1969.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

WORD = re.compile(r"\w+")
#: Acronyms, capitalised or lower-case runs (letters beyond ASCII count as lower case), digits.
_PART = re.compile(r"[A-Z]+(?![^\W\dA-Z_])|[A-Z]?[^\W\dA-Z_]+|\d+")
#: Longer words are hashes or encoded data: they are cut to this length and not split.
MAX_WORD = 80

#: Words that carry no meaning in a question about code. Dropped from a query unless nothing else is left.
STOPWORDS = frozenset(
    "a an and are as at be been being but by can could did do does doing done each for from had has have having how i "
    "if in into is it its let me my of off on onto or our should so some such than that the their them then there "
    "these they this those through to too under up us use used uses using via was we were what when where which while "
    "who whose why will with within would you your code file files function functions implementation implemented "
    "implement implements defined definition work works handled handle handles happen happens".split()
)
# From "code" on: words that carry no meaning in a question about code ("how is X implemented").


def parts(word: str) -> tuple[str, ...]:
    """The parts of a word: get, http, response and 2 of `getHTTPResponse_2`. A long word is its own single part."""
    if len(word) > MAX_WORD:
        return (word[:MAX_WORD].lower(),)
    if not word.isascii():
        word = unicodedata.normalize("NFKC", word)
    return tuple(part.lower() for part in _PART.findall(word))


def located_parts(word: str) -> list[tuple[int, int, str]]:
    """(start, end, part) of each part of an ASCII word."""
    if len(word) > MAX_WORD:
        return [(0, len(word), word[:MAX_WORD].lower())]
    return [(match.start(), match.end(), match.group().lower()) for match in _PART.finditer(word)]


def joined_spelling(word: str) -> str:
    """The word in lower case and without underscores, which is the same for `get_http` and `getHttp`."""
    return word.replace("_", "").lower()[:MAX_WORD]


def stem(part: str) -> str:
    """Strip the suffixes of English plurals, -ing and -ed; the result is never shorter than three letters.

    Source: the step 1 rules of Porter, Program 14(3), 1980, without the later steps, which conflate too much code.
    """
    if len(part) < 4 or not part.isascii():
        return part
    if part.endswith("ies") and len(part) > 4:
        part = part[:-3] + "y"
    elif part.endswith(("sses", "shes", "ches", "xes", "zes")):
        part = part[:-2]
    elif part.endswith("s") and not part.endswith(("ss", "us", "is")):
        part = part[:-1]
    for suffix in ("ing", "ed"):
        base = part[: -len(suffix)]
        if part.endswith(suffix) and len(base) >= 3 and any(c in "aeiouy" for c in base):
            part = base
            if len(part) > 3 and part[-1] == part[-2] and part[-1] not in "lsz":
                part = part[:-1]
            break
    return part[:-1] if part.endswith("e") and len(part) > 4 else part


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
    """Stems of other forms of `word` (itself a stem); first, forms of its base. Most of these stems are no words."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return ()
    stems: dict[str, None] = {}
    bases = _bases(word) if word not in _FALSE else []
    for base in bases or [word]:
        stems.update(dict.fromkeys(_derived_stems(base)))
    if bases:
        stems.update(dict.fromkeys(_changed_stems(word)))  # a word in -er may be a verb: register, registration
    return tuple(form for form in stems if form != word and len(form) > 2 and form not in _STOPPED)


def _bases(word: str) -> list[str]:
    """Stems of verbs and adjectives that a word may be derived from."""
    bases = [word[: -len(noun)] + verb for verb, noun in _CHANGES if _ends(word, noun)]
    for suffix, length in _SUFFIXES:
        base = word[: -len(suffix)]
        if word.endswith(suffix) and len(base) >= length:
            bases.append(base)
            if base[-1] == base[-2] and base[-1] in _DOUBLED:
                bases.append(base[:-1])
    if word.endswith("er") and len(word) == 5:
        bases.append(word[:-1])  # timer: a stem of four letters keeps its e
    return list(dict.fromkeys(bases))


def _ends(word: str, ending: str) -> bool:
    return word.endswith(ending) and len(word) - len(ending) >= 2


def _changed_stems(verb: str) -> list[str]:
    return [verb[: -len(before)] + after for before, after in _CHANGES if _ends(verb, before)]


def _derived_stems(base: str) -> list[str]:
    """The stem `base`, and the stems of words that may be derived from it."""
    stems = [base, *_changed_stems(base), *(base + suffix for suffix, length in _SUFFIXES if len(base) >= length)]
    if len(base) >= 3 and base[-1] in _DOUBLED:
        stems += [f"{base}{base[-1]}{suffix}" for suffix in ("er", "ation")]
    if len(base) == 4 and base.endswith("e"):
        stems.append(f"{base}r")
    return stems

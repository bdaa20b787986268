"""Other wordings of a query: at most three, each of one of its words, each of words that the index has.

A rewrite adds terms of less weight to those of the query, and never takes one away. docs/ranking.md says what they gain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lci_py.source.morphology import forms
from lci_py.source.words import MAX_WORD, stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lci_py.index.bm25 import LexicalIndex
    from lci_py.index.related import RelatedTerms
    from lci_py.search.query import TextQuery

#: Rewrites of a query, and words that each adds.
MOST, MOST_FORMS = 3, 2
#: What an added term counts beside the query's own: of the weight of the word that it stands for.
FORM_WEIGHT, RELATED_WEIGHT = 0.5, 0.5
#: Files that must agree on an abbreviation; in one file alone, declarations.
LEAST_FILES, LEAST_DECLARED = 2, 3
#: An abbreviation counts if it has this part of the evidence of the best one of the same word.
LEAST_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Another wording of one word of a query.

    Attributes:
        text: What a person is shown, such as `resolution ~ resolver (morphology)`.
        of: The query's term that it stands for.
        terms: Terms of the index, and what each counts.
        spelled: Names for the symbolic view, joined, and how much of a match each is.
    """

    text: str
    of: str
    terms: tuple[tuple[str, float], ...]
    spelled: tuple[tuple[str, float], ...] = ()

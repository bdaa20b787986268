"""How the claims of a file are read, by its path: as code, a document or a configuration file, or not at all."""

from __future__ import annotations

import re

from lci_py.source.text.patterns import lazily

CODE, PROSE, CONFIG = "code", "prose", "config"
#: Folders that say nothing about this project today: tests, examples, foreign code, history, translations.
_ELSEWHERE = lazily(
    r"(?:^|/)(?:(?:[^/]*[-_.])?(?:tests?|specs?|fixtures?|mocks?|examples?|samples?|demos?|bench|benches|benchmarks?"
    r"|playgrounds?|tutorials?|snippets?|golden|snapshots?|testing|e2e|fuzz|stubs?|integration)(?:[-_.][^/]*)?"
    r"|t|vendor\w*|third[-_]?party|node_modules|external|extern|deps|dist|build|out|target|generated|gen"
    r"|archives?|legacy|blog|posts|news|rfcs?|adrs?|proposals|release[-_]?notes?|releases|changelogs?|whatsnew"
    r"|locales?|i18n|l10n|translations?|versioned_\w+|v?\d+(?:\.[\dx]+)*)/",
    re.IGNORECASE,
)
#: Settings of other programs.
_BUNDLER = lazily(r"\.config\.[cm]?[jt]s$")
_DOCS = lazily(r"(?:^|/)(?:docs?|documentation|website|site|wiki|guides?|manual)(?:_src)?/", re.IGNORECASE)
#: Folders whose documents are pages of the program itself, such as templates of a web site.
_PAGES = lazily(r"templates|static|public|assets|resources|content|src|app", re.IGNORECASE)
_HISTORY = lazily(
    r"(?:change|changes|changelog|history|news|release\w*|upgrad\w*|migrat\w*|whatsnew|authors|license|todo|roadmap"
    r"|contributing|security|benchmark\w*)(?:[-_.][^/]*)?$",
    re.IGNORECASE,
)
_TRANSLATED = lazily(
    r"[-_.](?:zh|cn|tw|ja|jp|ko|kr|fr|de|es|pt|br|ru|it|tr|pl|uk|vi|id|ar|fa|hi|th|nl|cs|he)(?:[-_][a-z]{2,4})?\.\w+$",
    re.IGNORECASE,
)
_PROSE = lazily(r"\.(?:md|mdx|markdown|rst|adoc|asciidoc)$", re.IGNORECASE)
_PLAIN = lazily(r"(?:^|/)(?:readme|install|usage|config\w*)(?:\.txt)?$|(?:^|/)docs?/(?:.*/)?[^/]+\.txt$", re.IGNORECASE)
_SUFFIXES = frozenset(("ini", "cfg", "conf", "cnf", "properties", "toml", "yaml", "yml"))
#: Settings of tools that build and check, which are not documented in the project.
_TOOLS = frozenset(("tox.ini", "setup.cfg", "pytest.ini", "mypy.ini", "alembic.ini", "pylintrc.ini", "codecov.yml"))
_TEMPLATE = lazily(r"(?:^|[-_.])(?:example|sample|template|tmpl|dist|defaults?)(?=$|[-_.])", re.IGNORECASE)
_TEMPLATE_END = lazily(r"[-_.](?:example|sample|template|tmpl|dist|default)$", re.IGNORECASE)
#: Names of files with values for one machine or stage.
_STAGE = lazily(
    r"[-_.](?:prod\w*|dev\w*|tests?|testing|stag\w*|ci|local|override|debug|qa|e2e|docker|k8s|release)(?=$|[-_.])",
    re.IGNORECASE,
)
_SETTINGS = lazily(r"conf(?:ig)?|settings?|options?|defaults?|param(?:eter)?s|preferences|args", re.IGNORECASE)


def place_kind(path: str, language: str) -> str:
    """The kind of place that a file is, "" if its claims do not count. Part of the key of its record in the cache."""
    from lci_py.source.syntax.languages import TEXT, is_test  # a reader of the index needs no grammars

    base = path.rpartition("/")[2]
    if is_elsewhere(path) or is_test(path):
        return ""
    if language not in (TEXT, "markdown"):
        return "" if _DOCS.search(path) else CODE
    if _PROSE.search(base) or (language == TEXT and _PLAIN.search(path)):
        return "" if _HISTORY.match(base) or _TRANSLATED.search(base) else PROSE
    lower = base.lower()
    if lower.startswith(".env") or lower.endswith(".env") or ".env." in lower:
        return "" if _STAGE.search(base) else CONFIG
    if lower.startswith(("dockerfile", "containerfile")) or lower.endswith(".dockerfile"):
        return CONFIG
    suffix = _TEMPLATE_END.sub("", lower).rpartition(".")[2]
    return CONFIG if suffix in _SUFFIXES and lower not in _TOOLS and not _STAGE.search(base) else ""


def is_elsewhere(path: str) -> bool:
    """Whether a file says nothing about this project: it is an example, foreign code, history or a translation."""
    folder, _, base = path.rpartition("/")
    return bool(_ELSEWHERE.search(f"{folder}/") or _BUNDLER.search(base)) or "example" in base.lower().partition(".")[0]


def is_template(path: str) -> bool:
    """Whether a configuration file holds defaults: `.env.example`, `defaults.yaml`, the `values.yaml` of a chart."""
    base = path.rpartition("/")[2]
    return bool(_TEMPLATE.search(base)) or base.lower() in ("values.yaml", "values.yml")


def documented_folder(path: str) -> str:
    """The folder whose code a document is about: its own, or the parent of its folder of documents; "" for all."""
    folder = path.rpartition("/")[0]
    found = _DOCS.search(f"/{folder}/")
    around = folder[: max(found.start() - 1, 0)] if found else folder
    return "" if found and _PAGES.fullmatch(around) else around


def is_documentation(path: str) -> bool:
    """Whether a file is in a folder of documents, where code only shows how something is used."""
    return bool(_DOCS.search(path))


def is_configuration(path: str, scope: str) -> bool:
    """Whether code is about settings, by the name of its file or of the scope around it."""
    base = path.rpartition("/")[2].partition(".")[0]
    return bool(_SETTINGS.search(base) or _SETTINGS.search(scope))

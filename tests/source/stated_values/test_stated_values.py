"""Values of settings in files: one table per kind of place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from lci_py.source import stated_values
from lci_py.source.extract.extract import extract
from lci_py.source.stated_values import is_own_code, is_secret
from lci_py.source.stated_values.code_defaults import flags, tables
from lci_py.source.stated_values.values import COMPUTED, agree, code_value, word
from lci_py.source.stated_values.wording import form_of, holds, stated_defaults

# --- constants ----------------------------------------------------------------------------------------------------

CONSTANTS = [
    ("python", "constant", "MAX_RETRIES", "MAX_RETRIES: int = 1_000", "1000"),
    ("python", "constant", "RATIO", "RATIO = 60.0", "60"),
    ("python", "constant", "SIZES", "SIZES = 1, 2", COMPUTED),
    ("python", "constant", "LIMIT", "LIMIT = None", ""),
    ("python", "constant", "NAME", "NAME = 'a' + suffix", COMPUTED),
    ("python", "constant", "WAIT", "WAIT = timedelta(minutes=5)", "5min"),
    ("python", "constant", "EVENT_DONE", 'EVENT_DONE = "event-done"', ""),  # only its own name
    ("python", "variable", "high", "low, high = 0, 10", COMPUTED),
    ("go", "constant", "DefaultTTL", "DefaultTTL = 5 * time.Minute", "5min"),
    ("go", "constant", "maxSize", "maxSize = 10 << 20", "10485760"),
    ("go", "variable", "limit", "var limit int = 0x10", "16"),
    ("c", "macro", "BUFFER", "#define BUFFER (4 * 1024)", "4096"),
    ("c", "macro", "MIN", "#define MIN(a, b) 1", ""),
    ("c", "macro", "GUARD_H", "#define GUARD_H", ""),
    ("c", "macro", "MODE", "# define MODE 0644 /* of files */", "420"),
    ("c", "enum_member", "REJECT", "REJECT = 4", "4"),
    ("java", "constant", "MAX", "private static final long MAX = 100L, MIN = 1", "100"),
    ("java", "constant", "IDLE", "static final long IDLE = TimeUnit.MINUTES.toMillis(10)", "10min"),
    ("rust", "constant", "CAPACITY", "pub const CAPACITY: usize = 16_usize", "16"),
    ("rust", "constant", "PAUSE", "const PAUSE: Duration = Duration::from_millis(250)", "250ms"),
    ("elixir", "constant", "max_items", "@max_items 100", "100"),
    ("javascript", "property", "retries", "retries: 3", "3"),
    ("typescript", "property", "retries", "retries: number", ""),  # of an interface: a type
    ("typescript", "field", "retries", "private retries?: number = 3", "3"),
    ("php", "field", "attempts", "protected int $attempts = 0", "0"),
    ("ruby", "field", "@@opened", "@@opened = 2", "2"),
    ("bash", "constant", "RELEASES", "RELEASES=5", "5"),
    ("kotlin", "constant", "CURRENCY", 'const val CURRENCY = "EUR"', '"EUR"'),
    ("swift", "property", "isFast", "var isFast = true", "true"),
]


@pytest.mark.parametrize(("language", "kind", "name", "signature", "expected"), CONSTANTS, ids=lambda v: str(v)[:30])
def test_what_a_constant_is_given(language: str, kind: str, name: str, signature: str, expected: str) -> None:
    assert code_value(language, kind, name, signature) == expected


# --- defaults in code ---------------------------------------------------------------------------------------------

DEFAULTS = [
    ("python", 'p.add_argument("-t", "--time-out", type=int, default=60)', "--time-out 60"),
    ("python", '@click.option("--time-out/--no-time-out", default=True)\ndef f(): pass', "--time-out true"),
    ("python", 'p.add_argument("--one")\np.add_argument("--time-out", default=2)', "--time-out 2"),
    ("javascript", "program.option('-t, --time-out <ms>', 'how long', 60);", "--time-out 60"),
    ("go", 'var x = flag.Duration("time-out", 30*time.Second, "how long")', "--time-out 30s"),
    ("go", 'func f() { c.Flags().IntVarP(&x, "time-out", "t", 60, "x") }', "--time-out 60"),
    ("rust", "struct A {\n #[arg(long, default_value_t = 60)]\n time_out: u64,\n}", "--time-out 60"),
    ("rust", "struct A {\n #[arg(default_value_t = 60)]\n time_out: u64,\n}", ""),
]


@pytest.mark.parametrize(("language", "source", "expected"), DEFAULTS, ids=range(len(DEFAULTS)))
def test_defaults_of_flags(language: str, source: str, expected: str) -> None:
    assert " ".join(f"{name} {value}" for _, name, value in flags(language, source.encode())) == expected


TABLES = [
    ("var DefaultConfig = Config{\n\tMaxWait: time.Minute,\n\tIn: In{Deep_one: 5},\n}", "MaxWait=1min"),
    ("impl Default for A {\n fn default() -> Self {\n  A { max_wait: 5, b: c }\n }\n}", "max_wait=5"),
    ("DEFAULTS = { max_wait: 5, 'a' => 1 }", "max_wait=5"),
    ('DEFAULTS = {"max_wait": 5, "other_one": f()}', "max_wait=5"),
    ('OPTIONS = {"max_wait": 5}', ""),
]


@pytest.mark.parametrize(("source", "expected"), TABLES, ids=range(len(TABLES)))
def test_tables_of_defaults(source: str, expected: str) -> None:
    literal = [f"{name}={value}" for _, name, value in tables(source) if value != COMPUTED]
    assert literal == expected.split()


# --- comments -----------------------------------------------------------------------------------------------------

#: What a comment says, and what the code beside it does, if they differ.
COMMENTS = [
    ("python", "def f(aa=5):\n    \"\"\"F.\n\n    Args:\n        aa (int): Rows. Defaults to 6.\n    \"\"\"", "f.aa 6@5 5@1"),
    ("python", 'def f(aa=5):\n    """F.\n\n    :param int aa: rows, 6 by default\n    """', "f.aa 6@4 5@1"),
    ("python", 'def f(aa=5):\n    """F.\n\n    aa : int, default 6\n        Rows.\n    """', "f.aa 6@4 5@1"),
    ("python", 'class A:\n    """A.\n\n    aa: Rows. Defaults to 6.\n    """\n\n    def __init__(self, aa=5): pass', "A.aa 6@4 5@7"),
    ("python", "# Rows of a page, 6 unless configured.\nPAGE_SIZE = 5", "PAGE_SIZE 6@1 5@2"),
    ("python", 'p.add_argument("--rows", default=5, help="rows (default: 6)")', "--rows 6@1 5@1"),
    ("python", "size_of: int = Field(default=5, description='rows, 6 by default')", "size_of 6@1 5@1"),
    ("javascript", "/**\n * @param {number} [aa=6] rows\n */\nfunction f (aa = 5) {}", "f.aa 6@2 5@4"),
    (
        "javascript",
        "/**\n * @param {number} [o.rows=6]\n */\nfunction f (o) {\n  const { rows = 5 } = options\n}",
        "f.rows 6@2 5@5",
    ),
    ("typescript", "class A {\n  /** Rows (default: 6). */\n  rows = 5\n}", "A.rows 6@2 5@3"),
    (
        "typescript",
        "interface A {\n  /** @default 6 */\n  rows?: number\n}\nexport const defaultA: A = {\n  rows: 5,\n}",
        "A.rows 6@2 5@6",
    ),
    ("go", "package p\n\n// MaxRows is 6 by default.\nconst MaxRows = 5", "p.MaxRows 6@3 5@4"),
    ("go", 'package p\nvar x = flag.Int("rows-of", 5, "rows (default 6)")', "--rows-of 6@2 5@2"),
    (
        "rust",
        "struct A {\n    /// Rows. Default: 6.\n    rows: u8,\n}\nimpl Default for A {\n    fn default() -> Self {\n"
        "        A { rows: 5 }\n    }\n}",
        "A.rows 6@2 5@7",
    ),
    ("rust", "struct A {\n    /// Rows, 6 by default.\n    #[arg(long, default_value = \"5\")]\n    row_count: u8,\n}",
     'A.row_count 6@2 "5"@3'),
    ("java", "class A {\n    /** Defaults to {@code true}. */\n    boolean rows = false;\n}", "A.rows true@2 false@3"),
    ("ruby", "# @param wait [Integer] seconds (defaults to 6)\ndef f(q, wait: 5); end", "f.wait 6@1 5@2"),
    ("c", "/* Bytes: 16 KB by default. */\n#define SIZE_OF (32 * 1024)", "SIZE_OF 16KB@1 32768@2"),
    # They agree, say nothing, or speak of something else.
    ("python", "# Seconds of a page, 5000 ms by default.\nPAGE_TIME = 5", ""),
    ("python", "# At least 6 by default.\nPAGE_SIZE = 5", ""),
    ("python", "# Like `OTHER_SIZE`, which is 6 by default.\nPAGE_SIZE = 5", ""),
    ("python", "# It was 6 by default.\nPAGE_SIZE = 5", ""),
    ("python", "# pypinfo defaults to 6 rows.\nPAGE_SIZE = 5", ""),
    ("python", "# It defaults to 6 rows.\nPAGE_SIZE = 5", "PAGE_SIZE 6@1 5@2"),
    ("python", "# Starts above the default 6 value.\nPAGE_SIZE = 5", ""),
    ("c", '/* Name of the default ":load" file. */\n#define LOAD_FILE "a"', ""),
    ("c", '/* "a.raw" by default. */\n#define HINT_FILE "AUDIO_FILE"', ""),
    ("javascript", "const given = {\n  // Rows, 6 by default\n  rows: 5,\n}", ""),
    ("javascript", "const DEFAULTS = {\n  // Rows, 6 by default\n  rows: 5,\n}", "DEFAULTS.rows 6@2 5@3"),
    ("python", "# 6 by default, 7 by default on a server.\nPAGE_SIZE = 5", ""),
    ("python", "# 6 unless the file is large.\nPAGE_SIZE = 5", ""),
    ("python", "# 6 by default.\nPAGE_SIZE = size()", ""),
    ("python", 'def f(aa=None):\n    """F.\n\n    :param aa: rows, 6 by default\n    """', ""),
    ("python", 'def f(aa=0):\n    """F.\n\n    :param aa: rows, 6 by default\n    """', ""),
]  # fmt: skip


@pytest.mark.parametrize(("language", "source", "expected"), COMMENTS, ids=range(len(COMMENTS)))
def test_comments_that_contradict_the_code_beside_them(language: str, source: str, expected: str) -> None:
    found = extract("src/a", source.encode(), language).claims
    said = [claim for claim in found if claim.how == "comment"]
    code = [claim for claim in found if claim.how == "beside"]
    assert [claim.name for claim in said] == [claim.name for claim in code]
    shown = [f"{one.name} {one.value}@{one.line} {two.value}@{two.line}" for one, two in zip(said, code, strict=True)]
    assert shown == ([expected] if expected else [])


# --- sentences ----------------------------------------------------------------------------------------------------

SENTENCES = [
    ("(default: 10)", "10"),
    ("rows when a page is full. Default: `10`.", "10"),
    ("defaults to **10** rows.", "10"),
    ("is 5 minutes by default.", "5min"),
    ("how long to wait [default: 60]", "60"),
    ("(default 1,000)", "1000"),
    ("where (default: /var/lib)", '"/var/lib"'),
    ("at most 10 by default.", ""),
    ("Set it to 10 unless you want more.", ""),
    ("see it for the default one.", ""),
    ("Since 2.1, it defaults to 10.", ""),
    # Another time, or another case.
    ("was 10 by default.", ""),
    ("Before 2.0 it defaults to 10.", ""),
    ("defaults to 10 on Linux.", ""),
    ("defaults to 10 or 20.", ""),
    ("defaults to `10` (fallback: `5`).", ""),
    ("defaults to `OTHER_SIZE`.", ""),
    ("defaults to `size()`.", ""),
]


@pytest.mark.parametrize(("text", "expected"), SENTENCES, ids=range(len(SENTENCES)))
def test_defaults_in_sentences(text: str, expected: str) -> None:
    forms = [form_of(one.value) for one in stated_defaults(text) if holds(text, one)]
    assert [form for form in forms if form] == ([expected] if expected else [])


# --- names, values, places ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("60", "60", True), ("60", "61", False), ("60s", "1min", True), ("60", "1min", True), ("300000", "5min", True),
        ("60", "2min", False), ("10485760", "10MB", True), ("10000000", "10MB", True), ("10", "10MB", True),
        ("60s", "10MB", None), ("0.5", "50%", True), ("true", "false", False), ("true", "1", True), ("false", "1", None), ("true", "7", None),
        ('"60"', "60", True), ('"60"', "61", False), ('"true"', "true", True), ('"INFO"', '"info"', True),
        ('"logging.INFO"', '"INFO"', True), ('"a"', '"b"', False), ('"TERM"', '"SIGTERM"', None), ('"a b"', '"c d"', None), ('"a"', "60", None),
        ("?", "60", None), ("nonsense", "60", None),
    ],
)  # fmt: skip
def test_whether_two_values_say_the_same(one: str, other: str, expected: bool | None) -> None:
    assert agree(one, other) is expected
    assert agree(other, one) is expected


@given(st.text(max_size=40))
def test_any_word_has_a_form_that_agrees_with_itself(text: str) -> None:
    form = word(text)
    assert form == "" or agree(form, form) in (True, None)


@pytest.mark.parametrize(
    ("path", "language", "expected"),
    [
        ("notes.txt", "text", False), ("vendor/a.py", "python", False), ("examples/a.py", "python", False),
        ("tests/a.py", "python", False), ("docs/a.py", "python", False), ("latest/inspect.py", "python", True),
    ],
)  # fmt: skip
def test_which_files_are_code_of_the_program(path: str, language: str, expected: bool) -> None:
    assert is_own_code(path, language) is expected


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("DB_PASSWORD", "60", True), ("API_KEY", '"abc"', True), ("SIGNING_TOKEN", "1234567890", True),
        ("SERVICE_URL", '"http://a:b@c/"', True), ("BLOB_ID", f'"{"a1" * 12}"', True), ("TOKEN_SECONDS", "60", False),
    ],
)  # fmt: skip
def test_credentials_are_never_kept(name: str, value: str, expected: bool) -> None:
    assert is_secret(name, value) is expected


def test_a_file_of_claims_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    many = "\n".join(f"# {i + 1} by default.\nSETTING_{i} = {i + 2}" for i in range(50))
    assert len(extract("a.py", many.encode(), "python").claims) == 100 < stated_values.MAX_CLAIMS
    monkeypatch.setattr(stated_values, "MAX_CLAIMS", 20)
    assert 0 < len(extract("a.py", many.encode(), "python").claims) <= 20


HOSTILE: dict[str, Any] = {
    "ticks": "`" * 50_000 + " default: 1",
    "names": "DEFAULT_A " * 20_000,
    "defaults": "default: `A_B` " * 5_000,
    "brackets": "POOL_SIZE (default: " + "(" * 10_000,
    "dots": "a." * 30_000 + " default",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_comments_are_read_without_trouble(name: str) -> None:
    extract("a.py", f"# {HOSTILE[name]}\nPAGE_SIZE = 5\n".encode(), "python")


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    source = f'def f(aa=5):\n    """F.\n\n    aa: {text}\n    """\n'
    for claim in extract("a.py", source.encode("utf-8", "replace"), "python").claims:
        assert 1 <= claim.line <= source.count("\n") + 1

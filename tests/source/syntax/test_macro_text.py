"""Macros of C that are rewritten before parsing."""

from __future__ import annotations

import pytest

from lci_py.source.extract.extract import extract
from lci_py.source.extract.occurrences import finder, marked_occurrences, occurrences
from lci_py.source.syntax.languages import load_languages
from lci_py.source.syntax.limits import DEFAULTS, Limits
from lci_py.source.syntax.macro_text import macro_text
from lci_py.types.source import Extract


def found(source: str, language: str = "c", macros: tuple[str, ...] = ()) -> Extract:
    return extract("a.c", source.encode(), language, Limits(macros=macros))


def names(source: str, language: str = "c", macros: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    return [(symbol.kind, symbol.name) for symbol in found(source, language, macros).symbols]


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("static __always_inline __alloc_size(1) void *take(size_t size, gfp_t flags)", "take"),
        ("static int __init start(char __user *text, struct page __rcu *page)", "start"),
        ("void __must_check *__alloc_size(1, 2) grow(int a)", "grow"),
        ("asmlinkage __visible void __sched leave(void) __releases(lock) __acquires(&other->lock)", "leave"),
        ("API_CALL int ask(int a)", "ask"),
        ("LIB_EXTERN status_t ask(int a)", "ask"),
        ("static noinline bool __printf(2, 3) say(int a, const char *format, ...)", "say"),
    ],
)
def test_attributes_around_a_declarator(head: str, name: str) -> None:
    one = found(f"int before;\n{head}\n{{\n\treturn other(a);\n}}\nint after;\n")
    assert [(symbol.name, symbol.line, symbol.end_line) for symbol in one.symbols] == [
        ("before", 1, 1), (name, 2, 5), ("after", 6, 6),
    ]  # fmt: skip
    assert one.symbols[1].signature == head
    assert [call.name for call in one.calls] == ["other"]
    assert not one.has_errors or head.startswith("LIB")


def test_the_definition_of_an_attribute_is_found() -> None:
    source = (
        '#define __init __attribute__((section("init")))\n#ifdef __weak\n# undef __weak\n#endif\nint x __init = 1;\n'
    )
    assert names(source) == [("macro", "__init"), ("variable", "x")]


def test_loops_are_no_functions() -> None:
    source = """
void f(void)
{
	for_each_cpu(cpu) {
		g(cpu);
	}
	list_for_each_entry(pos, &head->list,
				node) {
		h(pos);
	}
	FOREACH(x, y)
		k(x);
	do {
		l(1);
	} while_each_thread(a, b);
	guard(lock) {
		m(1);
	}
	each_node(n, get(1)) {
	}
}
int after(void) { return 0; }
"""
    one = found(source, macros=("loop each_node",))
    assert [(symbol.name, symbol.line, symbol.end_line) for symbol in one.symbols] == [("f", 2, 21), ("after", 22, 22)]
    assert sorted((call.name, call.caller) for call in one.calls) == [
        ("FOREACH", 0), ("each_node", 0), ("for_each_cpu", 0), ("g", 0), ("get", 0), ("guard", 0), ("h", 0), ("k", 0),
        ("l", 0), ("list_for_each_entry", 0), ("m", 0), ("while_each_thread", 0),
    ]  # fmt: skip
    assert not one.has_errors


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("SYSCALL_DEFINE4(openat, int, dfd, const char __user *, name,\n\t\tint, flags)\n{\n}", ("function", "openat")),
        ("COMPAT_SYSCALL_DEFINE0(getpid)\n{\n}", ("function", "getpid")),
        ("TEST(suite, works) {\n}", ("function", "works")),
        ("TEST(alone) {\n}", ("function", "alone")),
        ("DEFUN (\"car\", Fcar, Scar, 1, 1, 0)\n  (Object list)\n{\n}", ("function", "Fcar")),
        ("static DEFINE_MUTEX(lock);", ("variable", "lock")),
        ("DEFINE_PER_CPU(struct list *, heads[N]) = { 0 };", ("variable", "heads")),
        ("LIST_HEAD(all);", ("variable", "all")),
        ("POOL(struct item, pool, 4);", ("variable", "pool")),
        ("\tMY_CASE(one, (two, three)) {\n}", ("function", "one")),
    ],
)  # fmt: skip
def test_what_macros_define(source: str, wanted: tuple[str, str]) -> None:
    one = found(f"{source}\nint after;\n", macros=("variable_2 POOL", "function_1 MY_CASE"))
    assert [(symbol.kind, symbol.name) for symbol in one.symbols] == [wanted, ("variable", "after")]
    assert not one.has_errors
    assert one.symbols[0].signature == " ".join(source.partition("{\n")[0].split()).rstrip(";")
    assert one.symbols[0].end_line == source.count("\n") + 1
    macro = source.split("(")[0].split()[-1]
    assert [(call.name, call.caller, call.line) for call in one.calls] == [(macro, -1, 1)]


@pytest.mark.parametrize(
    "source",
    [
        "#define SYSCALL_DEFINE1(name) long name(void) {",
        "#define OTHER(x) \\\n  SYSCALL_DEFINE1(x) { }",
        "BENCHMARK(run_it);",
        "LIST_HEAD(names, entry) all_names;",
        "TEST(\"text\") {\n}",
        "TEST(",
        "TEST()",
        "TEST(a",
    ],
)  # fmt: skip
def test_where_they_define_nothing(source: str) -> None:
    spec = load_languages()["c"]
    assert macro_text(spec.macros).rewritten(source.encode()) == (source.encode(), [])


def test_cpp_has_a_table_too() -> None:
    source = "BENCHMARK_F(Fixture, reads)(State& state) {\n  run();\n}\nBENCHMARK(plain) {\n}\n"
    assert names(source, "cpp") == [("function", "reads"), ("function", "plain")]


def test_comments_and_names_in_directives() -> None:
    source = """#define SHOW(x) do { /* first */ \\
	print(x); /* (second) \\
	second */ \\
	flush(x); \\
} while (0)
#define A(x) /* one */ ask(x) /* two */
#define LOG(format, args...) write_log(format, ##args)
int after(void) { return 1; }
"""
    one = found(source)
    assert [(symbol.kind, symbol.name, symbol.end_line) for symbol in one.symbols] == [
        ("macro", "SHOW", 5), ("macro", "A", 6), ("macro", "LOG", 7), ("function", "after", 8),
    ]  # fmt: skip
    assert sorted(call.name for call in one.calls) == ["ask", "flush", "print", "write_log"]
    assert not one.has_errors


def test_an_else_in_a_conditional() -> None:
    source = """int f(int x)
{
	if (x) {
		a();
	}
#ifdef B
	else if (x > 2) {
		b();
	}
#else
	else
		c();
#endif
	goto out;
out:	d();
	return 0;
}
int g(void) { return 0; }
"""
    one = found(source)
    assert [(symbol.name, symbol.line, symbol.end_line) for symbol in one.symbols] == [("f", 1, 17), ("g", 18, 18)]
    assert [(call.name, call.caller) for call in one.calls] == [("a", 0), ("b", 0), ("c", 0), ("d", 0)]


def test_a_type_as_an_argument() -> None:
    assert not found("void f(void) { g = container_of(p, struct list, head); }\n").has_errors


def test_references_to_rewritten_macros() -> None:
    source = (
        b"/* __init */\nstatic DEFINE_MUTEX(lock);\nint __init f(void)\n{\n\treturn 0;\n}\nSYSCALL_DEFINE0(g)\n{\n}\n"
    )
    one = extract("a.c", source, "c")
    for name, places in {
        "__init": [(3, 5, "reference")],
        "DEFINE_MUTEX": [(2, 8, "call")],
        "SYSCALL_DEFINE0": [(7, 1, "call")],
        "lock": [(2, 21, "definition")],
    }.items():
        assert occurrences(source, "c", finder(name), DEFAULTS, name) == places, name
        assert marked_occurrences(source, "c", finder(name), name, one.marks) == places, name


@pytest.mark.parametrize(
    "piece",
    ["TEST(", "\tfor_each(", "#if x\nelse\n", "#define f \\\n", "struct a,", "__printf(", "} while_each(", "/*"],
)
def test_hostile_repetitions_stay_cheap(piece: str) -> None:
    rewrite = macro_text(load_languages()["c"].macros).rewritten
    source = piece.encode() * 3_000
    rewritten, _ = rewrite(source)  # quadratic work would take minutes
    assert len(rewritten) == len(source) and rewritten.count(b"\n") == source.count(b"\n")

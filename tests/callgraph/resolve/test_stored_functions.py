"""Calls through function pointers in C, and which functions of a name a call can mean."""

from __future__ import annotations

import pytest

from lci_py.types.edges import AMBIGUOUS, CALLS, STEPS
from lci_py.types.expressions import head_name
from tests.support.segments import extracted, full


def callees(files: dict[str, str], caller: str) -> dict[str, tuple[str, bool]]:
    """`path::name` of what a function calls, with the step, and whether the call may mean others as well."""
    links = full(files)
    names = [f"{path}::{symbol.name}" for path in sorted(files) for symbol in extracted(path, files[path]).symbols]
    rows = zip(links.source.tolist(), links.target.tolist(), links.kind.tolist(), links.step.tolist(), strict=True)
    return {
        names[target]: (STEPS[step & ~AMBIGUOUS], bool(step & AMBIGUOUS))
        for source, target, kind, step in rows
        if kind == CALLS and source < len(names) and names[source] == caller
    }


HEADER = "struct s { int v; int (*f)(void); };\n"
CALL = '#include "s.h"\nint go(struct s *x) { return x->f(); }\n'
FUNCTIONS = "".join(f"static int f{number}(void) {{ return {number}; }}\n" for number in range(40))


def stored(count: int, type_: str = "struct s") -> str:
    return FUNCTIONS + "".join(f"{type_} t{number} = {{.f = f{number}}};\n" for number in range(count))


@pytest.mark.parametrize(
    "text",
    [
        "struct s t = {.f = h};",
        "struct s t = {1, h};",
        "struct s t[2] = {{.f = h}, {2, 0}};",
        "struct s t[] = {[1] = {1, &h}};",
        "typedef struct s s_t;\nstatic const s_t t = {1, (int (*)(void)) h};".replace("(int (*)(void)) ", ""),
        "void set(struct s *x) { x->f = h; }",
        "void set(struct s x[]) { x[0].f = &h; }",
        "void set(struct s *x) { *x = (struct s){.f = h}; }",
        "void init(struct s *x, int (*p)(void)) { x->f = p; }\nvoid set(struct s *x) { init(x, h); }",
        "struct o { struct s *in; };\nvoid set(struct o *o) { o->in->f = h; }",
    ],
)
def test_what_a_field_holds(text: str) -> None:
    files = {"s.h": HEADER, "a.c": CALL, "b.c": f'#include "s.h"\nstatic int h(void) {{ return 1; }}\n{text}\n'}
    assert callees(files, "a.c::go") == {"b.c::h": ("field", False)}


@pytest.mark.parametrize(
    "text",
    [
        "/* struct s t = {.f = h}; */",
        'const char *t = "x->f = h;";',
        "struct r { int (*f)(void); } t = {.f = h};\nstruct s u = {.f = k};",  # the field of another type
        "void set(struct s *x, int h) { x->v = h; x->f = 0; }",
        "void set(struct s *x) { int h = 1; x->f = h; }",  # a local of the name
    ],
)
def test_what_a_field_does_not_hold(text: str) -> None:
    files = {"s.h": HEADER, "a.c": CALL, "b.c": f'#include "s.h"\nstatic int h(void) {{ return 1; }}\n{text}\n'}
    assert "b.c::h" not in callees(files, "a.c::go")


def test_a_field_with_many_functions_says_nothing() -> None:
    assert len(callees({"s.h": HEADER, "a.c": CALL, "b.c": stored(32)}, "a.c::go")) == 32
    assert callees({"s.h": HEADER, "a.c": CALL, "b.c": stored(33)}, "a.c::go") == {}


def test_a_call_does_not_look_at_each_of_many_files_that_store_there() -> None:
    # Static functions of one name, as drivers have them: with a look at each, linking takes quadratic time.
    def look_ups(count: int) -> int:
        own = '#include "s.h"\nstatic int open(void) { return 1; }\nstruct s t = {.f = open};\n'
        links = full({"s.h": HEADER, "a.c": CALL} | {f"d{number:03}.c": own for number in range(count)})
        return int(links.key_start[1])

    assert look_ups(120) == look_ups(60)


def test_the_name_of_a_field_is_enough_if_few_functions_are_stored_there() -> None:
    call = "int go(void) { return find()->f(); }\n"
    found = callees({"a.c": call, "b.c": stored(1)}, "a.c::go")
    assert found == {"b.c::f0": ("field", True)}
    assert len(callees({"a.c": call, "b.c": stored(4)}, "a.c::go")) == 4
    assert callees({"a.c": call, "b.c": stored(5)}, "a.c::go") == {}


def test_what_tests_store_counts_in_tests() -> None:
    files = {"s.h": HEADER, "a.c": CALL, "tests/a.c": CALL, "tests/b.c": stored(1)}
    assert callees(files, "a.c::go") == {}
    assert callees(files, "tests/a.c::go") == {"tests/b.c::f0": ("field", False)}


def test_a_macro_calls_what_is_passed_to_it() -> None:
    macros = "#define ONE(f, x) (f(x))\n#define TWO(f, x) ONE(f, x)\n#define TEXT(f, x) #f\n"
    code = "static int h(int x) { return x; }\n"
    for macro, wanted in (("ONE", True), ("TWO", True), ("TEXT", False)):
        found = callees({"a.c": f"{macros}{code}int go(void) {{ return {macro}(h, 1); }}\n"}, "a.c::go")
        assert ("a.c::h" in found) is wanted, macro


def test_a_static_function_is_seen_in_its_file_and_where_that_is_included() -> None:
    files = {"a.c": "static int f(void) { return 1; }\n", "b.c": "int go(void) { return f(); }\n"}
    assert callees(files, "b.c::go") == {}
    files["b.c"] = '#include "a.c"\n' + files["b.c"]
    assert callees(files, "b.c::go") == {"a.c::f": ("package", False)}
    assert callees({"a.h": files["a.c"], "b.c": "int go(void) { return f(); }\n"}, "b.c::go")


def test_of_several_programs_the_nearest_definitions_count() -> None:
    one = "int f(void) { return 1; }\n"
    files = {"one/f.c": one, "two/f.c": one, "one/go.c": "int go(void) { return f(); }\n", "three/f.c": one}
    assert callees(files, "one/go.c::go") == {"one/f.c::f": ("package", True)}
    files["one/go.c"] = '#include "f.h"\nint go(void) { return f(); }\n'
    files |= {"lib/f.h": "int f(void);\n", "lib/g.c": one}
    assert callees({**files, "one/f.c": "int g;\n"}, "one/go.c::go").keys() == {"two/f.c::f", "three/f.c::f"}


def test_what_locals_are_given_comes_in_the_order_of_the_calls() -> None:
    """Not in that of a set, which differs from run to run: the same content has the same record."""
    names = [f"pick_{letter}" for letter in "hbqzaxem"]
    text = "struct s { int x; };\n" + "".join(f"int {name}_one(void) {{ return 1; }}\n" for name in names)
    text += "int run(void)\n{\n" + "".join(f"\tint (*{name})(void) = {name}_one;\n" for name in names)
    text += "\treturn " + " + ".join(f"{name}()" for name in names) + ";\n}\n"
    held = [item.owner for item in extracted("a.c", text).stored if head_name(item.value).endswith("_one")]
    assert list(dict.fromkeys(held)) == names

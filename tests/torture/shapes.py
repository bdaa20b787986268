"""Sources with very deep nesting or very many repetitions, per language, which break parsers and naive recursion.

Every shape is a function of a count, so that a test can measure how the cost grows. Lines are short, since files with a
very long line are not parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

Shape = Callable[[int], bytes]

#: Language -> (file suffix, text before an expression, text after it).
EXPRESSION: dict[str, tuple[str, str, str]] = {
    "bash": (".sh", "x=$((", "))\n"),
    "c": (".c", "int x =\n", ";\n"),
    "cpp": (".cpp", "int x =\n", ";\n"),
    "csharp": (".cs", "class C { int x =\n", "; }\n"),
    "elixir": (".ex", "x =\n", "\n"),
    "go": (".go", "package p\nvar x =\n", "\n"),
    "hcl": (".tf", "locals {\nx =\n", "\n}\n"),
    "make": (".mk", "x = ", "\n"),
    "haskell": (".hs", "x =\n ", "\n"),
    "java": (".java", "class C { int x =\n", "; }\n"),
    "javascript": (".js", "x =\n", ";\n"),
    "kotlin": (".kt", "val x =\n", "\n"),
    "lua": (".lua", "x =\n", "\n"),
    "markdown": (".md", "", "\n"),
    "ocaml": (".ml", "let x =\n", "\n"),
    "php": (".php", "<?php\n$x =\n", ";\n"),
    "python": (".py", "x = ", "\n"),
    "ruby": (".rb", "x =\n", "\n"),
    "rust": (".rs", "fn f() { let x =\n", "; }\n"),
    "scala": (".scala", "val x =\n", "\n"),
    "swift": (".swift", "let x =\n", "\n"),
    "tsx": (".tsx", "x =\n", ";\n"),
    "typescript": (".ts", "x =\n", ";\n"),
    "zig": (".zig", "const x =\n", ";\n"),
    "dart": (".dart", "var x =\n", ";\n"),
    "dockerfile": (".dockerfile", "FROM a\nRUN x ", "\n"),
    "julia": (".jl", "x =\n", "\n"),
    "nix": (".nix", "{ x =\n", "; }\n"),
    "perl": (".pl", "my $x =\n", ";\n"),
    "powershell": (".ps1", "$x =\n", "\n"),
}

#: Language -> (opening, closing) of a definition that can contain another of its kind.
NESTED: dict[str, tuple[str, str]] = {
    "bash": ("f() {\n", "}\n"),
    "c": ("struct s {\n", "} m;\n"),
    "cpp": ("namespace n {\n", "}\n"),
    "csharp": ("class C {\n", "}\n"),
    "elixir": ("defmodule M do\n", "end\n"),
    "go": ("func() {\n", "}()\n"),
    "haskell": ("f = let g = do\n", ""),
    "hcl": ("b {\n", "}\n"),
    "make": ("ifdef A\n", "endif\n"),
    "java": ("class C {\n", "}\n"),
    "javascript": ("function f() {\n", "}\n"),
    "kotlin": ("class C {\n", "}\n"),
    "lua": ("function f()\n", "end\n"),
    "markdown": ("> ", ""),
    "ocaml": ("module M = struct\n", "end\n"),
    "php": ("function f() {\n", "}\n"),
    "python": ("class C:\n", ""),
    "ruby": ("class C\n", "end\n"),
    "rust": ("mod m {\n", "}\n"),
    "scala": ("object O {\n", "}\n"),
    "swift": ("class C {\n", "}\n"),
    "tsx": ("<div>\n", "</div>\n"),
    "typescript": ("namespace n {\n", "}\n"),
    "zig": ("const S = struct {\n", "};\n"),
    "dart": ("f() {\n", "}\n"),
    "dockerfile": ("FROM a AS b\n", ""),
    "julia": ("module M\n", "end\n"),
    "nix": ("{ a =\n", "; }\n"),
    "perl": ("sub f {\n", "}\n"),
    "powershell": ("function f {\n", "}\n"),
}

#: Language -> one member of a chain of conditions, and how the chain starts.
CHAIN: dict[str, tuple[str, str]] = {
    "bash": ("if a; then b\n", "elif a; then b\n"),
    "c": ("void f(void) { if (a) b();\n", "else if (a) b();\n"),
    "cpp": ("void f() { if (a) b();\n", "else if (a) b();\n"),
    "csharp": ("class C { void f() { if (a) b();\n", "else if (a) b();\n"),
    "elixir": ("x = a\n", "|> f()\n"),
    "go": ("package p\nfunc f() { if a { b() ", "} else if a { b()\n"),
    "hcl": ("locals {\n  x = a ? b : ", "a ? b : "),
    "make": ("ifdef A\n", "else ifdef A\n"),
    "haskell": ("f x = if x then a\n", " else if x then a\n"),
    "java": ("class C { void f() { if (a) b();\n", "else if (a) b();\n"),
    "javascript": ("if (a) b();\n", "else if (a) b();\n"),
    "kotlin": ("fun f() { if (a) b()\n", "else if (a) b()\n"),
    "lua": ("if a then b()\n", "elseif a then b()\n"),
    "markdown": ("a\n", "- a\n"),
    "ocaml": ("let f a = if a then b ()\n", "else if a then b ()\n"),
    "php": ("<?php if ($a) b();\n", "else if ($a) b();\n"),
    "python": ("if a:\n  b()\n", "elif a:\n  b()\n"),
    "ruby": ("if a\n", "elsif a\n b\n"),
    "rust": ("fn f() { if a { b() ", "} else if a { b()\n"),
    "scala": ("def f = if (a) b\n", " else if (a) b\n"),
    "swift": ("func f() { if a { b() ", "} else if a { b()\n"),
    "tsx": ("if (a) b();\n", "else if (a) b();\n"),
    "typescript": ("if (a) b();\n", "else if (a) b();\n"),
    "zig": ("fn f() void { if (a) b()\n", "else if (a) b()\n"),
    "dart": ("f() { if (a) b();\n", "else if (a) b();\n"),
    "dockerfile": ("FROM a\nRUN a", " \\\n && a"),
    "julia": ("if a\n", "elseif a\n b()\n"),
    "nix": ("{ x = if a then b\n", "else if a then b\n"),
    "perl": ("if (a()) { b(); }\n", "elsif (a()) { b(); }\n"),
    "powershell": ("if ($a) { b }\n", "elseif ($a) { b }\n"),
}

#: Language -> the opening and closing of a comment; some nest.
COMMENT: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("haskell",), ("{- ", "-}")),
    **dict.fromkeys(("ocaml",), ("(* ", "*)")),
    **dict.fromkeys(("lua",), ("--[[ ", "]]")),
    **dict.fromkeys(("markdown",), ("<!-- ", "-->")),
    **dict.fromkeys(("python", "elixir"), ('""" ', '"""')),
    **dict.fromkeys(("ruby",), ("=begin\n", "=end\n")),
    **dict.fromkeys(("bash",), ("<<A\n", "A\n")),
}

#: Language -> the opening and closing of type arguments.
GENERIC: dict[str, tuple[str, str, str]] = {
    **dict.fromkeys(("cpp", "csharp", "java"), ("class X : A<\n", ">\n", " {};\n")),
    **dict.fromkeys(("rust", "swift", "typescript", "tsx"), ("type X = A<\n", ">\n", ";\n")),
    "kotlin": ("val x: A<\n", ">\n", "\n"),
    "scala": ("type X = A[\n", "]\n", "\n"),
    "go": ("package p\ntype X = A[\n", "]\n", "\n"),
    "python": ("x: A[\n", "]\n", "\n"),
}


def brackets(language: str, pair: str, *, closed: bool) -> Shape:
    """`count` opening brackets, and as many closing ones or none."""
    _, before, after = EXPRESSION[language]
    opening, closing = pair

    def shape(count: int) -> bytes:
        # Ten to a line: a bracket per line would make newline-sensitive grammars end the expression.
        row = opening * 10 + "\n"
        inner = row * (count // 10)
        end = "1" + (closing * 10 + "\n") * (count // 10) + after if closed else ""
        return (before + inner + end).encode()

    return shape


def nested(language: str, *, closed: bool = True) -> Shape:
    opening, closing = NESTED[language]

    def shape(count: int) -> bytes:
        if language == "python":
            # One more blank of indentation per level, so the size is quadratic in the depth.
            depth = min(count, 1500)
            return "".join(" " * level + opening for level in range(depth)).encode() + b" " * depth + b"pass\n"
        if language == "markdown":
            return "\n".join("> " * level + "a" for level in range(1, min(count, 1500))).encode()
        before = {"go": "package p\nfunc f() {\n", "php": "<?php\n", "tsx": "x = (\n"}.get(language, "")
        return (before + opening * count + (closing * count if closed else "")).encode()

    return shape


def chain(language: str) -> Shape:
    first, more = CHAIN[language]
    return lambda count: (first + more * count).encode()


def repeated(language: str, part: str) -> Shape:
    """A long expression of one operator or call after another."""
    _, before, after = EXPRESSION[language]
    return lambda count: (before + "a" + part * count + after).encode()


def comments(language: str) -> Shape:
    opening, closing = COMMENT.get(language, ("/* ", "*/"))
    return lambda count: ((opening * 10 + "\n") * (count // 10) + (closing * 10 + "\n") * (count // 10)).encode()


def generics(language: str) -> Shape:
    before, closing, after = GENERIC[language]
    inner = before[before.index("A") :]
    return lambda count: (before + inner * count + "B\n" + closing * (count + 1) + after).encode()


def quotes(count: int) -> bytes:
    return b"\n".join(b">" * min(level, 5000) + b" a" for level in range(0, count, max(1, count // 50)))


def lists(count: int) -> bytes:
    return b"\n".join(b" " * (2 * level) + b"- a" for level in range(min(count, 1200)))


def shapes() -> Iterator[tuple[str, str, Shape]]:
    """(language, name, shape) of every shape."""
    for language in EXPRESSION:
        for pair in ("()", "[]", "{}"):
            yield language, f"open {pair}", brackets(language, pair, closed=False)
            yield language, f"closed {pair}", brackets(language, pair, closed=True)
        yield language, "nested definitions", nested(language)
        yield language, "definitions without an end", nested(language, closed=False)
        yield language, "else if", chain(language)
        yield language, "operators", repeated(language, "\n+ a" if language != "go" else " +\na")
        yield language, "calls", repeated(language, ".f()\n" if language != "python" else ".f(\n)")
        yield language, "comments", comments(language)
        if language in GENERIC:
            yield language, "generics", generics(language)
    yield "markdown", "quotes", quotes
    yield "markdown", "lists", lists
    yield "javascript", "elements", lambda count: ("x = (\n" + "<a>\n" * count + "</a>\n" * count + ");\n").encode()
    yield "cpp", "templates", lambda count: ("template <class T>\n" * count + "void f();\n").encode()
    yield "c", "conditions", lambda count: ("#if A\n" * count + "int x;\n" + "#endif\n" * count).encode()
    yield "c", "unfinished conditions", lambda count: ("#if A\n#else\n" * count).encode()
    yield "rust", "attributes", lambda count: ("#[cfg(all(x, not(y)))]\n" * count + "fn f() {}\n").encode()
    yield "python", "decorators", lambda count: ("@a.b(c)\n" * count + "def f(): pass\n").encode()
    yield "python", "lambdas", lambda count: ("x = (\n" + "lambda:\n" * count + "1)\n").encode()
    yield "python", "f-strings", lambda count: ("x = (" + "f'{\n" * count + "1" + "}'\n" * count + ")\n").encode()
    yield "bash", "substitutions", lambda count: ("x=" + "$(a\n" * count + ")" * count + "\n").encode()
    yield "ruby", "heredocs", lambda count: ("f(<<A" + ", <<A" * min(count, 2000) + ")\n" + "a\nA\n" * count).encode()
    yield (
        "haskell",
        "layout",
        lambda count: ("f = do\n" + "".join(" " * i + "do\n" for i in range(1, min(count, 1500)))).encode(),
    )
    yield "swift", "closures", lambda count: ("f {\n" * count + "}\n" * count).encode()
    yield "php", "templates", lambda count: ("<?php if (a): ?>\n<p>\n" * count).encode()
    yield "javascript", "template strings", lambda count: ("x = " + "`${\n" * count + "1" + "}`\n" * count).encode()
    yield "javascript", "arrows", lambda count: ("x = " + "a =>\n" * count + "1;\n").encode()
    yield (
        "typescript",
        "conditional types",
        lambda count: ("type X = " + "A extends B ? C :\n" * count + "D;\n").encode(),
    )

"""Conditions compared as logic."""

from __future__ import annotations

import pytest

from lci_py.search.conflicts.logic import Machine, holds, implies, never, together
from lci_py.source.conditions import negate

#: language, one, other, whether both can hold
PAIRS = [
    line.split(" | ")
    for line in r"""
go | linux | windows | no
go | linux | linux && amd64 | yes
go | linux | android | yes
go | !linux | android | no
go | darwin | ios | yes
go | solaris | illumos | yes
go | darwin | linux | no
go | unix | windows | no
go | unix | !windows && !plan9 && !js | yes
go | unix | plan9 | no
go | !unix | linux || darwin | no
go | !unix | js | yes
go | amd64 | arm64 | no
go | amd64 | windows | yes
go | js | amd64 | no
go | js && wasm | wasip1 && wasm | no
go | wasm | !js && !wasip1 | no
go | s390x | !linux && !zos | no
go | gc | gccgo | no
go | gc | !gccgo | yes
go | go1.20 | !go1.18 | no
go | go1.18 | !go1.20 | yes
go | amd64.v3 | arm64 | no
go | amd64.v3 | amd64 && !amd64.v2 | no
go | amd64.v2 | amd64 && !amd64.v3 | yes
go | cgo | !cgo | no
go | cgo | netgo | yes
go | linux && (cgo || osusergo) | linux && !(cgo || osusergo) | no
go | linux && (cgo || osusergo) | !cgo | yes
go | (linux && cgo) || (darwin && !cgo) | linux && !cgo | no
go | ignore | linux | no
go | (darwin \|\| linux) && !cgo | windows | no
c | defined(_WIN32) | !defined(_WIN32) | no
c | defined(_WIN32) | defined(__linux__) | no
c | defined(_WIN32) | defined(__unix__) | no
c | _WIN32 | __linux__ | no
c | defined(__CYGWIN__) | defined(__unix__) | yes
c | defined(__CYGWIN__) | defined(_WIN32) | no
c | defined(__ANDROID__) | defined(__linux__) | yes
c | defined(__ANDROID__) | !defined(__linux__) | no
c | defined(_WIN64) | !defined(_WIN32) | no
c | defined(_WIN64) | defined(_M_IX86) | no
c | defined(_MSC_VER) | defined(__GNUC__) | no
c | defined(_MSC_VER) | defined(__linux__) | no
c | defined(_MSC_VER) | defined(__clang__) | yes
c | defined(__clang__) && defined(__linux__) | !defined(__GNUC__) | no
c | defined(__MINGW32__) | defined(_MSC_VER) | no
c | defined(__MINGW32__) | !defined(_WIN32) | no
c | defined(__APPLE__) | defined(__FreeBSD__) | no
c | defined(__APPLE__) | defined(__MACH__) | yes
c | defined(__x86_64__) | defined(__aarch64__) | no
c | defined(__x86_64__) | defined(_M_X64) | yes
c | TARGET_OS_IPHONE | !defined(__APPLE__) | no
c | TARGET_OS_IPHONE | TARGET_OS_OSX | no
c | defined(TARGET_OS_IPHONE) | TARGET_OS_OSX | yes
c | X > 1 | !defined(X) | no
c | X < 1 | !defined(X) | yes
c | X | !defined(X) | no
c | !X | defined(X) | yes
c | !X | X | no
c | X == 0 | !defined(X) | yes
c | X == 1 | X == 2 | no
c | X >= 2 | X < 2 | no
c | X >= 2 | !(X >= 2) | no
c | X > 1 | X < 2 | no
c | X > 1 | X <= 2 | yes
c | 2 <= X | X < 2 | no
c | X == 0x10 | X == 16 | yes
c | X != 1 | X == 1 | no
c | _MSC_VER < 1900 | !defined(_MSC_VER) | yes
c | _MSC_VER >= 1900 | !defined(_MSC_VER) | no
c | _MSC_VER >= 1900 | defined(_MSC_VER) && _MSC_VER < 1900 | no
c | __GNUC__ >= 4 && __GNUC_MINOR__ > 2 | __GNUC__ < 4 | no
c | __GNUC__ > 4 \|\| (__GNUC__ == 4 && __GNUC_MINOR__ >= 9) | __GNUC__ == 4 && __GNUC_MINOR__ < 9 | no
c | A == B | A != B | no
c | A <= B | A >= B | yes
c | MODE == MODE_FAST | MODE == MODE_SMALL | no
c | __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ | __BYTE_ORDER == __BIG_ENDIAN | no
c | defined(__x86_64__) | BYTE_ORDER == BIG_ENDIAN | no
c | __has_include(<x.h>) | !__has_include(<x.h>) | no
c | __has_include(<x.h>) | __has_include(<y.h>) | yes
c | defined(A) \|\| defined(B) | !defined(A) && !defined(B) | no
c | defined(A) ? B : C | defined(B) | yes
c | FOO(1, 2) | !FOO(1,2) | no
c | (A + B) > 3 | (A+B) <= 3 | no
c | 0 | X | no
cpp | __cplusplus >= 201703L | __cplusplus < 201703L | no
cpp | __cplusplus >= 201703L | __cplusplus >= 202002L | yes
csharp | DEBUG | !DEBUG | no
csharp | DEBUG | TRACE | yes
csharp | NET6_0_OR_GREATER | NETCOREAPP | yes
csharp | NET8_0 | NET6_0_OR_GREATER | yes
swift | os(macOS) | os(iOS) | no
swift | os(macOS) | !os(macOS) | no
swift | os(Linux) | canImport(UIKit) | no
swift | os(iOS) | canImport(UIKit) | yes
swift | canImport(UIKit) | canImport(AppKit) | no
swift | canImport(Darwin) | os(Windows) | no
swift | swift(>=5.5) | !swift(>=5.3) | no
swift | swift(>=5.5) | compiler(<5.5) | yes
swift | swift(>=5.5) | swift(<5.5) | no
swift | DEBUG | !DEBUG | no
haskell | defined(mingw32_HOST_OS) | defined(linux_HOST_OS) | no
haskell | MIN_VERSION_base(4,8,0) | !MIN_VERSION_base(4,8,0) | no
haskell | MIN_VERSION_base(4,8,0) | !MIN_VERSION_base(4,9,0) | yes
haskell | MIN_VERSION_base(4,8,0) | !MIN_VERSION_bytestring(0,10,0) | yes
haskell | __GLASGOW_HASKELL__ >= 800 | __GLASGOW_HASKELL__ < 710 | no
haskell | x86_64_HOST_ARCH | defined(i386_HOST_ARCH) | no
rust | unix | windows | no
rust | unix | target_os = "linux" | yes
rust | !unix | target_os = "linux" | no
rust | target_os = "android" | target_os = "linux" | no
rust | unix | target_os = "android" | yes
rust | unix | target_os = "wasi" | no
rust | target_family = "unix" | !unix | no
rust | target_family = "wasm" | target_arch = "x86_64" | no
rust | windows | !target_os = "windows" | no
rust | feature = "a" | !feature = "a" | no
rust | feature = "a" | feature = "b" | yes
rust | feature = "a" | !(feature = "a") | no
rust | target_pointer_width = "64" | target_pointer_width = "32" | no
rust | target_arch = "wasm32" | target_pointer_width = "64" | no
rust | target_arch = "x86_64" | target_endian = "big" | no
rust | panic = "unwind" | panic = "abort" | no
rust | test | !test | no
rust | target_feature = "avx" | target_feature = "sse" | yes
rust | target_env = "msvc" | target_env = "gnu" | no
rust | target_env = "msvc" | unix | no
rust | target_vendor = "apple" | target_os = "linux" | no
rust | any() | unix | no
rust | (target_os = "linux" \|\| target_os = "macos") && feature = "x" | windows | no
rust | loom | !loom | no
rust | unix | windows \|\| (doc && docsrs) | no
c | defined(__AMIGA__) | defined(MSDOS) | no
c | defined(DOXYGEN) | X | no
c | defined(X) \|\| defined(DOXYGEN) | !defined(X) | no
python | sys.platform == "win32" | sys.platform != 'win32' | no
python | sys.platform == "win32" | os.name == 'nt' | yes
python | sys.platform == "win32" | os.name == "posix" | no
python | sys.platform == "cygwin" | os.name == "nt" | no
python | sys.platform.startswith("linux") | sys.platform == "darwin" | no
python | sys.platform.startswith("linux") | sys.platform == "linux2" | yes
python | sys.platform.startswith(("win", "cygwin")) | sys.platform == "linux" | no
python | sys.platform in ("win32", "cygwin") | sys.platform == "linux" | no
python | sys.platform not in ("win32", "cygwin") | os.name == "nt" | no
python | "linux" in sys.platform | sys.platform == "win32" | no
python | platform.system() == "Windows" | sys.platform == "linux" | no
python | platform.system() == "Windows" | platform.system() == "Linux" | no
python | WINDOWS | sys.platform == "darwin" | no
python | sys.platform not in {"darwin", "wasi"} | sys.platform == "darwin" | no
python | support.is_android | _LINUX | no
python | mswindows | not (MS_WINDOWS) | no
python | IS_WINDOWS | not (IS_WINDOWS) | no
python | sys.version_info >= (3, 8) | sys.version_info < (3, 8) | no
python | sys.version_info >= (3, 8) | not (sys.version_info >= (3, 8)) | no
python | sys.version_info >= (3, 8) | sys.version_info < (3, 9) | yes
python | sys.version_info >= (3,) | sys.version_info[0] == 2 | no
python | sys.version_info[0] == 3 | sys.version_info >= (3, 11) | yes
python | sys.version_info > (3,) | sys.version_info[0] < 3 | no
python | sys.version_info[:2] == (3, 8) | sys.version_info >= (3, 9) | no
python | sys.version_info[:2] <= (3, 8) | sys.version_info >= (3, 8, 1) | yes
python | sys.version_info.major == 2 | PY3 | no
python | six.PY2 | PY3 | no
python | PY2 | sys.version_info >= (3, 0) | no
python | sys.version_info == (3, 8) | sys.version_info >= (3, 8) | no
python | TYPE_CHECKING | not (typing.TYPE_CHECKING) | no
python | try | except ImportError | no
python | try else | except ImportError | no
python | try | try else | yes
python | try | try | yes
python | except ImportError | except (ImportError, OSError) | no
python | sys.platform == "win32" && try | except ImportError | no
python | try && except ImportError | try && try else | no
python | try && except ImportError | except ImportError | no
python | ssl is None | ssl is not None | no
python | ssl | ssl is None | no
python | not (ssl) | ssl is None | yes
python | not ssl | ssl | no
python | hasattr(os, "fork") | not (hasattr(os, 'fork')) | no
python | hasattr(os, "fork") | hasattr(os, "kill") | yes
python | a and b | not (a) | no
python | a or b | not (a) && not (b) | no
python | not a == 1 | a == 1 | no
python | x == "a" | x == "b" | no
python | x == "a" | y == "b" | yes
python | DEBUG == True | DEBUG is False | no
python | a if b else c | not (b) | yes
python | False | x | no
python | x in (1, 2) | x == 3 | no
python | x in (1, 2) | x == 2 | yes
python | x in ALL | x not in ALL | no
c | __linux__ === 1 | __linux__ !== 1 | no
c | __linux__ =~ 1 | !(__linux__ =~ 1) | no
c | __GNUC__ in (4, 5) | !(__GNUC__ in (4, 5)) | no
javascript | process.env.NODE_ENV === "production" | process.env.NODE_ENV !== 'production' | no
javascript | process.env.NODE_ENV === "production" | process.env.NODE_ENV === "test" | no
javascript | process.env.NODE_ENV === "production" | !(process.env.NODE_ENV === "production") | no
javascript | process.env.NODE_ENV === "production" | process.env.NODE_ENV !== "test" | yes
javascript | process.env.NODE_ENV == "production" | !process.env.NODE_ENV | no
javascript | __DEV__ | process.env.NODE_ENV === "production" | no
javascript | import.meta.env.DEV | import.meta.env.PROD | no
javascript | typeof window !== "undefined" | typeof window === "undefined" | no
javascript | typeof globalThis.fetch === "function" | typeof fetch === "undefined" | yes
javascript | !x | x | no
javascript | x?.y | !x.y | no
javascript | x === null | x | no
javascript | x == null | x === undefined | yes
javascript | x === null | x === undefined | no
javascript | x === 1 | x === "1" | no
javascript | x ?? y | !y | yes
typescript | ios | android | no
typescript | ios | native | yes
typescript | ios | web | no
typescript | native | web | no
typescript | server | client | no
typescript | node | browser | no
typescript | import.meta.client | server | no
typescript | server | browser | no
typescript | server | node | yes
tsx | flag("x") | !flag('x') | no
tsx | flag("x") | flag("y") | yes
ruby | RUBY_VERSION >= "2.7" | RUBY_VERSION < "2.7" | no
ruby | RUBY_VERSION >= "2.10" | !(RUBY_VERSION >= "2.7") | no
ruby | RUBY_VERSION >= "2.7" | !(RUBY_VERSION >= "2.10") | yes
ruby | RUBY_PLATFORM =~ /mswin/ | !(RUBY_PLATFORM =~ /mswin/) | no
ruby | RUBY_PLATFORM =~ /(a\|b)c/ | RUBY_PLATFORM =~ /x/ | yes
ruby | RUBY_ENGINE == "jruby" | RUBY_ENGINE == "ruby" | no
ruby | defined?(Rails) | !(defined?(Rails)) | no
ruby | defined?(Rails) | defined?(JSON) | yes
ruby | x == 0 | x | yes
ruby | x.nil? | !x.nil? | no
ruby | begin | rescue LoadError | no
ruby | begin else | begin | yes
php | PHP_VERSION_ID >= 80000 | PHP_VERSION_ID < 80000 | no
php | PHP_VERSION_ID >= 80000 | !(PHP_VERSION_ID >= 70400) | no
php | !function_exists('f') | function_exists("f") | no
php | !function_exists('f') | function_exists("g") | yes
php | PHP_OS_FAMILY === 'Windows' | PHP_OS_FAMILY === 'Linux' | no
php | PHP_OS_FAMILY === 'Windows' | PHP_OS_FAMILY !== 'Windows' | no
php | defined("X") && X | !X | no
lua | jit | not (jit) | no
lua | _VERSION == "Lua 5.1" | _VERSION == "Lua 5.2" | no
lua | _VERSION == "Lua 5.1" | _VERSION ~= "Lua 5.1" | no
lua | package.config:sub(1,1) == "\\" | package.config:sub(1,1) == "/" | no
lua | x == nil | x | no
lua | not x | x | no
elixir | Mix.env() == :test | Mix.env == :prod | no
elixir | Mix.env() == :test | !(Mix.env() == :test) | no
elixir | Mix.env() in [:dev, :test] | Mix.env() == :prod | no
elixir | Mix.env() in [:dev, :test] | Mix.env() == :test | yes
elixir | Mix.env() not in [:dev, :test] | Mix.env() == :test | no
elixir | Mix.env() != :test | Mix.env() == :test | no
elixir | Code.ensure_loaded?(Jason) | !Code.ensure_loaded?(Jason) | no
elixir | Code.ensure_loaded?(Jason) | not Code.ensure_loaded?(Poison) | yes
elixir | :os.type() == {:unix, :linux} | :os.type() == {:win32, :nt} | no
bash | $(uname) == "Darwin" | $(uname) == "Linux" | no
bash | $(uname -s) == "Darwin" | !($(uname) == "Darwin") | no
bash | $OSTYPE == "darwin*" | $(uname) == "Linux" | no
bash | $OSTYPE == "linux-gnu*" | $(uname) == "Linux" | yes
bash | $(uname) == "MINGW*" | $(uname) == "CYGWIN*" | no
bash | -n $ZSH_VERSION | -z $ZSH_VERSION | no
bash | -n $ZSH_VERSION | -n $BASH_VERSION | yes
bash | ${BASH_VERSINFO[0]} -ge 4 | ${BASH_VERSINFO[0]} -lt 4 | no
bash | command -v curl | !(command -v curl) | no
bash | $1 == "a*" | $1 == "ab" | yes
bash | "$x" == "y" | $x == "z" | no
bash | "$x" == "y" | "$x" == "y" | yes
bash | "$x" == "$y" | "$x" == "z" | yes
bash | is-at-least 4.2 && -n $X | -z $X | no
bash | LANG= git pull && a | !(a) | no
kotlin | jvm | js | no
kotlin | iosArm64 | native | yes
kotlin | iosArm64 | apple | yes
kotlin | iosArm64 | linux | no
kotlin | iosArm64 | !ios | no
kotlin | apple && !macosX64 | macosX64 | no
kotlin | jvm \|\| posix | !jvm | yes
kotlin | jvm \|\| posix | js | no
kotlin | !jvm | jvm | no
kotlin | iosSimulator | jvm | no
kotlin | wasmJs | wasm | yes
java | debug | release | no
java | free | paid | yes
java | java >= 9 | java >= 11 | yes
java | java >= 9 | !(java >= 8) | no
scala | scala 2.13 | scala 2.12 | no
scala | scala 2 | scala 2.13 | yes
scala | scala 2 | scala 3 | no
scala | scala >= 2.13 | scala 2.9 | no
scala | scala <= 2.12 | scala 2.12 | yes
scala | scala 3 | scala <= 2.12 | no
scala | js | native | no
markdown | a | !a | no
markdown | a | b | yes
""".strip().splitlines()
]
WORDS = {"yes": True, "no": False, "None": None}


def cases() -> list[tuple[str, str, str, bool | None]]:
    return [
        (language, one.replace(r"\|", "|"), other.replace(r"\|", "|"), WORDS[answer])
        for language, one, other, answer in PAIRS
    ]


@pytest.mark.parametrize(("language", "one", "other", "answer"), cases())
def test_together(language: str, one: str, other: str, answer: bool | None) -> None:
    assert together(one, other, language) is answer
    assert together(other, one, language) is answer


def test_no_condition_always_holds() -> None:
    assert together(None, "linux", "go") is True
    assert together("", None, "go") is True
    assert together(None, "ignore", "go") is False
    assert implies(None, None, "go") is True
    assert holds(None, "go", Machine.here()) is True


@pytest.mark.parametrize("language", sorted({case[0] for case in cases()}))
def test_a_condition_excludes_its_negation_and_implies_itself(language: str) -> None:
    for _, one, other, _ in [case for case in cases() if case[0] == language]:
        for tag in (one, other):
            if tag.startswith(("try", "except", "begin", "rescue")) or "&& try" in tag:
                continue  # these are not negated
            assert together(tag, negate(tag), language) is False, tag
            assert implies(tag, tag, language) is True, tag


#: language, the stronger, the weaker
IMPLICATIONS = [
    ("go", "linux", "unix"),
    ("go", "android", "linux"),
    ("go", "js", "wasm"),
    ("go", "linux && cgo", "cgo || windows"),
    ("go", "go1.20", "go1.18"),
    ("c", "defined(_WIN64)", "defined(_WIN32)"),
    ("c", "defined(__clang__) && defined(__linux__)", "defined(__GNUC__)"),
    ("c", "defined(_MSC_VER)", "_WIN32"),
    ("c", "X > 1", "defined(X)"),
    ("c", "X >= 3", "X"),
    ("c", "!defined(X)", "X == 0"),
    ("rust", 'target_os = "macos"', "unix"),
    ("rust", 'target_arch = "wasm32"', 'target_pointer_width = "32"'),
    ("python", 'sys.platform == "darwin"', 'os.name == "posix"'),
    ("python", "sys.version_info >= (3, 9)", "sys.version_info[:2] >= (3, 8)"),
    ("python", "sys.version_info[0] == 2", "sys.version_info < (3,)"),
    ("javascript", "ios", "native"),
    ("kotlin", "iosX64", "apple"),
    ("scala", "scala 2.13", "scala >= 2.12"),
]


@pytest.mark.parametrize(("language", "strong", "weak"), IMPLICATIONS)
def test_implies(language: str, strong: str, weak: str) -> None:
    assert implies(strong, weak, language) is True
    assert implies(weak, strong, language) is False
    assert together(strong, negate(weak), language) is False
    assert implies(strong, None, language) is True


def test_what_never_and_what_always_holds() -> None:
    assert never("0", "c") and never("False", "python") and never("ignore", "go")
    assert never("linux && windows", "go") and never("js && amd64", "go")
    assert never('target_os = "linux" && windows', "rust")
    assert not never("linux", "go") and not never(None, "go")
    for tag, language in (("linux || !linux", "go"), ("X >= 1 || X < 1", "c"), ("", "c")):
        assert implies(None, tag, language) is True
    assert implies(None, "linux", "go") is False and implies(None, "X || Y", "c") is False


LINUX = Machine("linux", "x86_64", (3, 11, 7), 64, "little")
MAC = Machine("darwin", "arm64", (3, 12, 0), 64, "little")
WINDOWS = Machine("win32", "AMD64", (3, 10, 1), 64, "little")


@pytest.mark.parametrize(
    ("language", "tag", "linux", "mac", "windows"),
    [
        ("go", "linux", True, False, False),
        ("go", "unix && !darwin", True, False, False),
        ("go", "amd64", True, False, True),
        ("go", "cgo", None, None, None),
        ("go", "linux && cgo", None, False, False),
        ("go", "linux || cgo", True, None, None),
        ("c", "defined(_WIN32)", False, False, True),
        ("c", "defined(__APPLE__) && TARGET_OS_OSX", False, True, False),
        ("c", "_MSC_VER >= 1900", None, None, None),
        ("c", "defined(_MSC_VER) && defined(__linux__)", None, False, False),
        ("c", "__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__", False, False, False),
        ("c", "NDEBUG", None, None, None),
        ("c", "0", False, False, False),
        ("swift", "os(macOS)", False, True, False),
        ("swift", "os(Linux) || DEBUG", True, None, None),
        ("haskell", "defined(mingw32_HOST_OS)", False, False, True),
        ("rust", "unix", True, True, False),
        ("rust", 'target_os = "macos" && target_arch = "aarch64"', False, True, False),
        ("rust", 'target_pointer_width = "64"', True, True, True),
        ("rust", 'feature = "x"', None, None, None),
        ("python", 'sys.platform == "win32"', False, False, True),
        ("python", 'os.name == "posix"', True, True, False),
        ("python", "sys.version_info >= (3, 11)", True, True, False),
        ("python", "sys.version_info[0] == 2", False, False, False),
        ("python", "PY3", True, True, True),
        ("python", "TYPE_CHECKING", False, False, False),
        ("python", "try", None, None, None),
        ("python", 'sys.platform == "win32" and try_it', False, False, None),
        ("javascript", 'process.platform === "darwin"', False, True, False),
        ("javascript", "ios", None, None, None),
        ("bash", '$(uname) == "Darwin"', False, True, False),
        ("kotlin", "jvm", None, None, None),
    ],
)
def test_what_a_machine_decides(
    language: str, tag: str, linux: bool | None, mac: bool | None, windows: bool | None
) -> None:
    assert [holds(tag, language, machine) for machine in (LINUX, MAC, WINDOWS)] == [linux, mac, windows]


def test_this_machine_decides_its_own_platform() -> None:
    import sys

    here = Machine.here()
    assert holds(f'sys.platform == "{sys.platform}"', "python", here) is True
    assert holds(f"sys.version_info[:2] == {sys.version_info[:2]}", "python", here) is True


@pytest.mark.parametrize("tag", ["defined(A) && (B", "A && B)", "defined(A) || defined(B…", "!(defined(A…)", "A == "])
def test_what_is_incomplete_decides_nothing(tag: str) -> None:
    assert together(tag, "defined(A)", "c") is None
    assert together(tag, "0", "c") is False
    assert implies(tag, "defined(A)", "c") is None
    assert implies(tag, None, "c") is True
    assert not never(tag, "c") and implies(None, tag, "c") is None


def test_what_comes_after_a_cut_still_counts() -> None:
    cut = "(defined(A) || defined(B…) && defined(_WIN32)"
    assert together(cut, "defined(__linux__)", "c") is False
    assert together(cut, "defined(_WIN64)", "c") is None
    assert implies(cut, "defined(_WIN32)", "c") is True

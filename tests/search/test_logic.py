"""Conditions compared as logic."""

from __future__ import annotations

import pytest

from lci_py.search.logic import Machine, always, holds, implies, together
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
c | A < B | A >= B | no
c | B > A | A >= B | no
c | A <= B | A >= B | yes
c | MODE == MODE_FAST | MODE == MODE_SMALL | no
c | __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ | __BYTE_ORDER == __BIG_ENDIAN | no
c | defined(__x86_64__) | BYTE_ORDER == BIG_ENDIAN | no
c | IS_ENABLED(CONFIG_NET) | !defined(CONFIG_NET) && !defined(CONFIG_NET_MODULE) | no
c | defined(CONFIG_NET) | defined(CONFIG_NET_MODULE) | no
c | IS_ENABLED(CONFIG_NET) | !defined(CONFIG_NET) | yes
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
csharp | NET6_0_OR_GREATER | NETFRAMEWORK | no
csharp | NET6_0_OR_GREATER | NETCOREAPP | yes
csharp | NET6_0_OR_GREATER | NET5_0 | no
csharp | NET8_0 | NET6_0_OR_GREATER | yes
csharp | NET472 | NET48_OR_GREATER | no
csharp | NET472 | NETSTANDARD2_0 | no
csharp | NETSTANDARD2_0 | NETSTANDARD2_1_OR_GREATER | no
csharp | UNITY_IOS | UNITY_ANDROID | no
csharp | UNITY_2019_1_OR_NEWER | !UNITY_2018_4_OR_NEWER | no
swift | os(macOS) | os(iOS) | no
swift | os(macOS) | !os(macOS) | no
swift | os(Linux) | canImport(UIKit) | no
swift | os(iOS) | canImport(UIKit) | yes
swift | canImport(UIKit) | canImport(AppKit) | no
swift | canImport(Darwin) | os(Windows) | no
swift | swift(>=5.5) | !swift(>=5.3) | no
swift | swift(>=5.5) | compiler(<5.5) | yes
swift | swift(>=5.5) | swift(<5.5) | no
swift | targetEnvironment(simulator) | os(macOS) | no
swift | DEBUG | !DEBUG | no
haskell | defined(mingw32_HOST_OS) | defined(linux_HOST_OS) | no
haskell | MIN_VERSION_base(4,8,0) | !MIN_VERSION_base(4,8,0) | no
haskell | MIN_VERSION_base(4,9,0) | !MIN_VERSION_base(4,8,0) | no
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
python | "posix" in sys.builtin_module_names | os.name == "nt" | no
python | WINDOWS | sys.platform == "darwin" | no
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
python | (3, 8) <= sys.version_info < (3, 10) | sys.version_info >= (3, 10) | no
python | sys.version_info == (3, 8) | sys.version_info >= (3, 8) | no
python | TYPE_CHECKING | not (typing.TYPE_CHECKING) | no
python | try | except ImportError | no
python | try else | except ImportError | no
python | try | try else | yes
python | try | try | yes
python | except ImportError | except (ImportError, OSError) | no
python | sys.platform == "win32" && try | except ImportError | no
python | try && except ImportError | try | None
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
    assert always(None, "go")
    assert holds(None, "go", Machine.here()) is True


@pytest.mark.parametrize("language", sorted({case[0] for case in cases()}))
def test_a_condition_excludes_its_negation_and_implies_itself(language: str) -> None:
    for _, one, other, _ in [case for case in cases() if case[0] == language]:
        for tag in (one, other):
            if "try" in tag or "except" in tag:
                continue  # these are not negated
            assert together(tag, negate(tag), language) is False, tag
            assert implies(tag, tag, language) is True, tag

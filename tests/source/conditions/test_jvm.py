"""Source sets of Kotlin, Java and Scala: what the path of a file says about the builds it is in."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from lci_py.source.conditions.paths import path_condition, source_root
from lci_py.source.extract.extract import extract

PATHS = [
    # language, path, condition, root
    ("kotlin", "a/src/jvmMain/kotlin/p/F.kt", "jvm", "a/src"),
    ("kotlin", "src/jsMain/kotlin/p/F.kt", "js", "src"),
    ("kotlin", "a/src/iosArm64Main/kotlin/F.kt", "iosArm64", "a/src"),
    ("kotlin", "a/src/commonMain/kotlin/p/F.kt", None, "a/src"),
    ("kotlin", "a/src/nonJvmMain/kotlin/p/F.kt", "!jvm", "a/src"),
    ("kotlin", "a/src/jvmAndNativeMain/kotlin/p/F.kt", "jvm || native", "a/src"),
    ("kotlin", "a/src/appleNonMacosX64Main/kotlin/F.kt", "apple && !macosX64", "a/src"),
    ("kotlin", "a/src/jvmTest/kotlin/p/F.kt", None, "a/src"),
    ("kotlin", "a/src/androidInstrumentedTest/kotlin/F.kt", None, "a/src"),
    ("java", "a/src/jvmMain/java/p/F.java", "jvm", "a/src"),
    ("kotlin", "ktor-io/jvm/src/io/F.kt", "jvm", "ktor-io"),
    ("kotlin", "ktor-io/common/src/io/F.kt", None, "ktor-io"),
    ("kotlin", "ktor-io/jvmAndPosix/src/io/F.kt", "jvm || posix", "ktor-io"),
    ("kotlin", "ktor-io/jvm/test/io/F.kt", None, "ktor-io"),
    # a module that happens to be called by a platform's name
    ("kotlin", "app/android/src/main/kotlin/p/F.kt", None, "app/android/src"),
    ("kotlin", "okio/jvm/jmh/src/jmh/kotlin/F.kt", None, "okio/jvm/jmh/src"),
    ("java", "app/web/src/main/java/p/F.java", None, "app/web/src"),
    # Android's build types and flavours
    ("java", "app/src/main/java/p/F.java", None, "app/src"),
    ("java", "app/src/debug/java/p/F.java", "debug", "app/src"),
    ("kotlin", "app/src/free/kotlin/p/F.kt", "free", "app/src"),
    ("kotlin", "app/src/test/java/p/F.kt", None, "app/src"),
    ("java", "app/src/testDebug/java/p/F.java", None, "app/src"),
    ("java", "app/src/jmh/java/p/F.java", None, "app/src"),
    # releases of Java
    ("java", "a/src/main/java9/p/F.java", "java >= 9", "a/src"),
    ("java", "a/src/main/java-11/p/F.java", "java >= 11", "a/src"),
    ("java", "a/src/java17/java/p/F.java", "java >= 17", "a/src"),
    ("java", "a/src/main/resources/META-INF/versions/9/p/F.java", "java >= 9", "a/src/main/resources"),
    # Scala
    ("scala", "core/src/main/scala/p/F.scala", None, "core/src"),
    ("scala", "core/src/main/scala-2.12/p/F.scala", "scala 2.12", "core/src"),
    ("scala", "core/src/main/scala-2.13+/p/F.scala", "scala >= 2.13", "core/src"),
    ("scala", "core/src/main/scala-2.13-/p/F.scala", "scala <= 2.13", "core/src"),
    ("scala", "core/src/main/scala_3/p/F.scala", "scala 3", "core/src"),
    ("scala", "core/jvm/src/main/scala/p/F.scala", "jvm", "core"),
    ("scala", "core/.js/src/main/scala/p/F.scala", "js", "core"),
    ("scala", "core/shared/src/main/scala/p/F.scala", None, "core"),
    ("scala", "core/js-native/src/main/scala/p/F.scala", "js || native", "core"),
    ("scala", "core/js-native/src/main/scala-3/p/F.scala", "(js || native) && scala 3", "core"),
    ("scala", "core/src-2.13/p/F.scala", "scala 2.13", "core"),
    ("scala", "core/src-jvm/p/F.scala", "jvm", "core"),
    # nothing that is known
    ("java", "com/acme/F.java", None, "com/acme/F.java"),
    ("java", "src/java/com/acme/F.java", None, "src/java/com/acme/F.java"),
    ("java", "src/com/jvmMain/kotlin/F.java", None, "src/com/jvmMain/kotlin/F.java"),
    ("python", "a/src/jvmMain/kotlin/f.py", None, "a/src/jvmMain/kotlin/f.py"),
]


@pytest.mark.parametrize(("language", "path", "condition", "root"), PATHS, ids=[path for _, path, _, _ in PATHS])
def test_paths(language: str, path: str, condition: str | None, root: str) -> None:
    assert path_condition(language, path) == condition
    assert source_root(language, path) == root


def test_definitions_have_the_condition_of_their_source_set() -> None:
    source = b"package p\n\nactual class F {\n    actual fun f() {}\n}\n"
    symbols = extract("a/src/jsMain/kotlin/p/F.kt", source, "kotlin").symbols
    assert [(symbol.qualified_name, symbol.build_tag) for symbol in symbols] == [("p.F", "js"), ("p.F.f", "js")]
    assert [symbol.signature.split()[0] for symbol in symbols] == ["actual", "actual"]  # the rule looks for it


def test_members_of_what_is_expected_are_expected() -> None:
    source = b"package p\n\nexpect class F {\n    fun f(): Int\n    val v: Int\n}\n\nclass G {\n    fun f() = 1\n}\n"
    symbols = extract("a/src/commonMain/kotlin/p/F.kt", source, "kotlin").symbols
    assert [s.qualified_name for s in symbols if "expect" in s.traits.split()] == ["p.F", "p.F.f", "p.F.v"]


@given(
    st.sampled_from(["kotlin", "java", "scala"]),
    st.lists(
        st.sampled_from(["src", "jvm", "js", "Main", "main", "kotlin", "java", "scala-2.13+", "scala-", "java9", "nonMain",
                         "AndMain", "META-INF", "versions", "9", "-", ".", "common", "x"]),
        max_size=9,
    ),
    st.sampled_from(["/", ""]),
)  # fmt: skip
def test_nothing_raises(language: str, parts: list[str], between: str) -> None:
    path = between.join(parts) + "/F.kt"
    condition = path_condition(language, path)
    assert condition is None or condition.strip() == condition != ""
    assert path.startswith(source_root(language, path)) or source_root(language, path) == "."


def test_long_paths_stay_cheap() -> None:
    # Quadratic work would take minutes.
    for part in ("src/", "src/jvm", "jvm/", "js-", "iosArm", "jvmAnd", "a/src/x/"):
        path_condition("kotlin", part * 100_000)
        path_condition("scala", part * 100_000)

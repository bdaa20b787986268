from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lci_py.config import FILE_KEYS, Settings, find_root, index_around, load
from lci_py.errors import BadPathError, ConfigError
from lci_py.source.repository.walk import WalkOptions
from lci_py.source.syntax.limits import Limits


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LCI_INDEX_DIR", raising=False)
    monkeypatch.delenv("LCI_JOBS", raising=False)
    monkeypatch.delenv("LCI_MODEL", raising=False)
    monkeypatch.delenv("LCI_REFRESH", raising=False)
    monkeypatch.delenv("LCI_LOG", raising=False)
    monkeypatch.delenv("LCI_TRUST_INDEX", raising=False)


def write(root: Path, text: str) -> Path:
    (root / ".lci.toml").write_text(text)
    return root


def test_defaults(tmp_path: Path) -> None:
    settings, warnings = load(tmp_path)
    assert (settings, warnings) == (Settings(), [])
    assert (settings.limit, settings.snippet, settings.jobs, settings.index_dir) == (10, None, None, None)
    assert settings.walk_options() == WalkOptions()


def test_the_file_sets_every_key(tmp_path: Path) -> None:
    write(
        tmp_path,
        'include=["a"]\nexclude=["b"]\nmax_file_bytes=5\nhidden=true\njobs=3\nsnippet=0\nlimit=7\nmodel="m"\n'
        'refresh="never"\nsegment_chunks=12\nfeature_flags=["on", "settings.*"]\nbranches=["x", " y/z "]\n'
        'max_line_bytes=8\nmax_nesting=9\nmax_file_symbols=10\nmax_file_chunks=11\nmax_file_seconds=0.5\nlog="on"\nmode="bm25"\n'
        'auto_index=false\n[macros]\nattribute=["API", "PRINTF()"]\nvariable_2=["DEFINE_POOL"]\n',
    )
    settings, warnings = load(tmp_path)
    macros = ("attribute API", "attribute PRINTF()", "variable_2 DEFINE_POOL")
    assert warnings == []
    assert settings == Settings(
        None, ("a",), ("b",), 5, True, 3, 0, 7, tmp_path / "m", "never", False, 12,
        ("on", "settings.*"), macros, ("x", "y/z"), 8, 9, 10, 11, 0.5, "on", "bm25", False,
    )  # fmt: skip
    assert settings.limits() == Limits(8, 9, 10, 11, 0.5, macros)
    assert settings.walk_options() == WalkOptions(5, ("a",), exclude=("b",), hidden=True)
    assert all(getattr(settings, key) != getattr(Settings(), key) for key in FILE_KEYS)


@pytest.mark.parametrize(
    "text",
    [
        'macros = ["API"]',
        '[macros]\nattributes = ["API"]',
        '[macros]\nattribute = "API"',
        '[macros]\nattribute = ["A B"]',
        '[macros]\nattribute = [".*"]',
        '[macros]\nloop = ["EACH()"]',
        "[macros]\nfunction_1 = [3]",
        f'[macros]\nfunction_1 = ["{"A" * 100}"]',
        f"[macros]\nvariable_1 = {[f'NAME_{i}' for i in range(600)]}",
    ],
)
def test_macros_are_names_in_lists(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match="macros"):
        load(write(tmp_path, text))


def test_flags_beat_the_environment_beats_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "jobs = 1\n")
    assert load(tmp_path)[0].jobs == 1
    monkeypatch.setenv("LCI_JOBS", "")  # empty is unset
    assert load(tmp_path)[0].jobs == 1
    monkeypatch.setenv("LCI_JOBS", "2")
    assert load(tmp_path)[0].jobs == 2
    assert load(tmp_path, {"jobs": None})[0].jobs == 2
    assert load(tmp_path, {"jobs": 3, "hidden": False, "exclude": ("x",)})[0] == Settings(jobs=3, exclude=("x",))


def test_refresh_and_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, 'refresh = "never"\n')
    assert load(tmp_path)[0].refresh == "never"
    monkeypatch.setenv("LCI_REFRESH", "always")
    assert load(tmp_path)[0].refresh == "always"
    assert load(tmp_path, {"refresh": "auto"})[0].refresh == "auto"
    for value in ("", "0"):
        monkeypatch.setenv("LCI_TRUST_INDEX", value)
        assert not load(tmp_path)[0].trust
        assert load(tmp_path, {"trust": True})[0].trust
    monkeypatch.setenv("LCI_TRUST_INDEX", "1")
    assert load(tmp_path)[0].trust


def test_the_environment_turns_the_log_on_and_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load(tmp_path)[0].log == "off"
    write(tmp_path, 'log = "on"\n')
    assert load(tmp_path) == (Settings(log="on"), [])
    monkeypatch.setenv("LCI_LOG", "off")
    assert load(tmp_path)[0].log == "off"
    write(tmp_path, "log = true\n")
    with pytest.raises(ConfigError, match="log in .lci.toml cannot be True"):
        load(tmp_path)


def test_the_mode_of_a_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, 'mode = "multiview"\n')
    assert load(tmp_path)[0].mode == "multiview"
    monkeypatch.setenv("LCI_MODE", "symbolic")
    assert load(tmp_path)[0].mode == "symbolic"
    monkeypatch.setenv("LCI_MODE", "fast")
    with pytest.raises(ConfigError) as error:
        load(tmp_path)
    assert error.value.message == "LCI_MODE cannot be 'fast'"
    assert error.value.hint == "use one of: dense, bm25, symbolic, multiview"


def test_a_repository_cannot_have_the_text_of_queries_logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, (warning,) = load(write(tmp_path, 'log = "queries"\n'))
    assert settings.log == "on" and "LCI_LOG=queries" in warning
    monkeypatch.setenv("LCI_LOG", "queries")
    assert load(tmp_path) == (Settings(log="queries"), [])
    monkeypatch.setenv("LCI_LOG", "off")
    assert load(tmp_path) == (Settings(), [])


def test_a_repository_cannot_say_that_it_is_trusted(tmp_path: Path) -> None:
    settings, warnings = load(write(tmp_path, "trust = true\n"))
    assert not settings.trust and "unknown key 'trust'" in warnings[0]


@pytest.mark.parametrize(
    ("name", "value"), [("LCI_REFRESH", "sometimes"), ("LCI_TRUST_INDEX", "yes"), ("LCI_LOG", "1")]
)
def test_wrong_words_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=name):
        load(tmp_path)


def test_a_wrong_refresh_names_the_three(tmp_path: Path) -> None:
    write(tmp_path, 'refresh = "Auto"\n')
    with pytest.raises(ConfigError, match="refresh in .lci.toml") as caught:
        load(tmp_path)
    assert caught.value.hint == "use one of: auto, never, always"


def test_the_model_in_the_file_starts_at_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, 'model = "tools/model"\n')
    assert load(tmp_path)[0].model == tmp_path / "tools/model"
    monkeypatch.setenv("LCI_MODEL", "mine")
    assert load(tmp_path)[0].model == Path("mine")
    assert load(tmp_path, {"model": "other"})[0].model == Path("other")
    monkeypatch.setenv("LCI_MODEL", "")  # empty is unset
    assert load(tmp_path)[0].model == tmp_path / "tools/model"
    write(tmp_path, 'model = "/models/bert"\n')
    with pytest.raises(ConfigError, match="leads out of"):
        load(tmp_path)
    write(tmp_path, "")
    for value in ({"model": ""}, {"model": 3}):
        with pytest.raises(ConfigError, match="--model"):
            load(tmp_path, value)


def test_index_dir_comes_from_the_user_and_not_from_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, warnings = load(write(tmp_path, 'index_dir = "/etc"\n'))
    assert settings.index_dir is None
    assert len(warnings) == 1
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("LCI_INDEX_DIR", "~/index")
    assert load(tmp_path)[0].index_dir == Path("/home/someone/index")
    assert load(tmp_path, {"index_dir": "other"})[0].index_dir == Path("other")


def test_unknown_keys_warn_with_a_suggestion(tmp_path: Path) -> None:
    settings, warnings = load(write(tmp_path, 'exlude = ["x"]\nwhatever = 1\n'))
    assert settings == Settings()
    assert warnings[0] == "unknown key 'exlude' in .lci.toml, did you mean 'exclude'?"
    assert warnings[1].startswith("unknown key 'whatever' in .lci.toml; the keys are: include, exclude")


@pytest.mark.parametrize(
    "text",
    [
        'include = "a"', "exclude = [1]", "max_file_bytes = 0", 'max_file_bytes = "2MB"', "hidden = 1", "jobs = true",
        "jobs = 0", "jobs = 1.5", "snippet = -1", "limit = 0", "limit = ", 'a = "\\q"',
    ],
)  # fmt: skip
def test_wrong_types_and_syntax_are_errors(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"\.lci\.toml") as caught:
        load(write(tmp_path, text))
    assert caught.value.hint


def test_a_file_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".lci.toml").write_bytes(b'include = ["\xff"]')
    with pytest.raises(ConfigError, match="not valid TOML"):
        load(tmp_path)
    (tmp_path / ".lci.toml").unlink()
    os.mkfifo(tmp_path / ".lci.toml")
    with pytest.raises(ConfigError, match="not a regular file"):
        load(tmp_path)


@pytest.mark.parametrize(
    "text",
    ["a." * 101 + "b = 1", "[" + "a." * 101 + "b]", "x = {" + "a ." * 101 + " b = 1}", '"a,b".' * 1001 + "b = 1"],
)
def test_a_key_of_many_parts_is_refused_before_it_is_parsed(
    tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tomllib")
    monkeypatch.setattr("tomllib.loads", lambda _: pytest.fail("it takes gigabytes"))
    with pytest.raises(ConfigError, match="more than 100 parts"):
        load(write(tmp_path, text))


def test_many_dots_in_values_are_allowed(tmp_path: Path) -> None:
    globs = ", ".join(f'"src/{number}/**/*.min.js"' for number in range(300))
    assert len(load(write(tmp_path, f"exclude = [{globs}]\n"))[0].exclude) == 300


def test_workers_are_bounded(tmp_path: Path) -> None:
    assert load(write(tmp_path, "jobs = 5000\n"))[0].jobs == max(32, 4 * (os.cpu_count() or 1))


def test_a_byte_order_mark_is_allowed(tmp_path: Path) -> None:
    (tmp_path / ".lci.toml").write_bytes(b"\xef\xbb\xbflimit = 3\n")
    assert load(tmp_path)[0].limit == 3


@pytest.mark.parametrize("jobs", ["two", "0", "-1"])
def test_bad_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: str) -> None:
    monkeypatch.setenv("LCI_JOBS", jobs)
    with pytest.raises(ConfigError, match="LCI_JOBS"):
        load(tmp_path)


def test_bad_overrides(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown setting 'nope'"):
        load(tmp_path, {"nope": 1})
    with pytest.raises(ConfigError, match="--max-file-bytes"):
        load(tmp_path, {"max_file_bytes": "x"})


def test_the_toml_parser_is_imported_for_a_file_only(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from lci_py.config import load; load(Path(sys.argv[1]))"
    code += "; sys.exit(bool({'tomllib', 'tomli', 'difflib'} & sys.modules.keys()))"
    command = [sys.executable, "-c", code, str(tmp_path)]
    package_root = Path(__file__).parents[1]
    assert subprocess.run(command, cwd=package_root, check=False).returncode == 0
    write(tmp_path, "limit = 1\n")
    assert subprocess.run(command, cwd=package_root, check=False).returncode == 1


def test_root_is_the_index_then_git_then_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = tmp_path.resolve() / "top"
    deep = top / "repo/sub/deep"
    deep.mkdir(parents=True)
    (deep / "file.py").touch()
    assert find_root(deep) == deep
    (top / "repo/.git").mkdir()
    assert find_root(deep) == top / "repo"
    (top / "repo/sub/.lci").mkdir()  # without a manifest it is no index
    assert find_root(deep) == top / "repo"
    (top / "repo/sub/.lci/manifest.json").touch()
    assert find_root(deep) == find_root(deep / "file.py") == top / "repo/sub"
    assert index_around(top / "repo/sub") is None and index_around(deep) == top / "repo/sub"
    monkeypatch.chdir(deep)
    assert find_root(None) == find_root() == top / "repo/sub"


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_a_repository_inside_an_indexed_one_is_a_root_of_its_own(tmp_path: Path, kind: str) -> None:
    top = tmp_path.resolve() / "top"
    deep = top / "wt/deep"
    deep.mkdir(parents=True)
    (top / ".lci").mkdir()
    (top / ".lci/manifest.json").touch()
    assert find_root(deep) == top
    if kind == "folder":
        (top / "wt/.git").mkdir()
    else:
        (top / "wt/.git").write_text("gitdir: elsewhere\n")
    assert find_root(deep) == top / "wt"


def test_root_of_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(BadPathError, match="no such file"):
        find_root(tmp_path / "no")

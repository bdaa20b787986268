"""The pinned packages that the model learns from: their list, their licences, and the download of their sources.

`corpus.tsv` is the list: registry, name, version, SPDX licence, part of the experiment, globs of paths to leave out. A
package is used only if its own metadata state the licence of the list.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import urllib.parse
import urllib.request
import zipfile
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from lci_py.training import licences
from lci_py.types.record import dataclass

LIST = Path(__file__).with_name("corpus.tsv")
EXCLUDED = Path(__file__).with_name("excluded.tsv")
PARTS = ("train", "dev", "test")


@dataclass(frozen=True, slots=True)
class Package:
    # pypi | sdist (PyPI) | npm | debian (source packages) | deb (binary packages with sources: Go, Ruby, PHP)
    registry: str
    name: str
    version: str
    licence: str  # SPDX
    part: str  # train | dev | test
    leave_out: tuple[str, ...] = ()  # for `fnmatch`: a star also matches slashes

    @property
    def key(self) -> str:
        return f"{self.registry}-{self.name.replace('/', '+')}"


def read_list(path: Path = LIST) -> list[Package]:
    """The packages of a list, in its order."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t"))[1:]
    found = []
    for row in rows:
        registry, name, version, licence, part = row[:5]
        globs = tuple(row[5].split(",")) if len(row) > 5 and row[5] else ()
        found.append(Package(registry, name, version, licence, part, globs))
    return found


def sources(work: Path, package: Package) -> Path:
    return work / "src" / package.key


def fetch(work: Path, packages: Sequence[Package]) -> list[Package]:
    """Download and unpack missing packages; returns those that failed."""
    missing = [package for package in packages if not (sources(work, package) / ".done").exists()]
    for registry, batch_size, download in (("debian", 40, _apt), ("npm", 20, _npm), ("deb", 40, _deb)):
        wanted = [package for package in missing if package.registry == registry]
        for start in range(0, len(wanted), batch_size):
            batch = wanted[start : start + batch_size]
            if not download(work, batch):
                for package in batch:  # one by one: a missing package fails the whole batch
                    if not any(_archives(work, package).glob("*")):
                        download(work, [package])
    for package in missing:
        folder = _archives(work, package)
        if package.registry in ("pypi", "sdist"):
            folder.mkdir(parents=True, exist_ok=True)
            _pip(folder, package)
        if any(folder.glob("*")):
            _unpack(folder, sources(work, package))
    return [package for package in missing if not (sources(work, package) / ".done").exists()]


def _archives(work: Path, package: Package) -> Path:
    return work / "archives" / package.key


def _run(command: list[str], folder: Path) -> bool:
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        print(f"{' '.join(command[-2:])}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
    return done.returncode == 0


def _pip(folder: Path, package: Package) -> None:
    pinned = f"{package.name}=={package.version}"
    if package.registry == "pypi":
        command = [
            sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--python-version",
            "3.13", "--platform", "manylinux2014_x86_64", "--platform", "manylinux_2_28_x86_64", "--platform", "any",
            pinned,
        ]  # fmt: skip
        _run(command, folder)
        return
    # Not with pip, which would run the package's own code for the metadata of a source distribution.
    page = f"{_index().rstrip('/')}/{package.name}/"
    with urllib.request.urlopen(page, timeout=60) as answer:
        links = re.findall(r'href="([^"#]+)', answer.read().decode("utf-8", "replace"))
    names = {f"{package.name}-{package.version}.tar.gz", f"{package.name.replace('-', '_')}-{package.version}.tar.gz"}
    for link in links:
        name = link.rpartition("/")[2]
        if name in names:
            with urllib.request.urlopen(urllib.parse.urljoin(page, link), timeout=60) as answer:
                (folder / name).write_bytes(answer.read())


def _index() -> str:
    """The address of the package index that pip uses."""
    default = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    for arguments in (["-m", "pip", "config", "get", "global.index-url"], ["-c", default]):
        said = subprocess.run([sys.executable, *arguments], capture_output=True, text=True).stdout.strip()
        if said:
            break
    return os.environ.get("PIP_INDEX_URL") or said


def _npm(work: Path, packages: list[Package]) -> bool:
    pool = work / "archives" / "npm"
    pool.mkdir(parents=True, exist_ok=True)
    pinned = [f"{package.name}@{package.version}" for package in packages]
    done = _run(["npm", "pack", "--silent", "--ignore-scripts", *pinned], pool)
    for package in packages:
        name = f"{package.name.lstrip('@').replace('/', '-')}-{package.version}.tgz"
        _collect(pool, name, _archives(work, package))
    return done


def _deb(work: Path, packages: list[Package]) -> bool:
    pool = work / "archives" / "deb"
    pool.mkdir(parents=True, exist_ok=True)
    pinned = [f"{package.name}={package.version}" for package in packages]
    done = _run(["apt-get", "-o", "APT::Sandbox::User=root", "download", "--quiet", *pinned], pool)
    for package in packages:
        _collect(pool, f"{package.name}_*.deb", _archives(work, package))
    return done


def _collect(pool: Path, pattern: str, folder: Path) -> None:
    for path in pool.glob(pattern):
        folder.mkdir(parents=True, exist_ok=True)
        path.rename(folder / path.name)


@lru_cache(maxsize=1)
def _apt_sources(folder: str) -> list[str]:
    """Options with which apt sees source packages, without a change to the configuration of this machine."""
    work = Path(folder)
    parts, lists = work / "apt" / "parts", work / "apt" / "lists"
    parts.mkdir(parents=True, exist_ok=True)
    lists.mkdir(parents=True, exist_ok=True)
    for path in Path("/etc/apt/sources.list.d").glob("debian.sources"):
        text = re.sub(r"^Types:.*$", "Types: deb-src", path.read_text(), flags=re.M)
        (parts / path.name).write_text(text)
    old = Path("/etc/apt/sources.list")
    if old.exists():
        lines = [re.sub(r"^deb ", "deb-src ", line) for line in old.read_text().splitlines()]
        (parts / "old.list").write_text("\n".join(lines) + "\n")
    options = [
        "-o", "Dir::Etc::SourceList=/dev/null", "-o", f"Dir::Etc::SourceParts={parts}",
        "-o", f"Dir::State::Lists={lists}", "-o", "APT::Sandbox::User=root",
    ]  # fmt: skip
    _run(["apt-get", *options, "update"], work)
    return options


def _apt(work: Path, packages: list[Package]) -> bool:
    options = _apt_sources(str(work))
    pool = work / "archives" / "debian"
    pool.mkdir(parents=True, exist_ok=True)
    pinned = [f"{package.name}={package.version}" for package in packages]
    done = _run(["apt-get", *options, "source", "--download-only", *pinned], pool)
    for package in packages:
        upstream = re.sub(r"-[^-]*$", "", package.version.partition(":")[2] or package.version)
        _collect(pool, f"{package.name}_{upstream}*.tar.*", _archives(work, package))
    return done


def _unpack(folder: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for archive in sorted(folder.iterdir()):
        name = archive.name
        if name.endswith(".deb"):
            _run(["dpkg-deb", "--extract", str(archive), str(target)], folder)
        elif name.endswith(".whl"):
            with zipfile.ZipFile(archive) as opened:
                opened.extractall(target)
        elif ".debian.tar" in name:
            _run(["tar", "-xf", str(archive), "--no-same-owner", "-C", str(target)], folder)
        elif re.search(r"\.(?:tar\.\w+|tgz)$", name):
            part = re.search(r"\.orig-([\w-]+)\.tar", name)
            into = target / part.group(1) if part else target
            into.mkdir(exist_ok=True)
            _run(["tar", "-xf", str(archive), "--no-same-owner", "--strip-components=1", "-C", str(into)], folder)
    (target / ".done").touch()


def stated_licence(folder: Path, registry: str) -> str:
    """The licence that an unpacked package states, as an SPDX name; "" if it is unclear or not permissive."""
    if registry == "npm":
        return _npm_licence(folder)
    if registry == "pypi":
        return _pypi_licence(folder)
    return _debian_licence(folder, registry)


def _copyright(folder: Path) -> str:
    found = [
        folder / "debian" / "copyright",
        *sorted(folder.glob("usr/share/doc/*/copyright")),
        *_licence_files(folder),
    ]
    return next((path.read_text("utf-8", "replace") for path in found if path.is_file()), "")


def _licence_files(folder: Path) -> list[Path]:
    """Licence texts at the top of a package: the Debian part of some packages cannot be downloaded."""
    return sorted(
        path for path in folder.iterdir() if path.is_file() and re.match(r"(?:LICEN[SC]E|COPYING)", path.name, re.I)
    )


def debian_rules(folder: Path) -> licences.Rules | None:
    """The licences by path that an unpacked Debian package states; None if it states them in prose or not at all."""
    return licences.debian_rules(_copyright(folder))


def _debian_licence(folder: Path, registry: str) -> str:
    rules = debian_rules(folder)
    if rules is None:
        return licences.licence_of_text(_copyright(folder))
    # The rules name paths of the source package. A binary package has other paths, so all rules must be permissive,
    # except those about Debian's own part.
    if registry == "deb" and not all(name or _is_of_debian(pattern) for pattern, name in rules):
        return ""
    names = Counter(name for _, name in rules if name)
    return names.most_common(1)[0][0] if names else ""


def _is_of_debian(pattern: re.Pattern[str]) -> bool:
    return pattern.match("debian/rules") is not None and pattern.match("src/main.c") is None


def _npm_licence(folder: Path) -> str:
    try:
        card = json.loads((folder / "package.json").read_text("utf-8"))
    except (OSError, ValueError):
        return ""
    stated = card.get("license") or card.get("licenses") or ""
    if isinstance(stated, list):
        stated = stated[0] if stated else ""
    if isinstance(stated, dict):
        stated = stated.get("type", "")
    return licences.spdx(str(stated))


def _pypi_licence(folder: Path) -> str:
    for path in [*folder.glob("*.dist-info/METADATA"), *folder.glob("PKG-INFO")]:
        head = path.read_text("utf-8", "replace").partition("\n\n")[0]
        for pattern in (
            r"^License-Expression: (.*)$",
            r"^Classifier: License :: OSI Approved :: (.*)$",
            r"^License: (.*)$",
        ):
            for stated in re.findall(pattern, head, re.M):
                found = licences.spdx(stated)
                if found:
                    return found
                if re.search("GPL|General Public|Mozilla|MPL|EPL|Eclipse", stated):
                    return ""
        for text in [*_licence_files(path.parent), *path.parent.glob("licenses/*.*")]:
            found = licences.licence_of_text(text.read_text("utf-8", "replace")) if text.is_file() else ""
            if found:
                return found
    return ""

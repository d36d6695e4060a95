"""Downloads the packages of packages.json, checks their hashes and unpacks their source files.

    python -m scripts.model.packages [--cache FOLDER]

Hosts are those that pip, npm and apt-get are configured with; nothing of a package is run.
Source goes to <cache>/src/<split>/<registry>/<name>-<version>/, archives to <cache>/archives/.
"""

import argparse
import fnmatch
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache" / "model"
MANIFEST = Path(__file__).parent / "packages.json"
THREADS = 8
ATTEMPTS = 3
TIMEOUT_SECONDS = 180
MAX_BYTES = 200_000  # larger files are generated, or many modules in one
MAX_MEAN_LINE = 160  # minified code, or data
LONG_LINE = re.compile(rb"[^\n]{5001}")

LANGUAGES = {
    "python": "py pyi",
    "javascript": "js mjs cjs jsx",
    "typescript": "ts tsx mts cts",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c h",
    "cpp": "cc cpp cxx hh hpp hxx ipp",
    "ruby": "rb",
    "php": "php",
    "csharp": "cs",
    "scala": "scala",
    "kotlin": "kt",
    "swift": "swift",
    "elixir": "ex exs",
    "haskell": "hs",
    "lua": "lua",
    "bash": "sh bash",
}
LANGUAGE_OF = {
    f".{suffix}": language
    for language, suffixes in LANGUAGES.items()
    for suffix in suffixes.split(" ")
}
# Copies of other projects, packaging, and what a build wrote.
SKIPPED_FOLDERS = frozenset(
    "node_modules bower_components vendor vendors vendored _vendor _vendored _vendored_packages "
    "third_party third-party thirdparty 3rdparty 3rd_party deps site-packages external externals "
    "extern contrib-src bundled debian .git .yarn __pycache__ Godeps".split(" ")
)
MINIFIED = re.compile(r"[.-](min|prod|production|bundle|umd|slim)\.[cm]?js$|\.pb\.go$|_pb2\.pyi?$")


@dataclass(frozen=True)
class Package:
    """One archive of a registry, and the hash that it must have."""

    registry: str
    name: str
    version: str
    licence: str
    sha256: str
    file: str
    languages: list[str]
    split: str
    only: list[str] = field(default_factory=list)  # where not empty: the patterns that are taken
    without: list[str] = field(default_factory=list)  # patterns of files that are left out

    @property
    def folder(self) -> str:
        """Where the package's source goes, below the cache's `src`."""
        name = self.name.removeprefix("@").replace("/", "+")
        return f"{self.split}/{self.registry}/{name}-{self.version}"

    def takes(self, path: str) -> bool:
        """Whether a file of the archive, named from the package's root, is wanted."""
        language = LANGUAGE_OF[PurePosixPath(path).suffix.lower()]
        if language not in self.languages and (language, "cpp") != ("c", self.languages[0]):
            return False
        if any(fnmatch.fnmatchcase(path, pattern) for pattern in self.without):
            return False
        return not self.only or any(fnmatch.fnmatchcase(path, pattern) for pattern in self.only)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cache", type=Path, default=CACHE)
    failed = fetch_all(read_manifest(), parser.parse_args().cache)
    if failed:
        sys.exit(f"{len(failed)} packages failed:\n" + "\n".join(failed))


def read_manifest() -> list[Package]:
    return [Package(**entry) for entry in json.loads(MANIFEST.read_text("utf-8"))]


def fetch_all(packages: list[Package], cache_folder: Path) -> list[str]:
    """Makes every package's folder; the failures, one line each."""
    failed: list[str] = []
    with ThreadPoolExecutor(THREADS) as pool:
        work = {pool.submit(fetch, package, cache_folder): package for package in packages}
        for done, future in enumerate(as_completed(work), 1):
            package = work[future]
            state = "ok"
            try:
                future.result()
            except (OSError, ValueError, subprocess.CalledProcessError, tarfile.TarError) as error:
                state = f"FAILED: {error}"
                failed.append(f"{package.registry} {package.name} {package.version}: {error}")
            sys.stderr.write(f"[{done}/{len(packages)}] {package.folder} {state}\n")
    return failed


def fetch(package: Package, cache_folder: Path) -> Path:
    """The folder with the package's source files; what was unpacked before was checked then."""
    folder = cache_folder / "src" / package.folder
    if not folder.exists():
        unpack(package, checked_archive(package, cache_folder), folder)
    return folder


def checked_archive(package: Package, cache_folder: Path) -> Path:
    """The package's archive, downloaded once, with the right hash."""
    archive = download(package, cache_folder)
    found = sha256_of(archive)
    if found != package.sha256:
        archive.unlink()
        raise ValueError(f"{archive.name}: SHA-256 is {found}, not {package.sha256}")
    return archive


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def download(package: Package, cache_folder: Path) -> Path:
    """The package's archive in the cache, not checked."""
    archive = cache_folder / "archives" / package.registry / package.file
    if not archive.exists():
        archive.parent.mkdir(parents=True, exist_ok=True)
        _retrieve(addresses(package), archive)
    return archive


def _retrieve(urls: list[str], target: Path) -> None:
    partial = target.with_name(f"{target.name}.part")
    error: OSError = FileNotFoundError(f"no address for {target.name}")
    for attempt in range(ATTEMPTS):
        for url in urls:
            try:
                with _open(url) as answer, partial.open("wb") as file:
                    shutil.copyfileobj(answer, file)
            except OSError as fault:
                error = fault
            else:
                partial.rename(target)
                return
        time.sleep(2**attempt)
    raise error


def _open(url: str) -> "urllib.request._UrlopenRet":
    return urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS)


def addresses(package: Package) -> list[str]:
    """Where the archive may be, by the configuration of the registry's own tool."""
    if package.registry == "pypi":
        return [_pypi_address(package)]
    if package.registry == "npm":
        base = package.name.rpartition("/")[2]
        return [f"{npm_registry()}/{package.name}/-/{base}-{package.version}.tgz"]
    initial = package.name[: 4 if package.name.startswith("lib") else 1]
    pool = f"pool/main/{initial}/{package.name}/{urllib.parse.quote(package.file)}"
    return [f"{mirror}/{pool}" for mirror in debian_mirrors()]


def _pypi_address(package: Package) -> str:
    page_url = f"{pypi_index()}/{re.sub(r'[-_.]+', '-', package.name).lower()}/"
    with _open(page_url) as answer:
        page = answer.read().decode("utf-8")
    for link in re.findall(r'href="([^"]+)"', page):
        url = urllib.parse.urljoin(page_url, html.unescape(link)).partition("#")[0]
        if urllib.parse.unquote(url.rpartition("/")[2]) == package.file:
            return url
    raise FileNotFoundError(f"the index does not list {package.file}")


@cache
def pypi_index() -> str:
    """The index that pip is configured with; its help names it."""
    wide = {**os.environ, "COLUMNS": "400"}
    text = _output([sys.executable, "-m", "pip", "download", "--help"], wide)
    found = re.search(r"--index-url.*?\(default\s+(\S+?)\)", text, re.DOTALL)
    if found is None:
        raise ValueError("pip does not say which index it uses")
    return found[1].rstrip("/")


@cache
def npm_registry() -> str:
    return _output(["npm", "config", "get", "registry"]).strip().rstrip("/")


@cache
def debian_mirrors() -> list[str]:
    text = _output(["apt-get", "indextargets", "--format", "$(REPO_URI)"])
    return sorted({line.rstrip("/") for line in text.split()})


def _output(command: list[str], environment: dict[str, str] | None = None) -> str:
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environment
    ).stdout


def unpack(package: Package, archive: Path, folder: Path) -> None:
    """Writes the wanted source files of the archive; the folder appears when all are there."""
    partial = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for path, content in source_files(archive):
        if package.takes(path):
            target = partial / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    partial.rename(folder)


def source_files(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Source files that a person wrote: path from the package's root, content."""
    seen: set[bytes] = set()
    members = _in_zip(archive) if archive.suffix == ".zip" else _in_tar(archive)
    for path, content in members:
        digest = hashlib.sha256(content).digest()
        if digest not in seen and is_readable(content):
            seen.add(digest)
            yield path, content


def _in_tar(archive: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(archive) as tar:
        for member in tar:
            path = _inner(member.name)
            if member.isfile() and is_source(path, member.size):
                file = tar.extractfile(member)
                yield path, file.read() if file else b""


def _in_zip(archive: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(archive) as zipped:
        for info in zipped.infolist():
            path = _inner(info.filename)
            if is_source(path, info.file_size):
                yield path, zipped.read(info)


def _inner(name: str) -> str:
    """The path without the archive's own folder."""
    parts = [part for part in PurePosixPath(name).parts if part not in ("/", ".")]
    return "/".join(parts[1:] or parts)


def is_source(path: str, size: int) -> bool:
    parts = PurePosixPath(path).parts
    if not parts or ".." in parts or not 0 < size <= MAX_BYTES:
        return False
    if not SKIPPED_FOLDERS.isdisjoint(parts[:-1]) or MINIFIED.search(path):
        return False
    return PurePosixPath(path).suffix.lower() in LANGUAGE_OF


def is_readable(content: bytes) -> bool:
    """Whether the content is text with lines of a person's length."""
    if b"\0" in content or LONG_LINE.search(content):
        return False
    return len(content) <= MAX_MEAN_LINE * (content.count(b"\n") + 1)


if __name__ == "__main__":
    main()

"""Which files of a workspace are indexed, and which never are."""

import os
import subprocess
from pathlib import Path

import pytest

from ctx_core import confined_folder
from ctx_core.errors import InvalidInput
from ctx_indexer.source.content import blob_of, decode
from ctx_indexer.source.walk import (
    FileLimits,
    KnownFile,
    SkippedFile,
    SourceFile,
    inspect_file,
    walk,
)
from ctx_indexer.source.workspace import resolve_workspace

KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7bq1" * 4 + "\n"


GIT = "git -c user.name=t -c user.email=t@t -c protocol.file.allow=always".split()


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        [*GIT, "-C", str(folder), *arguments],
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def put(folder: Path, files: dict[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def sources(folder: Path) -> dict[str, SourceFile]:
    return {f.path: f for f in walk(folder) if isinstance(f, SourceFile)}


def skipped(folder: Path) -> dict[str, str]:
    return {f.path: f.reason for f in walk(folder) if isinstance(f, SkippedFile)}


@pytest.fixture(params=["git", "plain"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    root.mkdir()
    if request.param == "git":
        git(root, "init", "-q")
    return root


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    return root


def test_files_with_hash_language_and_content(folder: Path) -> None:
    put(folder, {"a/b.py": "x = 1\r\n", "c d\n.txt": "hello", "empty.go": ""})
    found = sources(folder)
    assert set(found) == {"a/b.py", "c d\n.txt", "empty.go"}
    file = found["a/b.py"]
    assert (file.language, file.size, file.content) == ("python", 7, b"x = 1\r\n")
    assert file.text(folder) == "x = 1\r\n"
    assert file.modified == (folder / "a/b.py").stat().st_mtime


def test_the_hash_is_the_one_of_git(repo: Path) -> None:
    put(repo, {"a.py": "print('hello')\n"})
    assert git(repo, "hash-object", "a.py").strip() == sources(repo)["a.py"].blob
    assert blob_of(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


def test_ignored_files_are_left_out(folder: Path) -> None:
    put(
        folder,
        {
            ".gitignore": "*.log\n/build/\n!keep.log\n",
            "a.py": "",
            "x.log": "",
            "keep.log": "",
            "build/out.js": "",
            "sub/build/in.js": "",
            "sub/.gitignore": "secret_*\n!x.log\n",
            "sub/secret_1": "",
            "sub/x.log": "",
            "node_modules/m/index.js": "",
            "pkg/__pycache__/a.txt": "",
        },
    )
    assert set(sources(folder)) == {
        ".gitignore",
        "a.py",
        "keep.log",
        "sub/.gitignore",
        "sub/build/in.js",
        "sub/x.log",
    }


def test_ctxignore_leaves_out_more(folder: Path) -> None:
    put(
        folder,
        {
            ".ctxignore": "data/\n*.csv\n[bad\n",
            "a.py": "",
            "t.csv": "",
            "data/x.py": "",
            "sub/.ctxignore": "!t.csv\nonly.py\n",
            "sub/t.csv": "",
            "sub/only.py": "",
            "only.py": "",
        },
    )
    if (folder / ".git").exists():
        git(folder, "add", "-A")
    found = {path for path in sources(folder) if not path.endswith(".ctxignore")}
    assert found == {"a.py", "sub/t.csv", "only.py"}


def test_a_subfolder_of_a_repository_is_a_workspace(repo: Path) -> None:
    put(
        repo,
        {".gitignore": "*.tmp\n", "a.py": "", "sub/b.py": "", "sub/c.tmp": "", "sub/d/e.py": ""},
    )
    git(repo, "add", "-A")
    assert set(sources(repo / "sub")) == {"b.py", "d/e.py"}


def test_an_ignored_folder_is_walked_when_it_is_asked_for(repo: Path) -> None:
    put(repo, {".gitignore": "/scratch\n", "scratch/a.py": "", "scratch/node_modules/b.js": ""})
    assert set(sources(repo / "scratch")) == {"a.py"}


def test_tracked_files_count_even_where_ignored_and_deleted_ones_do_not(repo: Path) -> None:
    put(repo, {"vendor/a.py": "x", "gone.py": "", "node_modules/kept.js": ""})
    git(repo, "add", "-A")
    put(repo, {".gitignore": "vendor\n"})
    (repo / "gone.py").unlink()
    found = sources(repo)
    assert set(found) == {".gitignore", "vendor/a.py", "node_modules/kept.js"}
    assert found["vendor/a.py"].flags.is_vendored
    assert "gone.py" not in skipped(repo)


def test_submodules_belong_to_it_and_other_repositories_do_not(repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    put(other, {"lib.py": "x"})
    git(other, "init", "-q")
    git(other, "add", "-A")
    git(other, "commit", "-qm", "x")
    git(repo, "submodule", "--quiet", "add", str(other), "deps/other")
    put(repo, {"nested/x.py": "", "a.py": ""})
    git(repo / "nested", "init", "-q")
    assert set(sources(repo)) == {".gitmodules", "a.py", "deps/other/lib.py"}


SECRETS = {
    ".env": "A=1",
    ".env.local": "A=1",
    "config/prod.env": "A=1",
    "id_rsa": "x",
    "server.key": "x",
    "cert.pem": KEY,
    "deploy/backup.txt": KEY,
    "deploy/id_rsa.bak": KEY,
    "prod.tfvars": "x",
    "gcp-key.json": "{}",
    "secrets.prod.yaml": "x",
    ".env.default": "A=1",
    "store.p12": "x",
    ".netrc": "machine x",
    "credentials.json": "{}",
    "x/service-account.json": "{}",
    ".htpasswd": "a:b",
    ".kube/config": "x",
    "passwords.kdbx": "x",
}
NO_SECRETS = {
    ".env.example": "A=",
    ".env.sample": "A=",
    ".env.template": "A=",
    "public.pem": "-----BEGIN CERTIFICATE-----\nMIIB\n",
    "id_rsa.pub": "ssh-rsa x",
    "keys.py": 'MARK = "-----BEGIN PRIVATE KEY-----"\n',
    "docs/.npmrc": "save-exact=true",
    "deploy/notes.txt": f"The key is\n{KEY}",
    "environment.py": "",
}


def test_secrets_are_never_yielded(folder: Path) -> None:
    put(folder, {**SECRETS, **NO_SECRETS})
    if (folder / ".git").exists():
        git(folder, "add", "-A", "-f")
    assert set(sources(folder)) == set(NO_SECRETS)
    assert {path for path, reason in skipped(folder).items() if reason == "secret"} == set(SECRETS)


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    put(tmp_path, {"outside/secret.py": "x"})
    put(folder, {"real/a.py": "x"})
    (folder / "inside.py").symlink_to("real/a.py")
    (folder / "outside.py").symlink_to(tmp_path / "outside/secret.py")
    (folder / "broken.py").symlink_to("nowhere")
    (folder / "linked").symlink_to(tmp_path / "outside")
    (folder / "loop").symlink_to(folder)
    assert set(sources(folder)) == {"real/a.py"}
    assert set(skipped(folder).values()) == {"symlink"}


def test_what_cannot_be_indexed_is_named(folder: Path) -> None:
    put(
        folder,
        {
            "a.dat": b"ab\0cd",
            "pic.png": b"x",
            "huge.js": b"a" * 5_000_000,
            "utf16.txt": "hé".encode("utf-16"),
        },
    )
    (folder / os.fsdecode(b"caf\xe9.py")).write_bytes(b"x")
    os.mkfifo(folder / "pipe.py")
    assert set(sources(folder)) == {"utf16.txt"}
    reasons = skipped(folder)
    assert reasons.pop("pipe.py", "not a file") == "not a file"  # git does not list it
    assert reasons == {
        "a.dat": "binary",
        "pic.png": "binary",
        "huge.js": "too large",
        "caf\\xe9.py": "not utf-8 name",
    }


def test_unreadable_and_missing_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(folder, {"a.py": "x"})

    def refuse(*_: object) -> bytes:
        raise PermissionError

    monkeypatch.setattr(confined_folder, "_read", refuse)
    assert inspect_file(folder, "a.py") == SkippedFile("a.py", "unreadable")
    assert inspect_file(folder, "b.py") is None


def test_known_files_are_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(folder, {"a.py": "x = 1", "b.py": "y = 2"})
    known = {f.path: KnownFile(f.size, f.modified, f.blob) for f in sources(folder).values()}
    put(folder, {"b.py": "y = 33"})
    files = {f.path: f for f in walk(folder, FileLimits(), known) if isinstance(f, SourceFile)}
    assert files["a.py"].content is None
    assert files["a.py"].blob == blob_of(b"x = 1")
    assert files["a.py"].text(folder) == "x = 1"
    assert files["b.py"].content == b"y = 33"


@pytest.fixture
def tree(folder: Path) -> Path:
    sources = ("a.py", "src/b.py", "src/deep/c.py", "src2/d.py", "src/x.log", "src/.env")
    put(folder, {**dict.fromkeys(sources, "x"), ".gitignore": "*.log\n"})
    (folder / os.fsdecode(b"src/caf\xe9.py")).write_bytes(b"x")
    return folder


def test_a_subfolder_is_walked_as_the_whole_is(tree: Path) -> None:
    whole = [file for file in walk(tree) if file.path.startswith("src/")]
    assert list(walk(tree, under="src")) == whole
    reasons = {file.path: file.reason for file in whole if isinstance(file, SkippedFile)}
    assert reasons == {"src/.env": "secret", "src/caf\\xe9.py": "not utf-8 name"}
    assert [f.path for f in whole if isinstance(f, SourceFile)] == ["src/b.py", "src/deep/c.py"]


def test_single_files_are_walked_as_the_whole_is(tree: Path) -> None:
    put(tree.parent, {"outside.py": "x"})
    paths = {"a.py", "src/x.log", "src/.env", "src/deep/c.py", "gone.py", "../outside.py"}
    assert [file.path for file in walk(tree, paths=paths)] == ["a.py", "src/.env", "src/deep/c.py"]
    inside = walk(tree, under="src", paths={"a.py", "src/b.py"})
    assert [file.path for file in inside] == ["src/b.py"]
    assert list(walk(tree, paths=())) == []


def test_folders_that_are_too_large_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home/me")
    project = tmp_path / "home/me/project"
    project.mkdir(parents=True)
    for refused in (Path("/"), tmp_path / "home/me", tmp_path / "home", tmp_path / "no"):
        with pytest.raises(InvalidInput, match="folder"):
            resolve_workspace(refused)
    assert resolve_workspace(project) == project


FLAGS = {
    "is_test": "tests/a.py test_x.py a_test.go x.spec.ts src/test/A.java FooTest.java spec/a.rb",
    "is_config": "pyproject.toml .github/ci.yml webpack.config.js Dockerfile package.json setup.py",
    "is_docs": "README.md docs/guide.rst docs/index.txt CHANGELOG LICENSE",
    "is_generated": "a.min.js package-lock.json x_pb2.py api.pb.go yarn.lock gen.go long.js",
    "is_vendored": "vendor/a.go third_party/x/y.c web/jquery-3.6.0.min.js",
}
PLAIN = "src/main.py lib/contest.py src/latest.ts app/protest/x.go cmd/vendors.go"


def test_flags(folder: Path) -> None:
    names = {name for names in FLAGS.values() for name in names.split()} | set(PLAIN.split())
    put(folder, dict.fromkeys(names, "x\n"))
    put(folder, {"gen.go": "// Code generated by mockgen. DO NOT EDIT.\n", "long.js": "a;" * 5_000})
    found = sources(folder)
    for flag, expected in FLAGS.items():
        have = {path for path, file in found.items() if getattr(file.flags, flag)}
        assert set(expected.split()) <= have, flag
        assert have.isdisjoint(PLAIN.split()), flag


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"\xef\xbb\xbfhi", "hi"),
        ("hé".encode(), "hé"),
        ("hé".encode("utf-16"), "hé"),
        (b"caf\xe9", "café"),
        (b"\xff\xfea", "\ufffd"),
        (b"", ""),
    ],
)
def test_decode(content: bytes, text: str) -> None:
    assert decode(content) == text

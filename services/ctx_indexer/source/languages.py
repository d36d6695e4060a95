"""Detects the language of a file by its name, its extension, or its first line."""

import re
from types import MappingProxyType

UNKNOWN = "text"  # the language of files that none of the tables knows
HEAD_BYTES = 512  # enough for a shebang and a mode line

_EXTENSIONS = """
ada: ada adb ads
asm: asm s
astro: astro
bash: sh bash zsh ksh bats ebuild command
bicep: bicep
c: c
clojure: clj cljs cljc edn
cmake: cmake
commonlisp: lisp lsp cl
cpp: cc cpp cxx c++ hpp hh hxx h++ ipp inl tpp ixx cppm
csharp: cs csx
css: css
cuda: cu cuh
d: d
dart: dart
dockerfile: dockerfile containerfile
elisp: el
elixir: ex exs
elm: elm
erlang: erl hrl
fish: fish
fortran: f f90 f95 f03 f08 for
fsharp: fs fsx fsi
gdscript: gd
gleam: gleam
glsl: glsl vert frag comp geom tesc tese
go: go
graphql: graphql gql graphqls
groovy: groovy gradle gvy
haskell: hs lhs
hcl: hcl tf tfvars nomad
html: html htm xhtml jinja jinja2 j2 hbs mustache ejs
ini: ini cfg conf editorconfig
java: java
javascript: js mjs cjs jsx es6
json: json jsonc json5 geojson webmanifest ipynb har avsc
jsonnet: jsonnet libsonnet
julia: jl
kotlin: kt kts
latex: tex sty cls
lua: lua
make: mk mak make
markdown: md markdown mdx mdown mkd qmd rmd
matlab: matlab
nim: nim nims
nix: nix
objc: m mm
ocaml: ml
ocaml_interface: mli
pascal: pas pp dpr
perl: pl pm t psgi
php: php phtml php5 inc
powershell: ps1 psm1 psd1
prisma: prisma
properties: properties
proto: proto
puppet: puppet
purescript: purs
python: py pyi pyw pyx pxd gyp bzl star
r: r
racket: rkt
rego: rego
rst: rst rest
ruby: rb rake gemspec ru podspec jbuilder rbi
rust: rs
scala: scala sc sbt
scheme: scm ss
scss: scss less
smithy: smithy
solidity: sol
sql: sql ddl dml psql pgsql plsql
svelte: svelte
swift: swift
tcl: tcl
thrift: thrift
toml: toml
tsx: tsx
typescript: ts mts cts
typst: typ
verilog: v sv svh vh
vhdl: vhd vhdl
vim: vim vimrc
vue: vue
wgsl: wgsl
xml: xml xsd xsl xslt svg plist csproj props targets pom resx wsdl rng xaml fxml
yaml: yaml yml
zig: zig zon
"""

_NAMES = """
bash: .bashrc .bash_profile .bash_aliases .profile .zshrc .zprofile .envrc PKGBUILD APKBUILD
cmake: CMakeLists.txt
dockerfile: Dockerfile Containerfile
erlang: rebar.config
go: go.mod go.work
groovy: Jenkinsfile
ini: .gitconfig .flake8 .pylintrc .coveragerc .hgrc .npmrc
json: .babelrc .eslintrc .prettierrc .jshintrc composer.lock Pipfile.lock flake.lock .swcrc
make: Makefile makefile GNUmakefile
markdown: README CHANGELOG CONTRIBUTING
python: SConstruct SConscript wscript BUILD WORKSPACE BUILD.bazel Tiltfile
ruby: Rakefile Gemfile Guardfile Vagrantfile Podfile Fastfile Brewfile Capfile .irbrc Dangerfile
toml: Cargo.lock Pipfile poetry.lock uv.lock
yaml: .clang-format .clang-tidy pubspec.lock .yamllint
"""

_INTERPRETERS = """
bash: sh bash zsh dash ksh ash
elixir: elixir
fish: fish
groovy: groovy
javascript: node nodejs bun
julia: julia
lua: lua luajit
make: make
perl: perl
php: php
powershell: pwsh
python: python pypy uv
r: Rscript
ruby: ruby jruby
scala: scala
swift: swift
tcl: tclsh wish
typescript: deno ts-node tsx
"""


def _table(text: str) -> MappingProxyType[str, str]:
    rows = (line.split(":", 1) for line in text.split("\n") if line)
    return MappingProxyType({word: language for language, words in rows for word in words.split()})


EXTENSIONS = _table(_EXTENSIONS)
NAMES = _table(_NAMES)
INTERPRETERS = _table(_INTERPRETERS)
LANGUAGES = frozenset({*EXTENSIONS.values(), *NAMES.values(), "c", UNKNOWN})

_SHEBANG = re.compile(rb"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+|\w+=\S*\s+)*(?:\S*/)?)?([A-Za-z_+-]+)")
_MODELINE = re.compile(rb"-\*-(.*?)-\*-")
_CPP_HEADER = re.compile(
    rb"^[^\S\n]*+(?:class\s++\w++(?:;|[^;{]{0,300}+\{)|namespace\b|template\s*+<|using\s++\w"
    rb"|public:|private:)|^#\s*+include\s*+<(?:\w++>|\w++/[\w/]++\.hpp>)",
    re.MULTILINE,
)
_OBJC_HEADER = re.compile(rb"^[^\S\n]*+(?:@interface|@protocol|@class|#import)\b", re.MULTILINE)
_XML = re.compile(rb"\s*(?:<\?xml|<!DOCTYPE TS)")
_RST = re.compile(rb"^(?:\.\. [\w-]+::|[=\-~]{4,}\s*$)", re.MULTILINE)


def language_of(path: str, content: bytes = b"") -> str:
    """Detect a language by the file name; content decides where languages share an extension."""
    name = path.rsplit("/", 1)[-1]
    if known := NAMES.get(name):
        return known
    stem, dot, extension = name.rpartition(".")
    if not dot or not stem:
        return _by_prefix(name) or _by_shebang(content) or UNKNOWN
    extension = extension.lower()
    if extension in _SHARED:
        return _by_content(extension, content)
    return EXTENSIONS.get(extension) or _by_prefix(name) or _by_shebang(content) or UNKNOWN


_SHARED = frozenset(["h", "ts", "txt", "m", "t"])


def _by_content(extension: str, content: bytes) -> str:
    """Detect which of the languages that share an extension this is."""
    match extension:
        case "h":
            if _OBJC_HEADER.search(content):
                return "objc"
            return "cpp" if _CPP_HEADER.search(content) else "c"
        case "ts":
            return "xml" if _XML.match(content) else "typescript"
        case "txt":
            return "rst" if _RST.search(content) else UNKNOWN
        case "m":
            return "objc" if _OBJC_HEADER.search(content) or b"#include" in content else "matlab"
        case _:
            return "perl" if b"use " in content else UNKNOWN


def _by_prefix(name: str) -> str | None:
    """Detect a known name with a suffix, such as `Dockerfile.dev`."""
    first = name.split(".", 1)[0]
    return NAMES[first] if first in ("Dockerfile", "Containerfile", "Makefile") else None


def _by_shebang(content: bytes) -> str | None:
    head = content[:HEAD_BYTES]
    if match := _SHEBANG.match(head):
        interpreter = match.group(1).decode("ascii")
        return INTERPRETERS.get(interpreter) or INTERPRETERS.get(interpreter.rstrip("-"))
    if match := _MODELINE.search(head):
        mode = _mode(match.group(1).decode("latin-1"))
        return {"c++": "cpp", "shell": "bash", "sh": "bash"}.get(
            mode, mode if mode in LANGUAGES else None
        )
    return None


def _mode(line: str) -> str:
    """Return the mode of a mode line: `C++`, or `mode: C++; coding: utf-8`."""
    for item in line.split(";"):
        name, _, value = item.rpartition(":")
        if name.strip() in ("", "mode"):
            return value.strip().lower()
    return ""

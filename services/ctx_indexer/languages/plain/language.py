"""All languages that need no folder of their own: names, and queries of definitions."""

import re

from ctx_indexer.languages.protocol import UNKNOWN, Language, any_text

_XML = re.compile(rb"\s*(?:<\?xml|<!DOCTYPE TS)")
_RST = re.compile(rb"^(?:\.\. [\w-]+::|[=\-~]{4,}\s*$)", re.MULTILINE)

# Languages that have nothing but extensions.

_PLAIN = """\
ada: ada adb ads
asm: asm s
bicep: bicep
clojure: clj cljs cljc edn
commonlisp: lisp lsp cl
css: css
d: d
dart: dart
elisp: el
elm: elm
fortran: f f90 f95 f03 f08 for
gdscript: gd
gleam: gleam
glsl: glsl vert frag comp geom tesc tese
graphql: graphql gql graphqls
haskell: hs lhs
hcl: hcl tf tfvars nomad
html: html htm xhtml jinja jinja2 j2 hbs mustache ejs
jsonnet: jsonnet libsonnet
latex: tex sty cls
nim: nim nims
nix: nix
ocaml: ml
ocaml_interface: mli
pascal: pas pp dpr
prisma: prisma
properties: properties
proto: proto
puppet: puppet
purescript: purs
racket: rkt
rego: rego
scheme: scm ss
scss: scss less
smithy: smithy
solidity: sol
sql: sql ddl dml psql pgsql plsql
thrift: thrift
typst: typ
verilog: v sv svh vh
vhdl: vhd vhdl
vim: vim vimrc
wgsl: wgsl
zig: zig zon"""


def _is_xml(content: bytes) -> bool:
    """Whether a file `x.ts` holds translations of Qt, and no TypeScript."""
    return _XML.match(content) is not None


def _is_rst(content: bytes) -> bool:
    return _RST.search(content) is not None


def _is_perl(content: bytes) -> bool:
    return b"use " in content


def _simple(row: str) -> Language:
    name, _, extensions = row.partition(":")
    return Language(name=name, extensions=extensions)


LANGUAGES = (
    *map(_simple, _PLAIN.split("\n")),
    Language(
        name="bash",
        extensions="sh bash zsh ksh bats ebuild command",
        file_names=".bashrc .bash_profile .bash_aliases .profile .zshrc .zprofile .envrc PKGBUILD"
        " APKBUILD",
        interpreters="sh bash zsh dash ksh ash",
        modes="shell sh",
    ),
    Language(name="cmake", extensions="cmake", file_names="CMakeLists.txt"),
    Language(
        name="dockerfile",
        extensions="dockerfile containerfile",
        file_names="Dockerfile Containerfile",
        suffixed_names="Dockerfile Containerfile",
    ),
    Language(name="elixir", extensions="ex exs", interpreters="elixir"),
    Language(name="erlang", extensions="erl hrl", file_names="rebar.config"),
    Language(name="fish", extensions="fish", interpreters="fish"),
    Language(
        name="ini",
        extensions="ini cfg conf editorconfig",
        file_names=".gitconfig .flake8 .pylintrc .coveragerc .hgrc .npmrc",
    ),
    Language(
        name="json",
        extensions="json jsonc json5 geojson webmanifest ipynb har avsc",
        file_names=".babelrc .eslintrc .prettierrc .jshintrc .swcrc composer.lock Pipfile.lock"
        " flake.lock",
    ),
    Language(name="julia", extensions="jl", interpreters="julia"),
    Language(name="lua", extensions="lua", interpreters="lua luajit"),
    Language(
        name="make",
        extensions="mk mak make",
        file_names="Makefile makefile GNUmakefile",
        suffixed_names="Makefile",
        interpreters="make",
    ),
    Language(
        name="markdown",
        extensions="md markdown mdx mdown mkd qmd rmd",
        file_names="README CHANGELOG CONTRIBUTING",
    ),
    Language(name="matlab", extensions="matlab", contents={"m": any_text}),
    Language(name="perl", extensions="pl pm t psgi", interpreters="perl", contents={"t": _is_perl}),
    Language(name="powershell", extensions="ps1 psm1 psd1", interpreters="pwsh"),
    Language(name="r", extensions="r", interpreters="Rscript"),
    Language(name="rst", extensions="rst rest", contents={"txt": _is_rst}),
    Language(name="tcl", extensions="tcl", interpreters="tclsh wish"),
    Language(name=UNKNOWN, contents={"txt": any_text, "t": any_text}),
    Language(name="toml", extensions="toml", file_names="Cargo.lock Pipfile poetry.lock uv.lock"),
    Language(
        name="xml",
        extensions="xml xsd xsl xslt svg plist csproj props targets pom resx wsdl rng xaml fxml",
        contents={"ts": _is_xml},
    ),
    Language(
        name="yaml",
        extensions="yaml yml",
        file_names=".clang-format .clang-tidy pubspec.lock .yamllint",
    ),
)

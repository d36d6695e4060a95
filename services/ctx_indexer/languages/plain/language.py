"""Languages that have no folder of their own: their files, and queries of definitions."""

import re

from ctx_indexer.languages.plain.headings import markdown_titles, rst_titles
from ctx_indexer.languages.protocol import UNKNOWN, Kind, Language, Tests, any_text

_XML = re.compile(rb"\s*(?:<\?xml|<!DOCTYPE TS)")
_RST = re.compile(rb"^(?:\.\. [\w-]+::|[=\-~]{4,}\s*$)", re.MULTILINE)

# The grammar takes 1.7 kB of memory per byte of unclosed tags: 150 MB for 85 kB.
_MAX_HTML = 40_000

# Languages that have nothing but extensions.
_PLAIN = """\
ada: ada adb ads
asm: asm s
clojure: clj cljs cljc edn
commonlisp: lisp lsp cl
elisp: el
elm: elm
gdscript: gd
gleam: gleam
glsl: glsl vert frag comp geom tesc tese
jsonnet: jsonnet libsonnet
ocaml_interface: mli
pascal: pas pp dpr
prisma: prisma
puppet: puppet
purescript: purs
racket: rkt
rego: rego
scheme: scm ss
smithy: smithy
solidity: sol
thrift: thrift
verilog: v sv svh vh
vhdl: vhd vhdl
vim: vim vimrc
wgsl: wgsl"""


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
        aliases="shell",
        extensions="sh bash zsh ksh bats ebuild command",
        file_names=".bashrc .bash_profile .bash_aliases .profile .zshrc .zprofile .envrc PKGBUILD"
        " APKBUILD",
        interpreters="sh bash zsh dash ksh ash",
        modes="shell sh",
        tests=Tests(paths=r"\.bats$"),
        dropped_lines=12,
    ),
    Language(name="bicep", extensions="bicep", kind=Kind.CONFIGURATION),
    Language(
        name="cmake", extensions="cmake", file_names="CMakeLists.txt", kind=Kind.CONFIGURATION
    ),
    Language(
        name="css",
        extensions="css",
        kind=Kind.DATA,
        in_pages=True,
        generated=r"\.min\.css$|[.-]bundle\.css$|\.chunk\.css$",
    ),
    Language(name="d", extensions="d", tests=Tests(prefixed=True)),
    Language(
        name="dart",
        extensions="dart",
        tests=Tests(prefixed=True, suffixed="dart"),
        generated=r"\.(?:g|freezed|gr)\.dart$",
    ),
    Language(
        name="dockerfile",
        extensions="dockerfile containerfile",
        file_names="Dockerfile Containerfile",
        suffixed_names="Dockerfile Containerfile",
        kind=Kind.CONFIGURATION,
    ),
    Language(
        name="elixir",
        extensions="ex exs",
        interpreters="elixir",
        configuration=r"(?:^|/)mix\.exs$|(?:^|/)config/.*(?-i:\.exs)$",
    ),
    Language(
        name="erlang",
        extensions="erl hrl",
        file_names="rebar.config",
        tests=Tests(paths=r"(?-i:_SUITE\.erl)$"),
    ),
    Language(name="fish", extensions="fish", interpreters="fish"),
    Language(name="fortran", extensions="f f90 f95 f03 f08 for", tests=Tests(prefixed=True)),
    Language(name="graphql", extensions="graphql gql graphqls", kind=Kind.DATA),
    Language(name="haskell", extensions="hs lhs", tests=Tests(prefixed=True, suffixed="hs")),
    Language(name="hcl", extensions="hcl tf tfvars nomad", kind=Kind.CONFIGURATION),
    Language(
        name="html",
        extensions="html htm xhtml jinja jinja2 j2 hbs mustache ejs",
        kind=Kind.MARKUP,
        max_parsed=_MAX_HTML,
    ),
    Language(
        name="ini",
        extensions="ini cfg conf editorconfig",
        file_names=".gitconfig .flake8 .pylintrc .coveragerc .hgrc .npmrc",
        kind=Kind.CONFIGURATION,
    ),
    Language(
        name="json",
        extensions="json jsonc json5 geojson webmanifest ipynb har avsc",
        file_names=".babelrc .eslintrc .prettierrc .jshintrc .swcrc composer.lock Pipfile.lock"
        " flake.lock",
        kind=Kind.CONFIGURATION,
    ),
    Language(name="julia", extensions="jl", interpreters="julia", tests=Tests(prefixed=True)),
    Language(name="latex", extensions="tex sty cls", kind=Kind.PROSE),
    Language(name="lua", extensions="lua", interpreters="lua luajit", tests=Tests(prefixed=True)),
    Language(
        name="make",
        extensions="mk mak make",
        file_names="Makefile makefile GNUmakefile",
        suffixed_names="Makefile",
        interpreters="make",
        kind=Kind.CONFIGURATION,
    ),
    Language(
        name="markdown",
        extensions="md markdown mdx mdown mkd qmd rmd",
        file_names="README CHANGELOG CONTRIBUTING",
        kind=Kind.PROSE,
        titles=markdown_titles,
    ),
    Language(
        name="matlab",
        extensions="matlab",
        contents={"m": any_text},
        tests=Tests(prefixed=True, suffixed="m"),
    ),
    Language(name="nim", extensions="nim nims", tests=Tests(prefixed=True)),
    Language(name="nix", extensions="nix", kind=Kind.CONFIGURATION),
    Language(name="ocaml", extensions="ml", tests=Tests(prefixed=True)),
    Language(
        name="perl",
        extensions="pl pm t psgi",
        interpreters="perl",
        contents={"t": _is_perl},
        tests=Tests(prefixed=True, paths=r"\.t$"),
    ),
    Language(name="powershell", extensions="ps1 psm1 psd1", interpreters="pwsh"),
    Language(name="properties", extensions="properties", kind=Kind.CONFIGURATION),
    Language(name="proto", extensions="proto", kind=Kind.DATA),
    Language(name="r", extensions="r", interpreters="Rscript", tests=Tests(prefixed=True)),
    Language(
        name="rst",
        extensions="rst rest",
        contents={"txt": _is_rst},
        kind=Kind.PROSE,
        titles=rst_titles,
    ),
    Language(name="scss", extensions="scss less", kind=Kind.DATA, in_pages=True),
    Language(name="sql", extensions="sql ddl dml psql pgsql plsql", kind=Kind.DATA),
    Language(name="tcl", extensions="tcl", interpreters="tclsh wish"),
    Language(
        name="toml",
        extensions="toml",
        file_names="Cargo.lock Pipfile poetry.lock uv.lock",
        kind=Kind.CONFIGURATION,
    ),
    Language(name="typst", extensions="typ", kind=Kind.PROSE),
    Language(name=UNKNOWN, kind=Kind.TEXT, contents={"txt": any_text, "t": any_text}),
    Language(
        name="xml",
        extensions="xml xsd xsl xslt svg plist csproj props targets pom resx wsdl rng xaml fxml",
        contents={"ts": _is_xml},
        kind=Kind.MARKUP,
    ),
    Language(
        name="yaml",
        extensions="yaml yml",
        file_names=".clang-format .clang-tidy pubspec.lock .yamllint",
        kind=Kind.CONFIGURATION,
    ),
    Language(
        name="zig", extensions="zig zon", tests=Tests(inline=r'^\s*test\s*(?:"|\{|[A-Za-z_])')
    ),
)

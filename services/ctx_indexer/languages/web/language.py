"""JavaScript, TypeScript, and the markup that holds them: Vue, Svelte, Astro."""

from ctx_indexer.languages.protocol import Language, Scripts, Tests, any_text
from ctx_indexer.languages.web.markup import front_matter, scripts
from ctx_indexer.languages.web.symbols import JAVASCRIPT, TYPESCRIPT

_LANGUAGE = "typescript"  # of scripts in markup: its grammar parses JavaScript, too
_COMPONENT = Scripts(_LANGUAGE, scripts)
_CONFIGURATION = (
    r"(?:^|/)(?:[^/]*\.(?:config|conf|rc)\.[cm]?[jt]s|\.[^/]*rc\.[cm]?js|(?:grunt|gulp)file\.js)$"
)
_GENERATED = r"(?:\.min\.(?:js|mjs|cjs)|[.-]bundle\.js|\.chunk\.js)$"

LANGUAGES = (
    Language(
        name="javascript",
        aliases="node",
        extensions="js mjs cjs jsx es6",
        interpreters="node nodejs bun",
        symbols=JAVASCRIPT,
        tests=Tests(prefixed=True),
        configuration=_CONFIGURATION,
        generated=_GENERATED,
        in_pages=True,
    ),
    Language(
        name="typescript",
        extensions="ts mts cts",
        interpreters="deno ts-node tsx",
        contents={"ts": any_text},
        symbols=TYPESCRIPT,
        tests=Tests(prefixed=True),
        configuration=_CONFIGURATION,
    ),
    Language(name="tsx", extensions="tsx", symbols=TYPESCRIPT, tests=Tests(prefixed=True)),
    Language(name="vue", extensions="vue", scripts=_COMPONENT),
    Language(name="svelte", extensions="svelte", scripts=_COMPONENT),
    Language(name="astro", extensions="astro", scripts=Scripts(_LANGUAGE, front_matter)),
)

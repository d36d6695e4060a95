"""JavaScript, TypeScript, and the markup that holds them: Vue, Svelte, Astro."""

from ctx_indexer.languages.protocol import Language, any_text
from ctx_indexer.languages.web.symbols import JAVASCRIPT, TYPESCRIPT

LANGUAGES = (
    Language(
        name="javascript",
        extensions="js mjs cjs jsx es6",
        interpreters="node nodejs bun",
        symbols=JAVASCRIPT,
    ),
    Language(
        name="typescript",
        extensions="ts mts cts",
        interpreters="deno ts-node tsx",
        contents={"ts": any_text},
        symbols=TYPESCRIPT,
    ),
    Language(name="tsx", extensions="tsx", symbols=TYPESCRIPT),
    Language(name="vue", extensions="vue"),
    Language(name="svelte", extensions="svelte"),
    Language(name="astro", extensions="astro"),
)

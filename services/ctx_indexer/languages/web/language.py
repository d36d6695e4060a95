"""JavaScript, TypeScript, and the markup that holds them: Vue, Svelte, Astro."""

from ctx_indexer.languages.protocol import Language, any_text

LANGUAGES = (
    Language(name="javascript", extensions="js mjs cjs jsx es6", interpreters="node nodejs bun"),
    Language(
        name="typescript",
        extensions="ts mts cts",
        interpreters="deno ts-node tsx",
        contents={"ts": any_text},
    ),
    Language(name="tsx", extensions="tsx"),
    Language(name="vue", extensions="vue"),
    Language(name="svelte", extensions="svelte"),
    Language(name="astro", extensions="astro"),
)

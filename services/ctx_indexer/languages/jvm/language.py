"""Java, Kotlin, Scala and Groovy."""

from ctx_indexer.languages.jvm.symbols import JAVA, KOTLIN
from ctx_indexer.languages.protocol import Language, Tests

_INLINE = r"^\s*@(?:Test|ParameterizedTest|RepeatedTest|TestFactory)\b"

LANGUAGES = (
    Language(
        name="java",
        extensions="java",
        symbols=JAVA,
        tests=Tests(suffixed="java", capitalised="java", inline=_INLINE),
    ),
    Language(
        name="kotlin",
        extensions="kt kts",
        symbols=KOTLIN,
        tests=Tests(suffixed="kt kts", capitalised="kt", inline=_INLINE),
        configuration=r"\.gradle\.kts$",
        generated=r"\.g\.kt$",
    ),
    Language(
        name="scala",
        extensions="scala sc sbt",
        interpreters="scala",
        tests=Tests(suffixed="scala"),
        configuration=r"(?:^|/)build\.sbt$",
    ),
    Language(
        name="groovy",
        extensions="groovy gradle gvy",
        file_names="Jenkinsfile",
        interpreters="groovy",
        tests=Tests(suffixed="groovy"),
        configuration=r"\.gradle$",
    ),
)

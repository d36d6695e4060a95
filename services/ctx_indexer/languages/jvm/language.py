"""Java, Kotlin, Scala and Groovy."""

from ctx_indexer.languages.jvm.symbols import JAVA, KOTLIN
from ctx_indexer.languages.protocol import Language

LANGUAGES = (
    Language(name="java", extensions="java", symbols=JAVA),
    Language(name="kotlin", extensions="kt kts", symbols=KOTLIN),
    Language(name="scala", extensions="scala sc sbt", interpreters="scala"),
    Language(
        name="groovy",
        extensions="groovy gradle gvy",
        file_names="Jenkinsfile",
        interpreters="groovy",
    ),
)

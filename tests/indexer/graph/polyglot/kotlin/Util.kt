package shop.util

class Logger private constructor(private val name: String) {
    fun write(text: String) {
        helper() //> helper@Util.kt
    }

    companion object {
        fun create(name: String): Logger {
            return Logger(name)
        }
    }
}

fun pad(text: String): String = text.padEnd(10)

fun helper() {}

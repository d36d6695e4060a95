package com.acme

import kotlinx.coroutines.delay
import java.time.Instant

const val LIMIT = 10

/** Sends mails. */
class Mailer(private val host: String) {
    suspend fun send(to: String) {
        delay(10)
        connect(host).write(to)
    }

    companion object {
        fun create() = Mailer("localhost")
    }
}

interface Sender {
    fun flush()
}

data class Mail(val to: String)

enum class Level { LOW, HIGH }

object Registry {
    fun find(name: String): Mailer? = null
}

fun main() {
    println(Registry.find("x"))
}

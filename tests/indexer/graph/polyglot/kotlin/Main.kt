package app

import shop.model.*
import shop.util.Logger as Log

class Runner(private val book: Book) {
    private lateinit var item: Item
    private val byLazy by lazy { Shelf() }

    init {
        start() //> Runner.start
    }

    fun start() {
        book.show() //> Book.show
        book.rename("x").price() //> Book.rename, Book.price
        item.add(1, 2) //> Item.add#2
        item.tag() //> Priced.tag
        this.stop(1) //> Runner.stop
        Registry.find("a")?.show() //> Registry.find, Book.show
        book.shout() //> Book.shout
        val price = { n: Int -> twice(n) } //> twice
        price(2) //> Runner.start.price
        for (each in Shelf().books) {
            each.rename("y") //> Book.rename
        }
        Log.create("b").write("c") //> Logger.Companion.create, Logger.write
        val helper = "text"
        helper.trim()
        fun inner() = stop(2) //> Runner.stop
        inner() //> Runner.start.inner
    }

    private fun stop(n: Int) {}

    companion object {
        fun of(): Runner = Runner(Book("a", Shelf()))
    }
}

fun twice(n: Int) = n * 2

fun apply(f: () -> Unit) {
    f() //> run
}

fun run() {
    val runner = Runner.of() //> Runner.Companion.of
    runner.start() //> Runner.start
    helper() //> helper@Model.kt
    val any: Any = runner
    any.toString()
    with(runner) { start() }
}

fun main() {
    apply(::run) //> apply
}

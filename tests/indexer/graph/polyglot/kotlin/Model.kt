package shop.model

import shop.util.pad as widen
import shop.util.Logger

interface Priced {
    fun price(): Int

    fun tag(): String = "p" + price() //> Priced.price
}

abstract class Item(protected val name: String) : Priced {
    private val logger = Logger.create(name) //> Logger.Companion.create

    open fun show(): String {
        logger.write(name) //> Logger.write
        return widen(name) //> pad
    }

    fun add(a: Int): Int = a

    fun add(a: Int, b: Int): Int = add(a) + b //> Item.add#1
}

class Book(name: String, private val shelf: Shelf) : Item(name) {
    override fun price(): Int = shelf.price() + base() //> Shelf.price, Book.base

    override fun show(): String = super.show() + helper() //> Item.show, helper@Model.kt

    private fun base() = 3

    fun rename(to: String): Book = Book(to, shelf)
}

class Shelf {
    fun price(): Int = 1

    val books: List<Book> = listOf()
}

fun helper(): String = "model"

fun Book.shout(): String = show() //> Book.show

object Registry {
    fun find(name: String): Book? = null

    fun helper() {}
}

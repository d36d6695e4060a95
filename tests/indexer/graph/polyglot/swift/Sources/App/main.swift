@testable import Shop
import struct Shop.Shelf

actor Runner {
    private let book: Book
    private var size: Size?

    init(book: Book) { self.book = book }

    func start() async throws {
        _ = book.add(1) //> Item.add#1
        _ = book.add(1, to: nil) //> Item.add#2
        _ = book.add(1, 2, 3, label: "x") //> Item.add#3
        book.rename("x") //> Item.rename
        _ = book.shout() //> Book.shout
        try await self.stop() //> Runner.stop
        _ = size?.width() //> Size.width
        _ = (size ?? Size.standard()).width() //> Size.width, Size.standard
        _ = Book.Cover().fold() //> Book.Cover.fold
        let shelf = Shelf()
        _ = shelf.price() //> Shelf.price
        _ = measure(2, in: .small) //> measure#2
        _ = Item.make(named: "a").price() //> Item.make, Item.price
        let item = Item.shared
        item.rename("y") //> Item.rename
        run { book.read() } //> run, Book.read
        _ = Shop.helper() //> helper
        func inner() { helper2() } //> helper2
        inner() //> Runner.start.inner
        hidden() //> hidden@main.swift
    }

    private func stop() async throws {}
}

func helper2() {}
func hidden() {}
func run(_ body: () -> Void, then done: () -> Void = {}) { body(); done() }
func apply<T: Priced>(_ value: T, other: some Priced) { value.price() } //> Priced.price

let runner = Runner(book: Book(Shelf())) //> Runner.init, Book.init@Shop.swift

import Foundation

public protocol Priced: AnyObject {
    func price() -> Int
    var tag: String { get }
}

extension Priced {
    func label() -> String { "p" + String(price()) } //> Priced.price
}

open class Item: Priced {
    let name: String
    static let shared = Item("shared") //> Item.init#1
    lazy var total: Int = { compute() }() //> Item.compute, <lambda1>
    var doubled: Int { compute() * 2 } //> Item.compute
    public var tag: String { get { name } set { rename(newValue) } } //> Item.rename
    var count = 0 { didSet { refresh() } } //> Item.refresh

    public init(_ name: String) { self.name = name }

    convenience init(copy other: Item, suffix: String = "") {
        self.init(other.name + suffix) //> Item.init#1
    }

    public func price() -> Int { compute() } //> Item.compute
    func compute() -> Int { 1 }
    func rename(_ to: String) { self.refresh() } //> Item.refresh
    private func refresh() {}

    func add(_ amount: Int) -> Int { amount }
    func add(_ amount: Int, to other: Item?) -> Int { add(amount) } //> Item.add#1
    func add(_ amounts: Int..., label: String = "") -> Int { amounts.count }

    static func make(named name: String) -> Item { Item(name) } //> Item.init#1
}

class Book: Item {
    private let shelf: Shelf
    var pages: [Page] = []

    init(title: String, shelf: Shelf) {
        self.shelf = shelf
        super.init(title) //> Item.init#1
    }

    override func price() -> Int { super.price() + shelf.price() } //> Item.price, Shelf.price

    func read() {
        for page in pages { page.turn() } //> Page.turn
        pages.forEach { $0.turn() }
        pages.first?.turn() //> Page.turn
        if let shelf = owner() { shelf.sort() } //> Book.owner, Shelf.sort
        guard let other = try? find() else { return } //> Book.find
        other.sort() //> Shelf.sort
        let width = measure(1, of: self) //> measure#1
        print(width)
        let again = { (n: Int) -> Int in n + self.twice(n) } //> Book.twice
        _ = again(2) //> Book.read.again
    }

    func owner() -> Shelf? { shelf }
    func find() throws -> Shelf { shelf }
    fileprivate func twice(_ n: Int) -> Int { n * 2 }
}

struct Shelf {
    var books: [Book] = []
    func price() -> Int { books.count }
    mutating func sort() { books.sort { $0.price() < $1.price() } }
    struct Board { func fix() {} }
}

struct Page { func turn() {} }

extension Book {
    convenience init(_ shelf: Shelf) { self.init(title: "", shelf: shelf) } //> Book.init@Shop.swift
    func shout() -> String { label() + helper() } //> Priced.label, helper
    struct Cover { func fold() { wipe() } //> Book.Cover.wipe
        func wipe() {} }
}

enum Size: String {
    case small, large
    func width() -> Int { self == .small ? 1 : Size.standard().width() } //> Size.standard, Size.width
    static func standard() -> Size { .large }
}

func measure(_ n: Int, of book: Book) -> Int { n }
func measure(_ n: Int, in size: Size) -> Int { size.width() } //> Size.width
func helper() -> String { "model" }
private func hidden() {}

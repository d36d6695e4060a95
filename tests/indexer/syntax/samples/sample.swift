import Foundation
import UIKit

let limit = 10

/// Loads images.
@MainActor
final class ImageLoader: ObservableObject {
    private var cache: [URL: UIImage] = [:]

    init(limit: Int) {
        configure(limit)
    }

    func load(_ url: URL) async throws -> UIImage {
        let data = try await fetch(url)
        return decode(data)
    }
}

protocol Loading {
    func load(_ url: URL) async throws -> UIImage
}

struct Size {
    var width: Int
    func scaled(by factor: Int) -> Size { Size(width: width * factor) }
}

enum Mode {
    case fast, careful
}

extension Size {
    func area() -> Int { width * width }
}

func run() {
    print(limit)
}

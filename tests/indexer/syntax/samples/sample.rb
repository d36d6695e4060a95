require "json"
require_relative "lib/store"

module Shop
  TAX = 0.19

  # A basket of things.
  class Basket
    include Enumerable

    def initialize(store)
      @store = store
    end

    # The sum with tax.
    def total
      @store.sum(:price) * (1 + TAX)
    end

    def self.load(path)
      new(Store.open(path))
    end
  end
end

def main
  puts Shop::Basket.load("x").total
end

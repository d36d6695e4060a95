require_relative 'format'

module Geometry
  class Shape
    include Describable

    attr_reader :name

    def initialize(name)
      @name = name
      @log = Log.new(name) #> Log.initialize
    end

    def area
      0
    end

    def report
      @log.write(describe) #> Log.write, Describable.describe
      area #> Geometry.Shape.area
    end

    def self.unit
      Square.new(1) #> Geometry.Square.initialize
    end
  end

  class Square < Shape
    def initialize(side)
      super('square') #> Geometry.Shape.initialize
      @side = side
    end

    def area
      Format.round(@side * @side) #> Format.round
    end

    def report
      super #> Geometry.Shape.report
    end

    def double
      Square.new(@side * 2) #> Geometry.Square.initialize
    end

    protected

    def secret; end
  end
end

require_relative 'shapes'

class Runner
  def initialize
    @shapes = [Geometry::Square.new(2)] #> Geometry.Square.initialize
    @log = Log.new('runner') #> Log.initialize
  end

  def run
    square = Geometry::Square.new(3) #> Geometry.Square.initialize
    square.double.area #> Geometry.Square.double, Geometry.Square.area
    Geometry::Shape.unit.report #> Geometry::Shape.unit, Geometry.Square.report
    @shapes.each { |shape| finish(shape) } #> Runner.finish
    log.write('x') #> Runner.log, Log.write
    self.log.area #> Runner.log, Log.area
    pad = 'text'
    pad.strip
    helper { pad } #> helper
    twice = ->(n) { helper(n) } #> helper
    twice.call(2) #> Runner.run.twice
    build&.run #> Runner.build, Runner.run
  end

  def log
    @log
  end

  def build
    Runner.new #> Runner.initialize
  end

  private

  def finish(shape)
    shape.area
    helper shape #> helper
  end
end

class Runner
  def again
    run #> Runner.run
  end
end

def helper(value = nil)
  pad(value) #> pad
  yield if block_given?
end

Runner.new.again #> Runner.initialize, Runner.again

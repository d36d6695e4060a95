module Format
  def self.round(value)
    pad(value.round) #> Format.pad
  end

  class << self
    def pad(text)
      text
    end
  end
end

module Describable
  def describe
    "#{label}: #{area}" #> Describable.label
  end

  def label
    'shape'
  end
end

class Log
  def initialize(name)
    @name = name
  end

  def write(text)
    puts text
  end

  def area
    'log'
  end
end

def pad(text)
  text
end

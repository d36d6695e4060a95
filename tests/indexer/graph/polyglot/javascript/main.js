const { Shape, Square: Box, Circle } = require('./shapes.js');
const { widen, log } = require('./format');
const registry = require('./registry');

function run(round) {
  round(2);
  const box = new Box(3); //> Square.constructor
  box.area(); //> Square.area
  const unit = Shape.unit(); //> Shape.unit
  unit.describe(); //> Square.describe
  new Circle('c').resize(2).resize(3); //> Shape.constructor, Circle.resize
  widen('x'); //> pad
  log('main').write('x'); //> makeLog, Log.write
}

const handlers = {
  start() {
    return registry.find('a'); //> find
  },
  stop: () => registry.Registry.open().find('b'), //> Registry.open, Registry.find
};

function dispatch(callback) {
  callback(); //> dispatched
}

function dispatched() {
  handlers.start(); //> start
  handlers.stop(); //> stop
  [1, 2].forEach((n) => run(n)); //> run
}

dispatch(dispatched); //> dispatch

async function later() {
  const found = await fetchOne(); //> fetchOne
  return found.area(); //> Circle.area
}

async function fetchOne() {
  return new Circle(); //> Shape.constructor
}

function Legacy(size) {
  this.size = size;
}

Legacy.prototype.measure = function () {
  return this.scale(); //> Legacy.scale
};

Legacy.prototype.scale = function () {
  return 1;
};

new Legacy(4).measure(); //> Legacy, Legacy.measure

function unknown(thing) {
  thing.describe();
}

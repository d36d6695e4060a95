import { round as tidy, label } from './format.js';
import * as format from './format.js';
import makeLog from './log.js';

export class Shape {
  constructor(name) {
    this.name = name;
    this.log = makeLog('shape'); //> makeLog
  }

  area() {
    return 0;
  }

  describe() {
    this.log.write(this.name); //> Log.write
    return label(this.name, this.area()); //> label, Shape.area
  }

  static unit() {
    return new Square(1); //> Square.constructor
  }
}

export class Square extends Shape {
  constructor(side) {
    super('square'); //> Shape.constructor
    this.side = side;
  }

  area() {
    return tidy(this.side * this.side); //> round
  }

  describe() {
    const text = super.describe(); //> Shape.describe
    return format.label(text, 2); //> label
  }
}

export class Circle extends Shape {
  area() {
    return tidy(this.radius); //> round
  }

  grow = (by) => {
    this.resize(by); //> Circle.resize
  };

  resize(by) {
    this.radius = by;
    return this;
  }
}

import { Service, Tag, now } from '.';
import * as all from './index';

const service = Service.create(); //> Service.create
service.register('x'); //> Service.register
now(); //> now

class Tagged extends all.Tag {
  render(): string {
    return super.render(); //> Tag.render
  }
}

const pick = (tag: Tag) => tag.render(); //> Tag.render
pick(new Tagged()); //> pick

import { User as Person, Tag, type Repository } from './model';
import type { Clock } from './clock';
import { SystemClock } from './clock';

export class MemoryRepository implements Repository<Person> {
  private items = new Map<string, Person>();

  find(id: string): Person {
    return this.items.get(id)!;
  }

  save(item: Person): void {
    item.validate(); //> User.validate
    this.items.set(item.key(), item); //> Entity.key
  }
}

export class Service {
  private readonly clock: Clock;

  constructor(private readonly repository: MemoryRepository, clock?: Clock) {
    this.clock = clock ?? new SystemClock();
  }

  register(id: string): Tag {
    const user = new Person(id); //> Entity.constructor
    this.repository.save(user); //> MemoryRepository.save
    this.stamp(); //> Service.stamp
    return this.repository.find(id).first(); //> MemoryRepository.find, User.first
  }

  private stamp = (): number => this.clock.now(); //> Clock.now

  static create(): Service {
    return new Service(new MemoryRepository()); //> Service.constructor
  }
}

export function start(): void {
  const service = Service.create(); //> Service.create
  service.register('a').render(); //> Service.register, Tag.render
  const save = (x: number): number => x;
  save(1); //> start.save
  const maybe: Tag | undefined = undefined;
  maybe?.render(); //> Tag.render
  (service as Service).register('b'); //> Service.register
  util.twice(2); //> twice
}

namespace util {
  export function twice(n: number): number {
    return n * 2;
  }
}

function generic<T extends Tag>(item: T): string {
  return item.render(); //> Tag.render
}

function untyped(item: any): void {
  item.render();
}

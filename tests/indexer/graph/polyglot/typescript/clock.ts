export interface Clock {
  now(): number;
}

export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }
}

export class FixedClock implements Clock {
  constructor(private value: number) {}

  now(): number {
    return this.value;
  }

  add(n: number): FixedClock;
  add(n: string): FixedClock;
  add(n: unknown): FixedClock {
    return new FixedClock(this.now() + Number(n)); //> FixedClock.constructor, FixedClock.now
  }
}

export default function defaultClock(): Clock {
  return new SystemClock();
}

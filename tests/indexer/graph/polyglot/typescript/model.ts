export interface Repository<T> {
  find(id: string): T;
  save(item: T): void;
}

export abstract class Entity {
  constructor(protected readonly id: string) {}

  abstract validate(): boolean;

  key(): string {
    return normalise(this.id); //> normalise
  }
}

export class User extends Entity {
  private tags: Tag[] = [];

  validate(): boolean {
    for (const tag of this.tags) {
      tag.validate(); //> Tag.validate
    }
    return this.key() !== ''; //> Entity.key
  }

  first(): Tag {
    return this.tags[0];
  }
}

export class Tag {
  validate(): boolean {
    return true;
  }

  render(): string {
    return normalise('tag'); //> normalise
  }
}

function normalise(text: string): string {
  return text.trim();
}

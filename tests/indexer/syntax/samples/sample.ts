import { Injectable } from "@angular/core";
import type { Order } from "./order";

export interface Repository<T> {
  find(id: string): Promise<T | undefined>;
  readonly size: number;
}

export type OrderId = string & { readonly brand: unique symbol };

export enum Status {
  Open = "open",
  Paid = "paid",
}

/** Orders, kept by their id. */
@Injectable()
export class OrderService implements Repository<Order> {
  private readonly orders = new Map<string, Order>();
  readonly size = 0;

  async find(id: string): Promise<Order | undefined> {
    return this.orders.get(id);
  }

  total = (id: string): number => sum(this.orders.get(id));
}

export abstract class Shape {
  abstract area(): number;
}

namespace Geometry {
  export function distance(a: number, b: number): number {
    return Math.abs(a - b);
  }
}

export const sum = (order?: Order): number => order?.lines.reduce((a, b) => a + b.price, 0) ?? 0;

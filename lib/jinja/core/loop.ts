/**
 * The variable `loop`.
 * Source: jinja2 3.1, "List of Control Structures".
 * @module
 */

import { sequencesEqual } from "#lib/python/equality.ts";
import { pythonError } from "#lib/python/errors.ts";
import { lengthOf } from "#lib/python/kinds.ts";
import { type CallContext, Func, type Kwargs, type Obj, PyObject, type Result } from "#lib/python/object.ts";
import type { Maybe, RuntimeEnvironment } from "./frame.ts";
import { then } from "./results.ts";

/** Items of a loop; its test may have to wait for a function. */
export interface Items {
  next(): Maybe<IteratorResult<Obj>>;
}

interface LoopSetup {
  /** The object with the number of items, if it is known without iterating. */
  readonly sized: Obj | undefined;
  readonly environment: RuntimeEnvironment;
  /** Renders the loop's body for other items. */
  readonly recurse?: (iterable: Obj, depth: number) => Result;
  /** Recursion depth of this loop, from 0. */
  readonly depth?: number;
}

/** The state of a loop; the loop takes its items through it, because it may have looked at the next one. */
export class LoopContext extends PyObject implements Items {
  readonly typeName = "LoopContext";
  readonly #setup: LoopSetup;
  #items: Items;
  #index0 = -1;
  #length: number | undefined;
  #ahead: IteratorResult<Obj> | undefined;
  #current: Obj | undefined;
  #before: Obj | undefined;
  #changed: readonly Obj[] | undefined;

  constructor(items: Items, setup: LoopSetup) {
    super();
    this.#items = items;
    this.#setup = setup;
  }

  override get typeDescription(): string {
    return "jinja2.runtime.LoopContext object";
  }

  next(): Maybe<IteratorResult<Obj>> {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    return then(ahead ?? this.#items.next(), (item) => {
      if (item.done === true) return item;
      this.#index0++;
      this.#before = this.#current;
      this.#current = item.value;
      return item;
    });
  }

  #peek(): Maybe<IteratorResult<Obj>> {
    if (this.#ahead !== undefined) return this.#ahead;
    return then(this.#items.next(), (item) => {
      this.#ahead = item;
      return item;
    });
  }

  /** The number of items: those of a generator are read for it. */
  #count(): Maybe<number> {
    if (this.#length !== undefined) return this.#length;
    const { sized } = this.#setup;
    if (sized !== undefined && (!(sized instanceof PyObject) || sized.length() !== undefined)) {
      return this.#length = lengthOf(sized);
    }
    return then(this.#rest(), (rest) => {
      this.#items = rest[Symbol.iterator]();
      const ahead = this.#ahead !== undefined && this.#ahead.done !== true ? 1 : 0;
      return this.#length = rest.length + this.#index0 + 1 + ahead;
    });
  }

  #rest(): Maybe<Obj[]> {
    const rest: Obj[] = [];
    const take = (): Maybe<Obj[]> => {
      while (true) {
        const next = this.#items.next();
        if (next instanceof Promise) {
          return next.then((later) => later.done === true ? rest : (rest.push(later.value), take()));
        }
        if (next.done === true) return rest;
        rest.push(next.value);
      }
    };
    return take();
  }

  override getattr(name: string): Result | undefined {
    switch (name) {
      case "index":
        return this.#index0 + 1;
      case "index0":
        return this.#index0;
      case "first":
        return this.#index0 === 0;
      case "last":
        return then(this.#peek(), (item): Obj => item.done === true);
      case "length":
        return this.#count();
      case "revindex":
        return then(this.#count(), (count): Obj => count - this.#index0);
      case "revindex0":
        return then(this.#count(), (count): Obj => count - this.#index0 - 1);
      case "depth":
        return (this.#setup.depth ?? 0) + 1;
      case "depth0":
        return this.#setup.depth ?? 0;
      case "previtem":
        return this.#index0 === 0 ? this.#missing("there is no previous item") : this.#before;
      case "nextitem":
        return then(this.#peek(), (item) => item.done === true ? this.#missing("there is no next item") : item.value);
      case "cycle":
        return new Func("cycle", (args) => this.#cycle(args), "method");
      case "changed":
        return new Func("changed", (args) => this.#hasChanged(args), "method");
      default:
        return undefined;
    }
  }

  #missing(hint: string): Obj {
    return this.#setup.environment.undefined({ hint });
  }

  #cycle(args: readonly Obj[]): Obj {
    if (args.length === 0) throw pythonError("TypeError", "no items for cycling given");
    return args[this.#index0 % args.length];
  }

  #hasChanged(args: readonly Obj[]): boolean {
    if (this.#changed !== undefined && sequencesEqual(this.#changed, args)) return false;
    this.#changed = args;
    return true;
  }

  override get iterable(): boolean {
    return true;
  }

  override get callable(): boolean {
    return true;
  }

  override call(args: readonly Obj[], _kwargs: Kwargs, _context: CallContext): Result {
    const { recurse, depth = 0 } = this.#setup;
    if (args.length !== 1) {
      const wrong = args.length === 0
        ? "missing 1 required positional argument: 'iterable'"
        : `takes 2 positional arguments but ${args.length + 1} were given`;
      throw pythonError("TypeError", `LoopContext.__call__() ${wrong}`);
    }
    if (recurse === undefined) {
      throw pythonError("TypeError", "The loop must have the 'recursive' marker to be called recursively.");
    }
    return recurse(args[0], depth + 1);
  }

  override truth(): boolean {
    return true;
  }

  override equals(other: Obj): boolean {
    return other === this;
  }

  override repr(): string {
    const count = this.#count();
    if (count instanceof Promise) {
      throw pythonError("TypeError", "the length of this loop is not known without waiting");
    }
    return `<LoopContext ${this.#index0 + 1}/${count}>`;
  }
}

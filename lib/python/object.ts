/**
 * Python's objects: the values of Salt, and what templates have besides them (tuples, sets, functions, iterators).
 * Everything that a template computes with is an `Obj`. Attributes are looked up in tables and by methods of classes
 * here, never as properties of JavaScript objects: no name that a user writes reaches a prototype. Source:
 * docs.python.org, "Data model".
 * @module
 */

import type { Float } from "#lib/values/value.ts";
import { pythonError } from "./errors.ts";

/** One object of Python; every `Value` is one. */
export type Obj = null | boolean | number | bigint | Float | string | Uint8Array | Obj[] | ObjMap | PyObject;

/**
 * A dict whose keys and values are objects. Read and change it by the functions of dict.ts, which compare keys as
 * Python does.
 */
export type ObjMap = Map<Obj, Obj>;

/** The result of an operation that may call functions of the host: a value or a promise. */
export type Result = Obj | Promise<Obj>;

/** The result of a look-up: a value or a promise; `undefined`: not found. */
export type LookupResult = Obj | undefined | Promise<Obj | undefined>;

/** Keyword arguments, in the order of the call. */
export type Kwargs = ReadonlyMap<string, Obj>;

/** No keyword arguments. */
export const NO_KWARGS: Kwargs = new Map();

/** Every function: filters, tests, methods, globals, functions of the host. A filter's or test's value is `args[0]`. */
export type Run = (args: readonly Obj[], kwargs: Kwargs, context: CallContext) => Result;

/** The interface of the calling template for functions. */
export interface CallContext {
  /** The variable or global of that name; `undefined` if there is none. */
  lookup(name: string): Obj | undefined;
  /** All variables and globals. */
  variables(): ReadonlyMap<string, Obj>;
  /** Runs a filter as `|map("name")` does. */
  filter(name: string, args: readonly Obj[], kwargs: Kwargs): Result;
  /** Runs a test as `|select("name")` does. */
  test(name: string, args: readonly Obj[], kwargs: Kwargs): Result;
  /** Whether there is such a filter or test. */
  has(kind: "filter" | "test", name: string): boolean;
  /** `obj[key]`, as a template reads it. */
  item(obj: Obj, key: Obj): Result;
  /** `obj.name`, as a template reads it. */
  attribute(obj: Obj, name: string): Result;
  /** An undefined value of the environment's kind, with a message. */
  undefined(hint: string, name?: string): Obj;
  /** The line end that the environment writes. */
  readonly newline: string;
  /** Whether printed text is escaped for HTML at the place of the call: in `{% autoescape true %}`. */
  readonly autoescape: boolean;
}

/** Base class of objects that are no `Value`. The default methods throw Python's errors. */
export abstract class PyObject {
  /** The name of its Python type: `tuple`. */
  abstract readonly typeName: string;

  /** What Jinja calls its type in messages: `tuple object`. */
  get typeDescription(): string {
    return `${this.typeName} object`;
  }

  /** The attribute; `undefined` if it has none of that name. */
  getattr(_name: string): LookupResult {
    return undefined;
  }

  /** Whether {@linkcode getitem} works. */
  get subscriptable(): boolean {
    return false;
  }

  /**
   * The item; `undefined` if there is none.
   * @throws {PythonError} TypeError if it has no items.
   */
  getitem(_key: Obj): LookupResult {
    throw pythonError("TypeError", `'${this.typeName}' object is not subscriptable`);
  }

  /**
   * A new iterator over its items.
   * @throws {PythonError} TypeError if it cannot be iterated.
   */
  iterate(): Iterator<Obj> {
    throw pythonError("TypeError", `'${this.typeName}' object is not iterable`);
  }

  /** Whether {@linkcode iterate} works. */
  get iterable(): boolean {
    return false;
  }

  /** The number of its items; `undefined` if its type has no length. */
  length(): number | undefined {
    return undefined;
  }

  /** Its truth value. */
  truth(): boolean {
    return this.length() !== 0;
  }

  /** Whether `item` is in it; `undefined`: the caller searches its items. */
  contains(_item: Obj): boolean | undefined | Promise<boolean> {
    return undefined;
  }

  /** Whether {@linkcode call} works. */
  get callable(): boolean {
    return false;
  }

  /**
   * Calls it with arguments.
   * @throws {PythonError} TypeError if it is not callable.
   */
  call(_args: readonly Obj[], _kwargs: Kwargs, _context: CallContext): Result {
    throw pythonError("TypeError", `'${this.typeName}' object is not callable`);
  }

  /** Python's `repr`. */
  repr(): string {
    return `<${this.typeName} object>`;
  }

  /** Python's `str`. */
  str(): string {
    return this.repr();
  }

  /** Python's `==`; `undefined` leaves it to the other side, and then to identity. */
  equals(_other: Obj): boolean | undefined {
    return undefined;
  }

  /** @throws {PythonError} TypeError if it cannot be a key. */
  checkHashable(): void {}

  /** Called before an operator takes it as an operand: an undefined value throws here. */
  checkOperand(): void {}
}

/** A function as a value. */
export class Func extends PyObject {
  /**
   * @param name For messages.
   * @param typeName Python's type.
   */
  constructor(readonly name: string, readonly run: Run, readonly typeName: string = "function") {
    super();
  }

  override get callable(): boolean {
    return true;
  }

  override call(args: readonly Obj[], kwargs: Kwargs, context: CallContext): Result {
    return this.run(args, kwargs, context);
  }

  override repr(): string {
    return this.typeName === "type" ? `<class '${this.name}'>` : `<${this.typeName} ${this.name}>`;
  }
}

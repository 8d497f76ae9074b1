/**
 * Undefined values: names, attributes or items that do not exist. Source: jinja2 3.1, "Undefined Types".
 * @module
 */

import { TemplateError } from "#lib/jinja/syntax/template_error.ts";
import { typeDescription } from "#lib/python/kinds.ts";
import { type LookupResult, type Obj, PyObject, type Result } from "#lib/python/object.ts";
import { reprOf } from "#lib/python/repr.ts";

/** How an environment treats undefined values: `strict` refuses everything but the test whether they are defined. */
export type UndefinedKind = "strict" | "default";

/** The facts of an undefined value. */
export interface Undefinition {
  readonly kind: UndefinedKind;
  /** The whole message, if it is special. */
  readonly hint?: string;
  /** The object whose attribute or item it is. */
  readonly of?: Obj;
  /** The name, or the key. */
  readonly key?: Obj;
  /** The existing names, for "did you mean". */
  readonly among?: () => string[];
  /** Whether reading it was forbidden, so that using it is a SecurityError. */
  readonly unsafe?: boolean;
}

/** An undefined value. */
export class Undefined extends PyObject {
  readonly typeName: string;

  constructor(readonly what: Undefinition) {
    super();
    this.typeName = what.kind === "strict" ? "StrictUndefined" : "Undefined";
  }

  /** The message of the error when it is used. */
  get message(): string {
    const { hint, of, key } = this.what;
    if (hint !== undefined) return hint;
    if (of === undefined) return `${reprOf(key ?? null)} is undefined`;
    if (typeof key !== "string") return `${typeDescription(of)} has no element ${reprOf(key ?? null)}`;
    return `${reprOf(typeDescription(of))} has no attribute ${reprOf(key)}`;
  }

  error(): TemplateError {
    const { unsafe, key, among } = this.what;
    const error = unsafe === true
      ? new TemplateError("security", "SecurityError", this.message)
      : new TemplateError("undefined", "UndefinedError", this.message);
    if (typeof key === "string" && among !== undefined) error.missing = { name: key, among };
    return error;
  }

  get #strict(): boolean {
    return this.what.kind === "strict";
  }

  override getattr(_name: string): LookupResult {
    throw this.error();
  }

  override get subscriptable(): boolean {
    return true;
  }

  override getitem(_key: Obj): LookupResult {
    throw this.error();
  }

  override get iterable(): boolean {
    if (this.#strict) throw this.error();
    return true;
  }

  override iterate(): Iterator<Obj> {
    if (this.#strict) throw this.error();
    return [][Symbol.iterator]();
  }

  override length(): number {
    if (this.#strict) throw this.error();
    return 0;
  }

  override truth(): boolean {
    if (this.#strict) throw this.error();
    return false;
  }

  override contains(_item: Obj): boolean {
    if (this.#strict) throw this.error();
    return false;
  }

  override get callable(): boolean {
    return true;
  }

  override call(): Result {
    throw this.error();
  }

  override repr(): string {
    return "Undefined";
  }

  override str(): string {
    if (this.#strict) throw this.error();
    return "";
  }

  override equals(other: Obj): boolean {
    if (this.#strict) throw this.error();
    return other instanceof Undefined && other.what.kind === this.what.kind;
  }

  override checkHashable(): void {
    if (this.#strict) throw this.error();
  }

  override checkOperand(): void {
    throw this.error();
  }
}

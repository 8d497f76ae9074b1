/**
 * Text that is marked as safe in HTML (markupsafe's Markup): it behaves like a str, except that joining escapes the
 * other operand. Templates of Salt do not escape, but filters such as `json` return it. Source: markupsafe 3.0,
 * observed.
 * @module
 */

import { str } from "#lib/values/value.ts";
import { type Obj, PyObject } from "./object.ts";

/** A marked text. */
export class Markup extends PyObject {
  readonly typeName = "Markup";

  /** @param text The text, markup included. */
  constructor(readonly text: string) {
    super();
  }

  override get typeDescription(): string {
    return "markupsafe.Markup object";
  }

  override get iterable(): boolean {
    return true;
  }

  override *iterate(): Iterator<Obj> {
    yield* this.text;
  }

  override length(): number {
    return [...this.text].length;
  }

  override truth(): boolean {
    return this.text !== "";
  }

  override equals(other: Obj): boolean | undefined {
    if (other instanceof Markup) return other.text === this.text;
    return typeof other === "string" ? other === this.text : undefined;
  }

  override repr(): string {
    return `Markup(${str([this.text]).slice(1, -1)})`;
  }

  override str(): string {
    return this.text;
  }
}

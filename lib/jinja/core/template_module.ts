/**
 * An imported template as a value: what it exports, and its text.
 * Source: jinja2 3.1, "Import Visibility".
 * @module
 */

import { type Obj, PyObject } from "#lib/python/object.ts";
import { reprOf } from "#lib/python/repr.ts";

/** The result of `import`. */
export class TemplateModule extends PyObject {
  readonly typeName = "TemplateModule";

  constructor(
    readonly name: string,
    /** The variables and macros that other templates may import, by name. */
    readonly exported: ReadonlyMap<string, Obj>,
    readonly text: string,
  ) {
    super();
  }

  override get typeDescription(): string {
    return "jinja2.environment.TemplateModule object";
  }

  override getattr(name: string): Obj | undefined {
    return this.exported.get(name);
  }

  override truth(): boolean {
    return true;
  }

  override repr(): string {
    return `<TemplateModule ${reprOf(this.name)}>`;
  }

  override str(): string {
    return this.text;
  }
}

/**
 * The environment of templates: globals, the loader, the treatment of undefined values.
 * Source: jinja2 3.1, "Environment", "Sandbox".
 * @module
 */

import { TemplateError } from "#lib/jinja/syntax/template_error.ts";
import { getAttribute, hasPrivateAttribute } from "#lib/python/attributes.ts";
import { dictGet } from "#lib/python/dict.ts";
import { isPythonError } from "#lib/python/errors.ts";
import { toList } from "#lib/python/iterate.ts";
import { textOf, typeNameOf } from "#lib/python/kinds.ts";
import { type LookupResult, type Obj, PyObject, type Result } from "#lib/python/object.ts";
import { strOf } from "#lib/python/repr.ts";
import { getItem } from "#lib/python/subscript.ts";
import { atFrame } from "./errors.ts";
import type { Maybe, Operations, RuntimeEnvironment } from "./frame.ts";
import type { Language } from "./language.ts";
import { then } from "./results.ts";
import { Template } from "./template.ts";
import { Undefined, type UndefinedKind, type Undefinition } from "./undefined.ts";

/** A template as the loader found it. */
export interface TemplateSource {
  readonly text: string;
  /** The file, for messages. */
  readonly path?: string;
}

/** Finds a template by name; `undefined`: there is none. Called once for each name of an environment. */
export type Loader = (name: string, environment: Environment) => Maybe<TemplateSource | undefined>;

export interface EnvironmentSetup {
  /** Seen by every template. May be changed: a template sees them as they are when it begins. */
  readonly globals: Map<string, Obj>;
  /** Default: `default`. */
  readonly undefined?: UndefinedKind;
  readonly loader?: Loader;
  /** Called with every printed value before it becomes text. */
  readonly finalize?: (value: Obj) => Obj;
  /** Maximum number of steps of one rendering. Default: 100,000,000. */
  readonly maxSteps?: number;
}

/**
 * Maximum number of steps of one rendering: some ten seconds of a processor, and a thousand times what the largest
 * formulas need.
 */
const MAX_STEPS = 100_000_000;

/** The environment of templates. */
export class Environment implements RuntimeEnvironment {
  readonly globals: Map<string, Obj>;
  readonly finalize: ((value: Obj) => Obj) | undefined;
  readonly maxSteps: number;
  readonly #kind: UndefinedKind;
  readonly #loader: Loader | undefined;
  readonly #loaded = new Map<string, Template>();

  constructor(readonly language: Language, setup: EnvironmentSetup) {
    this.globals = setup.globals;
    this.finalize = setup.finalize;
    this.maxSteps = setup.maxSteps ?? MAX_STEPS;
    this.#kind = setup.undefined ?? "default";
    this.#loader = setup.loader;
  }

  get operations(): Operations {
    return this.language;
  }

  get newline(): string {
    return this.language.syntax.newlineSequence;
  }

  /**
   * A template of a text.
   * @throws {TemplateError} Kind `syntax`, with the place.
   */
  fromString(text: string, name?: string, path?: string): Template {
    try {
      return new Template(this, this.language.compile(text), { name, path });
    } catch (error) {
      throw namedError(error, name, path);
    }
  }

  /**
   * The template of a name, loaded once.
   * @throws {TemplateError} Kind `notFound`.
   */
  getTemplate(name: Obj): Maybe<Template> {
    if (name instanceof Undefined) throw name.error();
    const text = strOf(name);
    const earlier = this.#loaded.get(text);
    if (earlier !== undefined) return earlier;
    return then(this.#loader?.(text, this), (source) => {
      if (source === undefined) throw new TemplateError("notFound", "TemplateNotFound", text);
      const template = this.fromString(source.text, text, source.path);
      this.#loaded.set(text, template);
      return template;
    });
  }

  /**
   * The first of several names that exists; a single name is returned itself.
   * @throws {TemplateError} Kind `notFound`.
   */
  getOrSelectTemplate(names: Obj): Maybe<Template> {
    if (textOf(names) !== undefined || names instanceof Undefined) return this.getTemplate(names);
    const list = toList(names);
    if (list.length === 0) throw notFound("Tried to select from an empty list of templates.");
    return this.#select(list, 0);
  }

  #select(names: readonly Obj[], from: number): Maybe<Template> {
    for (let i = from; i < names.length; i++) {
      try {
        const template = this.getTemplate(names[i]);
        if (!(template instanceof Promise)) return template;
        return template.catch((error) => {
          if (!mayBeMissing(error)) throw error;
          return this.#select(names, i + 1);
        });
      } catch (error) {
        if (!mayBeMissing(error)) throw error;
      }
    }
    const tried = names.map((name) => name instanceof Undefined ? name.message : strOf(name)).join(", ");
    throw notFound(`none of the templates given were found: ${tried}`);
  }

  /** An undefined value of the environment's kind. */
  undefined(what: Omit<Undefinition, "kind">): Undefined {
    return new Undefined({ kind: this.#kind, ...what });
  }

  /** `obj.name` of a template: the attribute, else the item. */
  attribute(obj: Obj, name: string): Result {
    return orElse(this.#attributeOf(obj, name), () => orElse(this.#itemOf(obj, name), () => this.#missing(obj, name)));
  }

  /** `obj[key]` of a template: the item, else the attribute. */
  item(obj: Obj, key: Obj): Result {
    const name = textOf(key);
    const attribute = (): LookupResult => name === undefined ? undefined : this.#attributeOf(obj, name);
    return orElse(this.#itemOf(obj, key), () => orElse(attribute(), () => this.#missing(obj, name ?? key)));
  }

  /** The attribute, if a template may read it. */
  #attributeOf(obj: Obj, name: string): LookupResult {
    const isPrivate = name.startsWith("_");
    if (isPrivate && hasPrivateAttribute(obj, name)) return this.#unsafe(obj, name);
    const attribute = getAttribute(obj, name);
    if (!isPrivate || attribute === undefined) return attribute;
    return then(attribute, (value) => value === undefined ? undefined : this.#unsafe(obj, name));
  }

  /** The item; `undefined` if there is none, or the object has no such items. */
  #itemOf(obj: Obj, key: Obj): LookupResult {
    if (obj instanceof Map && typeof key === "string") return dictGet(obj, key);
    if (typeof key === "string" && !(obj instanceof PyObject)) return undefined;
    try {
      return getItem(obj, key);
    } catch (error) {
      if (isPythonError(error, "TypeError", "KeyError", "IndexError", "LookupError")) return undefined;
      throw error;
    }
  }

  #missing(obj: Obj, key: Obj): Undefined {
    const among = obj instanceof Map ? () => [...obj.keys()].filter((each) => typeof each === "string") : undefined;
    return this.undefined({ of: obj, key, among });
  }

  #unsafe(obj: Obj, name: string): Undefined {
    return this.undefined({
      hint: `access to attribute '${name}' of '${typeNameOf(obj)}' object is unsafe.`,
      key: name,
      unsafe: true,
    });
  }
}

/** The value that was found, else the result of `next`. */
function orElse<T>(result: LookupResult, next: () => T | Promise<T>): Obj | T | Promise<Obj | T> {
  if (result instanceof Promise) return result.then((value) => value === undefined ? next() : value);
  return result === undefined ? next() : result;
}

function notFound(message: string): TemplateError {
  return new TemplateError("notFound", "TemplatesNotFound", message);
}

/** Whether the next name may be tried after this error. */
function mayBeMissing(error: unknown): boolean {
  return error instanceof TemplateError && (error.kind === "notFound" || error.kind === "undefined");
}

/** A syntax error with the name of its template. */
function namedError(error: unknown, name: string | undefined, path: string | undefined): unknown {
  // A chain of thousands of operators is too deep for the closures that are made of it.
  if (error instanceof RangeError) return atFrame(error, { name, path, line: 1, column: 1, statementLine: 1 });
  if (!(error instanceof TemplateError) || error.kind !== "syntax") return error;
  const copy = new TemplateError(error.kind, error.type, error.message);
  copy.frames.push(...error.frames.map((frame) => ({ ...frame, name, path })));
  return copy;
}

/**
 * The variable `salt` of templates: `salt['test.echo']('x')` and `salt.test.echo('x')`.
 * Source: Salt 3008.3, `salt/utils/templates.py` AliasedLoader.
 * @module
 */

import { Func, type Obj, PyObject, type Result } from "#lib/python/object.ts";
import { toPlain } from "#lib/python/plain.ts";
import { textOf } from "#lib/python/kinds.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";
import type { SaltFunction, SaltFunctions } from "#lib/plugins/renderer.ts";

/** Converts a function's result to a value for templates. */
function callable(name: string, fun: SaltFunction): Func {
  return new Func(name, (args, kwargs) => {
    const keywords: ValueMap = new Map();
    for (const [key, value] of kwargs) keywords.set(key, toPlain(value));
    return fun(args.map((arg): Value => toPlain(arg)), keywords);
  });
}

/** The functions of the host. A function is looked up once for each template. */
export class SaltObject extends PyObject {
  readonly typeName = "salt.utils.templates.AliasedLoader";
  readonly #functions: SaltFunctions;
  readonly #known = new Map<string, Func>();
  readonly #modules = new Map<string, SaltModule>();

  constructor(functions: SaltFunctions) {
    super();
    this.#functions = functions;
  }

  /** The function of that name; `undefined` if there is none. */
  find(name: string): Func | undefined | Promise<Func | undefined> {
    const earlier = this.#known.get(name);
    if (earlier !== undefined) return earlier;
    const keep = (fun: SaltFunction | undefined): Func | undefined => {
      if (fun === undefined) return undefined;
      const made = callable(name, fun);
      this.#known.set(name, made);
      return made;
    };
    const member = this.#functions.get(name);
    return member instanceof Promise ? member.then(keep) : keep(member);
  }

  override getitem(key: Obj): Found {
    const name = textOf(key);
    return name === undefined ? undefined : this.find(name) as Found;
  }

  override getattr(name: string): Found {
    if (name === "get") return new Func("get", ([key = null, fallback = null]) => this.#get(key, fallback));
    if (name === "keys") return new Func("keys", async () => [...await this.#functions.names?.() ?? []]);
    if (name.startsWith("_") || name.includes(".")) return undefined;
    return this.#modules.get(name) ?? this.#module(name) as Found;
  }

  #get(key: Obj, fallback: Obj): Result {
    const name = textOf(key);
    const member = name === undefined ? undefined : this.find(name);
    return member instanceof Promise ? member.then((fun) => fun ?? fallback) : member ?? fallback;
  }

  /** The module of that name, if there is one. */
  async #module(name: string): Promise<SaltModule | undefined> {
    if (await this.#functions.serves?.(name) === false) return undefined;
    const module = new SaltModule(name, this);
    this.#modules.set(name, module);
    return module;
  }

  override contains(item: Obj): Contained {
    const name = textOf(item);
    if (name === undefined) return false;
    const member = this.find(name);
    return member instanceof Promise ? member.then((fun) => fun !== undefined) : member !== undefined;
  }
}

/** A function, or a promise of one. */
type Found = Result | undefined;
type Contained = boolean | Promise<boolean>;

/** A module: its functions are its attributes. */
class SaltModule extends PyObject {
  readonly typeName = "salt.loader.lazy.LoadedMod";
  readonly #name: string;
  readonly #salt: SaltObject;

  constructor(name: string, salt: SaltObject) {
    super();
    this.#name = name;
    this.#salt = salt;
  }

  override getattr(name: string): Found {
    return this.#salt.find(`${this.#name}.${name}`) as Found;
  }
}

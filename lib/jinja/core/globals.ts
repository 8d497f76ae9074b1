/**
 * Jinja's own globals: `range`, `dict`, `namespace`, `cycler`, `joiner`, `lipsum`.
 * Source: jinja2 3.1, "List of Global Functions".
 * @module
 */

import { dictGet, dictSet } from "#lib/python/dict.ts";
import { updateDict } from "#lib/python/dict_methods.ts";
import { pythonError } from "#lib/python/errors.ts";
import { indexOf, isTruthy } from "#lib/python/kinds.ts";
import { Markup } from "#lib/python/markup.ts";
import { native } from "#lib/python/native.ts";
import {
  type CallContext,
  Func,
  type Kwargs,
  type Obj,
  type ObjMap,
  PyObject,
  type Result,
} from "#lib/python/object.ts";
import { reprOf } from "#lib/python/repr.ts";
import { rangeOf } from "#lib/python/views.ts";
import { lipsum } from "#lib/text/lipsum.ts";

/** Longer ranges are refused, as in Jinja's sandbox. */
const MAX_RANGE = 100_000;

/** The object whose attributes a template may assign. */
export class Namespace extends PyObject {
  readonly typeName = "Namespace";
  readonly #attributes: ObjMap = new Map();

  /** @param first A dict or pairs. */
  constructor(first: Obj | undefined, kwargs: Kwargs) {
    super();
    updateDict(this.#attributes, first, kwargs);
  }

  /** Assigns an attribute. */
  set(name: string, value: Obj): void {
    dictSet(this.#attributes, name, value);
  }

  override get typeDescription(): string {
    return "jinja2.utils.Namespace object";
  }

  override getattr(name: string): Obj | undefined {
    return dictGet(this.#attributes, name);
  }

  override truth(): boolean {
    return true;
  }

  override repr(): string {
    return `<Namespace ${reprOf(this.#attributes)}>`;
  }
}

/** Cycles through values. */
class Cycler extends PyObject {
  readonly typeName = "Cycler";
  readonly #items: readonly Obj[];
  #at = 0;

  constructor(items: readonly Obj[]) {
    super();
    this.#items = items;
  }

  override get typeDescription(): string {
    return "jinja2.utils.Cycler object";
  }

  override getattr(name: string): Obj | undefined {
    if (name === "current") return this.#items[this.#at];
    if (name === "next") {
      return new Func("next", () => {
        const item = this.#items[this.#at];
        this.#at = (this.#at + 1) % this.#items.length;
        return item;
      }, "method");
    }
    if (name !== "reset") return undefined;
    return new Func("reset", () => {
      this.#at = 0;
      return null;
    }, "method");
  }

  override truth(): boolean {
    return true;
  }
}

/** Returns nothing at the first call, and a separator at each later one. */
class Joiner extends PyObject {
  readonly typeName = "Joiner";
  readonly #separator: Obj;
  #used = false;

  constructor(separator: Obj) {
    super();
    this.#separator = separator;
  }

  override get typeDescription(): string {
    return "jinja2.utils.Joiner object";
  }

  override get callable(): boolean {
    return true;
  }

  override call(_args: readonly Obj[], _kwargs: Kwargs, _context: CallContext): Result {
    if (this.#used) return this.#separator;
    this.#used = true;
    return "";
  }

  override getattr(name: string): Obj | undefined {
    if (name === "sep") return this.#separator;
    return name === "used" ? this.#used : undefined;
  }

  override truth(): boolean {
    return true;
  }
}

/** More words of `lipsum` are refused. */
const MAX_WORDS = 1_000_000;

/** A new table of the globals. */
export function jinjaGlobals(): Map<string, Obj> {
  return new Map<string, Obj>([
    [
      "range",
      new Func("safe_range", (args) => {
        const range = rangeOf(args);
        if (range.count <= MAX_RANGE) return range;
        throw pythonError(
          "OverflowError",
          `Range too big. The sandbox blocks ranges larger than MAX_RANGE (${MAX_RANGE}).`,
        );
      }),
    ],
    [
      "dict",
      new Func(
        "dict",
        native("dict", [["iterable", undefined], "**kwargs"], ([first], { kwargs }) => {
          const map: ObjMap = new Map();
          updateDict(map, first, kwargs);
          return map;
        }),
        "type",
      ),
    ],
    [
      "namespace",
      new Func(
        "jinja2.utils.Namespace",
        native("Namespace", [["first", undefined], "**kwargs"], ([first], { kwargs }) => new Namespace(first, kwargs)),
        "type",
      ),
    ],
    [
      "cycler",
      new Func("jinja2.utils.Cycler", (args) => {
        if (args.length === 0) throw pythonError("RuntimeError", "at least one item has to be provided");
        return new Cycler(args);
      }, "type"),
    ],
    [
      "joiner",
      new Func(
        "jinja2.utils.Joiner",
        native("Joiner", [["sep", ", "]], ([separator]) => new Joiner(separator)),
        "type",
      ),
    ],
    [
      "lipsum",
      new Func(
        "generate_lorem_ipsum",
        native(
          "generate_lorem_ipsum",
          [["n", 5], ["html", true], ["min", 20], ["max", 100]],
          ([paragraphs, html, min, max]) => {
            const count = indexOf(paragraphs), low = indexOf(min), high = indexOf(max);
            if (count > 0 && high <= low) {
              throw pythonError("ValueError", `empty range for randrange() (${low}, ${high}, ${high - low})`);
            }
            if (count * high > MAX_WORDS) throw pythonError("MemoryError", `more than ${MAX_WORDS} words`);
            const text = lipsum(count, low, high, isTruthy(html));
            return isTruthy(html) ? new Markup(text) : text;
          },
        ),
      ),
    ],
  ]);
}

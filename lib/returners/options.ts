/**
 * The options of a returner: from the configuration, grains and pillar, of another configuration that the job names,
 * and of the job itself. Source: Salt 3008.3 `salt/returners/__init__.py` get_returner_options,
 * `salt/modules/config.py` option.
 * @module
 */

import { optsValues } from "#lib/config/opts_map.ts";
import { InvocationError } from "#lib/errors.ts";
import type { ReturnerContext } from "#lib/plugins/returner.ts";
import { isMap, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The part of a context that has options. */
export type OptionSources = Pick<ReturnerContext, "opts" | "grains" | "pillar">;

/** The options of one call of a returner. */
export class ReturnerOptions {
  readonly #names: readonly string[];
  readonly #sources: readonly ValueMap[];
  readonly #config: string | undefined;
  readonly #kwargs: ValueMap;

  /**
   * @param names The returner's names in the configuration, in the order in which they are asked: `sqlite3`,
   * `returner.sqlite3`.
   * @param ret The return: its `ret_config` and `ret_kwargs`.
   */
  constructor(names: readonly string[], { opts, grains, pillar }: OptionSources, ret: ValueMap = new Map()) {
    this.#names = names;
    const master = pillar.get("master");
    this.#sources = [optsValues(opts), grains, pillar, ...isMap(master) ? [master] : []];
    const config = ret.get("ret_config");
    this.#config = typeof config === "string" && config !== "" ? config : undefined;
    const kwargs = ret.get("ret_kwargs");
    this.#kwargs = isMap(kwargs) ? kwargs : new Map();
  }

  /** An option; `undefined` if it is not set, empty or None. */
  get(option: string): Value | undefined {
    const own = this.#kwargs.get(option);
    if (isSet(own)) return own;
    const prefixes = this.#config === undefined ? [""] : [`${this.#config}.`, ""];
    for (const prefix of prefixes) {
      for (const name of this.#names) {
        const value = this.#configured(prefix + name, option);
        if (value !== undefined) return value;
      }
    }
    return undefined;
  }

  /** A text; a number as its text. */
  text(option: string): string | undefined {
    const value = this.get(option);
    return value === undefined ? undefined : str(value);
  }

  /** @throws {InvocationError} If it is not set. */
  required(option: string): string {
    const value = this.text(option);
    if (value === undefined) throw new InvocationError(`The option "${this.#names[0]}.${option}" is missing`);
    return value;
  }

  /** @throws {InvocationError} If it is no whole number of at least 0. */
  integer(option: string): number | undefined {
    const value = this.get(option);
    if (value === undefined) return undefined;
    const number = typeof value === "string" ? Number(value) : toNumber(value);
    if (number === undefined || !Number.isSafeInteger(number) || number < 0) {
      throw new InvocationError(`The option "${this.#names[0]}.${option}" is no whole number: ${str(value)}`);
    }
    return number;
  }

  /** Whether a switch is on. */
  flag(option: string, otherwise = false): boolean {
    const value = this.get(option);
    return value === undefined ? otherwise : truthy(value) && value !== "False" && value !== "false";
  }

  /** `NAME: {option: value}` wins over `NAME.option`. */
  #configured(name: string, option: string): Value | undefined {
    for (const source of this.#sources) {
      const group = source.get(name);
      const value = isMap(group) ? group.get(option) : undefined;
      if (isSet(value)) return value;
    }
    for (const source of this.#sources) {
      const value = source.get(`${name}.${option}`);
      if (isSet(value)) return value;
    }
    return undefined;
  }
}

function isSet(value: Value | undefined): value is Value {
  return value !== undefined && value !== null && value !== "";
}

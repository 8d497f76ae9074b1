/**
 * What one option of a configuration may be: type, default, range and documentation, as data.
 *
 * The tables of the roles (`common_options.ts`, `master_options.ts`, `minion_options.ts`) are made of these, and the
 * TypeScript types of the loaded options are derived from the tables. Reads no file and knows no role.
 * Source: docs.saltproject.io, "Configuring the Salt Master" and "Configuring the Salt Minion".
 * @module
 */

import { didYouMean } from "#lib/text/nearest_name.ts";
import { truncateRepr } from "#lib/text/truncate.ts";
import { isInt, isMap, repr, toNumber, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

/** The type of an option; `path` is a string that is put under `root_dir`, `strs` a list of strings. */
export type OptionType = "any" | "str" | "int" | "float" | "bool" | "path" | "strs" | "list" | "dict" | "choice";

/** One option. `T` is the TypeScript type of its loaded value. */
export interface Option<T = unknown> {
  /** What may be written. */
  readonly type: OptionType;
  /** The default as a configuration file would hold it; None also means that None may be written. */
  readonly default: Value;
  /** Documentation, one paragraph. */
  readonly doc: string;
  /** Least number allowed. */
  readonly min?: number;
  /** Greatest number allowed. */
  readonly max?: number;
  /** What a `choice` chooses from. */
  readonly choices?: readonly string[];
  /** Salt's other choices, which are not built: the default is used instead, with a warning. `any`: any other word. */
  readonly notBuilt?: readonly string[] | "any";
  /** A word that is no choice, or a number out of range, is taken for the default, with a warning. */
  readonly isLenient?: true;
  /** Other words for a choice. */
  readonly aliases?: Readonly<Record<string, string>>;
  /**
   * Why the option has no effect: `not built`: it belongs to a part of Salt that is not implemented; `not needed`: it
   * has no meaning here, and its documentation says why. Absent: it has an effect.
   */
  readonly noEffect?: "not built" | "not needed";
  /** Holds the TypeScript type of the value; never set. */
  readonly bound?: T;
}

/** An option of a part of Salt that is not built: checked and kept; a warning says that it has no effect. */
export function planOption<O extends Option>(option: O): O {
  return { ...option, noEffect: "not built" };
}

/** An option of Salt that has no meaning here. */
export function notNeeded<O extends Option>(option: O): O {
  return { ...option, noEffect: "not needed" };
}

/** Options by name. */
export type OptionTable = Readonly<Record<string, Option>>;

/** The loaded options of a table: a field for each. */
export type Loaded<T extends OptionTable> = {
  -readonly [K in keyof T]: T[K] extends Option<infer V> ? V : never;
};

/** The numbers that an option allows, both ends included. */
export interface Range {
  /** Least number allowed. */
  readonly min?: number;
  /** Greatest number allowed. */
  readonly max?: number;
}

/** `T`, and null if the default `D` is null. */
export type OrNull<D, T> = D extends null ? T | null : T;

/** A string; numbers and booleans are taken as their text. `null`: unset is allowed. */
export function strOption<D extends string | null>(defaultValue: D, doc: string): Option<OrNull<D, string>> {
  return { type: "str", default: defaultValue, doc };
}

/** A path, put under `root_dir` unless it is absolute elsewhere or a URI. `null`: unset is allowed. */
export function pathOption<D extends string | null>(defaultValue: D, doc: string): Option<OrNull<D, string>> {
  return { type: "path", default: defaultValue, doc };
}

/** An int within `range`. `null`: unset is allowed. */
export function intOption<D extends number | null>(
  defaultValue: D,
  doc: string,
  range: Range = {},
): Option<OrNull<D, number>> {
  return { type: "int", default: defaultValue, doc, ...range };
}

/** A number within `range`, with or without a fraction. `null`: unset is allowed. */
export function floatOption<D extends number | null>(
  defaultValue: D,
  doc: string,
  range: Range = {},
): Option<OrNull<D, number>> {
  return { type: "float", default: defaultValue, doc, ...range };
}

/** A TCP port; 0 lets the operating system choose one (not in Salt; tests and the demo use it). */
export function portOption<D extends number | null>(defaultValue: D, doc: string): Option<OrNull<D, number>> {
  return intOption(defaultValue, doc, { min: 0, max: 65535 });
}

/** A boolean. `null`: unset is allowed. */
export function boolOption<D extends boolean | null>(defaultValue: D, doc: string): Option<OrNull<D, boolean>> {
  return { type: "bool", default: defaultValue, doc };
}

/** A list of strings; a single string counts as a list of one. */
export function strsOption<D extends readonly string[] | null>(
  defaultValue: D,
  doc: string,
): Option<OrNull<D, string[]>> {
  return { type: "strs", default: defaultValue === null ? null : [...defaultValue], doc };
}

/** A list of anything. */
export function listOption(defaultValue: readonly Value[], doc: string): Option<Value[]> {
  return { type: "list", default: [...defaultValue], doc };
}

/** A map; None counts as an empty one, as a key whose lines are all commented out gives. */
export function dictOption(defaultValue: ValueMap, doc: string): Option<ValueMap> {
  return { type: "dict", default: defaultValue, doc };
}

/** Any value. */
export function anyOption(defaultValue: Value, doc: string): Option<Value> {
  return { type: "any", default: defaultValue, doc };
}

/** One of `choices`, in lower case unless the choice has capitals. `null`: unset is allowed. */
export function choiceOption<C extends string, D extends C | null>(
  defaultValue: D,
  doc: string,
  choices: readonly C[],
  others: Pick<Option, "notBuilt" | "aliases" | "isLenient"> = {},
): Option<OrNull<D, C>> {
  return { type: "choice", default: defaultValue, doc, choices, ...others };
}

/** What {@linkcode checkOption} found: the value to use, or what is wrong with it. */
export type CheckedOption =
  | {
    readonly value: Value | string[];
    /** A text that says which value replaces the written one, because that one is not built. */
    readonly notBuilt?: string;
    /** A text that says which value replaces the written one, because nobody knows that one. */
    readonly unknown?: string;
    /** Whether what was written is another word for the value. */
    readonly alias?: boolean;
  }
  | { readonly problem: string };

const WANTED: Readonly<Record<OptionType, string>> = {
  any: "anything",
  str: "a string",
  int: "an integer",
  float: "a number",
  bool: "true or false",
  path: "a path",
  strs: "a list of strings",
  list: "a list",
  dict: "a map",
  choice: "a word",
};

/**
 * Checks what the user wrote for `option`. Text that spells an int or a number counts as one, as Salt lets it; nothing
 * but a boolean counts as a boolean, so that `open_mode: "no"` cannot open anything.
 */
export function checkOption(option: Option, written: Value): CheckedOption {
  if (written === null && (option.default === null || option.type === "any")) return { value: null };
  const value = convert(option, written);
  if (value === undefined) {
    return { problem: `must be ${WANTED[option.type]}, not ${truncateRepr(written)} (${typeName(written)})` };
  }
  if (option.choices !== undefined && !option.choices.includes(String(value))) {
    const word = String(value).toLowerCase();
    if (option.aliases !== undefined && Object.hasOwn(option.aliases, word)) {
      return { value: option.aliases[word], alias: true };
    }
    if (option.notBuilt === "any" || option.notBuilt?.includes(word)) {
      return { value: option.default, notBuilt: `${word} is not built yet: ${option.default} is used` };
    }
    if (option.isLenient === true) {
      const near = didYouMean(String(value), option.choices);
      return {
        value: option.default,
        unknown: `${truncateRepr(written)} is not known${near || ";"} ${option.default} is used`,
      };
    }
    return { problem: `must be one of ${option.choices.join(", ")}, not ${truncateRepr(written)}` };
  }
  if (typeof value === "number" && !inRange(value, option)) {
    const problem = `must be ${rangeText(option)}, not ${truncateRepr(written)}`;
    if (option.isLenient !== true) return { problem };
    return { value: option.default, unknown: `${problem}; ${option.default} is used` };
  }
  return { value };
}

/** The range of `option` in words: `between 0 and 65535`, `at least 1`; empty without one. */
export function rangeText(option: Option): string {
  if (option.min !== undefined && option.max !== undefined) return `between ${option.min} and ${option.max}`;
  if (option.min !== undefined) return `at least ${option.min}`;
  return option.max === undefined ? "" : `at most ${option.max}`;
}

function inRange(n: number, option: Option): boolean {
  return (option.min === undefined || n >= option.min) && (option.max === undefined || n <= option.max);
}

/** The loaded form of `written`; `undefined` if it has none. */
function convert(option: Option, written: Value): Value | string[] | undefined {
  switch (option.type) {
    case "any":
      return written;
    case "str":
    case "path":
      return scalarText(written);
    case "choice":
      return spelling(option.choices ?? [], scalarText(written));
    case "bool":
      return typeof written === "boolean" ? written : undefined;
    case "int":
      return number(written, /^[-+]?\d+$/);
    case "float":
      return number(written, /^[-+]?(\d+(?:\.\d*)?|\.\d+)([eE][-+]?\d+)?$/);
    case "strs":
      return strings(written);
    case "list":
      return Array.isArray(written) ? written : written === null ? [] : undefined;
    case "dict":
      return isMap(written) ? written : written === null ? new Map() : undefined;
  }
}

/** The choice that `text` is, in any letter case; else the text itself. */
function spelling(choices: readonly string[], text: string | undefined): string | undefined {
  return choices.find((word) => word.toLowerCase() === text?.toLowerCase()) ?? text;
}

function scalarText(v: Value): string | undefined {
  if (typeof v === "string") return v;
  return v === null || typeof v === "object" ? undefined : repr(v);
}

function number(v: Value, pattern: RegExp): number | undefined {
  if (typeof v === "string") return pattern.test(v) ? Number(v) : undefined;
  if (typeof v === "boolean") return undefined;
  // A float is not an int, even if it has no fraction; an int is accepted as a float.
  const wantsInt = !pattern.test("1.5");
  return wantsInt && !isInt(v) ? undefined : toNumber(v);
}

function strings(v: Value): string[] | undefined {
  if (v === null) return [];
  if (!Array.isArray(v)) {
    const text = scalarText(v);
    return text === undefined ? undefined : [text];
  }
  const texts = v.map(scalarText);
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

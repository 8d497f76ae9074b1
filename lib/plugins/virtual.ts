/**
 * The hosts on which a module loads, and its virtual name: Salt's `__virtual__` and `__virtualname__`. A module exports
 * it as data (`export const virtual`), so that the loader can report why a module does not load, and the minion can
 * read it from the text of a custom module's file without running it. Loads nothing. Source: Salt 3008.3,
 * `salt/loader/lazy.py`.
 * @module
 */

import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Grains and their values, as text; a host has them if each named grain is one of its values. */
export type GrainValues = Readonly<Record<string, readonly string[]>>;

/** One condition that a host must meet. All its parts must hold. */
export interface HostRequirement {
  /** The grains that the host must have. Of a list of maps one is enough. */
  readonly grains?: GrainValues | readonly GrainValues[];
  /** The grains that the host must not have. */
  readonly unless?: GrainValues;
  /** Programs, of which one must be in PATH. */
  readonly programs?: readonly string[];
  /** The kind of host that is excluded, because another module loads there. */
  readonly unlessHost?: OtherHost;
  /** Execution functions, of which the minion must have one. For state modules. */
  readonly functions?: readonly string[];
  /** The reason if the condition does not hold. */
  readonly otherwise: string;
}

/** A kind of host, by its programs and files. All its parts must hold. */
export interface OtherHost {
  /** Programs, all of which are in PATH. */
  readonly programs?: readonly string[];
  /** Paths, at all of which there is something. */
  readonly paths?: readonly string[];
  /** Programs, none of which is in PATH. */
  readonly without?: readonly string[];
}

/** The export `virtual` of a module. Without it the module loads on every host, under its file's name. */
export interface Virtual {
  /** The name under which its functions are called. Several modules may share one: the first that loads is used. */
  readonly name?: string;
  /** The conditions, all of which must hold. */
  readonly serves?: readonly HostRequirement[];
}

/** The facts for checking conditions. */
export interface VirtualHost {
  /** The minion's grains now. */
  grains(): ValueMap;
  /** Whether a program is in PATH; `undefined` if this process may not look. */
  hasProgram(name: string): boolean | undefined;
  /** Whether there is something at a path; `undefined` if this process may not look. */
  hasPath(path: string): boolean | undefined;
}

/**
 * The reason why a module does not load on `host`; `undefined` if it does, or if that cannot be checked. Functions are
 * not checked.
 */
export function refusal({ serves = [] }: Virtual, host: VirtualHost): string | undefined {
  return serves.find((requirement) => !isMet(requirement, host))?.otherwise;
}

/** The reason why a module does not load because of missing execution functions; `undefined` if it loads. */
export async function functionsRefusal(
  { serves = [] }: Virtual,
  has: (fun: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const { functions = [], otherwise } of serves) {
    const present = await Promise.all(functions.map(has));
    if (present.length > 0 && !present.includes(true)) return otherwise;
  }
  return undefined;
}

function isMet({ grains = [], unless, programs = [], unlessHost }: HostRequirement, host: VirtualHost): boolean {
  const accepted = isList(grains) ? grains : [grains];
  const has = (values: GrainValues) => hasGrains(host.grains(), values);
  if (accepted.length > 0 && !accepted.some(has)) return false;
  if (unless !== undefined && has(unless)) return false;
  if (unlessHost !== undefined && isSuch(unlessHost, host)) return false;
  return programs.length === 0 || programs.some((program) => host.hasProgram(program) ?? true);
}

/** If it cannot be checked, the host is not of this kind. */
function isSuch({ programs = [], paths = [], without = [] }: OtherHost, host: VirtualHost): boolean {
  return programs.every((name) => host.hasProgram(name) ?? false) &&
    paths.every((path) => host.hasPath(path) ?? false) &&
    without.every((name) => host.hasProgram(name) === false);
}

function isList(grains: GrainValues | readonly GrainValues[]): grains is readonly GrainValues[] {
  return Array.isArray(grains);
}

function hasGrains(grains: ValueMap, wanted: GrainValues): boolean {
  return Object.entries(wanted).every(([name, values]) => {
    const value: Value | undefined = grains.get(name);
    return value !== undefined && !isMap(value) && values.includes(str(value));
  });
}

/**
 * Checks the export `virtual` of a module.
 * @throws {TypeError} If it is invalid.
 */
export function parseVirtual(given: unknown, place = "virtual"): Virtual {
  if (given === undefined) return {};
  const { name, serves, ...more } = asRecord(given, place);
  refuseMore(more, place);
  if (name !== undefined && (typeof name !== "string" || !/^[A-Za-z]\w*$/.test(name))) {
    throw new TypeError(`${place}.name is not a module's name`);
  }
  if (serves !== undefined && !Array.isArray(serves)) throw new TypeError(`${place}.serves is not a list`);
  return {
    ...name !== undefined && { name },
    ...serves !== undefined && { serves: serves.map((one, i) => parseRequirement(one, `${place}.serves[${i}]`)) },
  };
}

function parseRequirement(given: unknown, place: string): HostRequirement {
  const { grains, unless, programs, unlessHost, functions, otherwise, ...more } = asRecord(given, place);
  refuseMore(more, place);
  if (typeof otherwise !== "string") throw new TypeError(`${place}.otherwise is not a string`);
  return {
    otherwise,
    ...grains !== undefined && {
      grains: Array.isArray(grains)
        ? grains.map((one) => parseGrains(one, `${place}.grains`))
        : parseGrains(grains, `${place}.grains`),
    },
    ...unless !== undefined && { unless: parseGrains(unless, `${place}.unless`) },
    ...programs !== undefined && { programs: parseTexts(programs, `${place}.programs`) },
    ...unlessHost !== undefined && { unlessHost: parseOtherHost(unlessHost, `${place}.unlessHost`) },
    ...functions !== undefined && { functions: parseTexts(functions, `${place}.functions`) },
  };
}

function parseOtherHost(given: unknown, place: string): OtherHost {
  const { programs = [], paths = [], without = [], ...more } = asRecord(given, place);
  refuseMore(more, place);
  return {
    programs: parseTexts(programs, `${place}.programs`),
    paths: parseTexts(paths, `${place}.paths`),
    without: parseTexts(without, `${place}.without`),
  };
}

function parseGrains(given: unknown, place: string): GrainValues {
  const values = Object.entries(asRecord(given, place));
  return Object.fromEntries(values.map(([name, texts]) => [name, parseTexts(texts, `${place}.${name}`)]));
}

/**
 * A list of texts that a module declares.
 * @param place Where it is, for the error.
 * @throws {TypeError} If it is none.
 */
export function parseTexts(given: unknown, place: string): string[] {
  if (Array.isArray(given) && given.every((one): one is string => typeof one === "string")) return given;
  throw new TypeError(`${place} is not a list of strings`);
}

function asRecord(given: unknown, place: string): Record<string, unknown> {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new TypeError(`${place} is not an object`);
  }
  return { ...given };
}

function refuseMore(more: object, place: string): void {
  const [unknown] = Object.keys(more);
  if (unknown !== undefined) throw new TypeError(`${place}.${unknown} is unknown`);
}

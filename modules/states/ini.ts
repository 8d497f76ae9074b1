/**
 * State module `ini`: sections and options of ini files. Salt's file is `ini_manage`.
 * Source: Salt 3008.3 `salt/states/ini_manage.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["ini.set_option"], otherwise: "'ini' __virtual__ returned False" }],
};

const PARAMS = { name: p.str(), sections: p.any(null), separator: p.str("=") };
const ENCODING = { encoding: p.str(null) };

const FILE_DOC = `name
    The path of the file.

separator : =
    The separator between an option and its value.

encoding
    The encoding of the file. Default: UTF-8.`;

/** The file, and how it is written: the arguments of each function of the execution module. */
interface File {
  readonly file_name: string;
  readonly separator: string;
  readonly encoding: string | null;
}

async function call(fun: string, file: File, more: Record<string, Value>, context: StateContext): Promise<Value> {
  return await context.call(`ini.${fun}`, [], map({ ...file, ...more }));
}

async function readIni(file: File, context: StateContext): Promise<ValueMap> {
  return mapOrEmpty(await call("get_ini", file, {}, context));
}

/** The items of Python's loop over `sections`: the keys of a map, the items of a list. */
function namesIn(sections: Value): string[] {
  if (isMap(sections)) return [...sections.keys()].map(str);
  return listOrEmpty(sections).map(str);
}

function sectionText(name: string): string {
  return name === "" ? "" : ` in section ${name}`;
}

/** The sections of an ini file, and its options outside of them. */
function split(ini: ValueMap): { readonly sections: Map<string, ValueMap>; readonly options: ValueMap } {
  const sections = new Map<string, ValueMap>();
  const options: ValueMap = new Map();
  for (const [key, value] of ini) {
    if (isMap(value)) sections.set(str(key), value);
    else options.set(key, value);
  }
  return { sections, options };
}

/** The request of options_present. */
interface Wanted {
  readonly file: File;
  readonly strict: boolean;
  readonly no_spaces: boolean;
  /** The options outside of sections, and the sections. */
  readonly options: ValueMap;
  readonly sections: ReadonlyMap<string, ValueMap>;
  readonly now: { readonly sections: ReadonlyMap<string, ValueMap>; readonly options: ValueMap };
}

/** The keys of `now` that are not requested. */
function extra(now: Iterable<Value>, wanted: { has(key: string): boolean }): string[] {
  return [...now].map(str).filter((key) => !wanted.has(key));
}

function textKeys(of: ValueMap): Set<string> {
  return new Set([...of.keys()].map(str));
}

/** The comment of test mode. */
function predict({ strict, options, sections, now }: Wanted): { readonly lines: string[]; readonly changes: boolean } {
  const lines: string[] = [];
  let changes = false;
  const say = (line: string, changed: boolean) => {
    lines.push(`${line}.\n`);
    changes ||= changed;
  };
  const compareOptions = (wanted: ValueMap, current: ValueMap | undefined, where: string) => {
    for (const [option, value] of wanted) {
      const before = current?.get(option);
      const equal = before !== undefined && str(before) === str(value);
      say(`${equal ? "Unchanged" : "Changed"} key ${str(option)}${where}`, !equal);
    }
  };
  compareOptions(options, now.options, "");
  if (strict) {
    for (const key of extra(now.options.keys(), textKeys(options))) say(`Removed key ${key}`, true);
    for (const name of extra(now.sections.keys(), sections)) say(`Removed section ${name}`, true);
  }
  for (const [name, body] of sections) {
    const current = now.sections.get(name);
    if (strict) {
      for (const key of extra(current?.keys() ?? [], textKeys(body))) {
        say(`Deleted key ${key}${sectionText(name)}`, true);
      }
    }
    compareOptions(body, current, sectionText(name));
  }
  return { lines, changes };
}

async function setOptions(
  { file, no_spaces }: Pick<Wanted, "file" | "no_spaces">,
  sections: Value,
  context: StateContext,
): Promise<ValueMap> {
  return mapOrEmpty(await call("set_option", file, { sections, no_spaces }, context));
}

/**
 * Writes the requested file.
 * @returns The changes.
 */
async function apply(wanted: Wanted, context: StateContext): Promise<ValueMap> {
  const { file, strict, options, sections, now } = wanted;
  const removalOf = (before: Value) => map({ before, after: null });
  const changes: ValueMap = new Map(await setOptions(wanted, options, context));
  if (strict) {
    for (const option of extra(now.options.keys(), textKeys(options))) {
      await call("remove_option", file, { section: null, option }, context);
      changes.set(option, removalOf(now.options.get(option) ?? null));
    }
    for (const section of extra(now.sections.keys(), sections)) {
      await call("remove_section", file, { section }, context);
      changes.set(section, removalOf(now.sections.get(section) ?? null));
    }
  }
  for (const [section, body] of sections) {
    const changed: ValueMap = new Map();
    const current = now.sections.get(section);
    for (const option of strict ? extra(current?.keys() ?? [], textKeys(body)) : []) {
      await call("remove_option", file, { section, option }, context);
      changed.set(option, removalOf(current?.get(option) ?? null));
    }
    const updated = (await setOptions(wanted, new Map([[section, body]]), context)).get(section);
    for (const [key, value] of isMap(updated) ? updated : []) changed.set(key, value);
    if (changed.size > 0) changes.set(section, changed);
  }
  return changes;
}

export const options_present: ModuleFunction<StateContext> = stateFn({
  doc: `Options have these values.

sections
    A map from each section to its options and values. An option outside of sections is here with its value.

strict : False
    Whether everything else is removed: other options of these sections, and other sections.

no_spaces : False
    Whether there are no spaces around the separator.

${FILE_DOC}`,
  params: { ...PARAMS, strict: p.bool(false), ...ENCODING, no_spaces: p.bool(false) },
  run: async ({ name, sections: given, strict, no_spaces, ...how }, context) => {
    const file = { file_name: name, ...how };
    const requested = isMap(given) ? given : new Map<Value, Value>();
    if (requested.size === 0) {
      const changes = context.test ? new Map() : await setOptions({ file, no_spaces }, given, context);
      return outcome(name, changes, context.test ? "" : "No anomaly detected");
    }
    const wanted: Wanted = { file, strict, no_spaces, ...split(requested), now: split(await readIni(file, context)) };
    if (!context.test) return outcome(name, await apply(wanted, context), "No anomaly detected");
    const { lines, changes } = predict(wanted);
    return { name, result: changes ? null : true, comment: lines.join(""), changes: new Map() };
  },
});

function outcome(name: string, changes: ValueMap, otherwise: string): StateResult {
  const nonEmpty: ValueMap = new Map([...changes].filter(([, body]) => truthy(body)));
  return { name, result: true, comment: nonEmpty.size > 0 ? "Changes take effect" : otherwise, changes: nonEmpty };
}

export const options_absent: ModuleFunction<StateContext> = stateFn({
  doc: `Options do not exist.

sections
    A map from each section to a list of options. An option outside of sections is here without a value.

${FILE_DOC}`,
  params: { ...PARAMS, ...ENCODING },
  run: async ({ name, sections, ...how }, context) => {
    const file = { file_name: name, ...how };
    const requested = isMap(sections) ? sections : new Map<Value, Value>();
    return context.test ? await predictAbsent(file, requested, context) : await removeOptions(file, requested, context);
  },
});

async function predictAbsent(file: File, requested: ValueMap, context: StateContext): Promise<StateResult> {
  const ret = startResult(file.file_name);
  const lines: string[] = [];
  for (const [section, keys] of requested) {
    if (Array.isArray(keys)) {
      const current = await call("get_section", file, { section }, context);
      for (const key of keys.map(str)) {
        const where = sectionText(str(section));
        const there = isMap(current) && truthy(current.get(key));
        lines.push(there ? `Deleted key ${key}${where}.\n` : `Key ${key}${where} does not exist.\n`);
        if (there) ret.result = null;
      }
      continue;
    }
    const there = truthy(await call("get_option", file, { section: null, option: section }, context));
    lines.push(there ? `Deleted key ${str(section)}.\n` : `Key ${str(section)} does not exist.\n`);
    if (there) ret.result = null;
  }
  return { ...ret, comment: lines.length === 0 ? "No changes detected." : lines.join("") };
}

async function removeOptions(file: File, requested: ValueMap, context: StateContext): Promise<StateResult> {
  const ret = { ...startResult(file.file_name), comment: "No anomaly detected" };
  const changes: ValueMap = new Map();
  for (const [section, keys] of requested) {
    const removed: ValueMap = new Map();
    // An option outside of sections is named by the key itself.
    for (const key of Array.isArray(keys) ? keys : [section]) {
      const from = Array.isArray(keys) ? section : null;
      const value = await call("remove_option", file, { section: from, option: key }, context);
      if (!truthy(value)) continue;
      removed.set(key, value);
      changes.set(section, Array.isArray(keys) ? removed : value);
      ret.comment = "Changes take effect";
    }
  }
  return { ...ret, changes };
}

export const sections_present: ModuleFunction<StateContext> = stateFn({
  doc: `Sections exist, even if they are empty.

sections
    A list of names.

${FILE_DOC}`,
  params: { ...PARAMS, ...ENCODING },
  run: async ({ name, sections, ...how }, context) => {
    const file = { file_name: name, ...how };
    const names = namesIn(sections);
    const now = await readIni(file, context);
    if (context.test) {
      const lines = names.map((one) => now.has(one) ? `Section unchanged ${one}.\n` : `Created new section ${one}.\n`);
      return predictResult(name, lines, names.some((one) => !now.has(one)));
    }
    const missing: ValueMap = new Map(names.filter((one) => !now.has(one)).map((one) => [one, new Map()]));
    const changes = missing.size === 0 ? new Map() : await setOptions({ file, no_spaces: false }, missing, context);
    return { ...startResult(name), comment: changes.size > 0 ? "Changes take effect" : "No anomaly detected", changes };
  },
});

export const sections_absent: ModuleFunction<StateContext> = stateFn({
  doc: `Sections do not exist.

sections
    A list of names.

${FILE_DOC}`,
  params: { ...PARAMS, ...ENCODING },
  run: async ({ name, sections, ...how }, context) => {
    const file = { file_name: name, ...how };
    const names = namesIn(sections);
    if (context.test) {
      const now = await readIni(file, context);
      const lines = names.map((one) => now.has(one) ? `Deleted section ${one}.\n` : `Section ${one} does not exist.\n`);
      return predictResult(name, lines, names.some((one) => now.has(one)));
    }
    const changes: ValueMap = new Map();
    for (const section of names) {
      const removed = await call("remove_section", file, { section }, context);
      if (truthy(removed)) changes.set(section, removed);
    }
    return { ...startResult(name), comment: changes.size > 0 ? "Changes take effect" : "No anomaly detected", changes };
  },
});

function predictResult(name: string, lines: readonly string[], changes: boolean): StateResult {
  const comment = lines.length === 0 ? "No changes detected." : lines.join("");
  return { name, result: changes ? null : true, comment, changes: new Map() };
}

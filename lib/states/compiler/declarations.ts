/**
 * The declarations of one SLS file: removes `include`, `extend` and `exclude` from it, and converts its IDs to high
 * data. Source: Salt 3008.3, `BaseHighState._handle_extend`, `_handle_exclude`, `_handle_state_decls` of
 * `salt/state.py`.
 * @module
 */

import { moduleOfFunction } from "#lib/plugins/docs.ts";
import { listUnder } from "#lib/values/shape.ts";
import type { CompileError } from "./compile_error.ts";
import type { Origin, Places } from "./place.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

export interface SlsFile {
  /** Its name: `web.init` of no file, `web` of `web/init.sls`. */
  readonly sls: string;
  readonly saltenv: string;
  /** The rendered data. It becomes high data in place. */
  readonly data: ValueMap;
}

/**
 * Converts a rendered file to high data.
 * @returns The items of its `include`, and the errors.
 */
export function declareSls(file: SlsFile, places: Places): { includes: Value[]; errors: CompileError[] } {
  const { data, sls } = file;
  const errors: CompileError[] = [];
  let includes: Value[] = [];
  const include = data.get("include");
  if (Array.isArray(include)) {
    includes = include;
    data.delete("include");
  } else if (include !== undefined) {
    const text = `Include Declaration in SLS ${sls} is not formed as a list`;
    errors.push({ text, place: places.key(data, "include") });
  }
  errors.push(...takeExtend(file, places), ...takeExclude(file, places), ...declareIds(file, places));
  return { includes, errors };
}

function takeExtend({ data, sls, saltenv }: SlsFile, places: Places): CompileError[] {
  const extend = data.get("extend");
  if (extend === undefined) return [];
  const place = places.key(data, "extend");
  data.delete("extend");
  if (!isMap(extend)) return [{ text: `Extension value in SLS '${sls}' is not a dictionary`, place }];
  const errors: CompileError[] = [];
  for (const [name, body] of extend) {
    const at = () => places.key(extend, name) ?? place;
    if (!isMap(body)) {
      errors.push({ text: `Extension name '${str(name)}' in SLS '${sls}' is not a dictionary`, place: at() });
      continue;
    }
    if (!body.has("__sls__")) body.set("__sls__", sls);
    if (!body.has("__env__")) body.set("__env__", saltenv);
    for (const [key, run] of [...body]) {
      if (!Array.isArray(run) || typeof key !== "string" || key.startsWith("_")) continue;
      places.note(run, () => places.key(body, key));
      if (key.includes(".")) splitFunction(body, key, run);
    }
    places.note(body, at);
  }
  listUnder(data, "__extend__").push(extend);
  return errors;
}

function takeExclude({ data, sls }: SlsFile, places: Places): CompileError[] {
  const exclude = data.get("exclude");
  if (exclude === undefined) return [];
  const place = places.key(data, "exclude");
  data.delete("exclude");
  const excluded = listUnder(data, "__exclude__");
  if (Array.isArray(exclude)) {
    excluded.push(...exclude);
    return [];
  }
  return [{ text: `Exclude Declaration in SLS ${sls} is not formed as a list`, place }];
}

function declareIds({ data, sls, saltenv }: SlsFile, places: Places): CompileError[] {
  const errors: CompileError[] = [];
  places.declare(data);
  for (const [id, declared] of data) {
    if (id === "__extend__" || id === "__exclude__") continue;
    const place = () => places.key(data, id);
    let body = declared;
    if (typeof body === "string" && body.includes(".")) {
      const [module, fun] = body.split(".");
      body = new Map<Value, Value>([["__sls__", sls], ["__env__", saltenv], [module, [fun]]]);
      data.set(id, body);
    } else if (!isMap(body)) {
      errors.push({ text: `ID ${str(id)} in SLS ${sls} is not a dictionary`, place: place() });
      continue;
    } else {
      errors.push(...declareModules({ id, body, sls, place }, places));
      if (!body.has("__sls__")) body.set("__sls__", sls);
      if (!body.has("__env__")) body.set("__env__", saltenv);
    }
  }
  return errors;
}

interface Declared {
  readonly id: Value;
  readonly body: ValueMap;
  readonly sls: string;
  readonly place: Origin;
}

/** `pkg.installed: [...]` becomes `pkg: [..., installed]`. */
function* declareModules({ id, body, sls, place }: Declared, places: Places): Generator<CompileError> {
  const seen = new Set<string>();
  for (const [key, run] of [...body]) {
    if (!Array.isArray(run) || typeof key !== "string" || key.startsWith("_")) continue;
    const at = () => places.key(body, key) ?? place();
    const module = moduleOfFunction(key);
    if (key !== module && seen.has(module)) {
      const text = `ID '${str(id)}' in SLS '${sls}' contains multiple state declarations of the same type`;
      yield { text, place: at() };
      continue;
    }
    if (key !== module) splitFunction(body, key, run);
    seen.add(module);
  }
}

/** Renames the key `module.function` to the module, and adds the function to the arguments. */
function splitFunction(body: ValueMap, key: string, run: Value[]): void {
  const [module, fun] = key.split(".");
  body.delete(key);
  body.set(module, run);
  run.push(fun);
}

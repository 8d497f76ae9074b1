/**
 * State module `grains`: grains that are kept on the minion.
 * Source: Salt 3008.3 `salt/states/grains.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult, stateResult } from "#lib/plugins/state_module.ts";
import { asList, listOrEmpty } from "#lib/values/shape.ts";
import { equals, isAmong, isMap, map, str, truthy, type Value } from "#lib/values/value.ts";
import { DEFAULT_TARGET_DELIM, traverse } from "#lib/yaml/traverse.ts";

const DELIMITER = { delimiter: p.str(DEFAULT_TARGET_DELIM) };

const DOC = `name
    The grain, or a path such as \`apps:web:port\`.

delimiter : ":"
    The separator of the path's steps.`;

/** The path with Salt's own delimiter. */
function pathOf(name: string, delimiter: string): string {
  return delimiter === "" ? name : name.replaceAll(delimiter, () => DEFAULT_TARGET_DELIM);
}

function grainAt(path: string, { grains }: StateContext): Value | undefined {
  return traverse(grains, path);
}

/**
 * Calls `grains.set`.
 * @returns Its result, with the path as its name.
 */
async function setGrain(path: string, value: Value, options: Record<string, Value>, context: StateContext) {
  const done = await context.call("grains.set", [path, value], map(options));
  return { ...stateResult(isMap(done) ? new Map([...done, ["name", path]]) : done), name: path };
}

export const exists: ModuleFunction<StateContext> = stateFn({
  doc: `A grain exists. Nothing is changed.\n\n${DOC}`,
  params: { name: p.str(), ...DELIMITER },
  run: ({ name, delimiter }, context) => {
    const path = pathOf(name, delimiter);
    return grainAt(path, context) === undefined
      ? failState(path, "Grain does not exist")
      : { ...startResult(path), comment: "Grain exists" };
  },
});

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `A grain has this value.\n\n${DOC}

value
    The value.

force : False
    Whether a list or a map may be replaced, or may replace a value.`,
  params: { name: p.str(), value: p.any(), ...DELIMITER, force: p.bool(false) },
  run: async ({ name, value, delimiter, force }, context) => {
    const path = pathOf(name, delimiter);
    const now = grainAt(path, context);
    if (now !== undefined && equals(now, value)) return { ...startResult(path), comment: "Grain is already set" };
    if (context.test) {
      const [comment, changes] = now === undefined
        ? [`Grain ${path} is set to be added`, map({ new: path })]
        : [`Grain ${path} is set to be changed`, map({ changed: map({ [path]: value }) })];
      return { name: path, result: null, comment, changes };
    }
    const done = await setGrain(path, value, { force }, context);
    const set = done.result === true && done.changes.size > 0;
    return set ? { ...done, comment: `Set grain ${path} to ${str(value)}` } : done;
  },
});

/** Values that states of this run append to a grain: the grains themselves may be loaded again only afterwards. */
function pendingValues(path: string, { shared }: StateContext): Value[] {
  const pending = shared.get(PENDING);
  const all: Map<string, Value[]> = pending instanceof Map ? pending : new Map();
  shared.set(PENDING, all);
  const values = all.get(path) ?? [];
  all.set(path, values);
  return values;
}

const PENDING = "grains.pending";

export const list_present: ModuleFunction<StateContext> = stateFn({
  doc: `A grain that is a list has these values. A missing list is created.\n\n${DOC}

value
    A value, or a list of them.`,
  params: { name: p.str(), value: p.any(), ...DELIMITER },
  run: async ({ name, value: given, delimiter }, context) => {
    const path = pathOf(name, delimiter);
    const current = grainAt(path, context);
    const found = current === undefined ? "" : current;
    const there = truthy(found);
    if (there && !Array.isArray(found)) return failState(path, `Grain ${path} is not a valid list`);
    const pending = pendingValues(path, context);
    const values = [...listOrEmpty(found), ...pending];
    const requested = asList(given);
    const fresh = requested.filter((one) => !isAmong(one, values));
    if (fresh.length === 0) {
      const where = there ? `in grain ${path} (or pending)` : `pending in grain ${path}`;
      return { ...startResult(path), comment: `Value ${str(given)} is already ${where}` };
    }
    pending.push(...fresh);
    const value = Array.isArray(given) ? fresh : given;
    if (context.test) {
      const comment = there
        ? `Value ${str(value)} is set to be appended to grain ${path}`
        : `Grain ${path} is set to be added`;
      return { name: path, result: null, comment, changes: map({ new: found }) };
    }
    const appended = await context.call("grains.append", [path, value]);
    const now = grainAt(path, context);
    if (!Array.isArray(now) || fresh.some((one) => !isAmong(one, now))) {
      return failState(path, `Failed append value ${str(value)} to grain ${path}`);
    }
    const removed = requested.filter((one) => isAmong(one, values));
    const why = there ? `value found in "${path}" (or pending)` : `value already pending in "${path}"`;
    const left = removed.length > 0 ? `Removed value ${str(removed)} from update due to ${why}.\n` : "";
    return {
      name: path,
      result: true,
      comment: `${left}Append value ${str(value)} to grain ${path}`,
      changes: map({ new: appended }),
    };
  },
});

export const list_absent: ModuleFunction<StateContext> = stateFn({
  doc: `A grain that is a list does not have these values.\n\n${DOC}

value
    A value, or a list of them.`,
  params: { name: p.str(), value: p.any(), ...DELIMITER },
  run: async ({ name, value, delimiter }, context) => {
    const path = pathOf(name, delimiter);
    const grain = grainAt(path, context);
    if (!truthy(grain)) return { ...startResult(path), comment: `Grain ${path} does not exist` };
    if (!Array.isArray(grain)) return failState(path, `Grain ${path} is not a valid list`);
    const before = [...grain];
    const ret = startResult(path);
    const comments: string[] = [], deleted: Value[] = [];
    for (const one of asList(value)) {
      if (!isAmong(one, before)) {
        comments.push(`Value ${str(one)} is absent from grain ${path}`);
        continue;
      }
      if (!context.test) await context.call("grains.remove", [path, one]);
      else ret.result = null;
      comments.push(
        context.test
          ? `Value ${str(one)} in grain ${path} is set to be deleted`
          : `Value ${str(one)} was deleted from grain ${path}`,
      );
      deleted.push(one);
    }
    return { ...ret, comment: comments.join("\n"), changes: deleted.length > 0 ? map({ deleted }) : new Map() };
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `A grain has no value, or does not exist.\n\n${DOC}

destructive : False
    Whether the grain is removed, and not only its value.

force : False
    Whether this may be done to a list or a map.`,
  params: { name: p.str(), destructive: p.bool(false), ...DELIMITER, force: p.bool(false) },
  run: async ({ name, destructive, delimiter, force }, context) => {
    const path = pathOf(name, delimiter);
    const grain = grainAt(path, context);
    if (grain === undefined) return { ...startResult(path), comment: `Grain ${path} does not exist` };
    const [would, did, changes] = destructive
      ? [`Grain ${path} is set to be deleted`, `Grain ${path} was deleted`, map({ deleted: path })]
      : [
        `Value for grain ${path} is set to be deleted (None)`,
        `Value for grain ${path} was set to None`,
        map({ grain: path, value: null }),
      ];
    const hasValue = grain !== null || destructive;
    if (context.test) {
      const preview: Partial<StateResult> = hasValue ? { comment: would, changes } : {};
      return { ...startResult(path, null), ...preview };
    }
    const done = await setGrain(path, null, { destructive, force }, context);
    return done.result === true && hasValue ? { ...done, comment: did, changes } : done;
  },
});

export const append: ModuleFunction<StateContext> = stateFn({
  doc: `A grain that is an existing list has this value.\n\n${DOC}

value
    The value.

convert : False
    Whether a grain that is no list is converted to one.`,
  params: { name: p.str(), value: p.any(), convert: p.bool(false), ...DELIMITER },
  run: async ({ name, value, convert, delimiter }, context) => {
    const path = pathOf(name, delimiter);
    const grain = grainAt(path, context) ?? null;
    const added = { name: path, changes: map({ added: value }) };
    if (!truthy(grain) && !context.grains.has(path)) return failState(path, `Grain ${path} does not exist`);
    const text = str(value);
    if (Array.isArray(grain)) {
      if (isAmong(value, grain)) {
        return { ...startResult(path), comment: `Value ${text} is already in the list for grain ${path}` };
      }
      if (context.test) {
        return { ...added, result: null, comment: `Value ${text} in grain ${path} is set to be added` };
      }
      await context.call("grains.append", [path, value]);
    } else {
      if (!convert) return failState(path, `Grain ${path} is not a valid list`);
      if (context.test) {
        const comment = `Grain ${path} is set to be converted to list and value ${text} will be added`;
        return { ...added, result: null, comment };
      }
      await context.call("grains.setval", [path, grain === null ? [value] : [grain, value]]);
    }
    return { ...added, result: true, comment: `Value ${text} was added to grain ${path}` };
  },
});

/**
 * State module `alternatives`: which of several programs a name stands for.
 * Source: Salt 3007.15 `salt/states/alternatives.py`; Salt 3008 has it in an extension.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { map, str, truthy, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["alternatives.auto"], otherwise: "alernatives module could not be loaded" }],
};

const NAME_DOC = "name\n    The name, such as `editor`.";
const PATH_DOC = `${NAME_DOC}\n\npath\n    The program.`;

async function is(fun: string, args: Value[], context: StateContext): Promise<boolean> {
  return truthy(await context.call(`alternatives.${fun}`, args));
}

async function current(name: string, context: StateContext): Promise<Value> {
  return await context.call("alternatives.show_current", [name]);
}

export const install: ModuleFunction<StateContext> = stateFn({
  doc: `A program is an alternative for a name.

${NAME_DOC}

link
    The link of the name, such as \`/usr/bin/editor\`.

path
    The program.

priority
    The highest one is used, unless a program was chosen manually.`,
  params: { name: p.str(), link: p.str(), path: p.str(), priority: p.int() },
  run: async ({ name, link, path, priority }, context) => {
    const fields = { link, path, priority };
    const ret: StateResult = { ...startResult(name), ...fields };
    if (await is("check_exists", [name, path], context)) {
      return { ...ret, comment: `Alternative ${path} for ${name} is already registered` };
    }
    if (context.test) {
      const comment = `Alternative will be set for ${name} to ${path} with priority ${priority}`;
      return { ...ret, result: null, comment };
    }
    const out = await context.call("alternatives.install", [name, link, path, priority]);
    if (!await is("check_exists", [name, path], context)) {
      return { ...ret, result: false, comment: `Alternative for ${name} not installed: ${str(out)}` };
    }
    const comment = await is("check_installed", [name, path], context)
      ? `Alternative for ${name} set to path ${path} with priority ${priority}`
      : `Alternative ${path} for ${name} registered with priority ${priority} and not set to default`;
    return { ...ret, comment, changes: map({ name, ...fields }) };
  },
});

export const remove: ModuleFunction<StateContext> = stateFn({
  doc: `A program is no alternative for a name.\n\n${PATH_DOC}`,
  params: { name: p.str(), path: p.str() },
  run: async ({ name, path }, context) => {
    const fields = { path };
    const ret: StateResult = { ...startResult(name), ...fields };
    if (!await is("check_exists", [name, path], context)) {
      const target = await current(name, context);
      if (!truthy(target)) return { ...ret, result: false, comment: `Alternative for ${name} doesn't exist` };
      return { ...ret, comment: `Alternative for ${name} is set to it's default path ${str(target)}` };
    }
    if (context.test) return { ...ret, result: null, comment: `Alternative for ${name} will be removed` };
    await context.call("alternatives.remove", [name, path]);
    const now = await current(name, context);
    if (!truthy(now)) return { ...ret, comment: `Alternative for ${name} removed` };
    const comment = `Alternative for ${name} removed. Falling back to path ${str(now)}`;
    return { ...ret, comment, changes: map({ path: now }) };
  },
});

export const auto: ModuleFunction<StateContext> = stateFn({
  doc: `The alternative with the highest priority is the current one for a name.\n\n${NAME_DOC}`,
  params: { name: p.str() },
  run: async ({ name }, context) => {
    const [first = ""] = splitLines(str(await context.call("alternatives.display", [name])));
    if (first.endsWith(" auto mode")) return { ...startResult(name), comment: `${name} already in auto mode` };
    if (context.test) return { ...startResult(name, null), comment: `${name} will be put in auto mode` };
    return { ...startResult(name), changes: map({ result: await context.call("alternatives.auto", [name]) }) };
  },
});

export const set: ModuleFunction<StateContext> = stateFn({
  doc: `A program is the current alternative for a name.\n\n${PATH_DOC}`,
  params: { name: p.str(), path: p.str() },
  run: async ({ name, path }, context) => {
    const fields = { path };
    const ret: StateResult = { ...startResult(name), ...fields };
    if (await current(name, context) === path) {
      return { ...ret, comment: `Alternative for ${name} already set to ${path}` };
    }
    const display = str(await context.call("alternatives.display", [name]));
    if (!splitLines(display).some((line) => line.startsWith(path))) {
      return { ...ret, result: false, comment: `Alternative ${path} for ${name} doesn't exist` };
    }
    if (context.test) return { ...ret, result: null, comment: `Alternative for ${name} will be set to path ${path}` };
    await context.call("alternatives.set", [name, path]);
    if (await current(name, context) !== path) return { ...ret, comment: `Alternative for ${name} not updated` };
    return { ...ret, comment: `Alternative for ${name} set to path ${path}`, changes: map({ path }) };
  },
});

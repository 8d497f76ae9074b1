/**
 * State module `rvm`: Rubies and gemsets of RVM.
 * Source: Salt 3006.28 `salt/states/rvm.py`, which Salt 3008 has no longer.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { map, str, truthy } from "#lib/values/value.ts";

const USER = "\n\nuser\n    The user to run rvm as. Default: for all users.";

/** The part of a version after the last number that is a part of its own: a date, `p385`. */
const MICRO = /-([0-9]{4}\.[0-9]{2}|p[0-9]+)$/;

/** Whether a Ruby is the default one; `undefined`: it is not installed. */
async function findRuby(ruby: string, user: string | null, context: StateContext): Promise<boolean | undefined> {
  const wanted = ruby.replace(/^ruby-/, "");
  for (const entry of listOrEmpty(await context.call("rvm.list", [], map({ runas: user })))) {
    const [implementation, version, isDefault] = listOrEmpty(entry);
    let name = implementation === "ruby" ? str(version) : `${str(implementation)}-${str(version)}`;
    if (!MICRO.test(ruby)) name = name.replace(MICRO, "");
    if (/^[a-z]+$/.test(ruby)) name = name.replace(/-.*/, "");
    if (name === wanted) return isDefault === true;
  }
  return undefined;
}

async function isInstalled(user: string | null, context: StateContext): Promise<boolean> {
  return truthy(await context.call("rvm.is_installed", [user]));
}

export const installed: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a Ruby is installed, and RVM first if it is not there.

name
    The Ruby.

default
    Whether it becomes the default. Default: False.

opts
    A list of options for rvm.

env
    Variables for the installation.${USER}`,
  params: { name: p.str(), default: p.bool(false), user: p.str(null), opts: p.list(null), env: p.any(null) },
  async run({ name, default: isDefault, user, opts, env }, context) {
    const hasRvm = await isInstalled(user, context);
    if (context.test) {
      const found = hasRvm ? await findRuby(name, user, context) : undefined;
      if (found === true || (found === false && !isDefault)) {
        return { ...startResult(name), comment: "Requested ruby exists.", default: found };
      }
      return { ...startResult(name, null), comment: `Ruby ${name} is set to be installed` };
    }
    if (!hasRvm && !truthy(await context.call("rvm.install", [], map({ runas: user })))) {
      return failState(name, "RVM failed to install.");
    }
    return await install({ name, isDefault, user, how: map({ runas: user, opts, env }) }, context);
  },
});

async function install(
  { name, isDefault, user, how }: {
    readonly name: string;
    readonly isDefault: boolean;
    readonly user: string | null;
    readonly how: ReturnType<typeof map>;
  },
  context: StateContext,
): Promise<StateResult> {
  const found = await findRuby(name, user, context);
  if (found === undefined && !truthy(await context.call("rvm.install_ruby", [name], how))) {
    return failState(name, "Could not install ruby.");
  }
  if (isDefault) await context.call("rvm.set_default", [name], map({ runas: user }));
  if (found !== undefined) return { ...startResult(name), comment: "Requested ruby exists.", default: found };
  const changes = map({ [name]: "Installed" });
  return { ...startResult(name), comment: "Successfully installed ruby.", changes, default: false };
}

export const gemset_present: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that there is a gemset.

name
    The gemset, or \`ruby@gemset\`.

ruby
    The Ruby that it belongs to. Default: the default one.${USER}`,
  params: { name: p.str(), ruby: p.str("default"), user: p.str(null) },
  async run({ name, ruby: given, user }, context) {
    if (!await isInstalled(user, context)) return failState(name, "RVM is not installed.");
    const [, before, after] = /^([^@]*)@(.*)$/.exec(name) ?? [];
    const [ruby, gemset] = before === undefined ? [given, name] : [before, after];
    const found = before === undefined ? undefined : await findRuby(ruby, user, context);
    if (before !== undefined && found === undefined) {
      return failState(name, "Requested ruby implementation was not found.");
    }
    const start = { ...startResult(name), ...found !== undefined && { default: found } };
    if (listOrEmpty(await context.call("rvm.gemset_list", [ruby], map({ runas: user }))).includes(gemset)) {
      return { ...start, comment: "Gemset already exists." };
    }
    if (context.test) return { ...start, result: null, comment: `Set to install gemset ${gemset}` };
    if (!truthy(await context.call("rvm.gemset_create", [ruby, gemset], map({ runas: user })))) {
      return { ...start, result: false, comment: "Gemset could not be created." };
    }
    return { ...start, comment: "Gemset successfully created.", changes: map({ [gemset]: "created" }) };
  },
});

/**
 * State module `pyenv`: Pythons that pyenv builds.
 * Source: Salt 3008.3 `salt/states/pyenv.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { map, truthy, type Value } from "#lib/values/value.ts";

async function isTrue(context: StateContext, fun: string, args: Value[], runas: string | null): Promise<boolean> {
  return truthy(await context.call(`pyenv.${fun}`, args, map({ runas })));
}

/** Whether a Python is the default one; `undefined`: it is not installed. */
async function findPython(version: string, user: string | null, context: StateContext): Promise<boolean | undefined> {
  const standard = await context.call("pyenv.default", [], map({ runas: user }));
  const all = listOrEmpty(await context.call("pyenv.versions", [user]));
  return all.includes(version) ? standard === version : undefined;
}

/** A state's name without the prefix that Salt takes. */
function versionOf(name: string): string {
  return name.replace(/^python-/, "");
}

const USER = "\n\nuser\n    The user to run pyenv as. Default: for all users, in /usr/local/pyenv.";

async function installPython(
  { name, version, isDefault, user }: {
    readonly name: string;
    readonly version: string;
    readonly isDefault: boolean;
    readonly user: string | null;
  },
  context: StateContext,
): Promise<StateResult> {
  const setDefault = async () => {
    if (isDefault) await context.call("pyenv.default", [version], map({ runas: user }));
  };
  const found = await findPython(version, user, context);
  if (found !== undefined) {
    await setDefault();
    return { ...startResult(name), comment: "Requested python exists.", default: found };
  }
  if (!await isTrue(context, "install_python", [version], user)) return failState(name, "Could not install python.");
  await setDefault();
  const changes = map({ [version]: "Installed" });
  return { ...startResult(name), comment: "Successfully installed python", changes, default: isDefault };
}

export const installed: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a Python is installed, and pyenv first if it is not there.

name
    The version.

default
    Whether it becomes the default. Default: False.${USER}`,
  params: { name: p.str(), default: p.bool(false), user: p.str(null) },
  async run({ name, default: isDefault, user }, context) {
    const version = versionOf(name);
    if (context.test) return { ...startResult(name, null), comment: `python ${version} is set to be installed` };
    if (!await isTrue(context, "is_installed", [], user) && !await isTrue(context, "install", [], user)) {
      return failState(name, "pyenv failed to install");
    }
    return await installPython({ name, version, isDefault, user }, context);
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a Python is not installed. If it was the default, the system's becomes it.

name
    The version.${USER}`,
  params: { name: p.str(), user: p.str(null) },
  async run({ name, user }, context) {
    const version = versionOf(name);
    if (context.test) return { ...startResult(name, null), comment: `python ${version} is set to be uninstalled` };
    if (!await isTrue(context, "is_installed", [], user)) {
      return { ...startResult(name), comment: `pyenv not installed, ${version} not either` };
    }
    const found = await findPython(version, user, context);
    if (found === undefined) return { ...startResult(name), comment: `python ${version} is already absent` };
    if (found) await context.call("pyenv.default", ["system"], map({ runas: user }));
    if (!await isTrue(context, "uninstall_python", [version], user)) {
      return failState(name, "Failed to uninstall python");
    }
    const changes = map({ [version]: "Uninstalled" });
    return { ...startResult(name), comment: "Successfully removed python", changes, default: found };
  },
});

export const install_pyenv: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that pyenv is installed, for states of its plugins to require.

name
    Any name; the option pyenv.root says where it is.${USER}`,
  params: { name: p.str(), user: p.str(null) },
  async run({ name, user }, context) {
    if (await isTrue(context, "is_installed", [], user)) {
      return { ...startResult(name), comment: "pyenv is already installed" };
    }
    if (context.test) return { ...startResult(name, null), comment: "pyenv is set to be installed" };
    if (!await isTrue(context, "install", [], user)) return failState(name, "pyenv failed to install");
    return { ...startResult(name), comment: "pyenv installed" };
  },
});

/**
 * Execution module `docker`: logins at registries, which the options and pillar name.
 * Source: the functions of Salt 3006.28 `salt/modules/dockermod.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { DockerError, enginePath } from "#lib/host/docker/engine.ts";
import { forgetLogin, keepLogin, loginAddress, type RegistryLogin } from "#lib/host/docker/registry_logins.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { engineOf } from "./connection.ts";

/** The registries of `docker-registries` and of all options whose names end so, and what is wrong with them. */
async function configured(context: JobContext): Promise<{ readonly registries: ValueMap; readonly errors: string[] }> {
  const errors: string[] = [];
  const main = await context.call("config.get", ["docker-registries", new Map()]);
  if (!isMap(main)) errors.push("'docker-registries' Pillar value must be a dictionary");
  const registries: ValueMap = new Map(mapOrEmpty(main));
  const more = await context.call("config.option", ["*-docker-registries"], map({ wildcard: true }));
  for (const [name, given] of mapOrEmpty(more)) {
    if (!isMap(given)) errors.push(`Docker registry '${str(name)}' was not specified as a dictionary`);
    else for (const [registry, login] of given) registries.set(registry, login);
  }
  return { registries, errors };
}

/** The login of a registry; a text: why there is none. */
function loginOf(registry: string, given: Value | undefined): RegistryLogin | string {
  if (given === undefined) return `No match found for registry '${registry}'`;
  if (!isMap(given)) return `Invalid configuration for registry '${registry}'`;
  const missing = ["username", "password"].find((key) => !given.has(key));
  if (missing !== undefined) return `Missing '${missing}' for registry '${registry}'`;
  return { username: str(given.get("username") ?? null), password: str(given.get("password") ?? null) };
}

/** Does something at each registry, and says where it worked. */
async function each(
  names: readonly Value[],
  context: JobContext,
  act: (registry: string, given: Value | undefined) => Promise<boolean | string>,
): Promise<ValueMap> {
  const { registries, errors } = await configured(context);
  const results: ValueMap = new Map();
  for (const name of names.length === 0 ? [...registries.keys()] : names) {
    const registry = str(name);
    try {
      const done = await act(registry, registries.get(name));
      if (typeof done === "string") errors.push(done);
      else results.set(registry, done);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      results.set(registry, false);
      errors.push(error instanceof DockerError ? `Error response from daemon: ${error.explanation}` : error.message);
    }
  }
  return map({ retcode: errors.length > 0 ? 1 : 0, Errors: errors, Results: results });
}

export const login: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Log in at registries, or at all that `docker-registries` and `*-docker-registries` in pillar name: maps of username and password by\n" +
      "registry, `hub` for Docker's own. The engine checks them; they are kept where the command docker keeps them. Return Results by\n" +
      "registry, Errors, and retcode.",
    "docker.login",
    "docker.login hub registry.example.com:5000",
  ),
  permissions: "all",
  params: {},
  varArgs: "registries",
  run: (_, context, { args }) =>
    each(args, context, async (registry, given) => {
      const found = loginOf(registry, given);
      if (typeof found === "string") return found;
      const json = map({ ...found, serveraddress: loginAddress(registry) });
      await (await engineOf(context)).ask({ method: "POST", path: enginePath("auth"), json });
      await keepLogin(registry, found, context);
      return true;
    }),
});

export const logout: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Forget the logins at registries, or at all that pillar names. Return Results by registry, Errors, and retcode.",
    "docker.logout",
    "docker.logout hub",
  ),
  permissions: "all",
  params: {},
  varArgs: "registries",
  run: (_, context, { args }) =>
    each(args, context, async (registry, given) => {
      if (given === undefined) return `No match found for registry '${registry}'`;
      await forgetLogin(registry, context);
      return true;
    }),
});

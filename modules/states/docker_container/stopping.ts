/**
 * States `docker_container.stopped` and `docker_container.absent`.
 * Source: Salt 3006.28 `salt/states/docker_container.py`, which Salt 3008 has no longer.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { str, truthy, type Value } from "#lib/values/value.ts";
import { ContainerWork, dockerFailure } from "./work.ts";

/** Containers by their states; what is not there is `absent`. */
async function byState(names: readonly string[], work: ContainerWork): Promise<ReadonlyMap<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const name of names) {
    let state = "absent";
    try {
      state = str(await work.call("state", [name]));
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
    }
    found.set(state, [...found.get(state) ?? [], name]);
  }
  return found;
}

/** Stops containers. */
async function stopAll(
  names: readonly string[],
  work: ContainerWork,
  unpause: boolean,
  timeout: Value,
): Promise<StateResult> {
  const errors: string[] = [];
  for (const name of names) {
    const stopped = mapOrEmpty(await work.call("stop", [name], { unpause, ...truthy(timeout) && { timeout } }));
    if (stopped.get("result") === true) work.changes.set(name, stopped);
    else errors.push(str(stopped.get("comment") ?? `Failed to stop container '${name}'`));
  }
  if (errors.length > 0) return work.end(false, errors.join("; "));
  return work.end(true, `The following container(s) were stopped: ${names.join(", ")}`);
}

export const stopped: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that containers do not run.\n\nname\n    The container.\n\ncontainers\n    A list of containers, in place of `name`." +
    "\n\nshutdown_timeout\n    Seconds that each has to end.\n\nunpause\n    Whether a paused one is stopped; without it that is a failure." +
    "\n\nerror_on_absent\n    Whether one that is not there is a failure.",
  params: {
    name: p.any(null),
    containers: p.any(null),
    shutdown_timeout: p.any(null),
    unpause: p.bool(false),
    error_on_absent: p.bool(true),
  },
  varKwargs: "kwargs",
  async run({ name, containers, shutdown_timeout, unpause, error_on_absent }, context) {
    if (!truthy(name) && !truthy(containers)) return failState(name, "One of 'name' and 'containers' must be provided");
    if (containers !== null && !Array.isArray(containers)) return failState(name, "containers must be a list");
    const names = containers === null ? [str(name)] : listOrEmpty(containers).map(str);
    const work = new ContainerWork(str(name ?? ""), context);
    const found = await byState(names, work);
    const listed = (state: string) => found.get(state) ?? [];
    const errors = [
      ...error_on_absent && found.has("absent")
        ? [`The following container(s) are absent: ${listed("absent").join(", ")}`]
        : [],
      ...!unpause && found.has("paused")
        ? [`The following container(s) are paused: ${listed("paused").join(", ")}`]
        : [],
    ];
    if (errors.length > 0) return failState(name, errors.join(". "));
    const running = [...listed("running"), ...listed("paused")];
    if (running.length === 0) {
      const which = names.length === 1 ? `Container '${names[0]}' is ` : "All specified containers are ";
      return work.end(true, `${which}${found.has("absent") ? "absent or " : ""}not running`);
    }
    if (context.test) return work.end(null, `The following container(s) will be stopped: ${running.join(", ")}`);
    return await stopAll(running, work, unpause, shutdown_timeout);
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a container does not exist.\n\nname\n    The container.\n\nforce\n    Whether one that runs is removed.",
  params: { name: p.str(), force: p.bool(false) },
  async run({ name, force }, context) {
    const work = new ContainerWork(name, context);
    const isThere = async () => listOrEmpty(await work.call("list_containers", [], { all: true })).includes(name);
    if (!await isThere()) return work.end(true, `Container '${name}' does not exist`);
    const state = await work.call("state", [name]);
    if (state !== "stopped" && !force) {
      return work.end(false, "Container is running, set force to True to forcibly remove it");
    }
    if (context.test) return work.end(null, `Container '${name}' will be removed`);
    try {
      work.changes.set("removed", await work.call("rm", [name], { force }));
    } catch (error) {
      return work.end(false, `Failed to remove container '${name}': ${dockerFailure(error)}`);
    }
    if (await isThere()) return work.end(false, `Failed to remove container '${name}'`);
    const how = force && state !== "stopped" ? "Forcibly" : "Successfully";
    return work.end(true, `${how} removed container '${name}'`);
  },
});

/**
 * Execution module `docker`: containers are started, stopped, paused, signalled, renamed and removed.
 * Source: the functions of Salt 3006.28 `salt/modules/dockermod.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { type DockerEngine, DockerError, enginePath } from "#lib/host/docker/engine.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isInt, map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { changing, engineOf } from "./connection.ts";
import { containers, containerState, ifThere, inspectContainer } from "./lookups.ts";

/** Seconds that a container has to end, unless it says otherwise. */
const SHUTDOWN_S = 10;

interface Change {
  /** The engine's word. */
  readonly action: string;
  /** The state afterwards. */
  readonly expected: string;
  /** Seconds that it may take to end. */
  readonly endS?: number | null;
}

/** Changes the state of a container, and says what it was and is. */
async function changeState(engine: DockerEngine, name: string, { action, expected, endS }: Change): Promise<ValueMap> {
  const before = await containerState(engine, name);
  if (action !== "restart" && before === expected) {
    const comment = `Container '${name}' already ${expected}`;
    return map({ result: false, state: { old: expected, new: expected }, comment });
  }
  await engine.ask({
    method: "POST",
    path: enginePath("containers", name, action),
    query: { t: endS ?? undefined },
    timeoutS: engine.timeoutS + (endS ?? (action === "stop" ? SHUTDOWN_S : 0)),
  });
  const after = await ifThere(containerState(engine, name)) ?? null;
  return map({ result: after === expected, state: { old: before, new: after } });
}

/** A change that a container in another state refuses. */
async function unless(
  engine: DockerEngine,
  name: string,
  state: string,
  verb: string,
  change: Change,
): Promise<ValueMap> {
  if (await containerState(engine, name) !== state) return await changeState(engine, name, change);
  const comment = `Container '${name}' is ${state}, cannot ${verb}`;
  return map({ result: false, state: { old: state, new: state }, comment });
}

/** Starts it unless it is paused; the map has its state before and after. */
export function startContainer(engine: DockerEngine, name: string): Promise<ValueMap> {
  return unless(engine, name, "paused", "start", { action: "start", expected: "running" });
}

const NAME = { name: p.str() };

export const start: ModuleFunction<JobContext> = fn({
  doc: describe("Start a container. Return its state before and after.", "docker.start mycontainer"),
  permissions: "all",
  params: NAME,
  run: ({ name }, context) => changing(context, async () => startContainer(await engineOf(context), name)),
});

async function secondsToEnd(engine: DockerEngine, name: string, timeout: Value): Promise<number | null> {
  if (timeout !== null) return toNumber(timeout) ?? Number(str(timeout));
  const config = mapOrEmpty((await inspectContainer(engine, name)).get("Config"));
  const own = config.get("StopTimeout");
  return own === undefined ? SHUTDOWN_S : toNumber(own) ?? null;
}

/** Stops it, a paused one only if it is to be unpaused; the map has its state before and after. */
async function stopContainer(
  engine: DockerEngine,
  name: string,
  { timeout = null, unpauses = false }: { readonly timeout?: Value; readonly unpauses?: boolean } = {},
): Promise<ValueMap> {
  const endS = await secondsToEnd(engine, name, timeout);
  const before = await containerState(engine, name);
  if (before === "paused") {
    if (!unpauses) {
      const comment = `Container '${name}' is paused, run with unpause=True to unpause before stopping`;
      return map({ result: false, state: { old: before, new: before }, comment });
    }
    const unpaused = await changeState(engine, name, { action: "unpause", expected: "running" });
    if (unpaused.get("result") === false) {
      return unpaused.set("comment", `Failed to unpause container '${name}'`);
    }
  }
  const stopped = await changeState(engine, name, { action: "stop", expected: "stopped", endS });
  mapOrEmpty(stopped.get("state")).set("old", before);
  return stopped;
}

export const stop: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Stop a container, which has timeout seconds to end. A paused one is stopped only with unpause=True. Return its state before and after.",
    "docker.stop mycontainer",
    "docker.stop mycontainer unpause=True",
    "docker.stop mycontainer timeout=20",
  ),
  permissions: "all",
  params: { ...NAME, timeout: p.any(null) },
  varKwargs: "kwargs",
  keywords: ["unpause"],
  run: ({ name, timeout }, context, { kwargs }) =>
    changing(
      context,
      async () => stopContainer(await engineOf(context), name, { timeout, unpauses: truthy(kwargs.get("unpause")) }),
    ),
});

export const restart: ModuleFunction<JobContext> = fn({
  doc: describe("Restart a container, which has timeout seconds to end.", "docker.restart mycontainer timeout=20"),
  permissions: "all",
  params: { ...NAME, timeout: p.int(10) },
  async run({ name, timeout }, context) {
    const restarted = await changeState(await engineOf(context), name, {
      action: "restart",
      expected: "running",
      endS: timeout,
    });
    return restarted.get("result") === true ? restarted.set("restarted", true) : restarted;
  },
});

export const kill: ModuleFunction<JobContext> = fn({
  doc: describe("Kill the processes of a container. Return its state before and after.", "docker.kill mycontainer"),
  permissions: "all",
  params: NAME,
  run: ({ name }, context) =>
    changing(context, async () => changeState(await engineOf(context), name, { action: "kill", expected: "stopped" })),
});

export const signal: ModuleFunction<JobContext> = fn({
  doc: describe("Send a signal, a name or a number, to a container. Return True.", "docker.signal mycontainer SIGHUP"),
  permissions: "all",
  params: { ...NAME, signal: p.any() },
  run: ({ name, signal }, context) =>
    changing(context, async () => {
      const query = { signal: isInt(signal) ? signal : str(signal) };
      await (await engineOf(context)).ask({ method: "POST", path: enginePath("containers", name, "kill"), query });
      return true;
    }),
});

/** A function that pauses a container. */
function pausing(word: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe("Pause a container. Return its state before and after.", `docker.${word} mycontainer`),
    permissions: "all",
    params: NAME,
    run: ({ name }, context) =>
      changing(
        context,
        async () => unless(await engineOf(context), name, "stopped", "pause", { action: "pause", expected: "paused" }),
      ),
  });
}

/** A function that lets a paused container run again. */
function unpausing(word: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe("Let a paused container run. Return its state before and after.", `docker.${word} mycontainer`),
    permissions: "all",
    params: NAME,
    run: ({ name }, context) =>
      changing(
        context,
        async () =>
          unless(await engineOf(context), name, "stopped", "unpause", { action: "unpause", expected: "running" }),
      ),
  });
}

export const pause: ModuleFunction<JobContext> = pausing("pause");
export const freeze: ModuleFunction<JobContext> = pausing("freeze");
export const unpause: ModuleFunction<JobContext> = unpausing("unpause");
export const unfreeze: ModuleFunction<JobContext> = unpausing("unfreeze");

export const wait: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Wait until a container ends. Return its state before and after, and its `exit_status`; with fail_on_exit_status=True the\n" +
      "result is False if that is not 0, with ignore_already_stopped=True True if it does not run.",
    "docker.wait mycontainer",
  ),
  permissions: "all",
  params: { ...NAME, ignore_already_stopped: p.bool(false), fail_on_exit_status: p.bool(false) },
  async run({ name, ignore_already_stopped, fail_on_exit_status }, context) {
    const engine = await engineOf(context);
    const before = await ifThere(containerState(engine, name));
    if (before === undefined) {
      return map({ result: ignore_already_stopped, comment: `Container '${name}' absent` });
    }
    const path = enginePath("containers", name, "wait");
    const answer = mapOrEmpty(await engine.ask({ method: "POST", path, timeoutS: null }));
    const after = await ifThere(containerState(engine, name)) ?? null;
    const status = answer.get("StatusCode") ?? null;
    const wasStopped = before === "stopped";
    const ended = wasStopped ? ignore_already_stopped : after === "stopped";
    const result = ended && (!fail_on_exit_status || toNumber(status) === 0);
    return map({
      result,
      state: { old: before, new: after },
      exit_status: status,
      ...wasStopped && { comment: `Container '${name}' already stopped` },
    });
  },
});

export const rename: ModuleFunction<JobContext> = fn({
  doc: describe("Rename a container. Return whether it has the new name.", "docker.rename foo bar"),
  permissions: "all",
  params: { ...NAME, new_name: p.str() },
  async run({ name, new_name }, context) {
    const engine = await engineOf(context);
    const id = str((await inspectContainer(engine, name)).get("Id") ?? "");
    await engine.ask({ method: "POST", path: enginePath("containers", id, "rename"), query: { name: new_name } });
    return (await inspectContainer(engine, new_name)).get("Id") === id;
  },
});

/** How a container is removed. */
export interface ContainerRemoval {
  readonly force?: boolean;
  readonly volumes?: boolean;
  /** Whether it is stopped before. */
  readonly stops?: boolean;
  /** Seconds that it has to end. */
  readonly timeout?: Value;
}

/**
 * Removes a container.
 * @returns The ids that are no longer there.
 */
export async function removeContainer(
  engine: DockerEngine,
  name: string,
  { force = false, volumes = false, stops = false, timeout = null }: ContainerRemoval,
): Promise<Value[]> {
  const inspected = await inspectContainer(engine, name);
  if (await containerState(engine, name) === "running" && !force && !stops) {
    throw new CommandError(`Container '${name}' is running, use force=True to forcibly remove this container`);
  }
  const goesByItself = stops && !force && truthy(mapOrEmpty(inspected.get("HostConfig")).get("AutoRemove"));
  const before = await containers(engine, { all: true });
  if (stops && !force) {
    const stopped = await stopContainer(engine, name, { timeout });
    if (mapOrEmpty(stopped.get("state")).get("new") === "paused") {
      throw new CommandError(`Container '${name}' is paused, use force=True to forcibly remove this container`);
    }
  }
  if (!goesByItself) {
    const query = { v: volumes, link: false, force };
    await engine.ask({ method: "DELETE", path: enginePath("containers", name), query });
  } else await untilRemoved(engine, name);
  const after = await containers(engine, { all: true });
  return [...before.keys()].filter((id) => !after.has(id));
}

/** The engine removes a container that removes itself a moment after its end. */
async function untilRemoved(engine: DockerEngine, name: string): Promise<void> {
  const [path, query] = [enginePath("containers", name, "wait"), { condition: "removed" }];
  try {
    await engine.ask({ method: "POST", path, query });
  } catch (error) {
    if (!(error instanceof DockerError) || error.status !== 404) throw error;
  }
}

export const rm: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove a container. One that runs is removed only with force=True, or with stop=True after it had timeout seconds to end.\n" +
      "volumes=True removes its volumes too. Return the ids that were removed.",
    "docker.rm mycontainer",
    "docker.rm mycontainer force=True",
  ),
  permissions: "all",
  params: { ...NAME, force: p.bool(false), volumes: p.bool(false) },
  varKwargs: "kwargs",
  keywords: ["stop", "timeout"],
  run: ({ name, force, volumes }, context, { kwargs }) =>
    changing(context, async () => {
      const stops = truthy(kwargs.get("stop"));
      const timeout = kwargs.get("timeout") ?? null;
      return await removeContainer(await engineOf(context), name, { force, volumes, stops, timeout });
    }),
});

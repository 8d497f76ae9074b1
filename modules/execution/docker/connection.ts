/**
 * The engine that a call of `docker` asks, by the options `docker.url` and `docker.version`.
 * Source: Salt 3006.28 `salt/modules/dockermod.py` (`_get_client`, `_refresh_mine_cache`).
 * @module
 */

import { CommandError, messageOf } from "#lib/errors.ts";
import { CLIENT_TIMEOUT_S, DockerEngine } from "#lib/host/docker/engine.ts";
import { type EnginePlace, enginePlace } from "#lib/host/docker/engine_place.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { map, str, toNumber, truthy, type Value } from "#lib/values/value.ts";

/** What a function's `client_timeout` is, unless it is given. */
export { CLIENT_TIMEOUT_S };

async function setting(name: string, context: JobContext): Promise<string | undefined> {
  const value = await context.call("config.option", [name, null]);
  return truthy(value) ? str(value) : undefined;
}

/** Where the engine is. */
export async function dockerPlace(context: JobContext): Promise<EnginePlace> {
  if (await setting("docker.machine", context) !== undefined) {
    throw new CommandError("docker.machine is not supported: name the engine's address by docker.url");
  }
  const url = await setting("docker.url", context) ?? Deno.env.get("DOCKER_HOST");
  return enginePlace(url, await setting("docker.version", context));
}

/**
 * The engine, for one job.
 * @param timeoutS Seconds for an answer.
 */
export async function engineOf(context: JobContext, timeoutS: Value = CLIENT_TIMEOUT_S): Promise<DockerEngine> {
  return new DockerEngine(await dockerPlace(context), context.signal, toNumber(timeoutS) ?? CLIENT_TIMEOUT_S);
}

/** The engine for what has to be tidied up, also when the job is ended. */
export async function lastingEngine(context: JobContext): Promise<DockerEngine> {
  return new DockerEngine(await dockerPlace(context), new AbortController().signal);
}

/** Sends the containers to the mine, after they were changed, unless `docker.update_mine` is false. */
async function updateMine(context: JobContext): Promise<void> {
  if (!truthy(await context.call("config.option", ["docker.update_mine", true]))) return;
  try {
    await context.call("mine.send", ["docker.ps"], map({ verbose: true, all: true, host: true }));
  } catch (error) {
    if (context.signal.aborted) throw error;
    // What was to be done is done.
    context.log("warning", `docker.ps was not sent to the mine: ${messageOf(error)}`);
  }
}

/** Does something to containers, and updates the mine afterwards. */
export async function changing<T>(context: JobContext, change: () => Promise<T>): Promise<T> {
  const result = await change();
  await updateMine(context);
  return result;
}

/**
 * Execution module `docker`: containers are made, and made and run.
 * Source: the functions of Salt 3006.28 `salt/modules/dockermod.py`.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { CONTAINER_KEYWORDS, LOG_ARGUMENTS } from "#lib/host/docker/argument_names.ts";
import { containerConfig, endpointConfig, splitContainerArguments } from "#lib/host/docker/container_config.ts";
import { CONTAINER_TRANSLATOR } from "#lib/host/docker/container_input.ts";
import { type DockerEngine, enginePath } from "#lib/host/docker/engine.ts";
import { outputFrames } from "#lib/host/docker/output_frames.ts";
import { proxyVariables } from "#lib/host/docker/registry_logins.ts";
import { DetailedError, translateInput, type TranslationOptions } from "#lib/host/docker/translate_input.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { changing, CLIENT_TIMEOUT_S, dockerPlace, engineOf } from "./connection.ts";
import { containerState, elapsedSince, ifThere, imageId, inspectContainer } from "./lookups.ts";
import { removeContainer, startContainer } from "./lifecycle.ts";
import { pullImage } from "./pulling.ts";

/** How arguments are translated, as parameters. */
export const TRANSLATION = {
  skip_translate: p.any(null),
  ignore_collisions: p.bool(false),
  validate_ip_addrs: p.bool(true),
  client_timeout: p.any(CLIENT_TIMEOUT_S),
};

/** Pulls an image that is not there. */
async function needImage(
  engine: DockerEngine,
  image: string,
  context: JobContext,
  isInspected: boolean,
): Promise<void> {
  if (isInspected && await imageId(engine, image) === false) await pullImage(engine, image, context);
}

/** A container that is to be made. */
interface NewContainer {
  readonly image: string;
  readonly name: string | null;
  readonly args: ValueMap;
}

/** The arguments, translated; those that nobody knows are logged. */
function configOf(
  { image, args }: Omit<NewContainer, "name">,
  options: TranslationOptions,
  context: JobContext,
  origin: string,
) {
  const { networks, ...own } = Object.fromEntries([...args].map(([key, value]) => [str(key), value]));
  const translated = translateInput(CONTAINER_TRANSLATOR, map(own), options);
  const mode = own.network_mode ?? "";
  const endpoint = mapOrEmpty(networks).get(mode);
  if (endpoint !== undefined) {
    // The network of `network_mode` is connected at once; others afterwards.
    const endpoints = new Map([[mode, endpointConfig(mapOrEmpty(endpoint))]]);
    translated.set("networking_config", map({ EndpointsConfig: endpoints }));
  }
  const split = splitContainerArguments(translated);
  if (split.others.length > 0) {
    context.log(
      "warning",
      `The following arguments were ignored because Docker does not know them: ${split.others.join(", ")}`,
    );
  }
  try {
    return containerConfig(image, split, proxyVariables(origin));
  } catch (error) {
    if (!(error instanceof InvocationError)) throw error;
    throw new CommandError(`Unable to perform create_host_config: ${error.message}`, { cause: error });
  }
}

async function make(
  engine: DockerEngine,
  { image, name, args }: NewContainer,
  options: TranslationOptions,
  context: JobContext,
) {
  const { origin } = await dockerPlace(context);
  const config = configOf({ image, args }, options, context, origin);
  const query = { name, platform: args.get("platform") };
  const path = enginePath("containers", "create");
  const made = mapOrEmpty(await engine.ask({ method: "POST", path, query, json: config }));
  return { made, autoRemoves: mapOrEmpty(config.get("HostConfig")).get("AutoRemove") === true };
}

/** The name that the engine gave to a container. */
async function nameOf(engine: DockerEngine, id: Value): Promise<string> {
  return str((await inspectContainer(engine, str(id))).get("Name") ?? "").replace(/^\/+/, "");
}

export const create: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a container of an image, which is pulled if it is not there. The other arguments are those of `docker run`: cmd, env,\n" +
      "binds, port_bindings, restart_policy and so on, as docker_container.running has them. start=True starts it. Return its Id, Name\n" +
      "and Time_Elapsed.",
    "docker.create myuser/mycontainer:mytag",
    "docker.create centos cmd=/usr/bin/sleep name=box",
  ),
  permissions: "all",
  params: { image: p.str(), name: p.str(null), start: p.bool(false), ...TRANSLATION },
  varKwargs: "kwargs",
  watchedKeywords: [...CONTAINER_KEYWORDS, "networks"],
  run: ({ image, name, start, client_timeout, ...options }, context, { kwargs }) =>
    changing(context, async () => {
      const engine = await engineOf(context, client_timeout);
      const args = ownKeywords(kwargs);
      await needImage(engine, image, context, truthy(args.get("inspect") ?? true));
      args.delete("inspect");
      const begun = performance.now();
      const { made } = await make(engine, { image, name, args }, options, context);
      const response = new Map([...made, ...elapsedSince(begun)]);
      const known = name ?? await nameOf(engine, made.get("Id") ?? "");
      response.set("Name", known);
      if (!start) return response;
      try {
        await startContainer(engine, known);
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        const details = map({ response, error: error.message });
        throw new DetailedError("Failed to start container after creation", details, { cause: error });
      }
      return response.set("Started", true);
    }),
});

/** Makes room for a container that is run. */
async function replaced(
  engine: DockerEngine,
  name: string | null,
  { replace, force }: { readonly replace: boolean; readonly force: boolean },
): Promise<Value[]> {
  const state = name === null ? undefined : await ifThere(containerState(engine, name));
  if (name === null || state === undefined) return [];
  if (state === "running" && !(replace && force)) {
    throw new CommandError(
      `Container '${name}' exists and is running. Run with replace=True and force=True to force removal of the existing container.`,
    );
  }
  if (!replace) {
    throw new CommandError(`Container '${name}' exists. Run with replace=True to remove the existing container`);
  }
  return await removeContainer(engine, name, { force });
}

/** @throws {InvocationError} If they are no names, and no map of maps. */
function networksOf(given: Value): ValueMap {
  if (!truthy(given)) return new Map();
  if (typeof given === "string") return new Map(given.split(",").map((name): [Value, Value] => [name, new Map()]));
  if (isMap(given) && [...given.values()].every(isMap)) return given;
  throw new InvocationError("Invalid format for networks argument");
}

/** Removes a container after an error, which stays the reason. */
async function removeAfter(reason: CommandError, engine: DockerEngine, id: string): Promise<void> {
  try {
    await removeContainer(engine, id, {});
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(`${reason.message}. Container '${id}' is still there: ${error.message}`, { cause: reason });
  }
}

/** Puts a container into networks; if that fails, one that would remove itself is removed. */
async function connectAll(engine: DockerEngine, id: string, networks: ValueMap, autoRemoves: boolean): Promise<void> {
  for (const [network, given] of networks) {
    const json = map({ Container: id, EndpointConfig: endpointConfig(mapOrEmpty(given)) });
    try {
      await engine.ask({ method: "POST", path: enginePath("networks", str(network), "connect"), json });
    } catch (error) {
      if (error instanceof CommandError && autoRemoves) await removeAfter(error, engine, id);
      throw error;
    }
  }
}

/** What a container that is not in the background has written, and how it ended. */
async function outcome(engine: DockerEngine, id: string, args: ValueMap, autoRemoves: boolean): Promise<ValueMap> {
  const flag = (name: string) => truthy(args.get(name) ?? true) ? 1 : 0;
  const result: ValueMap = new Map();
  const pieces: Uint8Array[] = [];
  const warnings: string[] = [];
  const hasTerminal = truthy(args.get("tty"));
  const read = async (follow: 0 | 1) => {
    const query = { follow, timestamps: 0, stdout: flag("stdout"), stderr: flag("stderr"), tail: "all" };
    await engine.stream({ method: "GET", path: enginePath("containers", id, "logs"), query }, async (body) => {
      if (hasTerminal) { for await (const piece of body) pieces.push(piece); }
      else for await (const { bytes } of outputFrames(body)) pieces.push(bytes);
    });
  };
  try {
    await read(1);
    // On a busy machine the engine may end the log of a container that ends at once before it is written.
    if (pieces.length === 0 && !autoRemoves) await read(0);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    warnings.push(
      "Failed to get logs from container. This may be because the container exited before Salt was able to attach to it to " +
        "retrieve the logs. Consider setting auto_remove to False.",
    );
  }
  result.set("Logs", new TextDecoder().decode(joinBytes(pieces)));
  if (!autoRemoves) {
    const state = mapOrEmpty((await inspectContainer(engine, id)).get("State"));
    if (state.get("Status") !== "exited") warnings.push("Container state is not 'exited'");
    result.set("ExitCode", state.get("ExitCode") ?? null);
  }
  return warnings.length === 0 ? result : result.set("Warnings", warnings);
}

/** Runs what was made. */
async function runMade(
  engine: DockerEngine,
  made: ValueMap,
  { networks, bg, args, autoRemoves, begun }: {
    readonly networks: ValueMap;
    readonly bg: boolean;
    readonly args: ValueMap;
    readonly autoRemoves: boolean;
    readonly begun: number;
  },
): Promise<ValueMap> {
  const id = str(made.get("Id") ?? "");
  try {
    await connectAll(engine, id, networks, autoRemoves);
    await startContainer(engine, id);
    const ended = bg ? new Map() : await outcome(engine, id, args, autoRemoves);
    return new Map([...made, ...elapsedSince(begun), ...ended]);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new DetailedError(error.message, map({ return: made }), { cause: error });
  }
}

export const run_container: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a container and run it; the arguments are those of docker.create, and networks (names, or a map of their configurations).\n" +
      "Wait for its end unless bg=True, and return what it wrote as `Logs`, and `ExitCode`. replace=True removes a container of that\n" +
      "name before, with force=True also one that runs.",
    "docker.run_container myuser/myimage command=/usr/local/bin/myscript.sh",
    "docker.run_container myuser/myimage bg=True networks=net1,net2",
  ),
  permissions: "all",
  params: {
    image: p.str(),
    name: p.str(null),
    ...TRANSLATION,
    bg: p.bool(false),
    replace: p.bool(false),
    force: p.bool(false),
    networks: p.any(null),
  },
  varKwargs: "kwargs",
  watchedKeywords: [...CONTAINER_KEYWORDS, ...LOG_ARGUMENTS],
  run: (given, context, { kwargs }) =>
    changing(context, async () => {
      const { image, name, client_timeout, bg, replace, force } = given;
      const engine = await engineOf(context, client_timeout);
      const all = ownKeywords(kwargs);
      const networks = networksOf(given.networks);
      await needImage(engine, image, context, truthy(all.get("inspect") ?? true));
      const removed = await replaced(engine, name, { replace, force });
      const args = new Map([...all].filter(([key]) => key !== "inspect" && !LOG_ARGUMENTS.includes(str(key))));
      const begun = performance.now();
      const { made, autoRemoves } = await make(engine, { image, name, args }, given, context);
      if (removed.length > 0) made.set("Replaces", removed);
      made.set("Name", name ?? await nameOf(engine, made.get("Id") ?? ""));
      return await runMade(engine, made, { networks, bg, args: all, autoRemoves, begun });
    }),
});

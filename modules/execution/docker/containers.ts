/**
 * Execution module `docker`: what containers there are, and what the engine says about them.
 * Source: the functions of Salt 3006.28 `salt/modules/dockermod.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { LOG_ARGUMENTS } from "#lib/host/docker/argument_names.ts";
import { DockerError, enginePath } from "#lib/host/docker/engine.ts";
import { outputFrames } from "#lib/host/docker/output_frames.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { filterGlob } from "#lib/text/glob.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isFloat, isInt, isMap, map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { engineOf } from "./connection.ts";
import { containerNames, containers, inspectContainer, stateOfContainer } from "./lookups.ts";

const NAME = { name: p.str() };

export const ps: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the containers that run, by id; all=True: all. verbose=True adds what inspect_container says, as `Info`; host=True the\n" +
      "interfaces of the host, as `host`. filters is a map of the engine's filters.",
    "docker.ps",
    "docker.ps all=True",
    "docker.ps filters=\"{'label': 'KEY'}\"",
  ),
  permissions: "all",
  params: { filters: p.dict(null) },
  varKwargs: "kwargs",
  keywords: ["all", "verbose", "host"],
  async run({ filters }, context, { kwargs }) {
    const engine = await engineOf(context);
    const found = await containers(engine, { all: truthy(kwargs.get("all")), filters });
    if (truthy(kwargs.get("verbose"))) {
      for (const [id, one] of found) if (isMap(one)) one.set("Info", await inspectContainer(engine, str(id)));
    }
    if (truthy(kwargs.get("host"))) found.set("host", map({ interfaces: await context.call("network.interfaces") }));
    return found;
  },
});

export const list_containers: ModuleFunction<JobContext> = fn({
  doc: describe("Return the names of the containers that run; all=True: of all.", "docker.list_containers all=True"),
  permissions: "all",
  params: {},
  varKwargs: "kwargs",
  keywords: ["all"],
  run: async (_, context, { kwargs }) => await containerNames(await engineOf(context), truthy(kwargs.get("all"))),
});

export const exists: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether there is a container.", "docker.exists mycontainer"),
  permissions: "all",
  params: NAME,
  async run({ name }, context) {
    try {
      await inspectContainer(await engineOf(context), name);
      return true;
    } catch (error) {
      if (!(error instanceof DockerError)) throw error;
      return false;
    }
  },
});

export const state: ModuleFunction<JobContext> = fn({
  doc: describe("Return the state of a container: running, stopped or paused.", "docker.state mycontainer"),
  permissions: "all",
  params: NAME,
  run: async ({ name }, context) => stateOfContainer(await inspectContainer(await engineOf(context), name)),
});

export const inspect_container: ModuleFunction<JobContext> = fn({
  doc: describe("Return what the engine says about a container.", "docker.inspect_container mycontainer"),
  permissions: "all",
  params: NAME,
  run: async ({ name }, context) => await inspectContainer(await engineOf(context), name),
});

export const pid: ModuleFunction<JobContext> = fn({
  doc: describe("Return the process of a container, on the host; 0: it does not run.", "docker.pid mycontainer"),
  permissions: "all",
  params: NAME,
  async run({ name }, context) {
    const { State } = Object.fromEntries(await inspectContainer(await engineOf(context), name));
    return mapOrEmpty(State).get("Pid");
  },
});

/** The glob of a port: all of a number, or one with its protocol. */
function portPattern(port: Value): string {
  if (port === null) return "*";
  if (isInt(port)) return `${port}/*`;
  const [number, protocol = "", ...more] = str(port).split("/");
  if (typeof port === "string" && /^\d+$/.test(number) && /^(tcp|udp)$/i.test(protocol) && more.length === 0) {
    return `${number}/${protocol.toLowerCase()}`;
  }
  throw new InvocationError(
    `Invalid private_port '${
      str(port)
    }'. Must either be a port number, or be in port/protocol notation (e.g. 5000/tcp)`,
  );
}

export const port: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return what of the host is bound to the ports of a container, or of one port (80, 80/tcp). With a glob in the name: by container.",
    "docker.port mycontainer",
    "docker.port mycontainer 5000/udp",
  ),
  permissions: "all",
  params: { ...NAME, private_port: p.any(null) },
  async run({ name, private_port }, context) {
    const engine = await engineOf(context);
    const isPattern = /[*?[]/.test(name);
    const names = isPattern ? filterGlob(name, await containerNames(engine, true)) : [name];
    const pattern = portPattern(private_port);
    const found: ValueMap = new Map();
    for (const one of names) {
      const { NetworkSettings } = Object.fromEntries(await inspectContainer(engine, one));
      const bound = mapOrEmpty(mapOrEmpty(NetworkSettings).get("Ports"));
      const chosen = filterGlob(pattern, [...bound.keys()].map(str));
      found.set(one, new Map(chosen.map((key): [Value, Value] => [key, bound.get(key) ?? null])));
    }
    return isPattern ? found : found.get(name) ?? new Map();
  },
});

export const top: ModuleFunction<JobContext> = fn({
  doc: describe("Return the processes of a container, a list of maps.", "docker.top mycontainer"),
  permissions: "all",
  params: NAME,
  async run({ name }, context) {
    const engine = await engineOf(context);
    const answer = mapOrEmpty(await engine.ask({ method: "GET", path: enginePath("containers", name, "top") }));
    const titles = listOrEmpty(answer.get("Titles"));
    return listOrEmpty(answer.get("Processes")).map((process) =>
      new Map(listOrEmpty(process).map((value, i): [Value, Value] => [titles[i] ?? null, value]))
    );
  },
});

const KINDS: readonly string[] = ["Changed", "Added", "Deleted"];

export const diff: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the files of a container that differ from its image, as Added, Changed and Deleted.",
    "docker.diff mycontainer",
  ),
  permissions: "all",
  params: NAME,
  async run({ name }, context) {
    const engine = await engineOf(context);
    const changes = await engine.ask({ method: "GET", path: enginePath("containers", name, "changes") });
    const paths: Record<string, Value[]> = {};
    for (const change of listOrEmpty(changes).filter(isMap)) {
      const kind = KINDS[toNumber(change.get("Kind") ?? null) ?? -1] ?? "Unknown";
      (paths[kind] ??= []).push(change.get("Path") ?? null);
    }
    return map(paths);
  },
});

/** Seconds since 1970: a number, or a date as text. */
function moment(name: string, value: Value): Value | undefined {
  if (value === null) return undefined;
  if ((isInt(value) || isFloat(value)) && Number(toNumber(value)) > 0) return value;
  const text = str(value);
  const seconds = /^\d+$/.test(text) ? Number(text) : Date.parse(text) / 1000;
  if (seconds > 0) return seconds;
  throw new InvocationError(`${name} is neither a date nor a number of seconds: ${text}`);
}

export const logs: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return what a container has written: stdout=False or stderr=False leaves one out, timestamps=True begins lines with their time,\n" +
      "tail=N takes the last lines, since and until are seconds since 1970 or a date, follow=True waits for its end.",
    "docker.logs mycontainer",
    "docker.logs mycontainer tail=100 timestamps=True",
  ),
  permissions: "all",
  params: NAME,
  varKwargs: "kwargs",
  keywords: LOG_ARGUMENTS,
  async run({ name }, context, { kwargs }) {
    const given = ownKeywords(kwargs);
    if (given.has("stream")) throw new InvocationError("The 'stream' argument is not supported");
    const engine = await engineOf(context);
    const lines = given.get("tail") ?? null;
    const query = {
      stderr: truthy(given.get("stderr") ?? true) ? 1 : 0,
      stdout: truthy(given.get("stdout") ?? true) ? 1 : 0,
      timestamps: truthy(given.get("timestamps")) ? 1 : 0,
      follow: truthy(given.get("follow")) ? 1 : 0,
      tail: isInt(lines) && lines >= 0 ? lines : "all",
      since: moment("since", given.get("since") ?? null),
      until: moment("until", given.get("until") ?? null),
    };
    const config = mapOrEmpty((await inspectContainer(engine, name)).get("Config"));
    const request = { method: "GET", path: enginePath("containers", name, "logs"), query } as const;
    return await engine.stream(request, async (body) => {
      const pieces: Uint8Array[] = [];
      if (truthy(config.get("Tty"))) { for await (const piece of body) pieces.push(piece); }
      else for await (const { bytes } of outputFrames(body)) pieces.push(bytes);
      return new TextDecoder().decode(joinBytes(pieces));
    });
  },
});

/**
 * Execution module `docker`: images are pulled from registries and pushed to them.
 * Source: the functions of Salt 3006.28 `salt/modules/dockermod.py`.
 * @module
 */

import { CommandError, JsonError } from "#lib/errors.ts";
import { type DockerEngine, enginePath, type EngineRequest } from "#lib/host/docker/engine.ts";
import { registryOf, splitTag } from "#lib/host/docker/image_names.ts";
import { loginHeaders } from "#lib/host/docker/registry_logins.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { listUnder, mapOrEmpty, mapUnder } from "#lib/values/shape.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { CLIENT_TIMEOUT_S, engineOf } from "./connection.ts";
import { elapsedSince, imagesById } from "./lookups.ts";

/** The messages of an answer: a JSON text on each line. */
export async function messagesOf(engine: DockerEngine, request: EngineRequest): Promise<ValueMap[]> {
  return await engine.stream({ timeoutS: null, ...request }, async (body) => {
    const messages: ValueMap[] = [];
    let rest = "";
    const decoder = new TextDecoder();
    const take = (text: string) => {
      if (text.trim() === "") return;
      try {
        messages.push(mapOrEmpty(parseJson(text)));
      } catch (error) {
        if (!(error instanceof JsonError)) throw error;
        throw new CommandError(`Unable to interpret API event: '${text}'`, { cause: error });
      }
    };
    for await (const piece of body) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      lines.forEach(take);
    }
    take(rest);
    return messages;
  });
}

/** The text of a message about an error; `undefined`: it is about none. */
export function errorDetail(message: ValueMap): string | undefined {
  const detail = message.get("errorDetail");
  if (!isMap(detail)) return undefined;
  const [code, text] = [detail.get("code"), str(detail.get("message") ?? "")];
  return code === undefined || code === null ? text : `${str(code)}: ${text}`;
}

function addOnce(list: Value[], item: Value): void {
  if (!list.includes(item)) list.push(item);
}

/** Notes what a message about a pull says: which layers are new, and which were there. */
export function notePull(result: ValueMap, message: ValueMap, knownIds: ReadonlySet<string>): void {
  const status = message.get("status");
  if (typeof status !== "string") return;
  const id = message.get("id") ?? null;
  const layers = () => mapUnder(result, "Layers");
  const isKnown = status === "Already exists" || (status === "Download complete" && knownIds.has(str(id)));
  if (isKnown) addOnce(listUnder(layers(), "Already_Pulled"), id);
  else if (status === "Pull complete" || status === "Download complete") addOnce(listUnder(layers(), "Pulled"), id);
  else if (status.startsWith("Status: ")) result.set("Status", status.slice("Status: ".length));
}

/** Adds errors to a result, and its return code. */
function finished(result: ValueMap, errors: readonly string[]): ValueMap {
  if (errors.length === 0) return result;
  return result.set("Errors", [...errors]).set("retcode", 1);
}

/** The short ids of all images. */
export async function knownImages(engine: DockerEngine): Promise<ReadonlySet<string>> {
  return new Set([...(await imagesById(engine, true)).keys()].map((id) => str(id).slice(0, 12)));
}

/** Pulls it with the login at its registry; the map is what docker.pull returns. */
export async function pullImage(
  engine: DockerEngine,
  image: string,
  context: JobContext,
  apiResponse = false,
): Promise<ValueMap> {
  const known = await knownImages(engine);
  const [fromImage, tag = "latest"] = splitTag(image);
  const headers = await loginHeaders(registryOf(fromImage), context);
  const begun = performance.now();
  const path = enginePath("images", "create");
  const messages = await messagesOf(engine, { method: "POST", path, query: { fromImage, tag }, headers });
  if (messages.length === 0) throw new CommandError(`Pull failed for ${image}, no response returned from Docker API`);
  const result: ValueMap = new Map([...elapsedSince(begun), ["retcode", 0]]);
  if (apiResponse) result.set("API_Response", messages);
  for (const message of messages) notePull(result, message, known);
  return finished(result, messages.map(errorDetail).filter((text) => text !== undefined));
}

const TRANSFER = {
  image: p.str(),
  // The engine decides for each registry whether it is asked by TLS.
  insecure_registry: p.bool(false),
  api_response: p.bool(false),
  client_timeout: p.any(CLIENT_TIMEOUT_S),
};

export const pull: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Pull an image. Return its Layers and Status, Time_Elapsed, and Errors with retcode 1. api_response=True adds the engine's messages;\n" +
      "insecure_registry has no effect: the engine's own configuration says which registries are asked without TLS.",
    "docker.pull centos",
    "docker.pull centos:6",
  ),
  permissions: "all",
  params: TRANSFER,
  run: async ({ image, api_response, client_timeout }, context) =>
    await pullImage(await engineOf(context, client_timeout), image, context, api_response),
});

/** Notes what a message about a push says. */
function notePush(result: ValueMap, message: ValueMap): void {
  const status = str(message.get("status") ?? "").toLowerCase();
  const id = message.get("id");
  if (id === undefined) return;
  const layers = () => mapUnder(result, "Layers");
  if (status.includes("already pushed") || status.includes("already exists")) {
    listUnder(layers(), "Already_Pushed").push(id);
  } else if (status.includes("successfully pushed") || status === "pushed") listUnder(layers(), "Pushed").push(id);
}

export const push: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Push an image to its registry. Return its Layers, Time_Elapsed, and Errors with retcode 1. api_response=True adds the engine's\n" +
      "messages; insecure_registry has no effect.",
    "docker.push myuser/mycontainer",
    "docker.push myuser/mycontainer:mytag",
  ),
  permissions: "all",
  params: TRANSFER,
  async run({ image, api_response, client_timeout }, context) {
    const engine = await engineOf(context, client_timeout);
    const [repository, tag] = splitTag(image);
    // The engine wants the header even if there is no login.
    const headers = { "X-Registry-Auth": btoa("{}"), ...await loginHeaders(registryOf(repository), context) };
    const begun = performance.now();
    const path = enginePath("images", repository, "push");
    const messages = await messagesOf(engine, { method: "POST", path, query: { tag }, headers, json: map({}) });
    if (messages.length === 0) throw new CommandError(`Push failed for ${image}, no response returned from Docker API`);
    const result: ValueMap = new Map([...elapsedSince(begun), ["retcode", 0]]);
    if (api_response) result.set("API_Response", messages);
    for (const message of messages) notePush(result, message);
    return finished(result, messages.map(errorDetail).filter((text) => text !== undefined));
  },
});

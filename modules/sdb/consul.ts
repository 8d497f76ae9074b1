/**
 * Driver `consul` of sdb: keys of Consul's store, over HTTP.
 * Source: Salt 3006.28 `salt/sdb/consul.py`, which Salt 3008 has no longer; developer.hashicorp.com, "KV Store" of
 * Consul's API.
 * @module
 */

import { base64Bytes } from "#lib/crypto/base64.ts";
import { CommandError, InvocationError, JsonError, messageOf } from "#lib/errors.ts";
import { HttpError, httpRequest, type HttpResponse } from "#lib/host/network/http_request.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { quoteUrlPart } from "#lib/text/url_parts.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { bytesOf, listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** Milliseconds for a request. */
const WAIT_MS = 30_000;

interface Request {
  readonly method: "GET" | "PUT";
  readonly key: string;
  readonly body?: Uint8Array;
  readonly profile: ValueMap;
  readonly context: JobContext;
}

/**
 * The address of the server.
 * @throws {InvocationError} If the settings are none: a URL passes over a part that it cannot have.
 */
function serverOf(scheme: string, host: string, port: string): URL {
  const given = `${scheme}://${host}:${port}`;
  const isPort = /^\d{1,5}$/.test(port) && Number(port) < 65536;
  if (!/^https?$/.test(scheme) || !/^([\w.-]+|\[[\da-fA-F:.]+\])$/.test(host) || !isPort || !URL.canParse(given)) {
    throw new InvocationError(`The profile of sdb names no server of Consul: ${given}`);
  }
  return new URL(given);
}

async function ask({ method, key, body, profile, context }: Request): Promise<HttpResponse> {
  const setting = (name: string, other: string) => str(profile.get(name) ?? other);
  const url = serverOf(setting("scheme", "http"), setting("host", "127.0.0.1"), setting("port", "8500"));
  const steps = key.split("/");
  if (steps.some((step) => step === "." || step === "..")) throw new InvocationError(`Invalid key: ${key}`);
  url.pathname = `/v1/kv/${steps.map(quoteUrlPart).join("/")}`;
  if (profile.has("dc")) url.searchParams.set("dc", setting("dc", ""));
  const consistency = setting("consistency", "default");
  if (consistency !== "default" && method === "GET") url.searchParams.set(consistency, "1");
  const token = profile.get("token");
  try {
    return await httpRequest({
      url: url.href,
      method,
      headers: new Map(truthy(token) ? [["X-Consul-Token", str(token ?? "")]] : []),
      ...body !== undefined && { body },
      verify: truthy(profile.get("verify") ?? true),
      timeoutMs: WAIT_MS,
      signal: context.signal,
    });
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    throw new CommandError(`Consul at ${url.host}: ${error.message}`, { cause: error });
  }
}

/** @throws {CommandError} With what the server says. */
function checkStatus({ status, reason, body }: HttpResponse): void {
  if (status < 400) return;
  const text = new TextDecoder().decode(body).trim().slice(0, 200);
  throw new CommandError(`Consul answered ${status} ${reason}: ${text}`);
}

/** The value of a key, as text if it is one; None: there is none. */
export async function get(key: string, profile: ValueMap, context: JobContext): Promise<Value> {
  const response = await ask({ method: "GET", key, profile, context });
  if (response.status === 404) return null;
  checkStatus(response);
  const encoded = mapOrEmpty(listOrEmpty(jsonOf(response))[0]).get("Value");
  if (typeof encoded !== "string") return null;
  const bytes = base64Bytes(encoded);
  if (bytes === undefined) throw new CommandError(`Consul's answer has a value that is no base64 for the key ${key}`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return bytes;
  }
}

/** Stores a value. */
export async function set(key: string, value: Value, profile: ValueMap, context: JobContext): Promise<Value> {
  const response = await ask({ method: "PUT", key, body: bytesOf(value), profile, context });
  checkStatus(response);
  return jsonOf(response);
}

function jsonOf({ body }: HttpResponse): Value {
  try {
    return parseJson(new TextDecoder().decode(body));
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new CommandError(`Consul's answer is no JSON: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Runs the chunks of a request, one after another. Each names its client; the operator's configuration says which
 * clients there are.
 * Source: Salt 3008.3 `salt/netapi/__init__.py` (NetapiClient.run); answers of a live salt-api.
 * @module
 */

import { ApiError, noMaster } from "#lib/api/http/api_error.ts";
import { NoMasterError, RefusedError, TargetError, ThrottledError, UsageError } from "#lib/errors.ts";
import { parseCliArgs } from "#lib/yaml/arguments.ts";
import { asList } from "#lib/values/shape.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { type ApiCaller, noteRefusal } from "./caller.ts";
import { runBatched, runLocal, runSubset, startLocal } from "./local_calls.ts";
import { runSsh } from "./ssh_calls.ts";
import { runRunnerCall, runWheelCall, startRunnerCall, startWheelCall } from "./master_calls.ts";

/**
 * Runs one chunk.
 * @returns Its entries in the answer.
 */
type ClientCall = (low: ValueMap, caller: ApiCaller) => Promise<Value[]>;

/** The clients by name. */
const CLIENTS: Readonly<Record<string, ClientCall>> = {
  local: runLocal,
  local_async: startLocal,
  local_batch: runBatched,
  local_subset: runSubset,
  runner: runRunnerCall,
  runner_async: startRunnerCall,
  ssh: runSsh,
  wheel: runWheelCall,
  wheel_async: startWheelCall,
};

/** The names of the clients, sorted. */
export const CLIENT_NAMES: readonly string[] = Object.keys(CLIENTS);

/** Maximum number of chunks of a request. */
const MAX_CHUNKS = 100;

/**
 * The chunks that a body holds: a list of maps; one map is a list of one.
 * @param isForm Whether values are words as on a command line.
 * @throws {ApiError} 400 if it holds none.
 */
export function chunksOf(data: Value | undefined, isForm: boolean): ValueMap[] {
  const list = isMap(data) && data.size > 0 ? [data] : data;
  if (!Array.isArray(list)) throw new ApiError(400, "Lowstates must be a list");
  if (list.length > MAX_CHUNKS) throw new ApiError(400, `A request has at most ${MAX_CHUNKS} chunks`);
  return list.map((low) => {
    if (!isMap(low)) throw new ApiError(400, "Lowstates must be a list of maps");
    return isForm ? withParsedWords(low) : low;
  });
}

/** The map that a body holds, also if it is alone in a list; `undefined` if it holds something else. */
export function onlyChunk(data: Value | undefined): ValueMap | undefined {
  const low = Array.isArray(data) && data.length === 1 ? data[0] : data;
  return isMap(low) ? low : undefined;
}

/** The chunk of a form: `arg` and `kwarg` are read as on a command line. */
function withParsedWords(low: ValueMap): ValueMap {
  const words = (name: string) => {
    const value = low.get(name);
    return value === undefined ? [] : asList(value).map(str);
  };
  const { args, kwargs } = parseCliArgs([...words("arg"), ...words("kwarg")]);
  const parsed = new Map(low);
  parsed.delete("kwarg");
  parsed.delete("arg");
  if (args.length > 0) parsed.set("arg", args);
  if (kwargs.size > 0) parsed.set("kwarg", kwargs);
  return parsed;
}

/**
 * Runs one chunk.
 * @returns Its entries in the answer.
 * @throws {ApiError} With the status of the answer.
 */
export async function runChunk(low: ValueMap, caller: ApiCaller): Promise<Value[]> {
  const { opts } = caller;
  const name = low.get("client") ?? null;
  if (typeof name !== "string" || !Object.hasOwn(CLIENTS, name)) {
    throw new ApiError(400, `Invalid client specified: '${name === null ? "None" : str(name)}'`);
  }
  if (!opts.netapi_enable_clients.includes(name)) {
    const hint = "Add to 'netapi_enable_clients' master config option to enable.";
    throw new ApiError(400, `Client disabled: '${name}'. ${hint}`);
  }
  if (low.has("raw_shell") && !opts.netapi_allow_raw_shell) throw new ApiError(401, "Raw shell option not allowed.");
  const what = `${name} ${str(low.get("fun") ?? "")}`;
  const target = str(low.get("tgt") ?? low.get("match") ?? "");
  try {
    const entries = await CLIENTS[name](low, caller);
    caller.record({ what, target, count: countIn(name, entries), outcome: "done" });
    return entries;
  } catch (error) {
    noteRefusal(error, caller);
    const problem = asApiError(error);
    const isRefusal = problem instanceof ApiError && problem.status === 401;
    caller.record({ what, target, count: null, outcome: isRefusal ? "refused" : "failed" });
    throw problem;
  }
}

/** How many minions or hosts a chunk was for; `null` for functions of the master. */
function countIn(client: string, entries: readonly Value[]): number | null {
  if (!(client.startsWith("local") || client === "ssh")) return null;
  const idsOf = (entry: ValueMap) => client === "local_async" ? asList(entry.get("minions") ?? []) : [...entry.keys()];
  return entries.filter(isMap).flatMap(idsOf).length;
}

/** The error that the client gets for an error of a call; others stay as they are. */
export function asApiError(error: unknown): unknown {
  if (error instanceof NoMasterError) return noMaster();
  if (error instanceof ThrottledError) {
    return new ApiError(429, error.message, { "Retry-After": String(Math.ceil(error.retryAfterMs / 1000)) });
  }
  if (error instanceof RefusedError) return new ApiError(401, refusalText(error));
  if (error instanceof UsageError || error instanceof TargetError) return new ApiError(400, error.message);
  return error;
}

function refusalText({ kind, message }: RefusedError): string {
  return kind === "TokenAuthenticationError" ? "Authentication error occurred." : message;
}

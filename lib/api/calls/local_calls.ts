/**
 * The clients `local`, `local_async`, `local_subset` and `local_batch`: functions on minions.
 * Source: Salt 3008.3 `salt/netapi/__init__.py`, `salt/client/__init__.py`; answers of a live salt-api.
 * @module
 */

import { type Answer, answers } from "#lib/commands/report/answers.ts";
import { batchSize } from "#lib/jobs/batch_size.ts";
import { BatchRun } from "#lib/commands/programs/batch_run.ts";
import { type JobRequest, timeoutsOf } from "#lib/client/job.ts";
import { hasReturned } from "#lib/protocol/outcome.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { isJid } from "#lib/protocol/jid.ts";
import { LocalClient } from "#lib/client/local.ts";
import { sampleIds } from "#lib/targeting/sample_ids.ts";
import { TargetError } from "#lib/errors.ts";
import { toWireArgs } from "#lib/yaml/arguments.ts";
import { asList, onlyStrings } from "#lib/values/shape.ts";
import { isMap, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import type { ApiCaller } from "./caller.ts";

/** The number of minions of `local_subset`, unless the chunk says another. */
const SUBSET = 3;

/** `local`: the returns, when all are there. */
export async function runLocal(low: ValueMap, caller: ApiCaller): Promise<Value[]> {
  const returns: ValueMap = new Map();
  for await (const [id, value] of results(jobOf(low, caller), low, caller)) returns.set(id, value);
  return [returns];
}

/** `local_async`: the job id and the minions; an empty map if nobody matches. */
export async function startLocal(low: ValueMap, caller: ApiCaller): Promise<Value[]> {
  using client = await connect(caller);
  try {
    const { jid, minions } = await client.publish(jobOf(low, caller));
    return [map({ jid, minions: [...minions] })];
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    return [new Map()];
  }
}

/** `local_subset`: some of the minions, chosen at random. */
export async function runSubset(low: ValueMap, caller: ApiCaller): Promise<Value[]> {
  const job = jobOf(low, caller);
  const ids = sampleIds(await targetIds(job, caller), numberIn(low, "subset") ?? SUBSET);
  const returns: ValueMap = new Map();
  if (ids.length === 0) return [returns];
  for await (const [id, value] of results({ ...job, tgt: ids, tgtType: "list" }, low, caller)) returns.set(id, value);
  return [returns];
}

/** `local_batch`: an entry for each minion. */
export async function runBatched(low: ValueMap, caller: ApiCaller): Promise<Value[]> {
  const job = jobOf(low, caller), how = collecting(low, caller);
  const waitMs = (numberIn(low, "batch_wait") ?? 0) * 1000;
  const ids = await targetIds(job, caller);
  if (ids.length === 0) return [];
  const size = batchSize(str(low.get("batch") ?? "100%"), ids.length);
  const full = low.get("full_return") === true;
  using client = await connect(caller);
  const entries: Value[] = [];
  const batch = new BatchRun({
    ids,
    size,
    waitMs,
    failhard: low.get("failhard") === true,
    async *run(part) {
      const published = await client.publish({ ...job, tgt: [...part], tgtType: "list" });
      for await (const answer of answers(client, published, how)) {
        entries.push(new Map([[answer.id, shown(answer, full ? published.jid : undefined)]]));
        yield answer;
      }
    },
  });
  const halt = () => batch.halt("the client has gone");
  caller.signal.addEventListener("abort", halt);
  try {
    await batch.finish();
  } finally {
    caller.signal.removeEventListener("abort", halt);
  }
  return entries;
}

/** The results of a job as they arrive. */
async function* results(job: JobRequest, low: ValueMap, caller: ApiCaller): AsyncGenerator<[string, Value]> {
  // Read first: a job that is refused must not have begun.
  const how = collecting(low, caller);
  using client = await connect(caller);
  let published;
  try {
    published = await client.publish(job);
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    return;
  }
  const jid = low.get("full_return") === true ? published.jid : undefined;
  for await (const answer of answers(client, published, how)) {
    yield [answer.id, shown(answer, jid)];
  }
}

function shown(answer: Answer, jid: string | undefined): Value {
  if (jid === undefined) return answer.return;
  const full = map({ ret: answer.return, retcode: answer.retcode, jid });
  if (answer.out !== undefined) full.set("out", answer.out);
  if (!hasReturned(answer.outcome)) full.set("outcome", answer.outcome);
  return full;
}

function collecting(low: ValueMap, { opts, signal }: ApiCaller) {
  const timeouts = timeoutsOf(opts, {
    timeoutS: numberIn(low, "timeout"),
    gatherJobTimeoutS: numberIn(low, "gather_job_timeout"),
  });
  return { timeouts, signal, opts };
}

async function connect({ opts, user, log, proof }: ApiCaller): Promise<LocalClient> {
  return await LocalClient.connect(opts, { user, log, credentials: proof });
}

/**
 * The job that a chunk asks for.
 * @throws {ApiError} 400 if it has no target or no function.
 */
function jobOf(low: ValueMap, { trace }: Pick<ApiCaller, "trace">): JobRequest {
  const [tgt, fun] = [low.get("tgt"), low.get("fun")];
  if (tgt === undefined || tgt === null) throw new ApiError(400, "A chunk of the client local needs tgt");
  const isFunction = typeof fun === "string" ||
    (Array.isArray(fun) && fun.length > 0 && onlyStrings(fun).length === fun.length);
  if (!isFunction) throw new ApiError(400, "A chunk of the client local needs fun");
  const kwarg = low.get("kwarg") ?? new Map();
  if (!isMap(kwarg)) throw new ApiError(400, "kwarg must be a map");
  const jid = low.get("jid");
  if (jid !== undefined && !(typeof jid === "string" && isJid(jid))) throw new ApiError(400, "jid is no job id");
  const kwargs: ValueMap = new Map();
  for (const name of ["metadata", "delimiter", "live"]) if (low.has(name)) kwargs.set(name, low.get(name) ?? null);
  return {
    tgt,
    tgtType: str(low.get("tgt_type") ?? low.get("expr_type") ?? "glob"),
    fun,
    arg: toWireArgs(argList(low), kwarg),
    ret: str(low.get("ret") ?? ""),
    kwargs,
    ...jid !== undefined && { jid },
    ...trace !== undefined && { trace },
  };
}

/** The field `arg` of a chunk; a value that is no list is the only argument. */
export function argList(low: ValueMap): readonly Value[] {
  const arg = low.get("arg");
  return arg === undefined ? [] : asList(arg);
}

/**
 * The number in a field of a chunk; `undefined`: it is not there.
 * @throws {ApiError} 400 if the field is there and no number that is at least 0.
 */
export function numberIn(low: ValueMap, name: string): number | undefined {
  const value = low.get(name);
  if (value === undefined || value === null) return undefined;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : toNumber(value);
  if (number === undefined || !(number >= 0)) throw new ApiError(400, `${name} must be a number`);
  return number;
}

/**
 * The accepted minions that the target matches, as the master tells a user who may run the job on all of them.
 * @throws {RefusedError} For others: by what is chosen of the minions they would learn which there are.
 */
async function targetIds(job: JobRequest, caller: ApiCaller): Promise<readonly string[]> {
  using client = await connect(caller);
  try {
    return await client.resolve(job);
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    return [];
  }
}

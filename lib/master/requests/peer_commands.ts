/**
 * The commands by which minions publish jobs to other minions, if `peer` allows it, and get the returns. Source: Salt
 * 3008.3 `salt/daemons/masterapi.py` (`minion_pub`, `minion_publish`, `pub_ret`).
 * @module
 */

import { allowsPeers, publishCalls } from "#lib/auth/rules.ts";
import { mayRun, peerArguments, type PeerJob, peerJob, peerRules, publishesAgain } from "#lib/auth/peer_rules.ts";
import { RefusedError, TargetError } from "#lib/errors.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { idsOf } from "./rule_targets.ts";
import { fleetOf, issueJob, type PublishNeeds, withPortableTarget } from "./publish.ts";
import { isJid, makeJid } from "#lib/protocol/jid.ts";
import { type KnownFleet, type Resolved, resolveTarget } from "#lib/fleet/resolve_target.ts";
import type { TypedTarget } from "#lib/targeting/target.ts";
import type { MinionCommands, Needs } from "./services.ts";
import { sleep } from "#lib/os/sleep.ts";
import { truncateValue } from "#lib/text/truncate.ts";
import { isMap, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import { encode } from "#lib/values/msgpack.ts";
import { listOrEmpty } from "#lib/values/shape.ts";

/** What the commands need. */
type PeerNeeds = PublishNeeds;

/** The commands, by name. */
export const PEER_COMMANDS: MinionCommands<
  "auth" | "jobs" | "minions" | "opts" | "log" | "warn" | "fire" | "park" | "functions"
> = {
  minion_pub: publishForPeer,
  minion_publish: publishAndWait,
  pub_ret: peerReturns,
  minion_runner: runForPeer,
};

/** Longest time that `minion_publish` waits, and its interval, in milliseconds. */
const MAX_WAIT_MS = 60_000;
const LOOK_MS = 300;
/** Most requests of `minion_publish` that wait in one thread. */
const MAX_WAITING = 4;
/** Maximum bytes of returns that a minion gets; the rest is left out. */
const MAX_RETURN_BYTES = 16 << 20;

/**
 * `minion_pub`.
 * @returns `{jid, minions}`; `{}` if the minion may not.
 */
async function publishForPeer(load: ValueMap, id: string, services: PeerNeeds): Promise<ValueMap> {
  return await publish(load, id, services) ?? new Map();
}

async function publish(load: ValueMap, id: string, services: PeerNeeds): Promise<ValueMap | undefined> {
  const { auth: { callers }, opts, warn } = services;
  const [fun, arg, tgt] = ["fun", "arg", "tgt"].map((name) => load.get(name));
  if (typeof fun !== "string" || !Array.isArray(arg) || tgt === undefined || !load.has("ret")) {
    warn(`Minion ${id} sent a publish without a function or a target`);
    return undefined;
  }
  const noParse = load.get("no_parse");
  const job = peerJob(fun, arg, listOrEmpty(noParse).map(str));
  let resolved: Resolved;
  let portable: ValueMap;
  try {
    portable = withPortableTarget(map({ tgt, tgt_type: load.get("tgt_type") ?? "glob" }), services);
    const fleet = fleetOf(services);
    const target = { tgt: portable.get("tgt") ?? null, tgtType: str(portable.get("tgt_type") ?? "glob") };
    resolved = resolveForPeer(target, fleet);
    checkPeer({ id, job, resolved, fleet }, services);
    callers.access.checkBlacklist(opts.user, publishCalls(job.fun, job.arg));
  } catch (error) {
    if (!(error instanceof RefusedError || error instanceof TargetError)) throw error;
    warn(`Minion ${id} may not publish ${truncateValue(fun)} to ${truncateValue(tgt)}: ${error.message}`);
    return undefined;
  }
  if (resolved.minions.length === 0) return map({ jid: null, minions: [] });
  const wanted = map({
    cmd: "publish",
    fun: job.fun,
    arg: job.arg,
    tgt: portable.get("tgt"),
    tgt_type: portable.get("tgt_type"),
    ret: load.get("ret") ?? "",
    id,
    user: opts.user,
  });
  const answer = (await issueJob(wanted, { ...resolved, named: resolved.byData }, services)).get("load");
  const jid = isMap(answer) ? answer.get("jid") : undefined;
  if (!isMap(answer) || typeof jid !== "string") return undefined;
  const minions = listOrEmpty(answer.get("minions"));
  writeFileAtomic(ownerPath(opts.cachedir, jid), id, { mode: 0o600, makeDirectory: true });
  services.log.info(`Minion ${id} published ${truncateValue(fun)} with jid ${jid} to ${minions.length} minions`);
  return map({ jid, minions });
}

/** The types of targets that look at pillar, and those that compare its values whole. */
const EXACT_TYPES: Readonly<Record<string, string>> = {
  pillar: "pillar_exact",
  pillar_pcre: "pillar_exact",
  compound: "compound_pillar_exact",
};

/**
 * Resolves the target of a minion. With a pattern in a pillar target, a minion could find out values of other minions,
 * so pillar values must be written in full.
 * @throws {TargetError} As resolving throws.
 * @throws {RefusedError} For such a pattern.
 */
function resolveForPeer(target: TypedTarget, fleet: KnownFleet): Resolved {
  const resolved = resolveTarget(target, fleet);
  const exactType = EXACT_TYPES[target.tgtType ?? "glob"];
  if (exactType === undefined) return resolved;
  const exact = new Set(resolveTarget({ tgt: target.tgt, tgtType: exactType }, fleet).minions);
  if (resolved.minions.every((id) => exact.has(id))) return resolved;
  throw new RefusedError("AuthorizationError", "values of pillar must be written out");
}

/** @throws {RefusedError} If `peer` does not let the minion. */
function checkPeer(
  { id, job, resolved, fleet }: {
    readonly id: string;
    readonly job: PeerJob;
    readonly resolved: Resolved;
    readonly fleet: KnownFleet;
  },
  { opts }: Needs<"opts">,
): void {
  const matching = (expression: string) => idsOf(expression, fleet);
  const calls = publishCalls(job.fun, job.arg);
  if (publishesAgain(job)) throw new RefusedError("AuthorizationError", "a job of a minion publishes no jobs");
  if (!allowsPeers(peerRules(opts.peer, id), calls, { minions: resolved.minions, matching })) {
    throw new RefusedError("AuthorizationError", "peer has no rule for that");
  }
}

/** Requests of `minion_publish` in this thread. */
let waiting = 0;

/** `minion_publish`, of older minions: publishes, and waits for the returns. */
async function publishAndWait(load: ValueMap, id: string, services: PeerNeeds & Needs<"park">): Promise<ValueMap> {
  if (waiting >= MAX_WAITING) {
    services.warn(`Minion ${id} may not publish now: ${waiting} minions wait for returns`);
    return new Map();
  }
  // Counted before it is published: other requests may come meanwhile.
  waiting++;
  try {
    return await publishWithReturns(load, id, services);
  } finally {
    waiting--;
  }
}

async function publishWithReturns(load: ValueMap, id: string, services: PeerNeeds & Needs<"park">): Promise<ValueMap> {
  const timeoutS = toNumber(load.get("timeout") ?? load.get("tmo")) ?? 5;
  const published = await publish(load, id, services);
  const [jid, minions] = [published?.get("jid"), published?.get("minions")];
  if (typeof jid !== "string" || !Array.isArray(minions)) return new Map();
  const until = performance.now() + Math.min(MAX_WAIT_MS, Math.max(0, timeoutS) * 1000);
  services.park();
  const { store } = services.jobs;
  while (performance.now() < until && (await store.getReturns(jid)).size < minions.length) await sleep(LOOK_MS);
  const returns = await returnsOf(jid, services);
  if (load.get("form") === "full") return new Map([...returns, ["__jid__", jid]]);
  return new Map([...returns].map(([minion, given]) => [minion, isMap(given) ? given.get("ret") ?? null : null]));
}

/**
 * `pub_ret`: the returns of a job that this minion has published.
 * @returns As in Salt `""` if no minion has.
 */
async function peerReturns(
  load: ValueMap,
  id: string,
  services: Needs<"jobs" | "opts" | "warn">,
): Promise<Value> {
  const jid = load.get("jid");
  if (typeof jid !== "string" || !isJid(jid)) return "";
  const owner = readTextFileIfExists(ownerPath(services.opts.cachedir, jid));
  if (owner !== id) return owner === undefined ? "" : new Map();
  return await returnsOf(jid, services);
}

/** `{ret, out}` by minion. */
async function returnsOf(jid: string, { jobs: { store }, warn }: Needs<"jobs" | "warn">): Promise<ValueMap> {
  const returns: ValueMap = new Map();
  let bytes = 0;
  for (const [minion, given] of await store.getReturns(jid)) {
    const entry = map({ ret: given.return ?? null, ...given.out === undefined ? {} : { out: given.out } });
    bytes += encode(entry, "wire").length;
    if (bytes > MAX_RETURN_BYTES) {
      warn(
        `The returns of ${jid} are too large for the minion that published it: it gets those of ${returns.size} minions`,
      );
      break;
    }
    returns.set(minion, entry);
  }
  return returns;
}

/**
 * `minion_runner`: runs a runner, if `peer_run` allows it.
 * @returns Its result; `{}` if it may not.
 */
async function runForPeer(
  load: ValueMap,
  id: string,
  { functions, opts, log, warn }: Needs<"functions" | "opts" | "log" | "warn">,
): Promise<Value> {
  const [fun, arg, noParse] = ["fun", "arg", "no_parse"].map((name) => load.get(name));
  if (typeof fun !== "string" || !Array.isArray(arg) || !mayRun(opts.peer_run, id, fun)) {
    warn(`Minion ${id} may not run the runner ${truncateValue(fun)}: peer_run has no rule for that`);
    return new Map();
  }
  const jid = makeJid(undefined, { unique: opts.unique_jid });
  const given = peerArguments(arg, listOrEmpty(noParse).map(str));
  log.info(`Minion ${id} runs the runner ${truncateValue(fun)} with jid ${jid}`);
  try {
    const outcome = await functions.call({ kind: "runner", fun, ...given, jid, user: opts.user });
    if (encode(outcome.return, "wire").length <= MAX_RETURN_BYTES) return outcome.return;
    warn(`The result of ${fun} is too large for the minion ${id}`);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    warn(`The runner ${fun} of minion ${id} was not run: ${error.message}`);
  }
  return new Map();
}

/** The file that says which minion has published a job. */
function ownerPath(cachedir: string, jid: string): string {
  return `${cachedir}/publish_auth/${jid}`;
}

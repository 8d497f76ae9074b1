/**
 * The clear command `publish`: checks the user, resolves the target, makes the job id, stores the job, and sends it.
 * Source: docs/protocol.md "A client's request", docs/protocol.md "Publishes".
 * @module
 */

import { accessRefused } from "#lib/auth/access.ts";
import { type Caller, withoutCredentials } from "#lib/auth/callers.ts";
import { BUSY } from "#lib/auth/external_auth.ts";
import { publishCalls } from "#lib/auth/rules.ts";
import { inSpan } from "./trace.ts";
import { idsOf } from "./rule_targets.ts";
import { truncateList, truncateValue } from "#lib/text/truncate.ts";
import { RefusedError, StoreError, TargetError, WireError } from "#lib/errors.ts";
import { jobNew, jobPublish } from "#lib/protocol/tags.ts";
import type { Throttled } from "#lib/flow/job_flow.ts";
import { isJid, makeJid } from "#lib/protocol/jid.ts";
import type { Needs } from "./services.ts";
import { withoutKnownSyndics } from "./syndics.ts";
import { claimedUser, jobText } from "./job_text.ts";
import { OP } from "#lib/protocol/operator_field.ts";
import { asNoted, hideArguments, NO_LOG, noLogReader, noLogValue } from "#lib/protocol/no_log.ts";
import { listField, stringField } from "#lib/protocol/payload.ts";
import { acceptedFleet, type KnownFleet, type Resolved, resolveTarget } from "#lib/fleet/resolve_target.ts";
import { portableTarget, type TypedTarget } from "#lib/targeting/target.ts";
import { writeTrace } from "#lib/tracing/trace_context.ts";
import { asList, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/**
 * A job for so many minions is stored, and given to the other masters of a cluster, before it is published: behind its
 * returns both would wait, and the client's answer with them.
 */
const LARGE_JOB = 1_000;
/** Maximum time that a job waits for minions, in seconds. */
const MAX_TTL_S = 30 * 86_400;

/** Fields of a publish's `kwargs` that become fields of the minions' load. */
const PASSED_ON = [
  "to",
  "ret_config",
  "ret_kwargs",
  "metadata",
  "module_executors",
  "executor_opts",
  "start_event",
  OP,
];

/** What a publish needs. */
export type PublishNeeds = Needs<"auth" | "jobs" | "minions" | "opts" | "log" | "warn" | "fire" | "trace" | "metrics">;

/** A request for a job, of a user who may publish it. */
interface CheckedRequest {
  /** The request, with a target that minions know. */
  readonly load: ValueMap;
  readonly kwargs: ValueMap;
  readonly caller: Caller;
  readonly resolved: Resolved;
  /** Whether the user's rights reach some minions alone, or some functions. */
  readonly limited: boolean;
}

/** A request of which nothing is to be published, and why. */
interface Unpublished {
  readonly reply: ValueMap;
}

/**
 * Publishes a job.
 * @returns Salt's reply: `{enc, load: {jid, minions, missing}}`, or `{error: {name, message}}`.
 * @throws {WireError} If a field is missing or of another type.
 */
export async function publishCommand(request: ValueMap, services: PublishNeeds): Promise<ValueMap> {
  const checked = await checkRequest(request, services);
  if ("reply" in checked) return checked.reply;
  const { load, kwargs, caller, resolved, limited } = checked;
  const throttled = services.jobs.admit(caller.user, asList(load.get("fun") ?? null).map(str));
  if (throttled !== undefined) return throttledReply(throttled, caller.user);
  const user = caller.rules === undefined ? stringField(load, "user") : caller.user;
  const clean = withoutCredentials(load).set("user", user);
  if (load.has("kwargs")) clean.set("kwargs", withoutCredentials(kwargs));
  // Minions trust it as the id of the minion that asks: `x509.sign_remote_certificate` signs by it.
  if (limited) clean.delete("id");
  const named = limited && (resolved.byData || services.opts.order_masters);
  return await issueJob(clean, { ...resolved, named }, services);
}

/**
 * The clear command `resolve`, which Salt does not have: the minions of a job, for a user who may publish it. Commands
 * that choose some of them ask it, so that nobody learns by them which minions there are.
 * @returns As {@linkcode publishCommand}, without a job id. Nothing is published.
 * @throws {WireError} If a field is missing or of another type.
 */
export async function resolveCommand(request: ValueMap, services: PublishNeeds): Promise<ValueMap> {
  const checked = await checkRequest(request, services);
  if ("reply" in checked) return checked.reply;
  const { minions, missing } = checked.resolved;
  return map({ enc: "clear", load: { jid: "", minions: await withoutKnownSyndics(minions, services), missing } });
}

/**
 * Authenticates the user of a request for a job, resolves its target, and checks the rights.
 * @throws {WireError} If a field is missing or of another type.
 */
async function checkRequest(request: ValueMap, services: PublishNeeds): Promise<CheckedRequest | Unpublished> {
  const { auth: { callers } } = services;
  const { fun, args, kwargs, wantedJid } = jobFields(request);
  let load = request;
  let resolved: Resolved;
  let caller: Caller | undefined;
  try {
    caller = await callers.authenticate(load, kwargs);
    load = withPortableTarget(request, services);
    const fleet = fleetOf(services);
    resolved = await inSpan(services.trace, "salt.resolve", () => resolveJob(load, fleet, services));
    const matching = (expression: string) => idsOf(expression, fleet);
    const target = { minions: resolved.minions, matching };
    callers.authorizeJob(caller, publishCalls(fun, args), target);
    // They name files and servers on the minions, which a returner opens with the rights of the minion.
    if (kwargs.has("ret_kwargs")) callers.authorizeJob(caller, publishCalls("cmd.run", []), target);
    await checkOwnJid(wantedJid, caller, services);
  } catch (error) {
    if (error instanceof TargetError) return { reply: noMinions(`${error.message}`) };
    if (!(error instanceof RefusedError)) throw error;
    services.warn(
      `Refused to publish ${jobText(request)} for user ${
        truncateValue(caller?.user ?? claimedUser(load, kwargs))
      }: ${error.kind}`,
    );
    const [name, message] = error.kind === "AuthorizationError" || error.kind === BUSY
      ? [error.kind, error.message]
      : ["AuthenticationError", "Authentication error occurred."];
    return { reply: map({ error: { name, message } }) };
  }
  // The rights of such a user were checked for these minions. Those whose grains the master does not know as they are
  // now would decide for themselves, as would those below syndics.
  const limited = caller.rules !== undefined || !callers.access.isOperator(caller.user);
  const ordersMasters = services.opts.order_masters && !limited;
  if (resolved.minions.length === 0 && !ordersMasters) {
    return { reply: noMinions(`Master could not resolve minions for target ${str(load.get("tgt") ?? null)}`) };
  }
  return { load, kwargs, caller, resolved, limited };
}

/** @throws {WireError} If a field is missing or of another type. */
function jobFields(request: ValueMap) {
  const fun = request.get("fun") ?? null;
  if (!isFunctions(fun)) throw new WireError("a publish without a function", "fun");
  if ((request.get("tgt") ?? null) === null) throw new WireError("a publish without a target", "tgt");
  const args = listField(request, "arg");
  const wantedJid = request.get("jid") ?? "";
  if (typeof wantedJid !== "string" || (wantedJid !== "" && !isJid(wantedJid))) {
    throw new WireError(`a publish with the job id ${truncateValue(wantedJid)}`, "jid");
  }
  return { fun, args, kwargs: mapOrEmpty(request.get("kwargs")), wantedJid };
}

/** The reply to a job that must wait for its turn. Not in Salt, whose clients show the message. */
function throttledReply({ rule, retryAfter }: Throttled, user: string): ValueMap {
  const message = `${user} publishes too many jobs (flow, rule ${rule}); try again in ${retryAfter} s`;
  return map({ error: { name: "SaltThrottled", message, retry_after: retryAfter, rule } });
}

/**
 * A user who may not do everything publishes under no job id of another user: the stored job would become one of
 * theirs, and they would be shown its events.
 * @throws {RefusedError} AuthorizationError.
 */
async function checkOwnJid(
  jid: string,
  { user, rules }: Caller,
  { auth: { callers }, jobs: { store } }: Needs<"auth" | "jobs">,
): Promise<void> {
  if (jid === "" || (rules === undefined && callers.access.isOperator(user))) return;
  const stored = await store.getLoad(jid);
  if (stored !== undefined && stored.get("user") !== user) throw accessRefused();
}

/**
 * Publishes a job of the master's own, with all its rights.
 * @param load The load of a publish.
 * @returns Whether any minion matches its target.
 * @throws {TargetError} If its target cannot be read.
 */
export async function publishOwn(
  load: ValueMap,
  services: PublishNeeds,
  how: Pick<Addressees, "isAnnounced"> = {},
): Promise<boolean> {
  const portable = withPortableTarget(load, services);
  const resolved = resolveJob(portable, fleetOf(services), services);
  if (resolved.minions.length === 0 && !services.opts.order_masters) return false;
  await issueJob(portable, { ...resolved, ...how, named: false }, services);
  return true;
}

/** The minions that a job is for. */
export interface Addressees extends Pick<Resolved, "minions" | "missing"> {
  /** Whether the publish names these minions: then no other minion runs it, even if its target matches. */
  readonly named: boolean;
  /** Whether a master that was killed afterwards has fired its first event. Default: no. */
  readonly isAnnounced?: boolean;
}

/**
 * Gives a job its id, stores it, and sends it.
 * @param load The load of a publish, with its user and without credentials.
 * @param resolved At least one minion, unless syndics are below this master.
 * @returns As {@linkcode publishCommand}.
 */
export async function issueJob(load: ValueMap, resolved: Addressees, services: PublishNeeds): Promise<ValueMap> {
  const job = jobOf(load, services);
  const { jid, live, kwargs, stored } = job;
  // A syndic does not answer for itself, and nobody waits for it.
  const addressees = { ...resolved, minions: await withoutKnownSyndics(resolved.minions, services) };
  const { minions, missing } = addressees;
  const isLarge = minions.length >= LARGE_JOB;
  // The master checks data of minions for a live or hidden job against the cache, so the job must be stored before it
  // is published.
  const first = live || job.reader !== undefined || isLarge;
  if (first) {
    const failure = await storeFirst(job, minions, services);
    if (failure !== undefined) return failure;
  }
  const { tgt_type, tgt, user, fun, arg, hidden } = job;
  // The first is the name of Salt 3008.
  for (const name of ["salt.jobs.published", "salt.jobs"]) services.metrics?.count(name, { fun: funLabel(fun) });
  if (addressees.isAnnounced !== true) {
    await services.fire(jobNew(jid), asNoted(map({ jid, tgt_type, tgt, user, fun, arg, minions, missing, ...hidden })));
  }
  const publish = publishOf(job, addressees, load, services);
  writeTrace(publish, services.trace?.context);
  await services.fire(jobPublish(jid), asNoted(publish));
  const delivery = { minions, ttlMs: jobTtlMs(kwargs, services), live };
  if (isLarge) await services.jobs.share(publish, delivery);
  await inSpan(services.trace, "salt.pub.send", () => services.jobs.publish(publish, delivery));
  const shared = isLarge ? undefined : services.jobs.share(publish, delivery);
  // Other jobs are stored while they are being sent: half a dozen new files take longer than everything else here. The
  // client is answered when the job is stored.
  if (!first) await inSpan(services.trace, "salt.store.load", () => storeJob(jid, stored, minions, services));
  await shared;
  try {
    await services.jobs.durable();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    services.log.error(`Job ${jid} is published, but a power failure would lose it: ${error.message}`);
  }
  logPublished(job, addressees, services);
  return map({ enc: "clear", load: { jid, minions, missing } });
}

function funLabel(fun: Value): string {
  return Array.isArray(fun) ? fun.map(str).join(",") : str(fun);
}

/** What the request for a job says of it, and its id. */
interface IssuedJob {
  readonly jid: string;
  readonly fun: Value;
  readonly arg: readonly Value[];
  readonly tgt: Value;
  readonly tgt_type: Value;
  readonly user: string;
  readonly ret: string;
  readonly kwargs: ValueMap;
  /** The public key for its returns, if it is hidden. */
  readonly reader: string | undefined;
  /** The mark of a hidden job, in its event and its publish. */
  readonly hidden: Readonly<Record<string, Value>>;
  /** Whether the output of its commands is stored and published as they run. */
  readonly live: boolean;
  /** Its load as it is stored. */
  readonly stored: ValueMap;
}

function jobOf(load: ValueMap, { opts }: Needs<"opts">): IssuedJob {
  const wantedJid = load.get("jid") ?? "";
  const kwargs = mapOrEmpty(load.get("kwargs"));
  const reader = noLogReader(kwargs.get(NO_LOG));
  return {
    jid: typeof wantedJid === "string" && wantedJid !== ""
      ? wantedJid
      : makeJid(undefined, { unique: opts.unique_jid }),
    fun: load.get("fun") ?? null,
    arg: listField(load, "arg"),
    tgt: load.get("tgt") ?? null,
    tgt_type: load.get("tgt_type") ?? "glob",
    user: stringField(load, "user"),
    ret: withExternalCache(stringField(load, "ret"), opts.ext_job_cache),
    kwargs,
    reader,
    hidden: reader === undefined ? {} : { [NO_LOG]: noLogValue(reader) },
    // With no_log there is no live output: it would be stored and published.
    live: reader === undefined && kwargs.get("live") === true,
    stored: reader === undefined ? load : hideArguments(load),
  };
}

/**
 * Stores a job before it is published.
 * @returns The reply to the client if it cannot be published.
 */
async function storeFirst(
  { jid, live, reader, stored }: IssuedJob,
  minions: readonly string[],
  services: Needs<"opts" | "jobs" | "log">,
): Promise<ValueMap | undefined> {
  const failure = (error: unknown) => {
    if (error instanceof StoreError) return noLogFailure(error, services);
    throw error;
  };
  try {
    await prepareJob(jid, { live, reader }, services);
  } catch (error) {
    return failure(error);
  }
  await storeJob(jid, stored, minions, services);
  try {
    // After a power failure only the mark hides the returns.
    if (reader !== undefined) await services.jobs.durable();
  } catch (error) {
    return failure(error);
  }
  return undefined;
}

/** The returners of a job, with the cache that minions give their returns to. */
function withExternalCache(ret: string, cache: string): string {
  if (cache === "") return ret;
  return [...new Set([...ret.split(",").filter((name) => name !== ""), cache])].join(",");
}

/** The job as minions get it. */
function publishOf(job: IssuedJob, { minions, named }: Addressees, load: ValueMap, { opts }: Needs<"opts">): ValueMap {
  const { jid, fun, arg, ret, user, kwargs, hidden } = job;
  const target = named ? { tgt: minions, tgt_type: "list" } : { tgt: job.tgt, tgt_type: job.tgt_type };
  const publish = map({ fun, arg, tgt: target.tgt, jid, ret, tgt_type: target.tgt_type, user, ...hidden });
  // Syndics hand both on: the time-out of the client, and rules that the master below checks. Whoever has rules reaches
  // the minions that are named here, and none below, also not one of the same name.
  if (opts.order_masters) publish.set("to", opts.timeout).set("auth_list", named ? [map({ "^$": [] })] : []);
  if (load.has("id")) publish.set("id", load.get("id") ?? null);
  for (const key of PASSED_ON) if (kwargs.has(key)) publish.set(key, kwargs.get(key) ?? null);
  const delimiter = kwargs.get("delimiter");
  if (typeof delimiter === "string" && delimiter !== ":") publish.set("delimiter", delimiter);
  return publish;
}

function logPublished(
  { jid, tgt, tgt_type, user, stored }: IssuedJob,
  { minions, missing }: Addressees,
  { log }: Needs<"log">,
): void {
  log.debug(() => {
    const target = `${truncateValue(tgt)} (${tgt_type})`;
    return `Job ${jid}: the target ${target} matches ${minions.length} minions; ${missing.length} of its ids do not exist`;
  });
  log.info(() =>
    `User ${user} published ${jobText(stored)} with jid ${jid}: ${minions.length} ${
      minions.length === 1 ? "minion" : "minions"
    }`
  );
}

/**
 * Minions have no node groups: the job gets their compound target.
 * @throws {TargetError} If a group is not configured, or contains itself.
 */
export function withPortableTarget(load: ValueMap, { opts }: Needs<"opts">): ValueMap {
  const { tgt, tgtType } = portableTarget(targetOf(load), opts.nodegroups);
  return new Map(load).set("tgt", tgt).set("tgt_type", tgtType ?? "glob");
}

function targetOf(load: ValueMap): TypedTarget {
  return { tgt: load.get("tgt") ?? null, tgtType: str(load.get("tgt_type") ?? "glob") };
}

/** The accepted minions, and what is known of them. */
export function fleetOf({ auth: { keys }, minions: { data }, opts }: Needs<"auth" | "minions" | "opts">): KnownFleet {
  return acceptedFleet(opts, { keys, data });
}

/**
 * The minions of a job.
 * @throws {TargetError} If its target cannot be read, or takes too long.
 */
function resolveJob(load: ValueMap, fleet: KnownFleet, { log, warn }: Needs<"log" | "warn">): Resolved {
  const kwargs = load.get("kwargs");
  const delimiter = isMap(kwargs) ? kwargs.get("delimiter") : undefined;
  const target = targetOf(load);
  const resolved = resolveTarget(target, fleet, { delimiter: typeof delimiter === "string" ? delimiter : undefined });
  const { unknown, costly } = resolved;
  if (unknown.length > 0) {
    log.info(
      `The target ${truncateValue(target.tgt)} needs data of minions of which the master has none: ${
        truncateList(unknown)
      }`,
    );
  }
  if (costly.length > 0) {
    warn(`The data of these minions take too long to match with ${truncateValue(target.tgt)}: ${truncateList(costly)}`);
  }
  return resolved;
}

function noLogFailure({ message }: StoreError, { log }: Needs<"log">): ValueMap {
  log.error(`A no_log job is not published: ${message}`);
  return map({ error: { name: "SaltMasterError", message } });
}

/** How long the job may be delivered: as requested, by default as long as the commands wait for it. */
function jobTtlMs(kwargs: ValueMap, { opts }: Needs<"opts">): number {
  const request = toNumber(kwargs.get("job_ttl"));
  return 1000 * (request !== undefined && request >= 0 ? Math.min(request, MAX_TTL_S) : opts.job_ttl ?? opts.timeout);
}

function isFunctions(fun: Value): boolean {
  return typeof fun === "string" || (Array.isArray(fun) && fun.every((name) => typeof name === "string"));
}

function noMinions(error: string): ValueMap {
  return map({ enc: "clear", load: { jid: null, minions: [], error } });
}

/**
 * Makes what must exist before the job's first event: the directory of its output (without it, output is shown but not
 * stored), or the mark that hides the job.
 * @param how.reader The public key for returns, if the job is hidden.
 * @throws {StoreError} If a hidden job cannot be marked: its returns would be stored and published.
 */
async function prepareJob(
  jid: string,
  { live, reader }: { readonly live: boolean; readonly reader: string | undefined },
  { jobs: { store }, log }: Needs<"jobs" | "log">,
): Promise<void> {
  try {
    await store.prepare(jid);
    if (reader !== undefined) await store.noLog.save(jid, reader);
    if (live) await store.outputs.open(jid);
  } catch (error) {
    if (!(error instanceof StoreError) || reader !== undefined) throw error;
    log.error(`The output of job ${jid} is not stored: ${error.message}`);
  }
}

/** Stores the job; if that fails, the job still runs, without a record. */
async function storeJob(
  jid: string,
  load: ValueMap,
  minions: readonly string[],
  { opts, jobs: { store }, log }: Needs<"opts" | "jobs" | "log">,
): Promise<void> {
  try {
    if (opts.job_cache) await store.saveLoad(jid, new Map(load).set("jid", jid), minions);
    else await store.prepare(jid);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.error(`Job ${jid} is published, but is not in the job cache: ${error.message}`);
  }
}

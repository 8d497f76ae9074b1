/**
 * The encrypted commands of minions: what each does, as a table.
 *
 * Whoever calls has been authenticated: `id` is the minion that signed in, and the load's own `id` is the same.
 * Source: salt-protocol.md sections 5 and 6.
 * @module
 */

import { isAcknowledged, notDone } from "../protocol/acknowledgement.ts";
import { brief, briefValue } from "../text/truncate.ts";
import { SIGNING_ALGORITHMS } from "../config/common_options.ts";
import { writeDropfile } from "../keys/dropfile.ts";
import { StoreError, WireError } from "../errors.ts";
import { jobReturn, type JobSign, jobSign, KEY_EVENT, minionRefresh } from "../protocol/tags.ts";
import { isJid, makeJid } from "../protocol/jid.ts";
import { hideReturn } from "../protocol/hidden_return.ts";
import { batchFromMap } from "../protocol/live_batch.ts";
import type { MasterServices } from "./services.ts";
import { minionMayFire } from "../bus/minion_tags.ts";
import { encode } from "../values/msgpack.ts";
import { OVERSIZED } from "../jobs/oversized_return.ts";
import { asBytes } from "../protocol/payload.ts";
import { PublicKey } from "../crypto/rsa.ts";
import { isMap, map, str, type Value, type ValueMap } from "../values/value.ts";

/** A reply for the minion's pillar is sealed for it alone; the others go under its session key. */
export interface MinionReply {
  /** What the command answers. */
  readonly value: Value;
  /** Whether only the minion's own key may open it. */
  readonly sealed?: true;
}

type Handler = (load: ValueMap, id: string, services: MasterServices) => Promise<Value> | Value;

/** Answers of a file server without files: what Salt says of a path that is not there. */
const NO_FILE = { path: "", rel: "" };

/** The reason that is told; the log has the whole. */
const FAILED = "Some exception handling minion payload";

const HANDLERS: Readonly<Record<string, Handler>> = {
  _return: storeReturn,
  _minion_event: fireEvents,
  _master_opts: masterOpts,
  _master_tops: () => new Map(),
  _register_resources: () => true,
  _file_envs: () => [],
  _file_list: () => [],
  _file_list_emptydirs: () => [],
  _dir_list: () => [],
  _symlink_list: () => new Map(),
  _file_find: () => map(NO_FILE),
  _file_hash: () => "",
  _file_hash_and_stat: () => ["", null],
  _serve_file: () => map({ data: "", dest: "" }),
  _mine_get: () => new Map(),
  _mine: () => false,
  _mine_delete: () => false,
  _mine_flush: () => false,
  // Peer publishing is allowed to nobody until `peer` is built; this is Salt's answer to whoever is not allowed.
  minion_pub: () => new Map(),
  minion_publish: () => new Map(),
  minion_runner: () => new Map(),
  pub_ret: () => "",
  revoke_auth: revokeAuth,
};

/**
 * Runs a minion's command.
 * @returns Salt's answer; `{}` to a command that nobody knows. To one that failed `""`, as Salt, or where the minion waits for an
 * acknowledgement what is none: it sends again what could not be taken. Python minions look at neither.
 * @throws {WireError} If there is no command.
 */
export async function minionCommand(load: ValueMap, id: string, services: MasterServices): Promise<MinionReply> {
  const cmd = load.get("cmd");
  if (cmd === undefined) throw new WireError(`a request of ${id} without a command`, "cmd");
  if (cmd === "_pillar") return { value: servePillar(load, id, services), sealed: true };
  if (typeof cmd !== "string" || !Object.hasOwn(HANDLERS, cmd)) {
    services.complain(`Minion ${id} asked for the unknown command ${briefValue(cmd)}`);
    return { value: new Map() };
  }
  try {
    return { value: await HANDLERS[cmd](load, id, services) };
  } catch (error) {
    services.log.error(`The command ${cmd} of minion ${id} failed: ${error instanceof Error ? error.stack : error}`);
    return { value: isAcknowledged(cmd) ? notDone(FAILED) : "" };
  }
}

function servePillar(load: ValueMap, id: string, { data, opts, log, fire }: MasterServices): Value {
  const grains = load.get("grains");
  const pillar: ValueMap = new Map();
  if (opts.minion_data_cache && isMap(grains)) {
    try {
      data.setGrains(id, grains);
      data.setPillar(id, pillar);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      log.error(`The grains of ${id} are not in the data cache: ${error.message}`);
    }
    if (opts.minion_data_cache_events) void fire(minionRefresh(id), map({ "Minion data cache refresh": id }));
  }
  return pillar;
}

async function storeReturn(sent: ValueMap, id: string, services: MasterServices): Promise<Value> {
  const { jobs, noLog, opts, log, fire, complain, told } = services;
  if (!acceptsSignature(sent, id, services)) return false;
  let load = sent;
  const jid = () => str(load.get("jid") ?? null);
  const cached = opts.job_cache && opts.ext_job_cache === "";
  let reply: Value = null;
  /** Why the return is not kept, which its minion must not take for kept then. */
  let unkept: string | undefined;
  try {
    // salt-call without a job of its own: the master gives it one.
    if (cached && load.get("jid") === "req") load = jobs.adopt(load);
    if (load.get("jid") === "req") load = new Map(load).set("jid", makeJid());
    if (!isJid(jid())) {
      complain(`Minion ${id} returned for ${briefValue(load.get("jid"))}, which is no job id`);
      return null;
    }
    const reader = noLog.reader(jid());
    if (reader !== undefined) load = await hideReturn(load, reader);
    if (cached && jobs.saveReturn(load) === "duplicate") {
      // Told all the same, as Salt does: the first time, the storing may have been all that was done. What is told is
      // what is stored.
      complain(`Minion ${id} returned twice for job ${jid()}; the first return stands`);
      load = new Map([...load, ...map({ ...jobs.getReturn(jid(), id) })]);
      reply = "";
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (load.get("jid") === "req") load = new Map(load).set("jid", makeJid());
    log.error(`The return of ${id} for job ${jid()} is not in the job cache: ${error.message}`);
    unkept = "The return is not in the job cache";
  }
  try {
    await services.durable();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.error(`The return of ${id} for job ${jid()} would be lost by a power failure: ${error.message}`);
    unkept ??= "The return is not on the disk";
  }
  if (unkept !== undefined) {
    // It is told now, once, for whoever waits, and stored when the minion sends it again.
    reply = notDone(unkept);
    const key = `${jid()} ${id}`;
    if (told.get(key) !== undefined) return reply;
    told.set(key, true);
  }
  complainOfSize(load, id, services);
  log.info(`Got return from ${id} for job ${jid()}`);
  await fire(jobReturn(jid(), id), load);
  return reply;
}

/** The minion has sent a failure in the place of its return. */
function complainOfSize(load: ValueMap, id: string, { complain, opts }: MasterServices): void {
  const oversized = load.get(OVERSIZED);
  if (!isMap(oversized)) return;
  complain(
    `The return of ${id} for job ${
      briefValue(load.get("jid"))
    } was too large to be sent, and a failure came in its place: ` +
      `${briefValue(oversized.get("bytes"))} bytes, of at most ${opts.max_request_bytes} (max_request_bytes)`,
  );
}

/** What `require_minion_sign_messages` and `drop_messages_signature_fail` say of a return. */
function acceptsSignature(load: ValueMap, id: string, { opts, keys, log }: MasterServices): boolean {
  const signature = asBytes(load.get("sig"));
  if (signature === undefined) {
    if (!opts.require_minion_sign_messages) return true;
    log.critical(`Dropped a return of ${id}: it is not signed, and require_minion_sign_messages is on`);
    return false;
  }
  const signed = new Map(load);
  signed.delete("sig");
  const bytes = encode(signed, "disk");
  const key = PublicKey.fromPem(keys.get(id, "accepted") ?? "");
  if (SIGNING_ALGORITHMS.some((algorithm) => key.verify(algorithm, bytes, signature))) return true;
  const dropped = opts.drop_messages_signature_fail;
  log[dropped ? "critical" : "warning"](
    `The signature of a return of ${id} does not hold${
      dropped ? ": dropped" : "; drop_messages_signature_fail is off"
    }`,
  );
  return !dropped;
}

async function fireEvents(load: ValueMap, id: string, services: MasterServices): Promise<Value> {
  const grains = load.get("grains");
  if (services.opts.minion_data_cache && isMap(grains) && grains.size > 0) {
    try {
      services.data.setGrains(id, grains);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      services.log.error(`The grains of ${id} are not in the data cache: ${error.message}`);
    }
  }
  const pretag = load.get("pretag");
  const events = load.get("events");
  if (Array.isArray(events)) {
    for (const event of events) {
      const tag = isMap(event) ? event.get("tag") : undefined;
      if (!isMap(event) || typeof tag !== "string") continue;
      const data = event.get("data") ?? event;
      await fireFor(id, tag, isMap(data) ? data : map({ data }), services);
      if (typeof pretag === "string") {
        await fireFor(id, `${pretag}/${tag}`, isMap(data) ? data : map({ data }), services);
      }
    }
    return null;
  }
  const tag = load.get("tag");
  if (typeof tag === "string") await fireFor(id, tag, load, services);
  return null;
}

async function fireFor(id: string, tag: string, data: ValueMap, services: MasterServices): Promise<void> {
  const { fire, complain } = services;
  // A newline could end the tag early, and make data of the minion's own out of the rest.
  if (!minionMayFire(tag, id) || /\p{Cc}/u.test(tag)) {
    complain(`Minion ${id} tried to fire the event ${brief(tag)}, which is not its own`);
    return;
  }
  const sign = jobSign(tag);
  if (sign !== undefined && !keepSign(sign, id, data, services)) return;
  await fire(tag, data);
}

/** Keeps a sign that a minion gave of a job. @returns Whether others are to hear of it. */
function keepSign(sign: JobSign, id: string, data: ValueMap, services: MasterServices): boolean {
  if (sign.id !== id) {
    services.complain(`Minion ${id} sent a sign of a job for ${brief(sign.id)}`);
    return false;
  }
  return sign.kind === "out" ? keepOutput(sign, data, services) : keepAck(sign, data, services);
}

/** Keeps what a command wrote; what came before, or was not asked for, nobody hears of. */
function keepOutput({ jid, id }: JobSign, data: ValueMap, { outputs, jobs, log, complain }: MasterServices): boolean {
  const batch = batchFromMap(data.get("data"));
  if (batch === undefined) {
    complain(`Minion ${id} sent output of job ${jid} that cannot be read`);
    return false;
  }
  try {
    if (!outputs.has(jid, id)) {
      const meant = jobs.getLoad(jid)?.get("Minions");
      if (!Array.isArray(meant) || !meant.includes(id)) return false;
    }
    const appended = outputs.append(jid, id, batch);
    if (appended === "refused") log.info(`Output of ${id} for job ${jid} is not kept: nobody asked, or it is too much`);
    return appended === "stored";
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.error(`Output of ${id} for job ${jid} is not in the job cache: ${error.message}`);
    return true; // whoever watches need not suffer
  }
}

/** Keeps an acknowledgement with its job. @returns Whether it is of a kind that there is. */
function keepAck({ jid, id }: JobSign, data: ValueMap, { acks, log, complain }: MasterServices): boolean {
  const about = data.get("data");
  const state = isMap(about) ? about.get("state") : undefined;
  if (state !== "received" && state !== "running") {
    complain(`Minion ${id} sent an acknowledgement of job ${jid} that says nothing`);
    return false;
  }
  try {
    acks.save(jid, id, { state, sinceMs: Date.now() });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.error(`The acknowledgement of ${id} for job ${jid} is not in the job cache: ${error.message}`);
  }
  return true;
}

function masterOpts(load: ValueMap, _id: string, { opts }: MasterServices): Value {
  const common = {
    file_roots: { base: [] },
    top_file_merging_strategy: opts.top_file_merging_strategy,
    env_order: opts.env_order,
    default_top: opts.default_top,
  };
  if (load.get("env_only") === true) return map(common);
  return map({
    ...common,
    renderer: opts.renderer,
    failhard: opts.failhard,
    state_top: opts.state_top,
    state_top_saltenv: null,
    nodegroups: opts.nodegroups,
    state_auto_order: true,
    state_events: false,
    state_aggregate: false,
  });
}

async function revokeAuth(_load: ValueMap, id: string, services: MasterServices): Promise<Value> {
  const { opts, keys, sessions, data, log, fire, complain } = services;
  if (!opts.allow_minion_key_revoke) {
    complain(`Minion ${id} asked to revoke its key, which allow_minion_key_revoke forbids`);
    return false;
  }
  keys.remove(id);
  sessions.remove(id);
  if (!opts.preserve_minion_cache) data.remove(id);
  // What is published from now on is not for it any more.
  if (opts.rotate_aes_key) writeDropfile(opts.cachedir, opts.id);
  log.info(`The key of ${id} was deleted at its own request`);
  await fire(KEY_EVENT, map({ result: true, act: "delete", id }));
  return true;
}

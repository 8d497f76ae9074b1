/**
 * What a host of a roster may ask of the others while its function runs: values of their mine, and jobs, as far as
 * `mine_functions` and the master's option `peer` allow. A host is trusted no more than a minion.
 * @module
 */

import { Access } from "#lib/auth/access.ts";
import { peerJob, peerRules, publishesAgain } from "#lib/auth/peer_rules.ts";
import { allowsPeers, publishCalls } from "#lib/auth/rules.ts";
import { RefusedError, TargetError } from "#lib/errors.ts";
import type { DataCache } from "#lib/fleet/data_cache.ts";
import { AGED, askedValues } from "#lib/fleet/mine_form.ts";
import { mayReadMine } from "#lib/fleet/mine_query.ts";
import { idsOf } from "#lib/master/requests/rule_targets.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { eachAtATime } from "#lib/runtime/each_at_a_time.ts";
import { truncateValue } from "#lib/text/truncate.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { type PeerHosts, RosterMine } from "./roster_mine.ts";

/** Types of targets whose values of pillar are written in full: others would find them out. */
const EXACT_TYPES: Readonly<Record<string, string>> = { pillar: "pillar_exact", compound: "compound_pillar_exact" };
/** Jobs of one host that run at a time. */
const MAX_JOBS = 4;

/** A job that a host has started. */
interface RosterJob {
  readonly owner: string;
  readonly returns: ValueMap;
  /** When the last host has ended. */
  readonly ended: Promise<void>;
  isRunning: boolean;
}

/** What hosts of one run ask for. */
export class RosterJobs {
  readonly mine: RosterMine;
  readonly #hosts: PeerHosts;
  readonly #data: DataCache;
  readonly #jobs = new Map<string, RosterJob>();

  constructor(hosts: PeerHosts, data: DataCache) {
    this.#hosts = hosts;
    this.#data = data;
    this.mine = new RosterMine(hosts);
  }

  /**
   * Adds the mine of the roster to what the master's mine has.
   * @param answer That of `_mine_get` for the host `reader`.
   */
  async withMine(answer: Value, load: ValueMap, reader: string): Promise<Value> {
    const { opts, log } = this.#hosts;
    const [tgt, fun] = [load.get("tgt") ?? null, load.get("fun") ?? null];
    if (!isMap(answer) || !(typeof fun === "string" || Array.isArray(fun))) return answer;
    const { names: asked, isByName } = askedValues(fun);
    const names = asked.filter((name) => typeof name === "string").filter((name) =>
      mayReadMine(name, reader, { opts, warn: (text) => log.warning(text) })
    );
    let values;
    try {
      values = await this.mine.get({ target: targetOf(load), names, reader });
    } catch (error) {
      if (!(error instanceof TargetError)) throw error;
      log.warning(`The target ${truncateValue(tgt)} of a mine query of ${reader}: ${error.message}`);
      return answer;
    }
    const isAged = answer.has(AGED);
    const shown = (found: ValueMap): ValueMap =>
      isAged && truthy(load.get("with_age") ?? null)
        ? new Map([...found].map(([id, value]) => [id, map({ value, age: 0 })]))
        : found;
    const merged = new Map(mapOrEmpty(isAged ? answer.get("ret") : answer));
    for (const [name, found] of values) {
      if (found.size === 0) continue;
      if (isByName) merged.set(name, new Map([...mapOrEmpty(merged.get(name)), ...shown(found)]));
      else for (const [id, value] of shown(found)) merged.set(id, value);
    }
    return isAged ? new Map(answer).set("ret", merged) : merged;
  }

  /**
   * `minion_pub` of a host.
   * @returns `{jid, minions}`; `{}` if it may not.
   */
  async publish(load: ValueMap, id: string): Promise<ValueMap> {
    const { log } = this.#hosts;
    const [fun, arg] = [load.get("fun"), load.get("arg")];
    if (typeof fun !== "string" || !Array.isArray(arg)) return new Map();
    const job = peerJob(fun, arg, listOrEmpty(load.get("no_parse")).map(str));
    let hosts;
    try {
      if (typeof job.fun !== "string" || publishesAgain(job)) throw new RefusedError("AuthorizationError", "not here");
      hosts = await this.#hosts.find(targetOf(load), { isOperator: false });
      this.#check(id, publishCalls(job.fun, job.arg), [...hosts.keys()]);
    } catch (error) {
      if (!(error instanceof RefusedError || error instanceof TargetError)) throw error;
      log.warning(`${id} may not publish ${truncateValue(fun)}: ${error.message}`);
      return new Map();
    }
    if (hosts.size === 0) return map({ jid: null, minions: [] });
    const jid = makeJid();
    this.#jobs.set(jid, this.#start(id, hosts, { fun: job.fun, arg: job.arg }));
    log.info(`${id} published ${truncateValue(fun)} with jid ${jid} to ${hosts.size} hosts`);
    return map({ jid, minions: [...hosts.keys()] });
  }

  /** `pub_ret` of a host: `{ret}` by id, of those that have ended. */
  returns(load: ValueMap, id: string): ValueMap {
    const job = this.#jobs.get(str(load.get("jid") ?? ""));
    return job?.owner === id ? new Map(job.returns) : new Map();
  }

  /** Waits for the jobs that still run. */
  async ended(): Promise<void> {
    await Promise.all([...this.#jobs.values()].map((job) => job.ended));
  }

  /** @throws {RefusedError} If the host may not. */
  #check(id: string, calls: Parameters<typeof allowsPeers>[1], minions: readonly string[]): void {
    const { opts } = this.#hosts;
    const fleet = { ids: minions, data: this.#data, nodegroups: opts.nodegroups };
    const matching = (expression: string) => idsOf(expression, fleet);
    if (!allowsPeers(peerRules(opts.peer, id), calls, { minions, matching })) {
      throw new RefusedError("AuthorizationError", "the option peer does not allow it");
    }
    const running = [...this.#jobs.values()].filter((job) => job.owner === id && job.isRunning);
    if (running.length >= MAX_JOBS) throw new RefusedError("AuthorizationError", `${MAX_JOBS} jobs of it run already`);
    new Access(new Map(), { owner: opts.user, acl: new Map(), blacklist: opts.publisher_acl_blacklist })
      .checkBlacklist(opts.user, calls);
  }

  #start(
    owner: string,
    hosts: ReadonlyMap<string, Value>,
    work: { readonly fun: string; readonly arg: readonly Value[] },
  ): RosterJob {
    const returns: ValueMap = new Map();
    const run = async () => {
      await eachAtATime([...hosts], this.#hosts.opts.ssh_max_procs, async ([id, entry]) => {
        const end = await this.#hosts.end(id, entry, work);
        returns.set(id, map({ ret: end.return, ...end.out !== undefined && { out: end.out } }));
      });
      job.isRunning = false;
    };
    const job = { owner, returns, isRunning: true, ended: Promise.resolve().then(run) };
    return job;
  }
}

function targetOf(load: ValueMap) {
  const type = str(load.get("tgt_type") ?? load.get("expr_form") ?? "glob");
  if (type === "pillar_pcre") throw new TargetError("a host may not match patterns of pillar", type);
  return { tgt: load.get("tgt") ?? null, tgtType: EXACT_TYPES[type] ?? type, delimiter: ":" };
}

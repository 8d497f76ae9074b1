/**
 * `mine.get` and `publish.publish`, called by the operator of `salt-ssh`: they run here, on hosts of the rosters, with
 * the operator's rights.
 * Source: Salt 3008.3 `salt/client/ssh/wrapper/mine.py`, `publish.py`.
 * @module
 */

import { peerJob, publishesAgain } from "#lib/auth/peer_rules.ts";
import { CommandError, messageOf } from "#lib/errors.ts";
import { askedValues } from "#lib/fleet/mine_form.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { eachAtATime } from "#lib/runtime/each_at_a_time.ts";
import { asList, mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { fromWireArgs, yamlifyArg } from "#lib/yaml/arguments.ts";
import type { PeerHosts, RosterMine } from "./roster_mine.ts";
import type { HostEnd } from "./ssh_work.ts";

/** What they need. */
export interface OperatorSite {
  readonly hosts: PeerHosts;
  readonly mine: RosterMine;
  /** The master's mine for a host: the answer to `_mine_get`. */
  regularMine(load: ValueMap, id: string): Value;
}

type OperatorCall = (given: ValueMap, id: string, site: OperatorSite) => Promise<Value>;

/** The functions, with their parameters and those defaults that are not None. */
const CALLS: Readonly<Record<string, readonly [params: readonly string[], call: OperatorCall]>> = {
  "mine.get": [["tgt", "fun", "tgt_type", "roster", "ssh_minions", "regular_minions"], mineGet],
  "publish.publish": [publishParams(), (given, _, site) => publish(given, site, false)],
  "publish.full_data": [publishParams(), (given, _, site) => publish(given, site, true)],
};

function publishParams(): string[] {
  return ["tgt", "fun", "arg", "tgt_type", "returner", "timeout", "roster", "ssh_minions", "regular_minions"];
}

/** Whether the operator's call of it runs here. */
export function runsHere(fun: string): boolean {
  return Object.hasOwn(CALLS, fun);
}

/** Runs it for the host `id`. */
export async function runOperatorCall(
  { fun, arg }: { readonly fun: string; readonly arg: readonly Value[] },
  id: string,
  site: OperatorSite,
): Promise<Omit<HostEnd, "id">> {
  const [params, call] = CALLS[fun];
  try {
    return { return: await call(bound(fun, params, arg), id, site), retcode: 0 };
  } catch (error) {
    return { return: `ERROR: ${messageOf(error)}`, retcode: 1 };
  }
}

/** @throws {CommandError} If there are more arguments than parameters, or others, or `tgt` and `fun` are missing. */
function bound(fun: string, params: readonly string[], arg: readonly Value[]): ValueMap {
  const { args, kwargs } = fromWireArgs(arg);
  const own = [...kwargs].filter(([name]) => !str(name).startsWith("__"));
  const given = new Map<Value, Value>([...args.map((value, i): [Value, Value] => [params[i] ?? "", value]), ...own]);
  const unknown = [...given.keys()].find((name) => !params.includes(str(name)));
  if (unknown !== undefined) throw new CommandError(`${fun} takes no argument ${str(unknown)}`);
  for (const name of ["tgt", "fun"]) if (!given.has(name)) throw new CommandError(`${fun} needs ${name}`);
  return given;
}

/** The target and the rosters of a call. */
function addressed(given: ValueMap) {
  const roster = given.get("roster") ?? null;
  return {
    target: { tgt: given.get("tgt") ?? null, tgtType: str(given.get("tgt_type") ?? "glob"), delimiter: ":" },
    ...roster !== null && { rosters: asList(roster).map(str) },
  };
}

async function mineGet(given: ValueMap, id: string, { mine, regularMine }: OperatorSite): Promise<Value> {
  const fun = given.get("fun") ?? null;
  if (!(typeof fun === "string" || Array.isArray(fun))) throw new CommandError("fun must be a function or a list");
  const { names, isByName } = askedValues(fun);
  const regular = truthy(given.get("regular_minions") ?? null)
    ? mapOrEmpty(regularMine(new Map(given).set("tgt_type", given.get("tgt_type") ?? "glob"), id))
    : new Map();
  if (!truthy(given.get("ssh_minions") ?? true)) return regular;
  const values = await mine.get({ ...addressed(given), names: names.map(str) });
  if (!isByName) return new Map([...regular, ...[...values.values()].flatMap((found) => [...found])]);
  return new Map([...values].map(([name, found]) => [name, new Map([...mapOrEmpty(regular.get(name)), ...found])]));
}

async function publish(given: ValueMap, { hosts }: OperatorSite, isFull: boolean): Promise<Value> {
  const arg = given.get("arg") ?? null;
  const read = typeof arg === "string" ? yamlifyArg(arg) : arg;
  const job = peerJob(str(given.get("fun") ?? ""), read === null ? [] : asList(read), []);
  if (publishesAgain(job)) return new Map();
  const { fun } = job;
  if (typeof fun !== "string") throw new CommandError("several functions at once are not built here");
  if (truthy(given.get("regular_minions") ?? null)) {
    throw new CommandError("regular_minions is not built here: use salt for minions");
  }
  if (!truthy(given.get("ssh_minions") ?? true)) return new Map();
  const { target, rosters } = addressed(given);
  const jid = makeJid();
  const returned: ValueMap = new Map(), found = [...await hosts.find(target, { rosters, isOperator: true })];
  await eachAtATime(found, hosts.opts.ssh_max_procs, async ([id, entry]) => {
    const { return: value, retcode } = await hosts.end(id, entry, { fun, arg: job.arg });
    const full = { jid, return: value, retcode, id, fun, fun_args: job.arg, ret: value };
    returned.set(id, isFull ? map(full) : value);
  });
  return returned;
}

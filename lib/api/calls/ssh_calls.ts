/**
 * The client `ssh`: functions on the hosts of rosters. The master says whether the user may; the connections are this
 * process's own. What a chunk says becomes no word of ssh's command line that a roster could not have.
 * Source: Salt 3008.3 `salt/netapi/__init__.py`, `salt/client/ssh/client.py`; answers of its SSHClient.
 * @module
 */

import { clientEnd } from "#lib/commands/ssh/client_end.ts";
import type { SshWork } from "#lib/commands/ssh/ssh_work.ts";
import { LocalClient } from "#lib/client/local.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { RosterError, TargetError } from "#lib/errors.ts";
import { which } from "#lib/programs/which.ts";
import { isJid, makeJid } from "#lib/protocol/jid.ts";
import { toWireArgs } from "#lib/yaml/arguments.ts";
import { asList, onlyStrings } from "#lib/values/shape.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { type ApiCaller, noteRefusal } from "./caller.ts";
import { argList, numberIn } from "./local_calls.ts";

/** Fields of Salt's client that choose files of the master, or what ssh starts here: the configuration has them. */
const REFUSED: readonly string[] = [
  ...["ssh_priv", "ssh_priv_passwd", "ssh_options", "ssh_remote_port_forwards", "ssh_pre_hook", "ssh_log_file"],
  ...["roster_file", "rosters", "ssh_update_roster", "ssh_askpass", "saltfile", "no_host_keys", "host"],
];

/**
 * The field by which a chunk would choose another account or sshd of a host, or take another host for it. A rule gives
 * functions, not accounts; and a user with an account on a host could be offered the password of its roster's entry, at
 * a port where an sshd of the user's own listens.
 */
function chosenAccount(low: ValueMap, opts: MasterOpts): string | undefined {
  const others: Readonly<Record<string, (value: Value) => boolean>> = {
    ssh_user: (value) => str(value) !== opts.ssh_user,
    ssh_port: (value) => str(value) !== String(opts.ssh_port),
    ssh_sudo: (value) => truthy(value) && !opts.ssh_sudo,
    ssh_sudo_user: (value) => str(value) !== opts.ssh_sudo_user,
    ignore_host_keys: (value) => truthy(value) && !opts.ignore_host_keys,
  };
  return Object.keys(others).find((name) => low.has(name) && others[name](low.get(name) ?? null));
}

/** `ssh`: the ends of all hosts, when the last has come. */
export async function runSsh(low: ValueMap, caller: ApiCaller): Promise<Value[]> {
  const flag = (name: string) => truthy(low.get(name) ?? null);
  const refused = REFUSED.filter((name) => low.has(name));
  if (refused.length > 0) {
    throw new ApiError(400, `The client ssh does not take ${refused.join(", ")}: set it in the master's configuration`);
  }
  const chosen = chosenAccount(low, caller.opts);
  if (chosen !== undefined) {
    throw new ApiError(400, `The client ssh takes no other ${chosen} than the master's configuration has`);
  }
  // A rule gives functions; a key opens a host for good, and is written with a password that the user need not know.
  if (flag("ssh_key_deploy")) {
    throw new ApiError(400, "The client ssh adds no key to hosts: use salt-ssh --key-deploy");
  }
  if (which("ssh") === undefined) throw new ApiError(503, "There is no ssh on the host of salt-api");
  const call = sshCall(low);
  const { NO_FLAGS, SshFleet } = await import("#lib/commands/ssh/ssh_fleet.ts");
  const { log, signal, user } = caller;
  using fleet = new SshFleet({
    opts: overlaid(low, caller.opts),
    log,
    signal,
    user,
    isOperator: false,
    flags: { ...NO_FLAGS, copiesAnew: flag("regen_thin"), randomDirectory: flag("rand_thin_dir") },
  });
  let hosts;
  try {
    hosts = await fleet.find(call.target);
  } catch (error) {
    if (!(error instanceof RosterError || error instanceof TargetError)) throw error;
    // Without the right it is not said what files and groups there are.
    await authorize([], call, caller);
    throw new ApiError(400, error.message);
  }
  await authorize([...hosts.keys()], call, caller);
  const ends: ValueMap = new Map();
  await fleet.run(hosts, call, (end) => void ends.set(end.id, clientEnd(end, call)));
  return [ends];
}

/** What a chunk asks for. */
interface SshCall {
  readonly target: { readonly tgt: Value; readonly tgtType: string; readonly delimiter: string };
  readonly jid: string;
  readonly work: SshWork;
  /** The right that it needs: that of the function; of a command line, that of `cmd.run`. */
  readonly needed: { readonly fun: string; readonly arg: readonly Value[] };
}

/** @throws {ApiError} 400 if it has no target or no function. */
function sshCall(low: ValueMap): SshCall {
  const [tgt, fun] = [low.get("tgt"), low.get("fun")];
  if (!(typeof tgt === "string" || (Array.isArray(tgt) && onlyStrings(tgt).length === tgt.length))) {
    throw new ApiError(400, "A chunk of the client ssh needs tgt");
  }
  if (typeof fun !== "string") throw new ApiError(400, "A chunk of the client ssh needs fun");
  const kwarg = low.get("kwarg") ?? new Map();
  if (!isMap(kwarg)) throw new ApiError(400, "kwarg must be a map");
  const jid = low.get("jid") ?? makeJid();
  if (!(typeof jid === "string" && isJid(jid))) throw new ApiError(400, "jid is no job id");
  const tgtType = str(low.get("tgt_type") ?? low.get("expr_type") ?? "glob");
  const target = { tgt, tgtType, delimiter: str(low.get("delimiter") ?? ":") };
  if (truthy(low.get("raw_shell") ?? null)) {
    const raw = [fun, ...argList(low).map(str)];
    return { target, jid, work: { raw }, needed: { fun: "cmd.run", arg: [raw.join(" ")] } };
  }
  const work = { fun, arg: toWireArgs(argList(low), kwarg) };
  return { target, jid, work, needed: work };
}

/** The options of the master below those of a chunk. */
function overlaid(low: ValueMap, opts: MasterOpts): MasterOpts {
  const text = (name: string, fallback: string) => low.has(name) ? str(low.get(name) ?? "") : fallback;
  const flag = (name: string, fallback: boolean) => low.has(name) ? truthy(low.get(name) ?? null) : fallback;
  const count = (name: string, fallback: number) => Math.trunc(numberIn(low, name) ?? fallback) || fallback;
  return {
    ...opts,
    timeout: numberIn(low, "timeout") ?? opts.timeout,
    roster: chosenRosters(low, opts),
    ssh_passwd: text("ssh_passwd", opts.ssh_passwd),
    ssh_sudo: flag("ssh_sudo", opts.ssh_sudo),
    ssh_timeout: numberIn(low, "ssh_timeout") ?? opts.ssh_timeout,
    ssh_identities_only: flag("ssh_identities_only", opts.ssh_identities_only),
    ssh_keepalive: flag("ssh_keepalive", opts.ssh_keepalive),
    ssh_keepalive_interval: count("ssh_keepalive_interval", opts.ssh_keepalive_interval),
    ssh_keepalive_count_max: count("ssh_keepalive_count_max", opts.ssh_keepalive_count_max),
    ssh_max_procs: Math.min(count("ssh_max_procs", opts.ssh_max_procs), opts.ssh_max_procs),
    ssh_run_pre_flight: flag("ssh_run_pre_flight", opts.ssh_run_pre_flight),
    ssh_wipe: flag("ssh_wipe", opts.ssh_wipe),
    ignore_host_keys: flag("ignore_host_keys", opts.ignore_host_keys),
  };
}

/**
 * The rosters of a chunk.
 * @throws {ApiError} 400 for one that the configuration does not name: a scan would offer the master's keys and
 * passwords to any address.
 */
function chosenRosters(low: ValueMap, { roster }: MasterOpts): MasterOpts["roster"] {
  if (!low.has("roster")) return roster;
  const named = roster.flatMap((names) => names.split(","));
  const chosen = asList(low.get("roster") ?? null).flatMap((names) => str(names).split(","));
  const unknown = chosen.filter((name) => !named.includes(name));
  if (unknown.length === 0) return chosen;
  throw new ApiError(400, `The master's configuration does not name the roster ${unknown.join(", ")}`);
}

/** @throws {RefusedError} If the user may not. */
async function authorize(ids: readonly string[], { needed }: SshCall, caller: ApiCaller): Promise<void> {
  const { opts, user, log, proof } = caller;
  using client = await LocalClient.connect(opts, { user, log, credentials: proof });
  try {
    await client.authorize({ ...needed, ids });
  } catch (error) {
    noteRefusal(error, caller);
    throw error;
  }
}

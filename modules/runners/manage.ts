/**
 * Runner `manage`: which minions answer, which are connected, and which are not.
 * Source: the functions and results of Salt 3008.3 `salt/runners/manage.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { p } from "#lib/plugins/module.ts";
import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { acceptedFleet, resolveTarget } from "#lib/fleet/resolve_target.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { compareStrings, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { SALT_VERSION, VERSION } from "#lib/version.ts";

/** The target, and the time limits. */
const PING = { tgt: p.any("*"), tgt_type: p.str("glob"), timeout: p.float(null), gather_job_timeout: p.float(null) };

interface Ping {
  readonly tgt: Value;
  readonly tgt_type: string;
  readonly timeout: number | null;
  readonly gather_job_timeout: number | null;
}

const TARGETED = `

tgt, tgt_type
    The minions to ask.

timeout, gather_job_timeout
    Seconds to wait; the master's options of that name, unless given.`;

export const status: RunnerFunction = runner({
  doc: runnerDoc(
    `Ping the minions, and list those that answered and those that did not.${TARGETED}`,
    "manage.status",
    "manage.status tgt='web*' timeout=5 gather_job_timeout=10",
  ),
  params: { output: p.bool(true), ...PING },
  run: (options, context) => ping(context, options),
});

export const up: RunnerFunction = runner({
  doc: runnerDoc(
    `List the minions that answer.${TARGETED}`,
    "manage.up",
    "manage.up tgt='web1,web2' tgt_type=list",
  ),
  params: PING,
  run: async (options, context) => (await ping(context, options)).up,
});

export const down: RunnerFunction = runner({
  doc: runnerDoc(
    `List the minions that do not answer.

removekeys : False
    Delete the keys of those minions, too.${TARGETED}`,
    "manage.down",
    "manage.down removekeys=True",
  ),
  params: { removekeys: p.bool(false), ...PING },
  async run({ removekeys, ...options }, context) {
    const { down } = await ping(context, options);
    if (removekeys && down.length > 0) {
      await context.manager.delete(new Map([["accepted", down]]), { preserve: context.opts.preserve_minion_cache });
      context.rotateKey();
    }
    return down;
  },
});

const LISTED = `

subset : None
    Ids; no others are listed.

show_ip : False
    Show an address that each is connected from, too.`;

/** Minions that are connected; Salt has a name of this for each state, and gives the same for all of them. */
function connectedFunction(name: string): RunnerFunction {
  return runner({
    doc: runnerDoc(
      `List the minions that are connected now. The master answers; no minion is asked.${LISTED}`,
      `manage.${name}`,
      `manage.${name} show_ip=True`,
    ),
    params: { subset: p.any(null), show_ip: p.bool(false) },
    async run({ subset, show_ip }, context) {
      const wanted = idsIn(subset);
      const here = [...await context.local.present()].filter(([id]) => wanted.length === 0 || wanted.includes(id));
      return show_ip ? new Map(here.map(([id, address]) => [id, address ?? null])) : here.map(([id]) => id);
    },
  });
}

/** Accepted minions that are not connected. */
function notConnected(name: string): RunnerFunction {
  return runner({
    doc: runnerDoc(
      `List the accepted minions that are not connected now. The master answers; no minion is asked.${LISTED}`,
      `manage.${name}`,
    ),
    params: { subset: p.any(null), show_ip: p.bool(false) },
    async run({ subset }, context) {
      const here = await context.local.present();
      const wanted = subset === null ? undefined : idsIn(subset);
      return context.keys.list("accepted").filter((id) => !here.has(id) && (wanted?.includes(id) ?? true));
    },
  });
}

function idsIn(subset: Value): string[] {
  const ids = typeof subset === "string" ? subset.split(",") : listOrEmpty(subset);
  return ids.map((id) => str(id).trim()).filter((id) => id !== "");
}

export const list_state: RunnerFunction = connectedFunction("list_state");
export const list_not_state: RunnerFunction = notConnected("list_not_state");
export const present: RunnerFunction = connectedFunction("present");
export const not_present: RunnerFunction = notConnected("not_present");
export const joined: RunnerFunction = connectedFunction("joined");
export const not_joined: RunnerFunction = notConnected("not_joined");
export const allowed: RunnerFunction = connectedFunction("allowed");
export const not_allowed: RunnerFunction = notConnected("not_allowed");
export const alived: RunnerFunction = connectedFunction("alived");
export const not_alived: RunnerFunction = notConnected("not_alived");
export const reaped: RunnerFunction = connectedFunction("reaped");
export const not_reaped: RunnerFunction = notConnected("not_reaped");

export const safe_accept: RunnerFunction = runner({
  doc: runnerDoc(
    `Not built: Salt asks the minion for the fingerprint of its key over salt-ssh, compares it with that of the pending key,
and accepts the key. Instead, compare the two by hand.`,
    "manage.safe_accept my_minion",
  ),
  params: { target: p.any(), tgt_type: p.str("glob") },
  run({ target }) {
    const id = str(target);
    throw new CommandError(
      `manage.safe_accept is not built. Compare by hand: \`salt-call --local key.finger\` on the minion, \`salt-key -f ${id}\` here; then \`salt-key -a ${id}\``,
    );
  },
});

/** The functions that install minions on other hosts. */
function bootstrapping(name: string, way: string): RunnerFunction {
  return runner({
    doc: runnerDoc(`Not built: Salt installs minions on other hosts by ${way}.`, `manage.${name} hosts='host1,host2'`),
    params: {},
    varArgs: "args",
    varKwargs: "kwargs",
    run() {
      throw new CommandError(
        `manage.${name} is not built: docs/installation.md says how a minion is installed by hand`,
      );
    },
  });
}

export const bootstrap: RunnerFunction = bootstrapping("bootstrap", "salt-ssh and salt-bootstrap");
export const bootstrap_psexec: RunnerFunction = bootstrapping("bootstrap_psexec", "PsExec");

/** Salt's text after it has deleted all keys. */
const REGENERATED = `The minion and master keys have been deleted.  Restart the Salt
Master within the next 60 seconds!!!

Wait for the minions to reconnect.  Once the minions reconnect
the new keys will appear in pending and will need to be re-
accepted by running:
    salt-key -A

Be advised that minions not currently connected to the master
will not be able to reconnect and may require manual
regeneration via a local call to
    salt-call saltutil.regen_keys`;

export const key_regen: RunnerFunction = runner({
  doc: runnerDoc(
    `Renew ALL KEYS of the fleet: every minion deletes its keys, then all keys of this master are deleted. You must restart the
master within 60 seconds, and accept the minions' new keys.`,
    "manage.key_regen",
  ),
  params: {},
  async run(_, context) {
    await context.local.run("*", "saltutil.regen_keys");
    removeFilesBelow(context.opts.pki_dir);
    return REGENERATED;
  },
});

/** Deletes the files below a directory; directories stay, and links are deleted, not followed. */
function removeFilesBelow(directory: string): void {
  for (const { name, isDirectory } of Deno.readDirSync(directory)) {
    const path = `${directory}/${name}`;
    if (isDirectory) removeFilesBelow(path);
    else Deno.removeSync(path);
  }
}

/** The label of a minion in `manage.versions`, by the comparison of its version with the master's. */
const LABELS: Readonly<Record<"-1" | "0" | "1", string>> = {
  "-1": "Minion requires update",
  "0": "Up to date",
  "1": "Minion newer than master",
};

export const versions: RunnerFunction = runner({
  doc: runnerDoc(
    "Ask the minions for their versions, and compare those with the master's: Salt's minions with the Salt that this master is\n" +
      "compatible with, which is shown, others with its own.",
    "manage.versions",
  ),
  params: {},
  async run(_, context) {
    const answers = await context.local.run("*", "test.version", { timeoutS: context.opts.timeout });
    const groups: ValueMap = new Map<Value, Value>([["Master", SALT_VERSION]]);
    for (const [id, answer] of [...answers].sort(([a], [b]) => compareStrings(a, b))) {
      const isVersion = answer.retcode === 0 && typeof answer.return === "string";
      const label = isVersion
        ? LABELS[compareVersions(str(answer.return), ownScale(str(answer.return)))]
        : "Minion offline";
      const group = groups.get(label);
      const minions: ValueMap = group instanceof Map ? group : new Map();
      groups.set(label, minions.set(id, isVersion ? answer.return : false));
    }
    return groups;
  },
});

/**
 * Pings the target: every accepted minion of it is then either up or down. Minions that are known to be disconnected
 * are not awaited.
 */
async function ping(context: RunnerContext, options: Ping): Promise<{ up: string[]; down: string[] }> {
  const { minions } = resolveTarget(
    { tgt: options.tgt, tgtType: options.tgt_type },
    acceptedFleet(context.opts, context),
  );
  if (minions.length === 0) return { up: [], down: [] };
  const gone = context.local.gone();
  const reachable = minions.filter((id) => !gone.has(id));
  const narrowed = reachable.length < minions.length;
  const answers = await context.local.run(narrowed ? reachable : options.tgt, "test.ping", {
    tgtType: narrowed ? "list" : options.tgt_type,
    timeoutS: options.timeout || context.opts.timeout,
    gatherJobTimeoutS: options.gather_job_timeout || context.opts.gather_job_timeout,
  });
  const up = [...answers.keys()].sort(compareStrings);
  return { up, down: minions.filter((id) => !answers.has(id)).sort(compareStrings) };
}

/** The version of this master that a minion's is compared with. Salt's have been numbers from 3000 on, or years. */
function ownScale(version: string): string {
  return Number(/^\d+/.exec(version)?.[0] ?? 0) >= 1000 ? SALT_VERSION : VERSION;
}

function compareVersions(a: string, b: string): "-1" | "0" | "1" {
  const [left, right] = [a, b].map((version) => version.split(/[.-]/).map(Number));
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] || 0) - (right[i] || 0);
    if (difference !== 0) return difference < 0 ? "-1" : "1";
  }
  return "0";
}

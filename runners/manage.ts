/**
 * Runner `manage`: which minions answer, and which do not.
 * Source: the functions and results of Salt 3008.3 `salt/runners/manage.py`.
 * @module
 */

import { any, bool, float, str } from "../lib/module.ts";
import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "../lib/runner_context.ts";
import { resolveTarget } from "../lib/target.ts";
import { compareStrings, str as text, type Value, type ValueMap } from "../lib/value.ts";
import { VERSION } from "../lib/version.ts";

/** Whom to ask, and how long to wait. */
const PING = { tgt: any("*"), tgt_type: str("glob"), timeout: float(null), gather_job_timeout: float(null) };

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

/** `manage.status` */
export const status: RunnerFunction = runner({
  doc: runnerDoc(
    `Ask the minions whether they are there, and list those that answered and those that did not.${TARGETED}`,
    "manage.status",
    "manage.status tgt='web*' timeout=5 gather_job_timeout=10",
  ),
  params: { output: bool(true), ...PING },
  run: (asked, context) => ping(context, asked),
});

/** `manage.up` */
export const up: RunnerFunction = runner({
  doc: runnerDoc(
    `List the minions that answer.${TARGETED}`,
    "manage.up",
    "manage.up tgt='web1,web2' tgt_type=list",
  ),
  params: PING,
  run: async (asked, context) => (await ping(context, asked)).up,
});

/** `manage.down` */
export const down: RunnerFunction = runner({
  doc: runnerDoc(
    `List the minions that do not answer.

removekeys : False
    Delete the keys of those minions, too.${TARGETED}`,
    "manage.down",
    "manage.down removekeys=True",
  ),
  params: { removekeys: bool(false), ...PING },
  async run({ removekeys, ...asked }, context) {
    const { down } = await ping(context, asked);
    if (removekeys) { for (const id of down) await context.deleteKey(id); }
    return down;
  },
});

/** What `manage.versions` calls a minion, by how its version compares to the master's. */
const LABELS: Readonly<Record<"-1" | "0" | "1", string>> = {
  "-1": "Minion requires update",
  "0": "Up to date",
  "1": "Minion newer than master",
};

/** `manage.versions` */
export const versions: RunnerFunction = runner({
  doc: runnerDoc("Ask the minions for their versions, and compare those with the master's.", "manage.versions"),
  params: {},
  async run(_, context) {
    const answers = await context.local.run("*", "test.version", { timeoutS: context.opts.timeout });
    const groups: ValueMap = new Map<Value, Value>([["Master", VERSION]]);
    for (const [id, answer] of [...answers].sort(([a], [b]) => compareStrings(a, b))) {
      const known = answer.retcode === 0 && typeof answer.return === "string";
      const label = known ? LABELS[compareVersions(text(answer.return), VERSION)] : "Minion offline";
      const group = groups.get(label);
      const minions: ValueMap = group instanceof Map ? group : new Map();
      groups.set(label, minions.set(id, known ? answer.return : false));
    }
    return groups;
  },
});

/** Pings what the target means: every accepted minion of it is then either up or down. */
async function ping(context: RunnerContext, asked: Ping): Promise<{ up: string[]; down: string[] }> {
  const accepted = context.keys.list("accepted");
  const { minions } = resolveTarget(asked.tgt, asked.tgt_type, accepted);
  if (minions.length === 0) return { up: [], down: [] };
  const answers = await context.local.run(asked.tgt, "test.ping", {
    tgtType: asked.tgt_type,
    timeoutS: asked.timeout || context.opts.timeout,
    gatherJobTimeoutS: asked.gather_job_timeout || context.opts.gather_job_timeout,
  });
  const up = [...answers.keys()].sort(compareStrings);
  return { up, down: minions.filter((id) => !answers.has(id)).sort(compareStrings) };
}

function compareVersions(a: string, b: string): "-1" | "0" | "1" {
  const [left, right] = [a, b].map((version) => version.split(/[.-]/).map(Number));
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] || 0) - (right[i] || 0);
    if (difference !== 0) return difference < 0 ? "-1" : "1";
  }
  return "0";
}

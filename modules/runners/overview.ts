/**
 * Runner `overview`: minions, keys and jobs as tables, a row each. Not in Salt. Asks no minion.
 * @module
 */

import { readPresence } from "#lib/fleet/presence_file.ts";
import { isQuestion, jobMinions } from "#lib/jobs/listing.ts";
import { isAboutJobs } from "#lib/protocol/about_jobs.ts";
import { plainRetcode } from "#lib/protocol/retcode.ts";
import { p } from "#lib/plugins/module.ts";
import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { utcTime } from "#lib/text/calendar.ts";
import { compareStrings, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { waitingRows } from "./_waiting.ts";

/** The states of keys, in the order in which a minion with several is shown. */
const KEY_STATES = ["accepted", "pending", "rejected", "denied"] as const;

/** How many jobs are searched for the last one of each minion. */
const SEARCHED_JOBS = 500;

const MATCHING = `

match : *
    A glob; only ids that it matches are shown.

The result is a list of maps, for --query as well: --query "[?key=='pending'].id".`;

export const minions: RunnerFunction = runner({
  doc: runnerDoc(
    `Show a row for each minion: its key's state, the start of its connection, its Salt version and operating system as last
reported, and its last job.${MATCHING}`,
    "overview.minions",
    "overview.minions match='web*'",
    `overview.minions --out=json --query "[?connected==''].id"`,
  ),
  params: { match: p.str("*") },
  async run({ match }, context) {
    const here = await context.local.present();
    const since = readPresence(context.opts.cachedir).present;
    const lastJobs = await lastJobOf(context);
    return asTable(
      keysOf(match, context).map(({ id, key }) => {
        const grains = context.data.get(id)?.grains;
        const ms = since.get(id);
        return map({
          id,
          key,
          connected: !here.has(id) ? "" : ms === undefined ? "yes" : utcTime(ms),
          address: here.get(id) ?? "",
          version: str(grains?.get("saltversion") ?? ""),
          os: str(grains?.get("osfinger") ?? grains?.get("os") ?? ""),
          last_job: lastJobs.get(id) ?? "",
        });
      }),
    );
  },
});

export const keys: RunnerFunction = runner({
  doc: runnerDoc(`Show a row for each key of a minion: its state.${MATCHING}`, "overview.keys"),
  params: { match: p.str("*") },
  run: ({ match }, context) => asTable(keysOf(match, context).map(({ id, key }) => map({ id, key }))),
});

export const jobs: RunnerFunction = runner({
  doc: runnerDoc(
    `Show a row for each of the newest jobs, the newest last: start, function, target, the number of its minions, and how many of them
returned and failed.

limit : 20
    How many jobs.

match : *
    A glob; only jobs with such a function are shown.

questions : False
    Whether a row says if the job only shows something on a page of the web console.`,
    "overview.jobs",
    "overview.jobs 50 match='state.*'",
  ),
  params: { limit: p.int(20), match: p.str("*"), questions: p.bool(false) },
  async run({ limit, match, questions }, context) {
    const matches = compileGlob(match);
    const rows: ValueMap[] = [];
    for await (const { jid, load } of context.jobs.list({ newestFirst: true, hidesWatching: true })) {
      if (limit > 0 && rows.length === limit) break;
      if (!matches(functionOf(load))) continue;
      const returns = [...(await context.jobs.getReturns(jid)).values()];
      rows.push(map({
        jid,
        started: startOf(jid),
        user: str(load.get("user") ?? ""),
        function: functionOf(load),
        target: shortText(load.get("tgt") ?? ""),
        minions: jobMinions(await context.jobs.getLoad(jid)).length,
        returned: returns.length,
        failed: returns.filter(({ retcode }) => plainRetcode(retcode ?? 0) !== 0).length,
        ...questions && { question: isQuestion(load) },
      }));
    }
    return asTable(rows.reverse());
  },
});

export const queues: RunnerFunction = runner({
  doc: runnerDoc(
    `Show a row for each queue of this master, with what waits in it, since when, and how much was dropped: events for the reactor and for
returners, records for the database of jobs, and the queues of the runner queue.`,
    "overview.queues",
    `overview.queues --out=json --query "[?waiting > \`1000\`].queue"`,
  ),
  params: {},
  run: (_, context) => asTable(waitingRows(context)),
});

/** Every key whose id the glob matches, by id. */
function keysOf(match: string, context: RunnerContext): { readonly id: string; readonly key: string }[] {
  const matches = compileGlob(match);
  return KEY_STATES.flatMap((key) => context.keys.list(key).filter(matches).map((id) => ({ id, key })))
    .sort((a, b) => compareStrings(a.id, b.id));
}

/** `test.ping 2026-11-22 10:00:01` by minion, of the newest jobs. */
async function lastJobOf(context: RunnerContext): Promise<Map<string, string>> {
  const last = new Map<string, string>();
  for await (const { jid, load } of context.jobs.list({ limit: SEARCHED_JOBS })) {
    if (isAboutJobs(load.get("fun") ?? null) || isQuestion(load)) continue;
    for (const id of jobMinions(await context.jobs.getLoad(jid))) {
      if (!last.has(id)) last.set(id, `${functionOf(load)} ${jid}`);
    }
  }
  return last;
}

function functionOf(load: ValueMap): string {
  const fun = load.get("fun") ?? "";
  return Array.isArray(fun) ? fun.map(str).join(",") : str(fun);
}

/** Characters of a target that a table shows. */
const TARGET_LENGTH = 40;

function shortText(value: Value): string {
  const whole = Array.isArray(value) ? value.map(str).join(",") : str(value);
  return whole.length > TARGET_LENGTH ? `${whole.slice(0, TARGET_LENGTH - 1)}…` : whole;
}

/** The time of a jid on the clock of UTC, as {@linkcode utcTime} shows it; empty for another text. */
function startOf(jid: string): string {
  const [year, month, day, hour, minute, second] = jid.match(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)/)?.slice(1) ?? [];
  return second === undefined ? "" : `${year}-${month}-${day} ${hour}:${minute}:${second}`;
}

/** Rows that are shown as a table, unless another outputter is asked for. */
function asTable(rows: readonly ValueMap[]): Value {
  return new Map<Value, Value>([["outputter", "overview"], ["data", [...rows]]]);
}

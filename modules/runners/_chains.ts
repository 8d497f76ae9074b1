/**
 * The chains of minions, read by jobs, and compared with the job cache.
 * @module
 */

import type { RunnerContext } from "#lib/client/runner_context.ts";
import { base64Bytes } from "#lib/crypto/base64.ts";
import { jobMinions } from "#lib/jobs/listing.ts";
import { auditChain, type StoredJob } from "#lib/operators/chain_audit.ts";
import { type ChainLink, type ChainRecord, readLink, toRecord } from "#lib/operators/chain_records.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Records of one answer; one that has fewer is the last. */
const PAGE = 2_000;
/** Records that are read of a minion at most, several times what a chain keeps: it could go on for ever. */
const MOST_RECORDS = 1_000_000;

/** The minions to audit. */
export interface AuditTarget {
  readonly tgt: Value;
  readonly tgtType: string;
}

/** What was found of a minion. */
export interface Audited {
  readonly records: number;
  readonly last: ChainLink | undefined;
  /** A sentence each. */
  readonly problems: readonly string[];
}

/** Compares the chains of minions with the job cache; minions that do not answer have a problem. */
export async function auditChains(context: RunnerContext, target: AuditTarget): Promise<Map<string, Audited>> {
  // Before the chains are read: what is stored meanwhile is not in them.
  const stored = await storedJobs(context);
  const { tgt, tgtType } = target;
  const job = await context.local.job(tgt, "chain.records", { tgtType, arg: [0, PAGE] });
  const audited = new Map<string, Audited>();
  for (const [id, { return: answer }] of job.returns) {
    audited.set(id, await audit(id, answer, { context, stored, until: job.jid ?? "" }));
  }
  for (const id of job.silent) audited.set(id, { records: 0, last: undefined, problems: ["it does not answer"] });
  return audited;
}

/** By minion and job. */
type Stored = ReadonlyMap<string, ReadonlyMap<string, StoredJob>>;

async function audit(
  id: string,
  answer: Value,
  { context, stored, until }: { readonly context: RunnerContext; readonly stored: Stored; readonly until: string },
): Promise<Audited> {
  const first = isMap(answer) ? answer : undefined, last = readLink(first?.get("last"));
  if (first === undefined || last === undefined) {
    return { records: 0, last: undefined, problems: ["it has no chain: job_chain is off, or it does not know it"] };
  }
  const problems = listOrEmpty(first.get("problems")).map(str);
  const records = recordsOf(first);
  for (let at = records.at(-1)?.n ?? last.n; at < last.n;) {
    const more = await context.local.run([id], "chain.records", { tgtType: "list", arg: [at + 1, PAGE] });
    const page = more.get(id)?.return, read = page !== undefined && isMap(page) ? recordsOf(page) : [];
    // The chain grows by these jobs; records after `last` are left out.
    records.push(...read.filter(({ n }) => n <= last.n));
    const reached = read.at(-1)?.n;
    if (reached === undefined || reached <= at || read.length < PAGE || records.length > MOST_RECORDS) break;
    at = reached;
  }
  const jobs = stored.get(id) ?? new Map<string, StoredJob>();
  return { records: records.length, last, problems: auditChain({ records, last, problems, jobs, until }) };
}

function recordsOf(page: ValueMap): ChainRecord[] {
  return listOrEmpty(page.get("records")).flatMap((text) => {
    const bytes = base64Bytes(text), record = bytes && toRecord(bytes);
    return record === undefined ? [] : [record];
  });
}

async function storedJobs({ jobs }: RunnerContext): Promise<Stored> {
  const byMinion = new Map<string, Map<string, StoredJob>>();
  for await (const { jid, load } of jobs.list()) {
    const returns = await jobs.getReturns(jid);
    for (const id of new Set([...returns.keys(), ...jobMinions(await jobs.getLoad(jid))])) {
      const returned = returns.get(id), own = byMinion.get(id) ?? new Map<string, StoredJob>();
      const isReturned = returned !== undefined && returned.refused !== true;
      own.set(jid, { load, isReturned, link: readLink(returned?.chain) });
      byMinion.set(id, own);
    }
  }
  return byMinion;
}

/** The last records of minions as they are exported: JSON, sorted by the minions. */
export function headsText(audited: ReadonlyMap<string, Audited>, at: Date): string {
  const heads = [...audited].sort(([a], [b]) => a < b ? -1 : 1).flatMap(([id, { last }]) =>
    last === undefined ? [] : [[id, [last.n, last.hash]] as const]
  );
  return `${JSON.stringify({ at: at.toISOString(), heads: Object.fromEntries(heads) }, undefined, 1)}\n`;
}

/** What was found, as a runner returns it. */
export function auditedValue(audited: ReadonlyMap<string, Audited>): ValueMap {
  return new Map([...audited].map(([id, { records, last, problems }]): [Value, Value] => [
    id,
    map({ records, last: last === undefined ? null : [last.n, last.hash], problems: [...problems] }),
  ]));
}

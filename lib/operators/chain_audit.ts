/**
 * Compares the chain of a minion with what its master has stored: with the places in the chain that its returns named,
 * and with the jobs. Reads no files.
 * @module
 */

import { base64Bytes } from "#lib/crypto/base64.ts";
import { isNoLog } from "#lib/protocol/no_log.ts";
import { OP } from "#lib/protocol/operator_field.ts";
import { decodeIfWhole } from "#lib/values/msgpack.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, type ValueMap } from "#lib/values/value.ts";
import { brokenLinks, type ChainLink, type ChainRecord } from "./chain_records.ts";
import { bodyHash } from "./job_statement.ts";

/** A job that a master has stored, and what one minion said about it. */
export interface StoredJob {
  readonly load: ValueMap;
  /** Whether the minion has returned it without refusing it. */
  readonly isReturned: boolean;
  /** The record that its return named. */
  readonly link: ChainLink | undefined;
}

/** What is compared. */
export interface AuditedChain {
  readonly records: readonly ChainRecord[];
  /** The last record, as the minion says. */
  readonly last: ChainLink | undefined;
  /** What the minion found wrong itself. */
  readonly problems: readonly string[];
  /** The stored jobs by their ids, as they were before the chain was read. */
  readonly jobs: ReadonlyMap<string, StoredJob>;
  /** The job that read the chain: neither it nor later ones are among the stored jobs. */
  readonly until: string;
}

/** The differences, a sentence each. */
export function auditChain({ records, last, problems, jobs, until }: AuditedChain): string[] {
  const byNumber = new Map(records.map((record) => [record.n, record]));
  const first = records.at(0)?.n ?? Infinity, given = records.at(-1), end = Math.max(last?.n ?? 0, given?.n ?? 0);
  const found = [...new Set([...problems, ...brokenLinks(records)])];
  if (last !== undefined && (given?.n ?? 0) < last.n) {
    found.push(`the chain ends with record ${last.n}, and its records with ${given?.n ?? 0}`);
  } else if (last !== undefined && last.n > 0 && byNumber.get(last.n)?.hash !== last.hash) {
    found.push(`record ${last.n} is not the one that the chain ends with`);
  }
  const oldest = [...jobs.keys()].reduce((least, jid) => jid < least ? jid : least, "~");
  const ran = new Set<string>();
  for (const { n, fields } of records) {
    const jid = str(fields.get("jid") ?? "");
    if (fields.get("kind") !== "job") continue;
    ran.add(jid);
    const job = jobs.get(jid);
    if (job !== undefined && isOther(job.load, fields)) {
      found.push(`record ${n}: job ${jid} ran as ${str(fields.get("fun") ?? "")}, and is stored as another one`);
    } else if (job === undefined && jid >= oldest && jid < until) {
      found.push(`record ${n}: job ${jid}, ${str(fields.get("fun") ?? "")}, ran and is not stored`);
    }
  }
  for (const [jid, { load, isReturned, link }] of jobs) {
    if (link === undefined) continue;
    if (link.n > end) found.push(`the return of job ${jid} named record ${link.n}, and the chain ends with ${end}`);
    else if (link.n >= first && byNumber.get(link.n)?.hash !== link.hash) {
      found.push(`record ${link.n} is not the one that the return of job ${jid} named`);
    }
    const isSigned = mapOrEmpty(load.get("kwargs")).has(OP);
    if (isReturned && isSigned && link.n > first && !ran.has(jid)) {
      found.push(`the signed job ${jid} was returned, and has no record`);
    }
  }
  return found;
}

/** Whether a stored job is not the one of a record. The arguments of a hidden job are not stored. */
function isOther(load: ValueMap, fields: ValueMap): boolean {
  const kwargs = mapOrEmpty(load.get("kwargs"));
  if (isNoLog(load) || isNoLog(kwargs)) return false;
  const stored = bodyHash(load, undefined), ran = fields.get("body");
  if (str(fields.get("key") ?? "") === "") return stored !== ran;
  const op = kwargs.get(OP), body = isMap(op) ? base64Bytes(op.get("body")) : undefined;
  if (body === undefined || bodyHash(load, body) !== ran) return true;
  // The statement is the one that ran; what is stored beside it may be another job.
  const statement = decodeIfWhole(body);
  return !isMap(statement) || bodyHash(statement, undefined) !== stored;
}

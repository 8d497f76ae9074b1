/**
 * Execution module `chain`: the chain of this minion's jobs (`job_chain`). Not in Salt.
 * @module
 */

import { readChain } from "#lib/operators/chain_records.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { map, type Value } from "#lib/values/value.ts";

export const verify: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Check the chain of this minion's jobs: whether each record follows the one before, and whether the file ends where it
was last written. Return its first and last record, and what is wrong. The return code is 1 if anything is.

n, hash
    A record that the chain must have, as the field \`chain\` of a return names it.`,
    "chain.verify",
    "chain.verify n=17 hash=4ff0…",
  ),
  permissions: "all",
  params: { n: p.int(null), hash: p.str("") },
  run: ({ n, hash }, context) => {
    const { records, head, problems } = readChain(context.opts.cachedir);
    const wrong = [...problems];
    if (head === undefined) wrong.push("there is no chain: job_chain is off, or no job has come");
    if (n !== null && !records.some((record) => record.n === n && record.hash === hash)) {
      wrong.push(`record ${n} is not there with this hash`);
    }
    if (wrong.length > 0) context.setRetcode(1);
    return map({
      valid: wrong.length === 0,
      records: records.length,
      first: records.at(0)?.n ?? null,
      last: head === undefined ? null : [head.n, head.hash],
      problems: wrong,
    });
  },
});

export const records: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return records of the chain of this minion's jobs, as base64, with what is wrong with it. The runner jobs.audit reads
them.

start
    The number of the first record.

limit
    How many at most.`,
    "chain.records start=1 limit=100",
  ),
  permissions: "all",
  params: { start: p.int(0), limit: p.int(2_000) },
  run: ({ start, limit }, context) => {
    const { records, head, problems } = readChain(context.opts.cachedir);
    const wanted = records.filter(({ n }) => n >= start).slice(0, Math.max(0, limit));
    return map({
      last: head === undefined ? null : [head.n, head.hash],
      problems: [...problems],
      records: wanted.map(({ bytes }): Value => bytes.toBase64()),
    });
  },
});

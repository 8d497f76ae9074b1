/** @module */
import { auditChain, type AuditedChain, type StoredJob } from "#lib/operators/chain_audit.ts";
import { type ChainRecord, NO_RECORD, recordFields, toRecord } from "#lib/operators/chain_records.ts";
import { bodyHash, statementOf } from "#lib/operators/job_statement.ts";
import { OP } from "#lib/protocol/operator_field.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { auditChains } from "#modules/runners/_chains.ts";
import type { RunnerContext } from "#lib/client/runner_context.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

const FIRST = "20270131120000000001", SECOND = "20270131120000000002", UNTIL = "20270131130000000000";

/** The load of a signed job, as the master stores it. */
function signedLoad(jid: string): { readonly load: ValueMap; readonly body: Uint8Array } {
  const asked = { fun: "test.arg", arg: ["a", 1], tgt: "*", jid, user: "root" };
  const body = statementOf({
    ...{ ...asked, tgt_type: "glob", masterPem: "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----" },
    kwargs: new Map(),
    notAfter: 1_800_000_000,
  });
  return { load: map({ ...asked, kwargs: map({ [OP]: map({ body: body.toBase64() }) }) }), body };
}

/** A chain of one record for each of the loads, which ran as signed. */
function chainOf(...jobs: readonly (readonly [ValueMap, Uint8Array])[]): ChainRecord[] {
  const records: ChainRecord[] = [];
  for (const [load, body] of jobs) {
    const about = { kind: "job", jid: load.get("jid") ?? null, fun: load.get("fun") ?? null };
    const more = { body: bodyHash(load, body), key: "SHA256:abc" };
    const n = records.length + 1, prev = records.at(-1)?.hash ?? NO_RECORD;
    const record = toRecord(encode(recordFields(n, prev, { ...about, ...more }), "disk"));
    assert(record !== undefined);
    records.push(record);
  }
  return records;
}

const one = signedLoad(FIRST), two = signedLoad(SECOND);
const records = chainOf([one.load, one.body], [two.load, two.body]);
const linkOf = ({ n, hash }: ChainRecord) => ({ n, hash });

function problems(changes: Partial<AuditedChain>, second: Partial<StoredJob> = {}): string[] {
  const jobs = new Map<string, StoredJob>([
    [FIRST, { load: one.load, isReturned: true, link: undefined }],
    [SECOND, { load: two.load, isReturned: true, link: linkOf(records[1]), ...second }],
  ]);
  return auditChain({ records, last: linkOf(records[1]), problems: [], jobs, until: UNTIL, ...changes });
}

/** A load with another statement beside it, or none. */
function withStatement(load: ValueMap, body: string | undefined): ValueMap {
  return new Map(load).set("kwargs", map({ [OP]: map(body === undefined ? {} : { body }) }));
}

Deno.test("the audit of a chain names each difference from what its master has stored", () => {
  const other = "f".repeat(64), ranAs = `record 2: job ${SECOND} ran as test.arg, and is stored as another one`;
  const cases: readonly (readonly [string, string[], Partial<AuditedChain>, Partial<StoredJob>?])[] = [
    ["nothing is wrong", [], {}],
    ["a return that named no record", [], {}, { link: undefined }],
    ["another statement", [ranAs], {}, { load: withStatement(two.load, one.body.toBase64()) }],
    ["a statement that is no base64", [ranAs], {}, { load: withStatement(two.load, "?") }],
    ["no statement", [ranAs], {}, { load: withStatement(two.load, undefined) }],
    ["another function beside the statement", [ranAs], {}, { load: new Map(two.load).set("fun", "test.ping") }],
    ["other arguments beside it", [ranAs], {}, {
      load: new Map(two.load).set("arg", map({ arg: ["b", 1] }).get("arg")!),
    }],
    [
      "a hidden job, whose arguments are not stored",
      [],
      {},
      { load: new Map(two.load).set("arg", "**").set("no_log", true) },
    ],
    [
      "a job that is not stored",
      [`record 2: job ${SECOND}, test.arg, ran and is not stored`],
      { jobs: new Map([[FIRST, { load: one.load, isReturned: true, link: undefined }]]) },
    ],
    [
      "a return that named another record",
      [`record 2 is not the one that the return of job ${SECOND} named`],
      {},
      { link: { n: 2, hash: other } },
    ],
    [
      "a record behind the end",
      [`the return of job ${SECOND} named record 3, and the chain ends with 2`],
      {},
      { link: { n: 3, hash: other } },
    ],
    ["records that are withheld", ["the chain ends with record 2, and its records with 0"], { records: [] }, {}],
    ["the last record withheld", ["the chain ends with record 2, and its records with 1"], {
      records: records.slice(0, 1),
      jobs: new Map(),
    }],
    ["another last record", ["record 2 is not the one that the chain ends with"], { last: { n: 2, hash: other } }],
  ];
  for (const [name, expected, changes, second] of cases) assertEquals(problems(changes, second), expected, name);
});

Deno.test("an unsigned job is compared with what is stored of it", () => {
  const load = map({ fun: "test.arg", arg: ["a"], tgt: "*", jid: SECOND, user: "root", tgt_type: "glob" });
  const fields = { kind: "job", jid: SECOND, fun: "test.arg", body: bodyHash(load, undefined), key: "" };
  const record = toRecord(encode(recordFields(1, NO_RECORD, fields), "disk"));
  assert(record !== undefined);
  const found = (stored: ValueMap) =>
    auditChain({
      records: [record],
      last: linkOf(record),
      problems: [],
      jobs: new Map([[SECOND, { load: stored, isReturned: true, link: linkOf(record) }]]),
      until: UNTIL,
    });
  assertEquals(found(load), []);
  assertEquals(found(new Map(load).set("fun", "test.ping")), [
    `record 1: job ${SECOND} ran as test.arg, and is stored as another one`,
  ]);
});

Deno.test("a long chain is read in pages, and records that came meanwhile are left out", async () => {
  const long: ChainRecord[] = [];
  for (let n = 1; n <= 4_002; n++) {
    const fields = recordFields(n, long.at(-1)?.hash ?? NO_RECORD, { kind: "return", jid: FIRST });
    const record = toRecord(encode(fields, "disk"));
    assert(record !== undefined);
    long.push(record);
  }
  const page = (from: number, count: number, known: number) => {
    const { n, hash } = long[known - 1];
    const records = long.slice(Math.max(0, from - 1)).slice(0, count).map(({ bytes }) => bytes.toBase64());
    return new Map([["web1", { retcode: 0, return: map({ last: [n, hash], problems: [], records }) }]]);
  };
  const asked: unknown[] = [];
  const context = {
    jobs: { async *list() {} },
    local: {
      job: () => Promise.resolve({ jid: SECOND, returns: page(0, 2_000, 4_001), silent: [] }),
      run(_: readonly string[], fun: string, { arg: [from, count] }: { readonly arg: readonly number[] }) {
        asked.push([fun, from, count]);
        return Promise.resolve(page(from, count, 4_002));
      },
    },
  };
  const audited = await auditChains(context as unknown as RunnerContext, { tgt: "*", tgtType: "glob" });
  assertEquals(asked, [["chain.records", 2_001, 2_000], ["chain.records", 4_001, 2_000]]);
  assertEquals(audited.get("web1"), { records: 4_001, last: linkOf(long[4_000]), problems: [] });
});

Deno.test("a minion that answers with anything but records holds up the audit of no other", async () => {
  const link = linkOf(records[1]);
  const answer = (given: readonly string[]): { readonly retcode: number; readonly return: Value } => ({
    retcode: 0,
    return: map({ last: [link.n, link.hash], problems: [], records: [...given] }),
  });
  const whole = records.map(({ bytes }) => bytes.toBase64());
  const returns = new Map<string, ReturnType<typeof answer>>([["liar", answer(["?", "AA=="])], ["mute", {
    retcode: 0,
    return: null,
  }], [
    "web1",
    answer(whole),
  ]]);
  // One that gives a record at a time of a chain that it says to be long: its first short page is the last one.
  const record = (n: number) => toRecord(encode(recordFields(n, NO_RECORD, { kind: "return", jid: FIRST }), "disk"));
  const drop = (n: number) => ({
    retcode: 0,
    return: map({ last: [1_000, link.hash], problems: [], records: [record(n)?.bytes.toBase64()] }),
  });
  returns.set("drip", drop(1));
  const asked: string[] = [];
  const stored = (jid: string, load: ValueMap) => ({ jid, load });
  const context = {
    jobs: {
      async *list() {
        yield await Promise.resolve(stored(FIRST, one.load));
      },
      getReturns: () => Promise.resolve(new Map()),
      getLoad: () => Promise.resolve(new Map(one.load).set("Minions", ["web1"])),
    },
    local: {
      job: () => Promise.resolve({ jid: SECOND, returns, silent: ["db1"] }),
      run([id]: readonly string[]) {
        asked.push(id);
        const more = id === "drip" ? drop(1 + asked.filter((one) => one === id).length) : returns.get(id);
        return Promise.resolve(new Map([[id, more]]));
      },
    },
  };
  const audited = await auditChains(context as unknown as RunnerContext, { tgt: "*", tgtType: "glob" });
  assertEquals([...audited].map(([id, { problems }]) => [id, ...problems]), [
    ["liar", "the chain ends with record 2, and its records with 0"],
    ["mute", "it has no chain: job_chain is off, or it does not know it"],
    ["web1"],
    ["drip", "record 2 does not follow record 1", "the chain ends with record 1000, and its records with 2"],
    ["db1", "it does not answer"],
  ]);
  assertEquals(asked, ["drip"]);
});

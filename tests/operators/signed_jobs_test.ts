/**
 * Jobs that an operator signs: a master that has all its keys, and no operator's, has no command run.
 * @module
 */

import { LocalClient } from "#lib/client/local.ts";
import type { JobRequest } from "#lib/client/job.ts";
import { signedRequest } from "#lib/client/signed_request.ts";
import { statIfExists } from "#lib/os/atomic_file.ts";
import { readOperatorLine } from "#lib/operators/authorized_operators.ts";
import { chainPath, readChain } from "#lib/operators/chain_records.ts";
import { JobSigner } from "#lib/operators/job_signer.ts";
import { OP } from "#lib/protocol/operator_field.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { isMap, map, str, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import { TestOperator, withoutOpenSsh } from "#tests/support/fleet/operator.ts";

const IDS = ["web1", "db1"];

/** A fleet whose minions take only jobs that an operator has signed. */
async function signedFleet(operator: TestOperator): Promise<Fleet> {
  const fleet = await startFleet({
    master: { sign: fingerprint(operator, "alice") },
    minion: { operators_dir: "operators.d", require_operator_signature: true, job_chain: true },
  });
  const narrow = `functions="test.*,chain.*",targets="web*" ${operator.lines.get("narrow")}\n`;
  await fleet.untilServing(IDS, async () => {
    for (const id of IDS) {
      const directory = fleet.minionOpts(id).operators_dir;
      Deno.mkdirSync(directory, { recursive: true });
      Deno.writeTextFileSync(`${directory}/alice`, `${operator.lines.get("alice")}\n`);
      Deno.writeTextFileSync(`${directory}/narrow`, narrow);
      await fleet.startMinion(id);
    }
  });
  return fleet;
}

function fingerprint(operator: TestOperator, name: string): string {
  const line = readOperatorLine(operator.lines.get(name) ?? "");
  assert(typeof line === "object");
  return line.fingerprint;
}

/** What each minion returns for a job that a master without an operator publishes. */
async function forge(fleet: Fleet, job: JobRequest): Promise<Map<string, string>> {
  using client = await LocalClient.connect(fleet.masterOpts, { user: "root", log: SILENT_LOGGER });
  const outcomes = new Map<string, string>();
  for await (const answer of client.collect(await client.publish(job), { timeoutMs: 20_000, gatherMs: 5_000 })) {
    const text = answer.kind === "returned" ? str(answer.return) : "";
    outcomes.set(answer.id, `${answer.outcome}: ${text.replace("Refused by the minion: ", "")}`);
  }
  return outcomes;
}

const withOp = (op: ValueMap | undefined) => op === undefined ? new Map() : map({ [OP]: op });

Deno.test({
  name: "forged jobs run on no minion, and the operator's on all",
  ignore: withoutOpenSsh !== undefined,
  fn: async () => {
    await using operator = await TestOperator.withAgent("alice", "narrow");
    await using fleet = await signedFleet(operator);
    using alice = await JobSigner.open(fingerprint(operator, "alice"));
    const ran = `${fleet.root}/ran`, user = "root", opts = fleet.masterOpts;
    const next = (changes: Partial<JobRequest> = {}): JobRequest => {
      const arg = [`echo forged >> ${ran}`];
      return { tgt: "*", tgtType: "glob", fun: "cmd.run", arg, jid: makeJid(), ...changes };
    };
    const op = async (of: JobRequest, place = opts): Promise<ValueMap | undefined> => {
      const signed = (await signedRequest(of, { opts: place, user, signer: alice })).kwargs?.get(OP);
      return isMap(signed) ? signed : undefined;
    };
    /** A job with the signature of one that differs from it. */
    const forged = async (changes: Partial<JobRequest>, place = opts): Promise<JobRequest> => {
      const job = next();
      return { ...job, kwargs: withOp(await op({ ...job, ...changes }, place)) };
    };
    const otherPki = { ...opts, pki_dir: `${fleet.minionConfigDir("web1")}/nowhere` };
    Deno.mkdirSync(otherPki.pki_dir, { recursive: true });
    Deno.writeTextFileSync(
      `${otherPki.pki_dir}/master.pub`,
      "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
    );
    const forgeries: readonly (readonly [why: string, JobRequest])[] = [
      ["it is not signed by an operator", next()],
      ["its fun is not the one that was signed", await forged({ fun: "test.ping", arg: [] })],
      ["its arg is not the one that was signed", await forged({ arg: ["true"] })],
      ["its target is not the one that was signed", await forged({ tgt: "web1" })],
      ["its jid is not the one that was signed", await forged({ jid: makeJid() })],
      ["its time is over", await forged({ kwargs: map({ job_ttl: -301 }) })],
      ["it was signed for another master", await forged({}, otherPki)],
    ];
    for (const [why, job] of forgeries) {
      const outcomes = await forge(fleet, job);
      assertEquals(outcomes, new Map(IDS.map((id) => [id, `refused: ${why}`])));
    }
    assert(!Deno.statSync(fleet.root).isFile && statIfExists(ran) === undefined, "a forged job ran");
    // Signed by the operator, by the option of the configuration.
    const done = await fleet.salt("*", "cmd.run", `echo signed >> ${ran}`, "--out=json", "--static");
    assertEquals(done.code, 0, done.out + done.err);
    assertEquals(Deno.readTextFileSync(ran), "signed\nsigned\n");
    const summary = await fleet.salt("--sign=false", "*", "test.ping", "--summary");
    assertEquals(summary.code, 1);
    assertStringIncludes(summary.out, "refused");
    const later = await fleet.salt("-b1", "--async", "*", "test.ping");
    assertEquals([later.code, later.out], [64, ""]);
    assertStringIncludes(later.err, "--sign cannot go with --async and --batch: the key stays with this command");
    // A narrow key reaches what it may.
    const narrow = `--sign=${fingerprint(operator, "narrow")}`;
    assertEquals((await fleet.salt(narrow, "web1", "test.ping")).code, 0);
    const refused = await fleet.salt(narrow, "*", "test.ping", "--out=json", "--static");
    assertEquals(refused.code, 1);
    assertStringIncludes(refused.out, "may not sign for db1");
    assertStringIncludes((await fleet.salt(narrow, "web1", "cmd.run", "true")).out, "may not sign cmd.run");
  },
});

Deno.test({
  name: "the audit finds a chain that was cut, and a job that is stored as another one",
  ignore: withoutOpenSsh !== undefined,
  fn: async () => {
    await using operator = await TestOperator.withAgent("alice", "narrow");
    await using fleet = await signedFleet(operator);
    for (let i = 0; i < 3; i++) assertEquals((await fleet.salt("*", "test.echo", `n${i}`)).code, 0);
    const verified = await fleet.saltCall("web1", "--local", "chain.verify");
    assertEquals(verified.code, 0, verified.out);
    const heads = `${fleet.root}/heads`;
    Deno.mkdirSync(heads);
    const whole = await fleet.saltRun("jobs.audit", `export=${heads}`, "--out=json");
    assertEquals([whole.code, JSON.parse(whole.out).web1.problems], [0, []], whole.out);
    assertEquals([...Deno.readDirSync(heads)].map(({ name }) => name.replace(/^heads-.*Z/, "")).sort(), [
      ".json",
      ".json.sig",
    ]);
    // The master changes what it says was asked for.
    const jid = str(readChain(fleet.minionOpts("db1").cachedir).records[0].fields.get("jid") ?? "");
    changeLoad(fleet, jid);
    const changed = JSON.parse((await fleet.saltRun("jobs.audit", "--out=json")).out);
    assertStringIncludes(changed.db1.problems.join(), `job ${jid} ran as test.echo, and is stored as another one`);
    // The minion forgets its last jobs.
    const { cachedir } = fleet.minionOpts("web1");
    const before = readChain(cachedir);
    await fleet.stopMinion("web1");
    Deno.removeSync(chainPath(cachedir));
    await fleet.untilServing(["web1"], () => fleet.startMinion("web1"));
    const cut = await fleet.saltRun("jobs.audit", "web1", "--out=json");
    assertEquals(cut.code, 1);
    assertStringIncludes(JSON.parse(cut.out).web1.problems.join(), `named record ${before.head?.n}`);
  },
});

/** Stores another function for a job. */
function changeLoad(fleet: Fleet, jid: string): void {
  const jobs = fleet.masterOpts.cachedir + "/jobs";
  for (const path of filesBelow(jobs)) {
    if (!path.endsWith("/.load.p")) continue;
    const bytes = Deno.readFileSync(path), text = new TextDecoder("latin1").decode(bytes);
    if (!text.includes(jid)) continue;
    // The statement is in the file as base64: another letter is another statement.
    const at = text.indexOf("body") + 20;
    bytes[at] = bytes[at] === 65 ? 66 : 65;
    Deno.writeFileSync(path, bytes);
  }
}

function* filesBelow(directory: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(directory)) {
    if (isDirectory) yield* filesBelow(`${directory}/${name}`);
    else yield `${directory}/${name}`;
  }
}

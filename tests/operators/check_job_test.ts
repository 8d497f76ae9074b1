/** @module */
import { AuthorizedOperators, readOperatorLine } from "#lib/operators/authorized_operators.ts";
import { checkJob } from "#lib/operators/check_job.ts";
import { JobSigner } from "#lib/operators/job_signer.ts";
import { armoredSignature } from "#lib/operators/job_signature.ts";
import { OperatorCheck } from "#lib/operators/operator_check.ts";
import { canonicalBytes, type SignedJob, statementOf } from "#lib/operators/job_statement.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { Float, isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { ssh, TestOperator, withoutOpenSsh } from "#tests/support/fleet/operator.ts";

const ignore = withoutOpenSsh !== undefined;
const MASTER = "-----BEGIN PUBLIC KEY-----\nbase64\n-----END PUBLIC KEY-----";
const NOW_MS = Date.UTC(2027, 0, 31, 12);
const JID = "20270131120000000001";

const LOAD = {
  fun: "test.arg",
  arg: ["a", 1, { __kwarg__: true, deep: [null, 1.5] }] as unknown[],
  tgt: "web1",
  tgt_type: "glob",
  jid: JID,
  ret: "",
  user: "root",
};

function statement(changes: Partial<SignedJob> = {}): Uint8Array {
  const { fun, tgt, jid, user, tgt_type } = LOAD;
  const arg = map({ arg: LOAD.arg }).get("arg") ?? null;
  const notAfter = NOW_MS / 1000 + 300;
  return statementOf({
    ...{ fun, tgt, jid, user, tgt_type, arg, notAfter },
    masterPem: MASTER,
    kwargs: new Map(),
    ...changes,
  });
}

/** Why minion web1, with this file of operators, refuses a load with a signature; `undefined`: it runs it. */
function refusal(file: string, load: Readonly<Record<string, unknown>>, op: Value | undefined, nowMs = NOW_MS) {
  const directory = Deno.makeTempDirSync();
  try {
    const warnings: string[] = [];
    Deno.writeTextFileSync(`${directory}/alice`, file);
    const operators = new AuthorizedOperators(directory, (text) => warnings.push(text));
    const arrived = decode(encode(map({ ...load }), "wire"), "wire");
    assert(isMap(arrived));
    const matches = ({ tgt }: { tgt: Value }) => str(tgt) === "web*" || str(tgt) === "web1" || str(tgt) === "os:Debian";
    return checkJob(arrived, op, { id: "web1", masterPems: [MASTER], operators, matches, nowMs }).refused;
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}

async function withSigner(act: (sign: (body: Uint8Array) => Promise<ValueMap>, line: string) => Promise<void>) {
  await using operator = await TestOperator.withAgent("alice");
  using signer = await JobSigner.open("");
  await act((body) => signer.sign(body), operator.lines.get("alice") ?? "");
}

Deno.test({
  name: "a job that ssh-agent signed is run, and nothing that differs from it is",
  ignore,
  fn: () =>
    withSigner(async (sign, line) => {
      const op = await sign(statement());
      assertEquals(refusal(line, LOAD, op), undefined);
      const changed: readonly (readonly [Record<string, unknown>, string])[] = [
        [{ arg: ["b"] }, "its arg is not the one"],
        [{ arg: ["a", 1, { __kwarg__: true, deep: [null, 1] }] }, "its arg is not the one"],
        [{ fun: "cmd.run" }, "its fun is not the one"],
        [{ jid: "20270131120000000002" }, "its jid is not the one"],
        [{ user: "mallory" }, "its user is not the one"],
        [{ tgt: "*" }, "its target is not the one"],
        [{ tgt: "web1", tgt_type: "pcre" }, "its target is not the one"],
        [{ tgt: ["web1", "db1"], tgt_type: "list" }, "its target is not the one"],
        [{ ret_kwargs: { file: "/etc/passwd" } }, "options that were not signed"],
        [{ module_executors: ["splay"] }, "options that were not signed"],
        [{ id: "web2" }, "options that were not signed"],
      ];
      for (const [change, why] of changed) assertStringIncludes(refusal(line, { ...LOAD, ...change }, op) ?? "", why);
      assertEquals(refusal(line, { ...LOAD, tgt: ["web1"], tgt_type: "list" }, op), undefined);
      assertStringIncludes(refusal(line, LOAD, undefined) ?? "", "not signed");
      assertStringIncludes(refusal("", LOAD, op) ?? "", "not in operators_dir");
      assertStringIncludes(refusal(line, LOAD, op, NOW_MS + 301_000) ?? "", "time is over");
      const other = new Map(op).set("body", statement({ arg: ["b"] }).toBase64());
      assertStringIncludes(refusal(line, LOAD, other) ?? "", "signature does not hold");
      assertStringIncludes(refusal(line, LOAD, new Map(op).set("alg", "none")) ?? "", "form that this minion");
    }),
});

Deno.test({
  name: "a statement for another master, for too long, or of another form is refused",
  ignore,
  fn: () =>
    withSigner(async (sign, line) => {
      const why = async (body: Uint8Array) => refusal(line, LOAD, await sign(body)) ?? "";
      assertStringIncludes(await why(statement({ masterPem: MASTER.replace("base64", "other") })), "another master");
      assertStringIncludes(await why(statement({ notAfter: NOW_MS / 1000 + 90_000 })), "longer than a minion");
      const read = decode(statement(), "disk");
      assert(isMap(read));
      assertStringIncludes(await why(encode(new Map([...read].reverse()), "disk")), "another form");
      assertStringIncludes(await why(canonicalBytes(new Map(read).set("v", 2))), "a version");
      assertStringIncludes(await why(new TextEncoder().encode("{}")), "cannot be read");
      assertStringIncludes(await why(encode([1], "disk")), "its statement cannot be read: it is no map");
      assertStringIncludes(await why(statement({ jid: "1" })), "longer than a minion");
      for (const [name, value] of [["body", null], ["body", "?"], ["sig", "?"], ["key", 1]] as const) {
        const op = new Map(await sign(statement())).set(name, value);
        assertStringIncludes(refusal(line, LOAD, op) ?? "", "a form that this minion does not know");
      }
      const pattern = await sign(statement({ tgt: "web[", tgt_type: "pcre" }));
      assertStringIncludes(refusal(line, { ...LOAD, tgt: ["web1"], tgt_type: "list" }, pattern) ?? "", "its target");
      // A target that needs data is matched by the minion itself.
      const op = await sign(statement({ tgt: "os:Debian", tgt_type: "grain" }));
      assertEquals(refusal(line, { ...LOAD, tgt: ["web1", "db1"], tgt_type: "list" }, op), undefined);
      const away = await sign(statement({ tgt: "os:Plan9", tgt_type: "grain" }));
      assertStringIncludes(refusal(line, { ...LOAD, tgt: ["web1"], tgt_type: "list" }, away) ?? "", "its target");
    }),
});

Deno.test({
  name: "without the operators' keys no job is proved, and with require_operator_signature: log it runs",
  ignore,
  fn: () =>
    withSigner(async (sign, line) => {
      const op = await sign(statement()), load = map({ ...LOAD }), matches = () => true;
      const root = Deno.makeTempDirSync();
      try {
        const opts = testOpts({ id: "web1" });
        const operators_dir = `${root}/operators.d`;
        const check = (require_operator_signature: "true" | "log") => {
          const { log, lines } = memoryLog();
          const checks = new OperatorCheck({ ...opts, operators_dir, require_operator_signature }, log);
          return { ...checks.check(load, op, { masterPems: [MASTER], matches }), lines };
        };
        const unknown = "the key that signed it is not in operators_dir";
        assertEquals(check("true").refused, unknown);
        const logged = check("log");
        assertEquals([logged.refused, logged.key], [undefined, ""]);
        const would = "would be refused with require_operator_signature: true, because";
        assertEquals(logged.lines, [`WARNING Job ${JID}, test.arg, ${would} ${unknown}`]);
        Deno.mkdirSync(operators_dir);
        Deno.writeTextFileSync(`${operators_dir}/alice`, `expires="2000-01-01" ${line}\n${line}\n`);
        const twice = check("true");
        assertEquals([twice.refused, twice.lines[0]], [
          `the key ${twice.key} has expired`,
          `ERROR ${operators_dir}/alice, line 2: the key is there already, with the rights of its first line`,
        ]);
        Deno.removeSync(operators_dir, { recursive: true });
        Deno.writeTextFileSync(operators_dir, "");
        assertStringIncludes(check("true").refused ?? "", "it cannot be checked: Not a directory");
      } finally {
        Deno.removeSync(root, { recursive: true });
      }
    }),
});

Deno.test({
  name: "the options of a key limit what it signs",
  ignore,
  fn: () =>
    withSigner(async (sign, line) => {
      const op = await sign(statement());
      const why = (options: string) => refusal(`# Alice\n\n${options} ${line}\n`, LOAD, op);
      assertEquals(why('functions="state.*,test.*",targets="web*",expires="2027-02-01"'), undefined);
      assertEquals(why('expires="202701311201"'), undefined);
      assertStringIncludes(why('functions="state.*"') ?? "", "may not sign test.arg");
      assertStringIncludes(why('targets="db*"') ?? "", "may not sign for web1");
      assertStringIncludes(why('expires="20270131"') ?? "", "has expired");
      // What is not understood is no key.
      for (const options of ['function="*"', "restrict", 'targets="a",targets="b"', 'expires="soon"']) {
        assertEquals(typeof readOperatorLine(`${options} ${line}`), "string", options);
        assertStringIncludes(why(options) ?? "", "not in operators_dir");
      }
      const both = ["test.arg", "cmd.run"], args = [[], ["id"]];
      const compound = await sign(statement({ fun: both, arg: args }));
      const load = { ...LOAD, fun: both, arg: args };
      assertStringIncludes(refusal(`functions="test.*" ${line}`, load, compound) ?? "", "may not sign cmd.run");
    }),
});

Deno.test({
  name: "a run of the master's files is signed with the hash of its plan",
  ignore,
  fn: () =>
    withSigner(async (sign, line) => {
      const why = async (fun: unknown, ...arg: unknown[]) => {
        const load = map({ fun, arg });
        const op = await sign(statement({ fun: load.get("fun") ?? null, arg: load.get("arg") ?? null }));
        return refusal(line, { ...LOAD, fun, arg }, op);
      };
      assertStringIncludes(await why("state.apply", "web") ?? "", "state.apply runs what the master's files say");
      assertStringIncludes(await why("state.highstate") ?? "", "state.highstate runs");
      assertStringIncludes(await why(["test.ping", "state.sls"], [], ["web"]) ?? "", "state.sls runs");
      assertEquals(await why("state.apply", "web", { __kwarg__: true, plan: "4f1c" }), undefined);
      assertEquals(await why("state.apply", "web", { __kwarg__: true, test: true }), undefined);
      assertEquals(await why("state.apply", "web", "test=True"), undefined);
      assertEquals(await why("state.plan", "web"), undefined);
      assertEquals(await why("state.single", "pkg.installed", "nginx"), undefined);
    }),
});

Deno.test({
  name: "a run of the master's files counts as planned by the arguments that the minion will run it with",
  ignore,
  fn: () =>
    withSigner(async (sign, line) => {
      const isRefused = async (fun: string, ...arg: unknown[]) => {
        const op = await sign(statement({ fun, arg: map({ arg }).get("arg") ?? null }));
        const why = refusal(line, { ...LOAD, fun, arg }, op);
        assertStringIncludes(why ?? "it runs", `${fun} runs what the master's files say`);
      };
      const named = (more: Readonly<Record<string, unknown>>) => ({ __kwarg__: true, ...more });
      // A map without the mark is a value in a place: SLS names by environment.
      await isRefused("state.apply", { plan: "web" });
      await isRefused("state.apply", { test: true });
      await isRefused("state.apply", { __kwarg__: false, plan: "web" });
      // What the minion takes as no plan.
      for (const plan of [null, false, 4]) await isRefused("state.apply", "web", named({ plan }));
      await isRefused("state.apply", "web", "plan=None");
      // The last of two counts there.
      await isRefused("state.apply", "web", named({ test: true }), "test=False");
      await isRefused("state.apply", "web", named({ plan: "4f1c" }), "plan=None");
      // Others take no plan, and one never runs in test mode.
      await isRefused("state.highstate", named({ plan: "4f1c" }));
      await isRefused("state.run_request", named({ test: true }));
    }),
});

Deno.test("a statement has one form, and tells numbers and texts apart", () => {
  const bytes = (value: unknown) => canonicalBytes(map({ value }).get("value") ?? null).toHex();
  assertEquals(bytes({ b: 1, a: [1, 2] }), bytes({ a: [1, 2], b: 1 }));
  assert(bytes(1) !== canonicalBytes(new Float(1)).toHex());
  assert(bytes("1") !== bytes(1));
  assert(bytes(new TextEncoder().encode("a")) !== bytes("a"));
});

Deno.test({
  name: "OpenSSH verifies our signatures",
  ignore,
  fn: () =>
    withSigner(async (sign, line) => {
      const directory = Deno.makeTempDirSync();
      try {
        const text = new TextEncoder().encode("heads\n");
        Deno.writeTextFileSync(`${directory}/allowed`, `alice ${line}\n`);
        Deno.writeTextFileSync(`${directory}/sig`, armoredSignature(await sign(text)));
        const args = ["-Y", "verify", "-f", `${directory}/allowed`, "-I", "alice", "-n", "salt-job@1", "-s"];
        const child = new Deno.Command("ssh-keygen", {
          args: [...args, `${directory}/sig`],
          stdin: "piped",
          stdout: "null",
        })
          .spawn();
        const writer = child.stdin.getWriter();
        await writer.write(text);
        await writer.close();
        assert((await child.status).success);
      } finally {
        Deno.removeSync(directory, { recursive: true });
      }
    }),
});

Deno.test({
  name: "with a key file the passphrase is asked once, and the job is signed as by an agent",
  ignore,
  fn: async () => {
    await using operator = await TestOperator.withFile("correct horse");
    const questions: string[] = [];
    const ask = (answer: string) => (question: string) => {
      questions.push(question);
      return Promise.resolve(answer);
    };
    using signer = await JobSigner.open("", ask("correct horse"));
    for (let i = 0; i < 2; i++) {
      assertEquals(refusal(operator.lines.get("file") ?? "", LOAD, await signer.sign(statement())), undefined);
    }
    assertEquals(questions.length, 1);
    using wrong = await JobSigner.open("", ask("wrong"));
    await assertRejects(() => wrong.sign(statement()), Error, "ssh-keygen");
    await assertRejects(() => JobSigner.open("SHA256:other"), Error, "There is no key to sign with");
    await ssh("ssh-keygen", [
      "-q",
      "-p",
      "-P",
      "correct horse",
      "-N",
      "",
      "-f",
      `${operator.directory}/config/salt/operator_key`,
    ]);
    await assertRejects(() => JobSigner.open(""), Error, "is not encrypted");
  },
});

Deno.test({
  name: "of several keys in the agent one must be chosen by its fingerprint",
  ignore,
  fn: async () => {
    await using operator = await TestOperator.withAgent("alice", "work");
    await assertRejects(() => JobSigner.open(""), Error, "several Ed25519 keys");
    const line = readOperatorLine(operator.lines.get("work") ?? "");
    assert(typeof line === "object");
    using signer = await JobSigner.open(line.fingerprint);
    assertEquals(refusal(operator.lines.get("work") ?? "", LOAD, await signer.sign(statement())), undefined);
  },
});

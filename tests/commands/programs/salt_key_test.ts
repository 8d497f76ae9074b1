import { encode } from "#lib/values/msgpack.ts";
import { KEY_DIRECTORIES, type KeyState } from "#lib/keys/store.ts";
import { PrivateKey, PublicKey } from "#lib/crypto/rsa.ts";
import { fingerprint } from "#lib/crypto/pem.ts";
import { runSaltKey } from "#lib/commands/programs/salt_key.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";

const KEY = await PrivateKey.generate(1024);
const PEM = KEY.publicKey.pem;
const FINGER = fingerprint(PEM, "sha256");

/** The result of one run of the command. */
interface Run {
  code: number;
  out: string;
  err: string;
  events: ValueMap[];
}

/** A pki directory with keys in every state, and `salt-key` on it. */
class Bench implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "salt_key_" });
  readonly pki = `${this.root}/pki`;
  readonly cache = `${this.root}/cache`;

  constructor() {
    for (const directory of Object.values(KEY_DIRECTORIES)) {
      Deno.mkdirSync(`${this.pki}/${directory}`, { recursive: true });
    }
    for (const id of ["web1", "Db1", "old"]) this.put(id, "accepted");
    for (const id of ["new1", "new2"]) this.put(id, "pending");
    this.put("rej1", "rejected");
    for (const id of ["web1", "den1"]) this.put(id, "denied");
    this.configure({});
  }

  put(id: string, state: KeyState, pem = PEM): void {
    Deno.writeTextFileSync(`${this.pki}/${KEY_DIRECTORIES[state]}/${id}`, pem);
  }

  has(id: string, state: KeyState): boolean {
    return [...Deno.readDirSync(`${this.pki}/${KEY_DIRECTORIES[state]}`)].some(({ name }) => name === id);
  }

  configure(options: Record<string, unknown>): void {
    const all = { root_dir: this.root, pki_dir: this.pki, cachedir: this.cache, id: "host_master", ...options };
    Deno.writeTextFileSync(`${this.root}/master`, JSON.stringify(all));
  }

  /** Data of a minion in the master's cache. */
  remember(id: string): void {
    Deno.mkdirSync(`${this.cache}/grains`, { recursive: true });
    Deno.writeFileSync(`${this.cache}/grains/${id}.p`, encode(map({ os: "Linux" }), "disk"));
  }

  get remembered(): string[] {
    return [...Deno.readDirSync(`${this.cache}/grains`)].map(({ name }) => name.replace(/\.p$/, "")).sort();
  }

  get dropfile(): string | undefined {
    try {
      assertEquals((Deno.statSync(`${this.cache}/.dfn`).mode ?? 0) & 0o777, 0o400);
      return Deno.readTextFileSync(`${this.cache}/.dfn`);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  }

  /** Runs the command. `answers` are the input for its prompts, then the input ends. */
  async run(
    argv: string[],
    { answers = [] as string[], isTerminal = false, isErrorTerminal = false } = {},
  ): Promise<Run> {
    const run: Run = { code: -1, out: "", err: "", events: [] };
    const left = [...answers];
    run.code = await runSaltKey(["-c", this.root, ...argv], {
      isTerminal,
      isErrorTerminal,
      noColor: "",
      write: (text) => void (run.out += text),
      writeError: (text) => void (run.err += text),
      readLine: (prompt) => {
        run.out += prompt;
        return Promise.resolve(left.shift());
      },
      fire: (tag, data, opts) => {
        assertEquals([tag, opts.cachedir], ["salt/key", this.cache]);
        run.events.push(data);
        return Promise.resolve();
      },
    });
    return run;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

const HEADED = {
  acc: "Accepted Keys:\nDb1\nold\nweb1\n",
  den: "Denied Keys:\nden1\nweb1\n",
  un: "Unaccepted Keys:\nnew1\nnew2\n",
  rej: "Rejected Keys:\nrej1\n",
};
const ALL = HEADED.acc + HEADED.den + HEADED.un + HEADED.rej;

// Each row: the arguments, the exit code, standard output. The texts are those of salt-key 3008.3 on the same
// directory.
const QUERIES: readonly (readonly [argv: string, code: number, out: string])[] = [
  ["", 0, ALL],
  ["-L", 0, ALL],
  ["--list-all", 0, ALL],
  ["-l all", 0, ALL],
  ["-l acc", 0, HEADED.acc],
  ["--list=accepted", 0, HEADED.acc],
  ["-l pre", 0, HEADED.un],
  ["-l un", 0, HEADED.un],
  ["-lunaccepted", 0, HEADED.un],
  ["-l rej", 0, HEADED.rej],
  ["-l rejected", 0, HEADED.rej],
  ["-l den", 0, HEADED.den],
  ["-l denied", 0, HEADED.den],
  ["-l bogus", 64, ""],
  [
    "-l acc --force-color",
    0,
    "\x1b[0;1;32mAccepted Keys:\x1b[0;0m\n\x1b[0;32mDb1\x1b[0;0m\n\x1b[0;32mold\x1b[0;0m\n\x1b[0;32mweb1\x1b[0;0m\n",
  ],
  [
    "-L --out=raw",
    0,
    "{'minions_pre': ['new1', 'new2'], 'minions_rejected': ['rej1'], 'minions': ['Db1', 'old', 'web1'], " +
    "'minions_denied': ['den1', 'web1']}\n",
  ],
  ["-l rej --out=json --out-indent=-1", 0, '{"minions_rejected": ["rej1"]}\n'],
  ["-l den --out=yaml", 0, "minions_denied:\n- den1\n- web1\n"],
  ["-L --out=quiet", 0, ""],
  ["-f web1", 0, `Accepted Keys:\nweb1:  ${FINGER}\nDenied Keys:\nweb1:  ${FINGER}\n`],
  ["-f n*1,rej?", 0, `Unaccepted Keys:\nnew1:  ${FINGER}\nRejected Keys:\nrej1:  ${FINGER}\n`],
  ["-f nosuch", 1, ""],
  ["-p old", 0, `Accepted Keys:\nold:  ${PEM}\n`],
  ["-p nosuch --out=json", 1, "{}\n"],
  ["-a nosuch", 1, "The key glob 'nosuch' does not match any unaccepted keys.\n"],
  ["-r nosuch", 1, "The key glob 'nosuch' does not match any unaccepted keys.\n"],
  ["-d nosuch", 1, "The key glob 'nosuch' does not match any unaccepted keys.\n"],
  ["-a web1", 1, "The key glob 'web1' does not match any unaccepted keys.\n"],
  [
    "-a nosuch --include-rejected --include-denied",
    1,
    "The key glob 'nosuch' does not match any unaccepted, rejected or denied keys.\n",
  ],
  ["-r nosuch --include-all", 1, "The key glob 'nosuch' does not match any unaccepted or accepted keys.\n"],
  ["-D web1", 64, ""],
  ["-a new1 new2", 64, ""],
  ["--bogus", 64, ""],
  ["--keysize=1024 --gen-keys=x", 64, ""],
  ["--keysize=32769 --gen-keys=x", 64, ""],
  ["--gen-keys=../x", 64, ""],
  ["--rotate-aes-key=maybe -d old", 64, ""],
  ["--eauth=pam -L", 64, ""],
  ["--version", 0, "salt-key "],
];

for (const [argv, code, out] of QUERIES) {
  Deno.test(`salt-key ${argv || "without options"} exits ${code}`, async () => {
    using bench = new Bench();
    const run = await bench.run(argv.split(" ").filter((word) => word !== ""));
    assertEquals(run.code, code, run.err);
    if (argv === "--version") assertStringIncludes(run.out, out);
    else assertEquals(run.out, out);
    if (code === 64) assertMatch(run.err, /^Usage: salt-key \[options\]\n\nsalt-key: error: /);
    assertEquals(run.events, []);
  });
}

Deno.test("salt-key -F prints all fingerprints, including the master's own keys", async () => {
  using bench = new Bench();
  Deno.writeTextFileSync(`${bench.pki}/master.pem`, KEY.pem, { mode: 0o600 });
  Deno.writeTextFileSync(`${bench.pki}/master.pub`, PEM + "\n");
  Deno.symlinkSync("master.pub", `${bench.pki}/link.pub`);
  const { code, out } = await bench.run(["-F"]);
  assertEquals(code, 0);
  assert(out.startsWith(
    `Local Keys:\nmaster.pem:  ${
      fingerprint(KEY.pem, "sha256")
    }\nmaster.pub:  ${FINGER}\nAccepted Keys:\nDb1:  ${FINGER}\n`,
  ));
});

Deno.test("salt-key -F master equals -F, and -f master shows the master's own keys and names the one for master_finger", async () => {
  using bench = new Bench();
  // A copy of master.pub alone is not listed: these are other keys.
  const other = (await PrivateKey.generate(1024)).publicKey.pem;
  const signing = (await PrivateKey.generate(1024)).publicKey.pem;
  Deno.writeTextFileSync(`${bench.pki}/master_sign.pub`, signing);
  Deno.writeTextFileSync(`${bench.pki}/host_master.pub`, other);
  const hint = (file: string) => `\nThe option master_finger of minions wants that of ${file}.\n`;
  const all = await bench.run(["-F"]);
  const run = await bench.run(["-F", "master"], { isErrorTerminal: true });
  assertEquals([run.code, run.out, run.err], [0, all.out, hint("host_master.pub")]);
  Deno.writeTextFileSync(`${bench.pki}/master.pub`, PEM);
  const own = await bench.run(["-f", "master"], { isErrorTerminal: true });
  Deno.writeTextFileSync(`${bench.pki}/copy.pub`, PEM);
  const names = [["host_master.pub", other], ["master.pub", PEM], ["master_sign.pub", signing]];
  const local = names.map(([name, pem]) => `${name}:  ${fingerprint(pem, "sha256")}\n`).join("");
  assertEquals([own.code, own.out, own.err], [0, `Local Keys:\n${local}`, hint("master.pub")]);
  assertEquals((await bench.run(["-f", "master"])).err, "");
  assertEquals((await bench.run(["-L", "master"])).code, 64);
});

Deno.test("salt-key colours its lists on a terminal, but not into a file, nor with --no-color", async () => {
  using bench = new Bench();
  assertStringIncludes((await bench.run(["-L"], { isTerminal: true })).out, "\x1b[0;32mweb1\x1b[0;0m");
  assertEquals((await bench.run(["-L", "--no-color"], { isTerminal: true })).out, ALL);
  const file = `${bench.root}/out`;
  assertEquals((await bench.run(["-L", `--out-file=${file}`], { isTerminal: true })).out, "");
  assertEquals((await bench.run(["-L", `--out-file=${file}`, "--out-file-append"], { isTerminal: true })).out, "");
  assertEquals(Deno.readTextFileSync(file), ALL + ALL);
});

Deno.test("salt-key -a asks, accepts on yes and fires an event with the key", async () => {
  using bench = new Bench();
  const question = `The following keys are going to be accepted:\n${HEADED.un}Proceed? [n/Y] `;
  for (const answer of ["n", "no", "x"]) {
    const run = await bench.run(["-a", "new*"], { answers: [answer] });
    assertEquals([run.code, run.out, run.events], [0, question, []]);
  }
  const run = await bench.run(["-a", "new*"], { answers: [""] });
  assertEquals(run.out, `${question}Key for minion new1 accepted.\nKey for minion new2 accepted.\n`);
  assertEquals(run.code, 0);
  assertEquals(run.events, ["new1", "new2"].map((id) => map({ result: true, act: "accepted", id, pub: PEM })));
  assert(bench.has("new1", "accepted") && !bench.has("new1", "pending"));
  assertEquals(bench.dropfile, undefined, "accepting a key is no reason for a new AES key");
});

Deno.test("salt-key without an answer to its question changes nothing, and prints that", async () => {
  using bench = new Bench();
  const run = await bench.run(["-A"]);
  assertEquals(run.code, 1);
  assertStringIncludes(run.err, "nothing was done");
  assert(bench.has("new1", "pending"));
});

Deno.test("salt-key -a of keys that are not pending prints their state", async () => {
  using bench = new Bench();
  assertEquals((await bench.run(["-a", "web1"])).err, "It matches web1 (accepted), web1 (denied).\n");
  assertEquals((await bench.run(["-a", "nosuch"])).err, "");
});

Deno.test("the second run of salt-key -A has nothing to do and succeeds", async () => {
  using bench = new Bench();
  assertEquals((await bench.run(["-y", "-A"])).code, 0);
  const again = await bench.run(["-y", "-A"]);
  assertEquals([again.code, again.out], [0, "The key glob '*' does not match any unaccepted keys.\n"]);
});

Deno.test("salt-key -a accepts rejected and denied keys only with --include-rejected and --include-denied", async () => {
  using bench = new Bench();
  const run = await bench.run(["-y", "-a", "rej*,den*", "--include-rejected", "--include-denied"]);
  assertEquals(
    run.out,
    "The following keys are going to be accepted:\nDenied Keys:\nden1\nRejected Keys:\nrej1\n" +
      "Key for minion rej1 accepted.\nKey for minion den1 accepted.\n",
  );
  assert(bench.has("den1", "accepted") && bench.has("rej1", "accepted"));
  assert(!bench.has("den1", "denied") && !bench.has("rej1", "rejected"));
});

Deno.test("salt-key -a does not move a file that is no key, and exits 1", async () => {
  using bench = new Bench();
  bench.put("bad", "pending", "no key at all");
  const run = await bench.run(["-y", "-a", "bad,new1"]);
  assertEquals(run.code, 1);
  assertEquals(run.err, "Unable to accept invalid key for bad.\n");
  assertStringIncludes(run.out, "Key for minion new1 accepted.\n");
  assert(!run.out.includes("bad accepted"));
  assert(bench.has("bad", "pending") && bench.has("new1", "accepted"));
});

Deno.test("salt-key -r rejects pending keys, accepted keys with --include-accepted, and requests a new AES key", async () => {
  using bench = new Bench();
  bench.remember("web1");
  const run = await bench.run(["-r", "web1", "--include-accepted"], { answers: ["y"] });
  assertEquals(
    run.out,
    "The following keys are going to be rejected:\nAccepted Keys:\nweb1\nProceed? [n/Y] Key for minion web1 rejected.\n",
  );
  assertEquals(run.events, [map({ result: true, act: "rejected", id: "web1", pub: PEM })]);
  assert(bench.has("web1", "rejected") && !bench.has("web1", "accepted") && bench.has("web1", "denied"));
  assertEquals(bench.dropfile, "host_master");
  assertEquals(bench.remembered, ["web1"], "a rejected minion is still known");
});

Deno.test("salt-key -d asks with No as the default, deletes, and removes the data of minions without any key", async () => {
  using bench = new Bench();
  for (const id of ["old", "web1", "new1"]) bench.remember(id);
  const question = "The following keys are going to be deleted:\nAccepted Keys:\nold\nProceed? [N/y] ";
  assertEquals((await bench.run(["-d", "old"], { answers: [""] })).out, question);
  assert(bench.has("old", "accepted"));
  const run = await bench.run(["-d", "old"], { answers: ["Yes"] });
  assertEquals(run.out, `${question}Key for minion old deleted.\n`);
  assertEquals(run.events, [map({ result: true, act: "delete", id: "old" })]);
  assert(!bench.has("old", "accepted"));
  assertEquals(bench.remembered, ["new1", "web1"]);
  assertEquals(bench.dropfile, "host_master");
});

Deno.test("salt-key -D deletes the keys of every state", async () => {
  using bench = new Bench();
  const run = await bench.run(["-y", "-D"]);
  assertEquals(run.code, 0);
  assertEquals(run.events.length, 8);
  assertStringIncludes(run.out, "Key for minion web1 deleted.\nKey for minion den1 deleted.\n");
  assertEquals((await bench.run([])).out, "Accepted Keys:\nDenied Keys:\nUnaccepted Keys:\nRejected Keys:\n");
});

Deno.test("salt-key keeps the minions' data with --preserve-minions, or if configured", async () => {
  using bench = new Bench();
  for (const id of ["old", "web1", "Db1"]) bench.remember(id);
  await bench.run(["-y", "-d", "old", "--preserve-minions=True"]);
  assertEquals(bench.remembered, ["Db1", "old", "web1"]);
  bench.configure({ preserve_minion_cache: true });
  await bench.run(["-y", "-d", "web1"]);
  assertEquals(bench.remembered, ["Db1", "old", "web1"]);
  bench.configure({});
  await bench.run(["-y", "-d", "Db1"]);
  assertEquals(bench.remembered, ["old", "web1"]);
});

Deno.test("salt-key requests no new AES key if the option is off", async () => {
  using bench = new Bench();
  await bench.run(["-y", "-d", "old", "--rotate-aes-key=False"]);
  assertEquals(bench.dropfile, undefined);
  bench.configure({ rotate_aes_key: false });
  await bench.run(["-y", "-R"]);
  assertEquals(bench.dropfile, undefined);
  await bench.run(["-y", "-d", "web1", "--rotate-aes-key=true"]);
  assertEquals(bench.dropfile, "host_master");
  await bench.run(["-y", "-d", "Db1", "--rotate-aes-key=true"]);
  assertEquals(bench.dropfile, "host_master", "a request that is there already stays");
});

Deno.test("salt-key -q reports nothing, but still shows the keys that a question is about", async () => {
  using bench = new Bench();
  assertEquals((await bench.run(["-y", "-q", "-a", "new1"])).out, "");
  const run = await bench.run(["-q", "-a", "new2"], { answers: ["y"] });
  assertEquals(
    run.out,
    "The following keys are going to be accepted:\nUnaccepted Keys:\nnew2\nProceed? [n/Y] ",
  );
  assert(bench.has("new1", "accepted") && bench.has("new2", "accepted"));
});

Deno.test("salt-key --gen-keys makes a pair once and prints its fingerprint", async () => {
  using bench = new Bench();
  const argv = ["--gen-keys=web9", `--gen-keys-dir=${bench.root}/new/keys`];
  const { code, out } = await bench.run(argv);
  const pub = Deno.readTextFileSync(`${bench.root}/new/keys/web9.pub`);
  assertEquals([code, out], [0, `return:\n    ${fingerprint(pub, "sha256")}\n`]);
  assertEquals(PrivateKey.fromPem(Deno.readTextFileSync(`${bench.root}/new/keys/web9.pem`)).publicKey.pem + "\n", pub);
  assertEquals((Deno.statSync(`${bench.root}/new/keys/web9.pem`).mode ?? 0) & 0o777, 0o400);
  assertEquals((await bench.run(argv)).out, out, "a second time changes nothing");
});

Deno.test("salt-key --gen-signature signs the master's public key as minions check it", async () => {
  using bench = new Bench();
  const failures: [string[], string][] = [
    [["--gen-signature"], "No usable private-key found"],
    [["--gen-signature", "--priv=/nonexistent"], "Private-key /nonexistent does not exist"],
    [["--gen-signature", "--pub=/nonexistent"], "Public-key /nonexistent does not exist"],
  ];
  for (const [argv, text] of failures) {
    const { code, out } = await bench.run(argv);
    assertEquals([code, out], [1, `return:\n    ${text}\n`]);
  }
  Deno.writeTextFileSync(`${bench.pki}/master.pub`, PEM + "\n");
  const made = await bench.run(["--gen-signature", "--auto-create"]);
  assertEquals([made.code, made.out], [0, "return:\n    True\n"]);
  const text = Deno.readTextFileSync(`${bench.pki}/master_pubkey_signature`);
  const signer = PublicKey.fromPem(Deno.readTextFileSync(`${bench.pki}/master_sign.pub`));
  assert(text.endsWith("\n"));
  assert(signer.verify("PKCS1v15-SHA1", new TextEncoder().encode(PEM), Uint8Array.fromBase64(text)));
  const again = await bench.run(["--gen-signature"]);
  assertEquals([again.code, again.out], [1, "return:\n    False\n"]);
  assertEquals(Deno.readTextFileSync(`${bench.pki}/master_pubkey_signature`), text);
});

Deno.test("salt-key shows no control character of a file's contents raw", async () => {
  using bench = new Bench();
  bench.put("evil", "pending", "\x1b]0;owned\x07\x9b2J");
  assertEquals((await bench.run(["-p", "evil"])).out, "Unaccepted Keys:\nevil:  \\x1b]0;owned\\x07\\x9b2J\n");
});

Deno.test("salt-key on a directory that does not exist yet lists nothing", async () => {
  using bench = new Bench();
  Deno.removeSync(bench.pki, { recursive: true });
  const { code, out } = await bench.run(["--out=json", "--out-indent=-1"]);
  assertEquals(code, 0);
  assertEquals(out, '{"minions_pre": [], "minions_rejected": [], "minions": [], "minions_denied": []}\n');
  assertEquals((await bench.run(["-F"])).code, 0);
});

Deno.test("salt-key reports a configuration error in one line", async () => {
  using bench = new Bench();
  Deno.writeTextFileSync(`${bench.root}/master`, "hash_type: [\n");
  const { code, out, err } = await bench.run(["-L"]);
  assertEquals([code, out], [1, ""]);
  assertMatch(err, /^salt-key: .*master:\d+.*\n$/);
});

Deno.test("salt-key reports an unexpected error in one line, or with its stack with --hard-crash", async () => {
  using bench = new Bench();
  Deno.removeSync(`${bench.pki}/minions`, { recursive: true });
  Deno.writeTextFileSync(`${bench.pki}/minions`, "a file in place of a directory");
  const { code, err } = await bench.run(["-L"]);
  assertEquals(code, 1);
  assertMatch(err, /^salt-key: Not a directory.*\n$/);
  await assertRejects(() => bench.run(["-L", "--hard-crash"]), Deno.errors.NotADirectory);
});

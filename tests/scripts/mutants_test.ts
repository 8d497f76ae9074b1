import { AREAS, GUARDED_ROOMS } from "#scripts/mutants/areas.ts";
import { EQUIVALENT } from "#scripts/mutants/equivalent.ts";
import { findMutants, isEquivalent } from "#scripts/mutants/find.ts";
import { tryMutants } from "#scripts/mutants/mutant_run.ts";
import { EX_INTERRUPTED } from "#lib/commands/cli/exit_codes.ts";
import { TestFinder } from "#scripts/mutants/tests.ts";
import { assert, assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { filesBelow, ifThere } from "#tests/support/tree.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

/** A small tree, which is removed at the end. */
class Tree {
  readonly root = Deno.makeTempDirSync({ prefix: "tree_" });

  constructor(files: Readonly<Record<string, string>>) {
    for (const [path, text] of Object.entries({ "deno.json": "{}", ...files })) {
      Deno.mkdirSync(`${this.root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      Deno.writeTextFileSync(`${this.root}/${path}`, text);
    }
  }

  get texts(): string[] {
    return [...filesBelow(this.root)].sort().map((path) => `${path}: ${Deno.readTextFileSync(path)}`);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

const CASES: readonly (readonly [source: string, ...changes: string[]])[] = [
  ["export const same = a === b;", "comparison === → !=="],
  ["export const few = a < 10;", "boundary < → <="],
  ["if (a > b) f();", "condition a > b → !(a > b)", "boundary > → >=", "call f(); → {}"],
  ["if (!a) f(1);", "condition !a → a", "call f(1); → {}"],
  ["export const both = a && b;", "logical a && b → a || b", "conjunct a && b → a", "conjunct a && b → b"],
  [
    "export const any = a || b && c;",
    "logical a || b && c → a && (b && c)",
    "logical b && c → (b || c)",
    "conjunct a || b && c → a",
    "conjunct a || b && c → (b && c)",
    "conjunct b && c → b",
    "conjunct b && c → c",
  ],
  [ // each of the three is left out once
    "export const all = a && b && c;",
    "logical a && b && c → (a && b) || c",
    "logical a && b → (a || b)",
    "conjunct a && b && c → (a && b)",
    "conjunct a && b → a",
    "conjunct a && b → b",
  ],
  ["export const MOST = 10;", "bound 10 → 11"],
  ["export const MODE = 0o600;", "mode 0o600 → 0o644"],
  [
    "Deno.mkdirSync(path, { mode: 0o700 });",
    "call Deno.mkdirSync(path, { mode: 0o700 }); → {}",
    "mode 0o700 → 0o755",
    "entry mode: 0o700 → ",
  ],
  ["export const before = Deno.umask(0o177);", "mode 0o177 → 0o0"],
  ["export const made = open(path, { createNew: true });", "create createNew: true → create: true"],
  ["export const YEAR_MS = 31_536_000_000;", "scale 31_536_000_000 → 31_536_000_000 * 1000"],
  ["export const MOST_BYTES = 64 * 1024 * 1024;", "scale 64 * 1024 * 1024 → 64 * 1024 * 1024 * 1000"],
  ["export const BLOCK = 1 << 20;", "scale 1 << 20 → (1 << 20) * 1000"],
  ["export const fits = size > 2 ** 20;", "boundary > → >=", "scale 2 ** 20 → 2 ** 20 * 1000"],
  ["export const PAUSE_MS = 50;", "scale 50 → 50 * 1000"],
  ["export const wheel = { running: x, ms: 120_000 };", "scale 120_000 → 120_000 * 1000", "entry ms: 120_000 → "],
  ["export const env = { LC_ALL: 'C', GIT_ASKPASS: '' };", "entry LC_ALL: 'C',  → ", "entry GIT_ASKPASS: '' → "],
  ["export const sent = fetch(url, { redirect: 'error', method });", "entry redirect: 'error',  → "],
  ["export const half = bytes.slice(16);", "bound 16 → 17"],
  ["export const open = true;", "boolean true → false"],
  ["await store.write(key);", "await await store.write(key); → {}"],
  ["f(1); await refuseLinks(p); f(2);", "call f(1); → {}", "await await refuseLinks(p); → {}", "call f(2); → {}"],
  [
    "function last(a: Steps): Step | undefined { if (a.x) a.f(); else if (a.pop() === undefined) return undefined; }",
    "early return undefined; put first",
    "condition a.x → !(a.x)",
    "call a.f(); → {}",
    "comparison === → !==",
    "exit return undefined; → {}",
  ],
  [
    "function g(): void { if (a) return; else f(1); }",
    "early return; put first",
    "condition a → !(a)",
    "exit return; → {}",
    "call f(1); → {}",
  ],
  ["for (const x of a) if (x) continue;", "condition x → !(x)", "exit continue; → {}"],
  ["if (a) throw new TypeError('no');", "condition a → !(a)", "throw throw new TypeError('no'); → {}"],
  ["function f(): void { g(); }", "early return; put first", "call g(); → {}"],
  ["function f(): boolean { return g(); }", "early return true; put first", "early return false; put first"],
  ["function f(): Promise<Key | undefined> { return g(); }", "early return undefined; put first"],
  // Code without an effect on behaviour, or without a guarantee, has no mutant.
  ["// a === b && f(true);"],
  ["type Both = true | 3;"],
  ["export const text = `a === b`, pattern = /a === b/;"],
  ["export const first = list[0] << 8 | 255;"],
  ["export const prime = 0x01000193, mask = mode & 0o777, open = 0o644;"],
  ["export const times = { mtimeMs, atMs: now() };"],
  ["log.debug(`sent ${count === 1 ? 'one' : 'all'}`);"],
  ["this.#log?.warn(found || 'nothing');"],
  ["const error = new KeyError(bytes.length === 0 ? 'empty' : 'short');"],
  ["class A extends B { constructor() { super(); } }"],
];

Deno.test("only lines with an effect have mutants", async () => {
  const names = CASES.map((_, i) => `lib/c${String(i).padStart(2, "0")}.ts`);
  using tree = new Tree(Object.fromEntries(CASES.map(([source], i) => [names[i], `// ü 𝒳\n${source}\n`])));
  const mutants = await findMutants(tree.root, names);
  for (const [i, [source, ...changes]] of CASES.entries()) {
    const its = mutants.filter(({ file }) => file === names[i]);
    assertEquals(its.map(({ kind, change }) => `${kind} ${change}`).sort(), [...changes].sort(), source);
    assert(its.every(({ line, code }) => line === 2 && code === source));
  }
});

/** Lines, and those of their mutants that take away or widen a guard. */
const GUARDED: readonly (readonly [source: string, ...changes: string[]])[] = [
  [
    "if (path.has(0) || path.length > 4096) return undefined;",
    "path.has(0) || path.length > 4096 → path.has(0)",
    "path.has(0) || path.length > 4096 → path.length > 4096",
    "> → >=",
    "4096 → 4096 * 1000",
    "return undefined; → {}",
  ],
  ["if (!known) { f(1); return this.refused(); }", "return this.refused(); → {}"],
  [
    "if (!known && !open) throw new KeyError('no');",
    "!known && !open → !known",
    "!known && !open → !open",
    "throw new KeyError('no'); → {}",
  ],
  [
    "function isName(a: Value): a is string { return typeof a === 'string' && !a.has(0); }",
    "typeof a === 'string' && !a.has(0) → typeof a === 'string'",
    "typeof a === 'string' && !a.has(0) → !a.has(0)",
  ],
  [
    "await refuseLinks(path); Deno.chmodSync(path, mode); await write(path);",
    "await refuseLinks(path); → {}",
    "Deno.chmodSync(path, mode); → {}",
  ],
  [
    "export const place = { createNew: true, mode: 0o600 };",
    "createNew: true → create: true",
    "0o600 → 0o644",
    "mode: 0o600 → ",
  ],
  ["export const MOST = 10, running = { wheel: 4 }; const half = bytes.slice(16);", "10 → 11", "4 → 5"],
  // These say what a function does besides: what they break is no guard.
  ["if (a && b) f(1);"],
  ["if (a && b) return size(a);"],
  ["function sum(a: Value): number { return a.x && b || 0; }"],
  ["try { f(1); } catch (error) { if (!isGone(error)) throw error; }"],
  ["export const open = true;"],
];

Deno.test("the mutants of guards are those that take away or widen a refusal, a mode, a bound or a time limit", async () => {
  const names = GUARDED.map((_, i) => `lib/g${String(i).padStart(2, "0")}.ts`);
  using tree = new Tree(Object.fromEntries(GUARDED.map(([source], i) => [names[i], source])));
  const mutants = (await findMutants(tree.root, names)).filter(({ guard }) => guard);
  for (const [i, [source, ...changes]] of GUARDED.entries()) {
    const its = mutants.filter(({ file }) => file === names[i]).map(({ change }) => change);
    assertEquals(its.sort(), [...changes].sort(), source);
  }
});

const SMALL = {
  "lib/limit.ts": `/** Whether there is room for one more. */
export function hasRoom(taken: number): boolean {
  return taken < 10;
}

/** How many words there are. */
export function words(text: string | undefined): number {
  if (text === undefined) throw new Error("no text");
  let count = 0;
  for (;;) {
    if (count === text.length) break;
    count++;
  }
  return count;
}
`,
  "lib/alone.ts": "export const ALONE = true;\n",
  "tests/limit_test.ts": `import { hasRoom, words } from "../lib/limit.ts";

Deno.test("there is room", () => {
  if (!hasRoom(5) || hasRoom(20) || words("abc") !== 3) throw new Error("it is not so");
});
`,
};

Deno.test("a mutant is caught, survives, runs forever or does not compile; the tree is not changed", async () => {
  using tree = new Tree(SMALL);
  const before = tree.texts;
  const mutants = await findMutants(tree.root, ["lib/limit.ts", "lib/alone.ts"]);
  const verdicts = await tryMutants({ root: tree.root, mutants, jobs: 2, graceMs: 5_000 });
  const fates = verdicts.map(({ mutant: { file, line, change }, fate, tests }) =>
    `${file}:${line} ${change}: ${[fate, ...tests].join(" ")}`
  );
  const test = "tests/limit_test.ts";
  assertEquals(
    fates.sort(),
    [
      "lib/alone.ts:1 true → false: survived",
      `lib/limit.ts:11 === → !==: caught ${test}`,
      `lib/limit.ts:11 break; → {}: timedOut ${test}`,
      `lib/limit.ts:3 < → <=: survived ${test}`,
      `lib/limit.ts:3 return false; put first: caught ${test}`,
      `lib/limit.ts:3 return true; put first: caught ${test}`,
      "lib/limit.ts:8 === → !==: discarded",
      `lib/limit.ts:8 throw new Error("no text"); → {}: discarded`,
      `lib/limit.ts:9 0 → 1: survived ${test}`,
    ].sort(),
  );
  assertEquals(tree.texts, before);
});

Deno.test("only the nearest tests judge, if that is asked for", async () => {
  // The own test of the file sees nothing; the one that imports it catches both.
  using tree = new Tree({
    ...SMALL,
    "tests/limit_test.ts": 'import "../lib/limit.ts";\nDeno.test("nothing", () => {});\n',
    "tests/other_test.ts": SMALL["tests/limit_test.ts"],
  });
  const mutants = (await findMutants(tree.root, ["lib/limit.ts"]))
    .filter(({ line, change }) => line === 3 && change.startsWith("return"));
  const fates = async (nearest?: number) =>
    (await tryMutants({ root: tree.root, mutants, jobs: 1, nearest })).map(({ fate, tests }) =>
      `${fate} ${tests.length}`
    );
  assertEquals([await fates(), await fates(1)], [Array(2).fill("caught 2"), Array(2).fill("survived 1")]);
});

Deno.test("a test that fails without a mutant catches none", async () => {
  const broken = 'import "../lib/limit.ts";\nDeno.test("no", () => { throw new Error("broken"); });\n';
  using tree = new Tree({ ...SMALL, "tests/limit_test.ts": broken });
  const mutants = (await findMutants(tree.root, ["lib/limit.ts"])).filter(({ line }) => line === 3);
  const useless: string[] = [];
  const onUseless = (test: string, output: string) => useless.push(test, output);
  const verdicts = await tryMutants({ root: tree.root, mutants, jobs: 1, onUseless });
  assertEquals(verdicts.map(({ fate, tests }) => `${fate} ${tests}`), mutants.map(() => "survived "));
  assertEquals([useless.length, useless[0]], [2, "tests/limit_test.ts"]);
  assertStringIncludes(useless[1], "broken");
});

Deno.test("the tests of a file are the test with its name, those that import it, and those of its area", () => {
  const tests = new TestFinder(ROOT).testsOf("lib/keys/sessions.ts");
  assertEquals(tests[0], "tests/keys/sessions_test.ts");
  assert(tests.slice(1, -1).some((path) => path.startsWith("tests/master/requests/")));
  assertEquals(tests.at(-1), "tests/master/daemon/master_test.ts");
  // A test of the room may reach a file in a process that it starts.
  assert(new TestFinder(ROOT).testsOf("lib/auth/libpam.ts").includes("tests/auth/pam_test.ts"));
});

Deno.test("the areas name files and tests that are there, each file once", async () => {
  const files = AREAS.flatMap((area) => area.files);
  assertEquals([...new Set(files)], files);
  for (const path of [...files, ...AREAS.flatMap((area) => area.blackBox)]) {
    assert((await Deno.stat(`${ROOT}/${path}`)).isFile, path);
  }
  for (const [room, above] of Object.entries(GUARDED_ROOMS)) {
    assert((await Deno.stat(`${ROOT}/lib/${room}`)).isDirectory, room);
    for (const path of above) assert((await Deno.stat(`${ROOT}/${path}`)).isFile, path);
  }
});

Deno.test("each listed equivalent mutant is still a mutant", async () => {
  const mutants = await findMutants(ROOT, [...new Set(EQUIVALENT.map(({ file }) => file))]);
  const stale = EQUIVALENT.filter(({ file, code, change }) =>
    !mutants.some((mutant) => mutant.file === file && mutant.code === code && mutant.change === change)
  );
  assertEquals(stale, []);
  assert(mutants.some(isEquivalent) === EQUIVALENT.length > 0);
});

const GUARDED_LIMIT = `export function enter(age: number): string {
  if (age > 150 || age < 18) throw new RangeError("no");
  return "welcome";
}
`;
const DOOR_TEST = `import { enter } from "../../lib/door/age.ts";

Deno.test("only those of age enter", () => {
  for (const age of [17, 151]) {
    let refused = false;
    try { enter(age); } catch { refused = true; }
    if (!refused) throw new Error("it is not so");
  }
  enter(30);
});
`;

async function mutants(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", "--quiet", `${ROOT}/scripts/mutants/run.ts`, ...args],
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, out: text(stdout), err: text(stderr) };
}

Deno.test("a seed gives a sample; survivors are reported with their tests, and, with --strict, by the exit code", async () => {
  const list = async (seed: string) =>
    (await mutants("--list", "--area", "crypto", "--count", "20", "--seed", seed)).out;
  const first = await list("1");
  assertEquals(first.trim().split("\n").length, 20);
  assertEquals(await list("1"), first);
  assertNotEquals(await list("2"), first);

  using tree = new Tree(SMALL);
  const only = ["--root", tree.root, "--file", "lib/limit.ts:3", "--seed", "4"];
  const { code, out, err } = await mutants(...only);
  assertEquals([code, err], [0, ""]);
  assertStringIncludes(out, "Seed 4: 3 of 3 mutants\n");
  assertStringIncludes(out, "SURVIVED lib/limit.ts:3 boundary: < → <=\n  tests/limit_test.ts\n");
  assertMatch(out, /^all +3 +2 +0 +1 +0$/m);
  assertEquals((await mutants(...only, "--strict")).code, 1);

  // The tests look at both bounds, but not at the first number that is let in.
  using guarded = new Tree({ ...SMALL, "lib/door/age.ts": GUARDED_LIMIT, "tests/door/door_test.ts": DOOR_TEST });
  const walked = await mutants("--root", guarded.root, "--guards", "--room", "door", "--strict");
  assertEquals([walked.code, walked.err], [1, ""]);
  assertStringIncludes(walked.out, "SURVIVED lib/door/age.ts:2 boundary: > → >=\n  tests/door/door_test.ts\n");
  assertMatch(walked.out, /^door: 3 of 5 broken guards are noticed \(60\.0 %\)$/m);

  for (
    const wrong of [["--room", "nonesuch"], ["--area", "nonesuch"], ["--file", "lib/nonesuch.ts"], ["--count", "0"], [
      "--nonesuch",
    ]]
  ) {
    const refused = await mutants(...wrong);
    assertEquals([refused.code, refused.out], [64, ""], wrong.join(" "));
    assertMatch(refused.err, /^mutants: .*nonesuch|^mutants: --count: 0/);
  }
  assertStringIncludes((await mutants("--help")).out, "--strict");
});

Deno.test("a run that is aborted leaves no copy and no process", async () => {
  const endless = 'Deno.test("waits", () => { Deno.writeTextFileSync(Deno.env.get("MARK") ?? "", ""); for (;;); });\n';
  using tree = new Tree({ ...SMALL, "tests/limit_test.ts": `import "../lib/limit.ts";\n${endless}` });
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    using scratch = new Tree({});
    const mark = `${tree.root}/${signal}`;
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--allow-all",
        "--quiet",
        `${ROOT}/scripts/mutants/run.ts`,
        "--root",
        tree.root,
        "--file",
        "lib/limit.ts",
      ],
      env: { NO_COLOR: "1", TMPDIR: scratch.root, MARK: mark },
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const printed = new Response(child.stdout).text();
    await eventually(() => ifThere(() => Deno.statSync(mark)) !== undefined, { what: "a test that runs" });
    child.kill(signal);
    assertEquals((await child.status).code, EX_INTERRUPTED);
    assertMatch(await printed, new RegExp(`^all +0 +0 +0 +0 +2\nEnded early by ${signal}\\. Seed 1, `, "m"));
    assertEquals([...Deno.readDirSync(scratch.root)].map(({ name }) => name), ["deno.json"]);
    const { stdout } = await new Deno.Command("ps", { args: ["-A", "-o", "args=", "e"] }).output();
    assertEquals(new TextDecoder().decode(stdout).includes(`MARK=${mark}`), false);
  }
});

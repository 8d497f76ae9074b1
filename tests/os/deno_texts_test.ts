/**
 * The messages of Deno that the program parses, produced by this runtime: a version with other words fails here.
 * @module
 */

import {
  isGone,
  isOutOfMemory,
  isUnknownHost,
  PrintedLines,
  refusedAccess,
  systemError,
  workerNumber,
} from "#lib/os/deno_texts.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { run } from "#tests/support/processes.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";

const LINUX = { ignore: Deno.build.os !== "linux" };

/** The error of `act`. */
async function errorOf(act: () => unknown): Promise<Error> {
  try {
    await act();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error(`${act} does not fail`);
}

const NO_FILE = { number: 2, reason: "No such file or directory" };
const SYSTEM_ERRORS: readonly [what: string, act: () => unknown, expected: unknown][] = [
  ["a program that is not there", () => new Deno.Command("/no/such/program").spawn(), NO_FILE],
  ["a directory as program", () => new Deno.Command("/usr").spawn(), { number: 13, reason: "Permission denied" }],
  ["a file that is not there", () => Deno.readTextFileSync("/no/such: file"), NO_FILE],
  ["a directory as file", () => Deno.readTextFileSync("/usr"), { number: 21, reason: "Is a directory" }],
  [
    "a port where nobody listens",
    () => Deno.connect({ hostname: "127.0.0.1", port: 1 }),
    { number: 111, reason: "Connection refused" },
  ],
  ["what Deno itself refuses", () => new Deno.Command("ls", { cwd: "/no/such/directory" }).spawn(), undefined],
];
for (const [what, act, expected] of SYSTEM_ERRORS) {
  Deno.test(`systemError() of ${what} is ${JSON.stringify(expected)}`, LINUX, async () => {
    assertEquals<unknown>(systemError(await errorOf(act)), expected);
  });
}

Deno.test(
  "isGone() is true for missing files and processes, and for processes that end meanwhile",
  LINUX,
  async () => {
    assert(isGone(await errorOf(() => Deno.readTextFileSync("/no/such"))));
    const child = new Deno.Command("sleep", { args: ["1000"] }).spawn();
    using stat = Deno.openSync(`/proc/${child.pid}/stat`);
    child.kill("SIGKILL");
    await child.status;
    assert(isGone(await errorOf(() => Deno.kill(child.pid, "SIGKILL"))), "a signal to a process that has ended");
    assert(isGone(await errorOf(() => stat.readSync(new Uint8Array(1)))), "a file of a process that has ended");
    assert(!isGone(await errorOf(() => Deno.readTextFileSync("/usr"))));
    assert(!isGone("No such process (os error 3)"));
  },
);

/** The refusals of code without permissions, in a worker: this process has all permissions. */
const REFUSED: Readonly<Record<string, string>> = {
  'Deno.readTextFileSync("/etc/passwd")': 'read access to "/etc/passwd"',
  'Deno.writeTextFileSync("/x", "")': 'write access to "/x"',
  'new Deno.Command("ls").spawn()': 'run access to "ls"',
  'await Deno.connect({ hostname: "127.0.0.1", port: 1 })': 'net access to "127.0.0.1:1"',
  'Deno.env.get("HOME")': 'env access to "HOME"',
  "Deno.hostname()": 'sys access to "hostname"',
  'Deno.dlopen("libc.so", {})': 'ffi access to "libc.so"',
  'Deno.kill(1, "SIGTERM")': "run access",
};
Deno.test("refusedAccess() names what was refused", async () => {
  const worker = Object.keys(REFUSED).map((code) =>
    `try { ${code} } catch (error) { errors.push([error instanceof Deno.errors.NotCapable, error.message]); }`
  );
  const url = URL.createObjectURL(
    new Blob([`const errors = [];\n${worker.join("\n")}\npostMessage(errors);`], { type: "text/javascript" }),
  );
  const limited = new Worker(url, { type: "module", deno: { permissions: "none" } });
  try {
    const errors = await new Promise<[boolean, string][]>((resolve, reject) => {
      limited.onmessage = ({ data }) => resolve(data);
      limited.onerror = (event) => reject(new Error(event.message));
    });
    assertEquals(
      errors.map(([isNotCapable, message]) => [isNotCapable, refusedAccess(new Error(message))]),
      Object.values(REFUSED).map((access) => [true, access]),
    );
  } finally {
    limited.terminate();
    URL.revokeObjectURL(url);
  }
  assertEquals(refusedAccess(new Deno.errors.NotCapable("worded otherwise")), undefined);
});

Deno.test("isUnknownHost() is true for unknown and invalid names, and not for unreachable hosts", async () => {
  const connect = (hostname: string) => () => Deno.connect({ hostname, port: 1 });
  // The domain `invalid` never exists (RFC 2606).
  for (const name of ["no-such-host.invalid", "a..b", "a".repeat(300)]) {
    assert(isUnknownHost(await errorOf(connect(name))), name);
  }
  assert(!isUnknownHost(await errorOf(connect("127.0.0.1"))));
});

/** Code that exhausts the memory, by the component that reports it. */
const GREEDY: Readonly<Record<string, string>> = {
  "V8's heap": "const all = []; for (;;) all.push({});",
  "V8's buffers": "const all = []; for (;;) all.push(new Uint8Array(50e6).fill(1));",
  "Rust": 'const all = []; for (;;) all.push(btoa("x".repeat(10e6 + all.length)));',
  "the system, for a file": "Deno.readFileSync(FILE);",
};
for (const [who, code] of Object.entries(GREEDY)) {
  Deno.test(`tellsOutOfMemory() recognizes it from ${who}`, LINUX, () =>
    withTemporaryDirectory(async (root) => {
      using file = Deno.createSync(`${root}/large`);
      file.truncateSync(3e9);
      const limits = new URL("../../lib/libc/limits.ts", import.meta.url);
      const facts = new URL("../../lib/procfs/process_facts.ts", import.meta.url);
      Deno.writeTextFileSync(
        `${root}/greedy.js`,
        `import { limitProcess } from "${limits}";\nimport { processMemory } from "${facts}";\n` +
          `const FILE = "${root}/large";\n` +
          `limitProcess(Deno.pid, { data: processMemory(Deno.pid).data + 100e6, core: 0 });\n${code}\n`,
      );
      const { code: exitCode, err } = await run([
        Deno.execPath(),
        "run",
        "-A",
        "--quiet",
        "--no-lock",
        "--config",
        TREE_CONFIG,
        "--v8-flags=--max-old-space-size=64",
        `${root}/greedy.js`,
      ]);
      assert(exitCode !== 0);
      assert(err.split("\n").some(isOutOfMemory), err);
    }));
}

Deno.test("PrintedLines: a panic without a printed reason is out of memory; one with a reason is another error", () => {
  const begun = [
    "Deno has panicked. This is a bug in Deno. Please report this",
    "",
    "Platform: linux x86_64",
    'Args: ["deno"]',
  ];
  const ends: readonly [lines: readonly string[], outOfMemory: boolean][] = [
    [begun, true],
    [[...begun, "thread 'main' panicked at a.rs:1:2:", "index out of bounds"], false],
    [[...begun, "thread 'main' panicked at a.rs:1:2:", "Cannot allocate memory"], true],
    [
      [...begun, "thread 'main' panicked at a.rs:1:2:", 'Os { code: 11, message: "Resource temporarily unavailable" }'],
      true,
    ],
    [[...begun, "thread 'main' panicked at a.rs:1:2:"], true],
    [[...begun, "thread 'worker-1' panicked at a.rs:1:2:", "index out of bounds", ...begun], true],
    [[...begun, ...begun.slice(0, 3), "thread 'main' panicked at a.rs:1:2:", "index out of bounds", begun[3]], true],
    [["Deno could not start: unable to create worker threads.", "", ...begun.slice(2)], true],
    [["Resource temporarily unavailable"], false],
    [["memory allocation of 8 bytes failed"], true],
    [["error: Uncaught Error: x"], false],
  ];
  for (const [lines, outOfMemory] of ends) {
    const printed = new PrintedLines();
    lines.forEach((line) => printed.add(line));
    assertEquals(printed.outOfMemory, outOfMemory, lines.join("\n"));
  }
});

Deno.test("workerNumber() distinguishes a worker's thread from others, and later ones from earlier ones", LINUX, () => {
  const numbers = () =>
    [...Deno.readDirSync("/proc/self/task")].flatMap(({ name }) => {
      try {
        return workerNumber(Deno.readTextFileSync(`/proc/self/task/${name}/comm`).trim()) ?? [];
      } catch (error) {
        if (!isGone(error)) throw error;
        return [];
      }
    });
  const code = `data:text/javascript,${encodeURIComponent("onmessage = () => {};")}`;
  const workers: Worker[] = [];
  try {
    const before = Math.max(-1, ...numbers());
    workers.push(new Worker(code, { type: "module" }));
    const first = Math.max(-1, ...numbers());
    workers.push(new Worker(code, { type: "module" }));
    assert(before < first && first < Math.max(...numbers()));
  } finally {
    for (const worker of workers) worker.terminate();
  }
  assertEquals(workerNumber("deno"), undefined);
});

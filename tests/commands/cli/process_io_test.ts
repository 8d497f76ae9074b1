/**
 * Standard input, standard output and Ctrl-C of a command in its own process.
 * @module
 */

import { eventually } from "#tests/support/eventually.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";

const ROOT = new URL("../../../", import.meta.url);

/** Time limit of a command, in milliseconds. */
const BOUND_MS = 120_000;

/** Starts Deno with these arguments; standard input is also a pipe. */
function start(...args: readonly string[]): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(BOUND_MS),
  }).spawn();
}

/** Starts one of the commands of `salt.ts`. */
function salt(name: string, ...words: readonly string[]): Deno.ChildProcess {
  return start("run", "--allow-all", "--quiet", "salt.ts", "--as", name, ...words);
}

/** The command that runs a module of this project: `deno eval` would write no coverage data. */
function moduleWords(text: string): string[] {
  const path = Deno.makeTempFileSync({ prefix: "process_io_", suffix: ".ts" });
  Deno.writeTextFileSync(path, text.replaceAll('"./', `"${ROOT}`));
  globalThis.addEventListener("unload", () => Deno.removeSync(path));
  return ["run", "--allow-all", "--quiet", "--no-check", "--config", TREE_CONFIG, path];
}

/** Writes to standard input and closes it. */
async function type(child: Deno.ChildProcess, text: string): Promise<void> {
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
}

/** A master's configuration directory with two pending keys. */
async function withKeys(act: (config: string, waiting: () => string[]) => Promise<void>): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "process_io_" });
  try {
    const pending = `${root}/pki/minions_pre`;
    Deno.mkdirSync(pending, { recursive: true });
    Deno.writeTextFileSync(`${root}/master`, `root_dir: ${root}\npki_dir: ${root}/pki\n`);
    for (const id of ["web1", "web2"]) Deno.writeTextFileSync(`${pending}/${id}`, "a key");
    await act(root, () => [...Deno.readDirSync(pending)].map(({ name }) => name).sort());
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

Deno.test("a reader that closes the pipe, as head does, ends the output but not the command", () =>
  withKeys(async (config) => {
    const child = salt("salt-run", "-c", config, "-d");
    await type(child, "");
    const reader = child.stdout.getReader();
    const { value } = await reader.read();
    assert(value !== undefined && value.length > 0);
    await reader.cancel();
    const [{ code }, err] = await Promise.all([child.status, new Response(child.stderr).text()]);
    assertEquals([code, err], [0, ""]);
  }));

Deno.test("a question reads one line of standard input; end of file is no answer", () =>
  withKeys(async (config, waiting) => {
    const cases: [typed: string, code: number, left: string[]][] = [
      ["n\ny\n", 0, ["web1", "web2"]],
      ["", 1, ["web1", "web2"]],
      ["y", 0, ["web2"]],
    ];
    for (const [typed, expected, left] of cases) {
      const child = salt("salt-key", "-c", config, "-d", "web1");
      await type(child, typed);
      const { code, stdout } = await child.output();
      assertStringIncludes(new TextDecoder().decode(stdout), "Proceed? [N/y]");
      assertEquals([code, waiting()], [expected, left], JSON.stringify(typed));
    }
  }));

Deno.test("the first Ctrl-C makes the command end by itself, the second kills it", async () => {
  const child = start(...moduleWords(
    `import { jobIo, writeOut } from "./lib/commands/cli/process_io.ts";
     jobIo().signal.addEventListener("abort", () => writeOut("asked\\n"));
     writeOut("ready\\n");
     setInterval(() => {}, 1000);`,
  ));
  await type(child, "");
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  for (const expected of ["ready\n", "asked\n"]) {
    assertEquals((await lines.read()).value, expected);
    child.kill("SIGINT");
  }
  assertEquals((await child.status).code, 130);
  await lines.cancel();
  assertEquals(await new Response(child.stderr).text(), "");
});

Deno.test("a command that computes ends at its next step after Ctrl-C or SIGTERM, and at the second one in any case", async () => {
  for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    const counting = start(...moduleWords(
      `import { jobIo, writeOut } from "./lib/commands/cli/process_io.ts";
       import { interruptedRun } from "./lib/commands/cli/run_command.ts";
       import { countStep } from "./lib/values/stop_word.ts";
       const io = jobIo();
       const steps = () => { for (let i = 0; i < 10_000; i++) countStep(); };
       io.signal.addEventListener("abort", steps); // what is left to do has as many steps as it needs
       writeOut("ready\\n");
       try { for (;;) countStep(); } catch (error) { writeOut(error.message + io.signal.aborted); }
       try { steps(); } catch (error) { writeOut(", again\\n"); }
       setTimeout(() => { steps(); Deno.exit(interruptedRun(io)); }, 100);`,
    ));
    await type(counting, "");
    const number = code - 128;
    const reader = counting.stdout.pipeThrough(new TextDecoderStream()).getReader();
    assertEquals((await reader.read()).value, "ready\n");
    counting.kill(signal);
    let told = "";
    for (let read = await reader.read(); read.value !== undefined; read = await reader.read()) told += read.value;
    assertEquals(told, `The job was told to end by signal ${number}true, again\n`);
    assertEquals((await counting.status).code, code);
    const how = signal === "SIGINT" ? "Ctrl-c" : signal;
    assertEquals(await new Response(counting.stderr).text(), `\nExiting gracefully on ${how}\n`);
    await reader.cancel();

    const spinning = start(...moduleWords(
      `import { jobIo, writeOut } from "./lib/commands/cli/process_io.ts";
       jobIo();
       writeOut("ready\\n");
       for (;;);`,
    ));
    await type(spinning, "");
    const ready = spinning.stdout.getReader();
    await ready.read();
    let ended = false;
    void spinning.status.then(() => ended = true);
    await eventually(() => {
      if (!ended) spinning.kill(signal);
      return ended;
    }, { everyMs: 50, what: `the end by a second ${signal}` });
    assertEquals((await spinning.status).signal, signal);
    await ready.cancel();
    await spinning.stderr.cancel();
  }
});

Deno.test("an unknown program name is refused, and the error lists the known names", async () => {
  for (
    const [entry, name, known] of [
      ["salt.ts", "salt-cloud", "salt, salt-key, salt-run, salt-api, salt-cp, salt-ssh"],
      ["minion.ts", "salt-proxy", "salt-minion, salt-call"],
      ["master.ts", "salt-proxy", "salt-master, salt-syndic"],
    ]
  ) {
    const { code, stderr } = await start("run", "--allow-all", "--quiet", entry, "--as", name, "--version").output();
    const text = `${name}: there is no such program; this executable can be linked as ${known}\n`;
    assertEquals([code, new TextDecoder().decode(stderr)], [64, text]);
  }
});

Deno.test("the width and the type of the terminal are read from the environment if it has them", async () => {
  const words = moduleWords(`import { commandIo } from "./lib/commands/cli/process_io.ts";
    const { columns, isDumb, noColor } = commandIo();
    console.log(JSON.stringify([columns ?? null, isDumb, noColor ?? ""]));`);
  for (
    const [env, expected] of [
      [{ COLUMNS: "42", TERM: "dumb", NO_COLOR: "" }, [42, true, "dumb"]],
      [{ COLUMNS: "0", TERM: "xterm", NO_COLOR: "1" }, [null, false, "1"]],
      [{ COLUMNS: "wide", TERM: "xterm", NO_COLOR: "" }, [null, false, ""]],
    ] as const
  ) {
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: words,
      cwd: ROOT,
      env,
      stdin: "null",
    }).output();
    const text = new TextDecoder().decode(stdout);
    assertEquals(text === "" ? new TextDecoder().decode(stderr) : JSON.parse(text), [...expected]);
  }
});

Deno.test("a program that prints after its reader has ended continues silently", async () => {
  const child = start(...moduleWords(
    `import { outputGone, writeError, writeOut } from "./lib/commands/cli/process_io.ts";
     const text = "x".repeat(100_000);
     const states = [outputGone()];
     for (let i = 0; i < 3; i++) { writeOut(text); states.push(outputGone()); }
     writeError(JSON.stringify(states));`,
  ));
  await child.stdout.cancel();
  const [{ code }, err] = await Promise.all([child.status, new Response(child.stderr).text()]);
  assertEquals([code, err], [0, "[false,true,true,true]"]);
});

Deno.test("with --args-stdin arguments come from standard input; they cannot request help", () =>
  withKeys(async (config) => {
    for (
      const [text, code, out, err] of [
        ["test.arg\n1\nb=2\n", 0, "args:\n- 1\nkwargs:\n  b: 2\n", ""],
        [
          "test.arg\n--help\n",
          64,
          "",
          "salt-run: error: standard input (--args-stdin) cannot ask for help or versions",
        ],
        [
          "--versions-report\n",
          64,
          "",
          "salt-run: error: standard input (--args-stdin) cannot ask for help or versions",
        ],
      ] as const
    ) {
      const child = salt("salt-run", "-c", config, "--args-stdin", "--out=yaml");
      await type(child, text);
      const ended = await child.output();
      assertEquals([ended.code, new TextDecoder().decode(ended.stdout)], [code, out]);
      assertStringIncludes(new TextDecoder().decode(ended.stderr), err);
    }
  }));

Deno.test("a small module answers a lone --version", async () => {
  const { code, stdout } = await start("run", "--allow-all", "lib/commands/programs/version_alone.ts", "salt-key")
    .output();
  assertEquals(code, 0);
  assertMatch(new TextDecoder().decode(stdout), /^salt-key \d+\.\d+/);
});

Deno.test("a command of root that the system does not let act as the master's user says so", {
  ignore: Deno.uid() !== 0,
}, () =>
  withKeys(async (config) => {
    Deno.writeTextFileSync(`${config}/master`, `root_dir: ${config}\nuser: nobody\n`);
    // In a user namespace of its own, root is the only user.
    const words = ["-Ur", Deno.execPath(), "run", "--allow-all", "--quiet", "salt.ts", "--as", "salt-cp"];
    const { code, stderr } = await new Deno.Command("unshare", {
      args: [...words, "-c", config, "x", "/etc/hosts", "/tmp"],
      cwd: ROOT,
      env: { NO_COLOR: "1" },
      stdin: "null",
    }).output();
    assertEquals(code, 1);
    assertMatch(new TextDecoder().decode(stderr), /salt-cp: user: cannot act as nobody: /);
  }));

/** @module */
import * as scripts from "#modules/execution/cmd/scripts.ts";
import * as commands from "#modules/execution/cmd/running.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { findUser } from "#lib/os/users.ts";
import { invoke } from "#lib/plugins/call.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { which } from "#lib/programs/which.ts";
import { isMap, map, toValue, type Value } from "#lib/values/value.ts";
import { runInChroot } from "#modules/execution/cmd/chroot.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms, recordingContext } from "#tests/support/calls/recorded_program.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "cmd");

const FUNCTIONS: Readonly<Record<string, ModuleFunction<JobContext>>> = { ...commands, ...scripts };

interface Call {
  readonly args?: unknown[];
  readonly kwargs?: Record<string, unknown>;
  readonly context?: Partial<JobContext>;
}

/**
 * Calls a function as a published job does.
 * @returns Its result and the return code that it set.
 */
async function call(
  name: string,
  { args = [], kwargs = {}, context = {} }: Call = {},
): Promise<[Value, number | null]> {
  let retcode: number | null = null;
  const published = FUNCTIONS[name].varKwargs === undefined ? {} : { __pub_jid: "20260101000000000000" };
  const result = await invoke(FUNCTIONS[name], {
    name: `cmd.${name}`,
    args: args.map((arg) => toValue(arg)),
    kwargs: map({ ...published, ...kwargs }),
    context: testContext({ setRetcode: (code) => retcode = code, ...context }),
  });
  return [result, retcode];
}

function withoutPid(result: Value): Value {
  assert(result instanceof Map && typeof result.get("pid") === "number");
  return new Map([...result].filter(([key]) => key !== "pid"));
}

const CASES: [string, Call, unknown, number | null][] = [
  ["run", { args: ["echo a; echo b >&2; exit 3"] }, "a\nb", 3],
  ["run", { args: ["echo a; echo b >&2"], kwargs: { redirect_stderr: false } }, "a", 0],
  ["run", { args: ["exit 3"], kwargs: { ignore_retcode: true } }, "", 0],
  ["run", { args: ["exit 3"], kwargs: { success_retcodes: 3 } }, "", 0],
  ["run", { args: ["echo a"], kwargs: { hide_output: true } }, "", 0],
  ["run", { args: ["sleep 60"], kwargs: { timeout: 0.05 } }, "sleep 60 : Timed out after 0.05 seconds", 1],
  ["run", { args: ["sleep 0.01"], kwargs: { bg: true } }, "", 0],
  ["run", { args: ["cat", "/", "a\\nb"] }, "a\nb", 0],
  ["run", { args: ["cat"], kwargs: { stdin: "a\\nb", stdin_raw_newlines: true } }, "a\\nb", 0],
  ["run", { args: ["echo $A"], kwargs: { env: { A: "x" } } }, "x", 0],
  ["run", { args: ["echo $A b"], kwargs: { python_shell: false } }, "$A b", 0],
  ["run", { args: ["echo $A b"], kwargs: { __pub_jid: "" } }, "$A b", 0],
  ["shell", { args: ["echo a | cat; echo b >&2"], kwargs: { __pub_jid: "" } }, "a\nb", 0],
  ["shell", { args: ["echo a | cat"], kwargs: { python_shell: false } }, "a | cat", 0],
  ["run_stdout", { args: ["echo a; echo b >&2"] }, "a", 0],
  ["run_stderr", { args: ["echo a; echo b >&2; exit 1"] }, "b", 1],
  ["retcode", { args: ["exit 4"] }, 4, 4],
  ["retcode", { args: ["kill -9 $$"] }, -9, -9],
  ["retcode", { args: ["echo x; exit 4"], kwargs: { success_stdout: "x" } }, 0, 0],
  ["exec_code", { args: ["sh", "echo $1; exit 2", null, "a b"] }, "a b", 2],
  ["exec_code", { args: ["sh", "pwd; cat"], kwargs: { cwd: "/", stdin: "in" } }, "/\nin", 0],
  ["which", { args: ["no-such-program"] }, null, null],
  ["which", { args: ["/bin/sh"] }, "/bin/sh", null],
  ["which_bin", { args: [["no-such-program", "/bin/sh", "ls"]] }, "/bin/sh", null],
  ["which_bin", { args: ["no-such-program"] }, null, null],
  ["has_exec", { args: ["sh"] }, true, null],
  ["has_exec", { args: ["no-such-program"] }, false, null],
  ["tty", { args: ["console"] }, { Error: "The specified device is not a valid TTY" }, null],
  ["tty", { args: ["tty/../null"] }, { Error: "The specified device is not a valid TTY" }, null],
  ["tty", { args: ["ttynosuch"] }, { Error: "Echoing to /dev/ttynosuch returned error" }, null],
  ["tty", { args: ["pts99999", "x"] }, { Error: "Echoing to /dev/pts/99999 returned error" }, null],
];

for (const [name, callArgs, expected, retcode] of CASES) {
  Deno.test(`cmd.${name} ${JSON.stringify(callArgs)} returns ${JSON.stringify(expected)}, return code ${retcode}`, async () => {
    assertEquals<unknown>(await call(name, callArgs), [toValue(expected), retcode]);
  });
}

Deno.test("cmd.run_all returns Salt's four fields, with separate outputs by default", async () => {
  const [result, retcode] = await call("run_all", { args: ["echo a; echo b >&2; exit 3"] });
  assert(result instanceof Map);
  assertEquals([...result.keys()], ["pid", "retcode", "stdout", "stderr"]);
  assertEquals(withoutPid(result), map({ retcode: 3, stdout: "a", stderr: "b" }));
  assertEquals(retcode, 3);
  const [together] = await call("run_all", { args: ["echo a; echo b >&2"], kwargs: { redirect_stderr: true } });
  assertEquals(withoutPid(together), map({ retcode: 0, stdout: "a\nb", stderr: "" }));
  const [hidden] = await call("run_all", { args: ["echo a; echo b >&2"], kwargs: { hide_output: true } });
  assertEquals(withoutPid(hidden), map({ retcode: 0, stdout: "", stderr: "" }));
});

Deno.test("cmd.run with raise_err fails with the output when the return code is not 0", async () => {
  const failing = (kwargs: Record<string, unknown>) => call("run", { args: ["echo bad; exit 1"], kwargs });
  assertEquals((await assertRejects(() => failing({ raise_err: true }), CommandError)).message, "bad");
  assertEquals((await assertRejects(() => failing({ raise_err: true, hide_output: true }), CommandError)).message, "");
  assertEquals(await failing({ raise_err: true, ignore_retcode: true }), ["bad", 0]);
});

Deno.test("an invalid argument is rejected by name before anything runs", async () => {
  await assertRejects(() => call("run"), InvocationError, "'cmd'");
  await assertRejects(() => call("run", { args: ["true"], kwargs: { timeout: "soon" } }), InvocationError, "timeout");
  await assertRejects(() => call("run_bg", { args: ["true"], kwargs: { use_vt: "x" } }), InvocationError, "use_vt");
});

Deno.test("keywords that only related functions declare are accepted", async () => {
  assertEquals(await call("retcode", { args: ["exit 4"], kwargs: { hide_output: true } }), [4, 4]);
  const [result] = await call("exec_code_all", {
    args: ["sh", "echo $A >&2"],
    kwargs: { env: { A: 1 }, redirect_stderr: true },
  });
  assertEquals(withoutPid(result), map({ retcode: 0, stdout: "1", stderr: "" }));
});

Deno.test("cmd_safe: False runs commands in a shell by default", async () => {
  const opts = { ...testContext({}).opts, cmd_safe: false };
  assertEquals(await call("run", { args: ["echo a | cat"], kwargs: { __pub_jid: "" }, context: { opts } }), ["a", 0]);
});

Deno.test("cmd_blacklist_glob and cmd_whitelist_glob forbid commands to published jobs", async () => {
  const listing = (lists: Record<string, string[]>) => ({ opts: testOpts(lists) });
  const black = listing({ cmd_blacklist_glob: ["rm *", "echo b*"] });
  await assertRejects(
    () => call("run", { args: ["echo bad"], context: black }),
    CommandError,
    'The shell command "echo bad" is not permitted',
  );
  assertEquals(await call("run", { args: ["echo good"], context: black }), ["good", 0]);
  const white = listing({ cmd_whitelist_glob: ["echo g*"] });
  assertEquals(await call("run", { args: [["echo", "good"]], kwargs: { python_shell: false }, context: white }), [
    "good",
    0,
  ]);
  await assertRejects(() => call("run_all", { args: ["echo bad"], context: white }), CommandError, "not permitted");
});

Deno.test("a job's abort reaches its command", async () => {
  const controller = new AbortController();
  const child = (_pid: number, state: string) => state === "started" && controller.abort(new Error("killed"));
  await assertRejects(
    () => call("run", { args: ["sleep 60"], context: { signal: controller.signal, child } }),
    Error,
    "killed",
  );
});

Deno.test("cmd.run_bg returns the pid of a command that continues", async () => {
  await withTemporaryDirectory(async (dir) => {
    const [result, retcode] = await call("run_bg", {
      args: [`while [ ! -e ${dir}/stop ]; do sleep 0.02; done; > ${dir}/end`],
    });
    assertEquals(withoutPid(result), new Map());
    assertEquals(retcode, 0);
    await Deno.writeTextFile(`${dir}/stop`, "");
    await eventually(() => exists(`${dir}/end`), { what: "the end of the command" });
  });
});

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

Deno.test("cmd.script runs a copy that only its user can read, with arguments, and removes it", async () => {
  await withTemporaryDirectory(async (dir) => {
    const source = `${dir}/a script.sh`;
    await Deno.writeTextFile(source, '#!/bin/sh\necho "$0"; echo "$#:$1:$2"; ls -l "$0"; echo err >&2; exit 5\n');
    for (const [args, seen] of [["one 'two 3'", "2:one:two 3"], [["one", 2], "2:one:2"], [null, "0::"]]) {
      for (const from of [source, `file://${source.replace(" ", "%20")}`]) {
        const [result, retcode] = await call("script", { args: [from, args], kwargs: { cwd: dir } });
        assert(result instanceof Map);
        const [path, counted, listed] = String(result.get("stdout")).split("\n");
        assertEquals([counted, result.get("stderr"), result.get("retcode"), retcode], [String(seen), "err", 5, 5]);
        assertMatch(path, /\/__salt\.tmp\.\w+\.sh$/);
        assert(path.startsWith(dir));
        assertMatch(listed, /^-r-x------/);
      }
    }
    assertEquals(Array.from(Deno.readDirSync(dir), ({ name }) => name), ["a script.sh"]);
  });
});

Deno.test(
  "cmd.script as root makes no copy where another user could replace it",
  { ignore: Deno.uid() !== 0 },
  async () => {
    const root = Deno.makeTempDirSync({ prefix: "script_" });
    try {
      Deno.chmodSync(root, 0o755);
      const script = `${root}/script.sh`, theirs = `${root}/theirs`, ours = `${root}/ours`;
      Deno.writeTextFileSync(script, "#!/bin/sh\necho $0; pwd\n");
      for (const path of [theirs, ours]) Deno.mkdirSync(path);
      const nobody = findUser("nobody");
      Deno.chownSync(theirs, nobody?.uid ?? 0, nobody?.gid ?? 0);
      for (
        const [cwd, more, inside] of [[ours, {}, true], [theirs, {}, false], [
          theirs,
          { runas: "nobody" },
          false,
        ]] as const
      ) {
        const [ran] = await call("script", { args: [script], kwargs: { cwd, ...more } });
        assert(ran instanceof Map);
        const [copy, where] = String(ran.get("stdout")).split("\n");
        assertEquals([where, copy.startsWith(`${cwd}/`)], [cwd, inside], copy);
      }
    } finally {
      Deno.removeSync(root, { recursive: true });
    }
  },
);

Deno.test("cmd.script fetches over http, and reports a failure", async () => {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request) => request.url.endsWith("/ok.sh") ? new Response("echo from afar") : new Response("no", { status: 404 }),
  );
  /**
   * Fetches a source that is not available.
   * @returns The log.
   */
  const refused = async (source: string): Promise<string> => {
    const logged: string[] = [];
    const log = (_level: string, text: string) => void logged.push(text);
    const [result, code] = await call("script", { args: [source], context: { log } });
    const stderr = logged.join("\n").replace(/^cmd\.script: /, "");
    assertEquals([withoutPid(result), code], [map({ retcode: 1, stdout: "", stderr, cache_error: true }), 1]);
    return logged.join("\n");
  };
  const base = `http://127.0.0.1:${server.addr.port}`;
  try {
    const [answer, retcode] = await call("script", { args: [`${base}/ok.sh`] });
    assertEquals([withoutPid(answer), retcode], [map({ retcode: 0, stdout: "from afar", stderr: "" }), 0]);
    assertEquals(
      await refused(`${base}/other.sh`),
      `cmd.script: Cannot fetch ${base}/other.sh: the server answered 404 Not Found`,
    );
    assertMatch(await refused("/no/such/script"), /Cannot fetch \/no\/such\/script: No such file or directory/);
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const closed = `http://127.0.0.1:${listener.addr.port}`;
    listener.close();
    assertMatch(await refused(`${closed}/x.sh`), /Cannot fetch http:\/\/127\.0\.0\.1:\d+\/x\.sh: .*Connection refused/);
  } finally {
    await server.shutdown();
  }
  assertEquals(await refused("salt://x.sh"), "cmd.script: Cannot fetch salt://x.sh: This test has no master");
  await assertRejects(() => call("script", { args: ["ftp://x/x.sh"] }), CommandError, "ftp:// is not supported");
  await assertRejects(() => call("script", { args: ["x.sh"] }), CommandError, "Path 'x.sh' is not absolute");
});

Deno.test("scripts and code run as another user", { ignore: Deno.uid() !== 0 }, async () => {
  await withTemporaryDirectory(async (dir) => {
    await Deno.writeTextFile(`${dir}/who.sh`, "#!/bin/sh\nid -un");
    const [result] = await call("script", { args: [`${dir}/who.sh`], kwargs: { runas: "nobody" } });
    assertEquals(withoutPid(result), map({ retcode: 0, stdout: "nobody", stderr: "" }));
    assertEquals(await call("exec_code", { args: ["sh", "id -un"], kwargs: { runas: "nobody" } }), ["nobody", 0]);
    await assertRejects(
      () => call("script", { args: [`${dir}/who.sh`], kwargs: { runas: "no-such-user" } }),
      CommandError,
      "User 'no-such-user' is not available",
    );
  });
});

Deno.test("cmd.shells lists absolute paths, no comments", async () => {
  const [shells] = await call("shells");
  assert(Array.isArray(shells) && shells.every((shell) => typeof shell === "string" && shell.startsWith("/")));
});

for (const ignore_retcode of [false, true]) {
  Deno.test(`a command with truncated output does not count as successful, with ignore_retcode=${ignore_retcode}`, async () => {
    const context = { opts: testOpts({ output_max: 1024 }) };
    const kwargs = { python_shell: true, ignore_retcode };
    const [all, retcode] = await call("run", { args: ["head -c 5000 /dev/zero | tr '\\0' x"], kwargs, context });
    assertMatch(String(all), /^x{1024}\n\[stdout was cut here: 3976 more bytes .* \(output_max\)\]$/);
    assertEquals(retcode, 1);
    assertEquals(
      (await call("run", { args: ["head -c 1024 /dev/zero | tr '\\0' x; exit 3"], kwargs, context }))[1],
      ignore_retcode ? 0 : 3,
    );
  });
}

for (const name of ["run", "run_all", "run_stdout", "run_stderr", "retcode", "shell", "run_bg", "script"]) {
  Deno.test(`cmd.${name} refuses an unknown keyword, with the nearest known one, and runs nothing`, async () => {
    await withTemporaryDirectory(async (dir) => {
      Deno.writeTextFileSync(`${dir}/touch.sh`, `touch ${dir}/ran`);
      const cmd = name === "script" ? `${dir}/touch.sh` : `touch ${dir}/ran`;
      await assertRejects(
        () => call(name, { args: [cmd], kwargs: { cwdd: "/tmp", python_shell: true } }),
        InvocationError,
        `cmd.${name} takes no argument 'cwdd'; did you mean cwd? The command was not run.`,
      );
      assertEquals([...Deno.readDirSync(dir)].map((entry) => entry.name), ["touch.sh"]);
    });
  });
}

Deno.test("cmd.run accepts Salt's arguments, including those without effect", async () => {
  const kwargs = { pillar: {}, pillarenv: "base", __env__: "base", stdin_raw_newlines: true };
  assertEquals(await call("run", { args: ["echo a"], kwargs }), ["a", 0]);
});

Deno.test("cmd.shell_info returns the version of a shell, or the reason why it is unknown", async () => {
  using programs = new RecordedPrograms();
  programs.answer("bash", [{ args: "--version", stdout: "GNU bash, version 5.2.15(1)-release (x86_64)\n" }]);
  programs.answer("zsh", [{ args: "*", stdout: "zsh 6\n" }]);
  programs.answer("php", [{ args: "*", stdout: "odd\n" }]);
  const info = async (shell: string) => {
    const info = await testContext().call("cmd.shell_info", [shell]);
    assert(isMap(info));
    return [info.get("installed"), info.get("version") ?? info.get("error")];
  };
  assertEquals(await info("bash"), [true, "5.2.15"]);
  assertEquals(await info("zsh"), [true, "6.0"]);
  assertEquals(await info("php"), [
    null,
    "The version regex pattern for shell php, could not find the version string",
  ]);
  assertEquals(await info("constructor"), [null, "Salt does not know how to get the version number for constructor"]);
});

Deno.test("cmd.script_retcode returns the return code of a script, and cmd.powershell fails with a reason", async () => {
  await withTemporaryDirectory(async (directory) => {
    Deno.writeTextFileSync(`${directory}/s.sh`, '#!/bin/sh\n[ "$1" = a ] && exit 3\nexit 0\n');
    const { call } = testContext();
    assertEquals(await call("cmd.script_retcode", [`${directory}/s.sh`, "a"]), 3);
    assertEquals(await call("cmd.script_retcode", [`${directory}/s.sh`]), 0);
    await assertRejects(() => call("cmd.powershell", ["Get-Process"]), Error, "cmd.powershell is for Windows");
  });
});

Deno.test("cmd.run_chroot mounts file systems, runs a command and unmounts them, also if the command fails", async () => {
  await withTemporaryDirectory(async (root) => {
    const calls: string[] = [];
    const context = testContext({
      call: (name: string, args: Value[] = []): Promise<Value> => {
        calls.push([name, ...args].join(" "));
        return Promise.resolve(args[1] !== "sysfs" || "mount: no");
      },
    });
    const command = { root, cmd: "echo 'a b'", binds: ["/srv"], runas: "fred", group: null };
    const words = await runInChroot(command, context, (argv) => Promise.resolve(argv));
    assertEquals(words, ["chroot", "--userspec", "fred:", root, "/bin/sh", "-c", "echo 'a b'"]);
    assertEquals(calls, [
      `mount.mount ${root}/dev devtmpfs`,
      `mount.mount ${root}/proc proc`,
      `mount.mount ${root}/sys sysfs`,
      `mount.mount ${root}/srv /srv`,
      `mount.umount ${root}/srv`,
      `mount.umount ${root}/proc`,
      `mount.umount ${root}/dev`,
    ]);
    calls.length = 0;
    await assertRejects(
      () => runInChroot(command, context, () => Promise.reject(new Error("failed"))),
      Error,
      "failed",
    );
    assertEquals(calls.filter((line) => line.startsWith("mount.umount")).length, 3);
    await assertRejects(
      () => runInChroot({ ...command, root: "/" }, context, () => Promise.resolve(1)),
      Error,
      "no other root",
    );
  });
});

const perl = which("perl");

Deno.test({
  name: `cmd.run_chroot ends what its command left running there${
    perl === undefined ? " (ignored: there is no perl here)" : ""
  }`,
  ignore: perl === undefined || Deno.uid() !== 0,
  async fn() {
    await withTemporaryDirectory(async (root) => {
      const script = "chroot shift or die; print qq(there\\n); close STDOUT; sleep 60";
      const child = new Deno.Command(perl ?? "", { args: ["-e", script, root], stdout: "piped" }).spawn();
      await new Response(child.stdout).text();
      const context = testContext({ call: () => Promise.resolve(true) });
      const command = { root, cmd: "true", binds: null, runas: null, group: null };
      assertEquals(await runInChroot(command, context, () => Promise.resolve("done")), "done");
      assertEquals((await child.status).signal, "SIGTERM");
      assertEquals(context.logged, []);
    });
  },
});

Deno.test("cmd.run_chroot runs a command line below another root directory", async () => {
  await withTemporaryDirectory(async (root) => {
    const { words, context } = recordingContext(() => "out\n");
    const job = testContext({
      ...context,
      call: (name, args = [], kwargs) =>
        name.startsWith("mount.") ? Promise.resolve(true) : context.call(name, args, kwargs),
    });
    const { run_chroot } = await import("#modules/execution/cmd/running.ts");
    const { invoke } = await import("#lib/plugins/call.ts");
    const result = await invoke(run_chroot, {
      name: "cmd.run_chroot",
      args: [root, "echo 'a b'"],
      kwargs: new Map(),
      context: job,
    });
    assertEquals(result, map({ pid: 1, retcode: 0, stdout: "out", stderr: "" }));
    assertEquals(words.at(-1), ["chroot", root, "/bin/sh", "-c", "echo 'a b'"]);
  });
});

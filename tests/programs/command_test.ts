/** @module */
import { type CommandHost, type CommandRequest, type CommandResult, runCommand } from "#lib/programs/command.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { textDecoder } from "#lib/text/encoding.ts";
import { map } from "#lib/values/value.ts";
import { startable, which } from "#lib/programs/which.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

interface Recorder extends CommandHost {
  readonly children: [number, string][];
  readonly logged: string[];
}

function host(signal = new AbortController().signal): Recorder {
  const children: [number, string][] = [];
  const logged: string[] = [];
  return {
    signal,
    children,
    logged,
    child: (pid, state) => children.push([pid, state]),
    log: (level, message) => logged.push(`${level}: ${message}`),
  };
}

function sh(cmd: string, more: Partial<CommandRequest> = {}): Promise<CommandResult> {
  return runCommand({ cmd, shell: "/bin/sh", python_shell: true, ...more }, host());
}

/** Whether a process is running, and is no zombie. */
function alive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}

const CASES: [string, Partial<CommandRequest>, Partial<CommandResult>][] = [
  ["echo out; echo err >&2; exit 3", {}, { stdout: "out", stderr: "err", retcode: 3 }],
  ["echo 1; echo 2 >&2; echo 3", { redirect_stderr: true }, { stdout: "1\n2\n3", stderr: "" }],
  ["kill -9 $$", {}, { retcode: -9 }],
  ["kill -15 $$", { redirect_stderr: true }, { retcode: -15 }],
  ["printf 'a \\n\\n'", {}, { stdout: "a" }],
  ["printf 'a \\n\\n'", { rstrip: false }, { stdout: "a \n\n" }],
  ["cat", { stdin: "a\\nb" }, { stdout: "a\nb" }],
  ["cat", { stdin: "a\\nb", stdin_raw_newlines: true }, { stdout: "a\\nb" }],
  ["cat", { stdin: 12 }, { stdout: "12" }],
  ["od -An -tx1", { stdin: Uint8Array.of(0, 255, 92, 110) }, { stdout: " 00 ff 5c 6e" }],
  ["cat", {}, { stdout: "" }],
  ["echo $A-$B", { env: map({ A: 1, B: null }) }, { stdout: "1-" }],
  ["echo $A-$B", { env: [map({ A: true }), map({ B: "x y" })] }, { stdout: "True-x y" }],
  ["echo $LC_TIME $LANGUAGE", {}, { stdout: "C C" }],
  ["echo $LC_TIME", { env: map({ LC_TIME: "de_DE" }) }, { stdout: "de_DE" }],
  ["echo $PATH", { env: map({ PATH: "/bin" }), prepend_path: "/opt/x:/opt/y" }, { stdout: "/opt/x:/opt/y:/bin" }],
  ["umask", { umask: "077" }, { stdout: "0077" }],
  ["umask", { umask: 27, redirect_stderr: true }, { stdout: "0027" }],
  ["pwd", { cwd: "/" }, { stdout: "/" }],
  ["exit 3", { success_retcodes: [2, 3] }, { retcode: 0 }],
  ["exit 3", { success_retcodes: "2, 3" }, { retcode: 0 }],
  ["exit 3", { success_retcodes: 4 }, { retcode: 3 }],
  ["echo fine; exit 3", { success_stdout: "good,fin" }, { retcode: 0 }],
  ["echo fine >&2; exit 3", { success_stdout: ["fin"] }, { retcode: 3 }],
  ["echo fine >&2; exit 3", { success_stderr: ["fin"] }, { retcode: 0 }],
  ["printf '\\377a'", {}, { stdout: "\ufffda" }],
  ["printf '\\377\\200'", { output_encoding: "latin-1" }, { stdout: "\xff\x80" }],
  ["printf '\\200'", { output_encoding: "cp1252" }, { stdout: "€" }],
  ["printf '\\357\\273\\277a'", {}, { stdout: "\ufeffa" }],
  ["printf '\\357\\273\\277a'", { output_encoding: "utf-8-sig" }, { stdout: "a" }],
];

for (const [cmd, more, expected] of CASES) {
  Deno.test(`runCommand() of ${cmd} ${Deno.inspect(more)} gives ${JSON.stringify(expected)}`, async () => {
    const result = await sh(cmd, { cwd: "/", ...more });
    const seen = Object.fromEntries(Object.entries(result).filter(([key]) => Object.hasOwn(expected, key)));
    assertEquals<unknown>(seen, expected);
  });
}

Deno.test("clean_env leaves out the minion's own environment", async () => {
  const { stdout } = await runCommand({
    cmd: "env",
    env: map({ A: 1, PATH: "/usr/bin:/bin" }),
    clean_env: true,
    reset_system_locale: false,
  }, host());
  assertEquals(stdout.split("\n").sort(), ["A=1", "PATH=/usr/bin:/bin"]);
});

Deno.test("the two outputs of a watched command are distinguished, and joined in the order of reading", async () => {
  await withTemporaryDirectory(async (dir) => {
    const seen: string[] = [];
    const watching = {
      ...host(),
      output(stream: string, bytes: Uint8Array) {
        seen.push(`${stream}: ${new TextDecoder().decode(bytes)}`);
        Deno.writeTextFileSync(`${dir}/${seen.length}`, "");
      },
    };
    const until = (n: number) => `while [ ! -e ${dir}/${n} ]; do sleep 0.02; done`;
    const cmd = `echo 1; ${until(1)}; echo 2 >&2; ${until(2)}; echo 3`;
    const request = { cmd, shell: "/bin/sh", python_shell: true, redirect_stderr: true };
    const { stdout, stderr } = await runCommand(request, watching);
    assertEquals(seen, ["stdout: 1\n", "stderr: 2\n", "stdout: 3\n"]);
    assertEquals([stdout, stderr], ["1\n2\n3", ""]);
    const { stdout: cut } = await runCommand({ ...request, cmd: "echo 123 >&2" }, { ...watching, outputMax: 2 });
    assertMatch(cut, /^12\n\[stdout was cut here: 2 more bytes/);
  });
});

Deno.test("without a shell a command line is split into words, and a list is used unchanged", async () => {
  const direct = (cmd: CommandRequest["cmd"]) =>
    runCommand({ cmd, python_shell: false, redirect_stderr: true }, host());
  assertEquals((await direct("printf '%s|' 'a b' $HOME ;")).stdout, "a b|$HOME|;|");
  assertEquals((await direct(["printf", "%s|", "a b", 3, true])).stdout, "a b|3|True|");
});

Deno.test("a program without a shell gets the name that it was called by", async () => {
  assertEquals((await runCommand({ cmd: "sh -c 'echo $0'", python_shell: false }, host())).stdout, "sh");
  assertEquals((await runCommand({ cmd: "/bin/sh -c 'echo $0'", python_shell: false }, host())).stdout, "/bin/sh");
});

Deno.test("a shell gets the first item of a list as its command, as Python has it", async () => {
  const result = await runCommand({ cmd: ["echo $0 $1", "a", "b"], shell: "/bin/sh", python_shell: true }, host());
  assertEquals(result.stdout, "a b");
});

const REFUSED: [string, CommandRequest, new (...args: never[]) => Error, string][] = [
  [
    "a shell that is not there",
    { cmd: "x", shell: "/bin/nosuch" },
    CommandError,
    "The shell /bin/nosuch is not available",
  ],
  [
    "a relative cwd",
    { cmd: "x", cwd: "tmp" },
    CommandError,
    "Specified cwd 'tmp' either not absolute or does not exist",
  ],
  [
    "a missing cwd",
    { cmd: "x", cwd: "/no/such" },
    CommandError,
    "Specified cwd '/no/such' either not absolute or does not",
  ],
  ["an unknown user", { cmd: "x", runas: "no-such-user" }, CommandError, "User 'no-such-user' is not available"],
  ["an unknown group", { cmd: "x", group: "no-such-group" }, CommandError, "Group 'no-such-group' is not available"],
  ["a zero umask", { cmd: "true", umask: "00" }, CommandError, "Zero umask is not allowed."],
  ["a umask that is not octal", { cmd: "true", umask: 9 }, CommandError, "Invalid umask: '9'"],
  ["a template", { cmd: "true", template: "jinja" }, CommandError, "unavailable engine jinja"],
  ["an unknown encoding", { cmd: "true", output_encoding: "klingon" }, InvocationError, "unknown encoding: klingon"],
  ["return codes that are none", { cmd: "true", success_retcodes: "x" }, InvocationError, "must be a list of integers"],
  ["an empty command", { cmd: " ", python_shell: true }, InvocationError, "empty"],
  ["an empty list", { cmd: [] }, InvocationError, "empty"],
  ["a null byte", { cmd: "a\0b", python_shell: true }, InvocationError, "null byte"],
  ["an open quote", { cmd: "echo 'a" }, InvocationError, "No closing quotation"],
  ["an environment that is a text", { cmd: "true", env: "A=1" }, InvocationError, "not 'A=1': env='{NAME: value}'"],
  ["a list of larger maps", { cmd: "true", env: [map({ A: 1, B: 2 })] }, InvocationError, "env must be a map"],
  [
    "a variable's name with =",
    { cmd: "true", env: map({ "A=B": 1 }) },
    InvocationError,
    "illegal environment variable name",
  ],
];

for (const [what, request, error, message] of REFUSED) {
  Deno.test(`runCommand() refuses ${what}, and starts nothing`, async () => {
    const recorder = host();
    await assertRejects(() => runCommand(request, recorder), error, message);
    assertEquals(recorder.children, []);
  });
}

for (const redirect_stderr of [false, true]) {
  Deno.test(`a missing program is refused in Salt's words (redirect_stderr ${redirect_stderr})`, async () => {
    const error = await assertRejects(
      () => runCommand({ cmd: "no-such-program x", cwd: "/", timeout: 3, redirect_stderr }, host()),
      CommandError,
    );
    assertEquals(
      error.message,
      "Unable to run command '['no-such-program', 'x']' with the context '{'cwd': '/', 'shell': False, 'stdout': -1, " +
        `'stderr': ${
          redirect_stderr ? -2 : -1
        }, 'with_communicate': True, 'timeout': 3, 'bg': False, 'close_fds': True}', ` +
        "reason: [Errno 2] No such file or directory: 'no-such-program'",
    );
  });
}

Deno.test("the error of a quiet command that cannot be started does not show the command", async () => {
  const recorder = host();
  const error = await assertRejects(
    () => runCommand({ cmd: "no-such-program secret", output_loglevel: "quiet" }, recorder),
    CommandError,
    "REDACTED",
  );
  assert(!error.message.includes("secret"));
  assertEquals(recorder.logged, []);
});

Deno.test("a file that is not executable is refused as such", async () => {
  await assertRejects(
    () => runCommand({ cmd: "/etc/passwd", cwd: "/" }, host()),
    CommandError,
    "reason: [Errno 13] Permission denied: '/etc/passwd'",
  );
});

Deno.test("more arguments than the system allows are refused in Salt's words", async () => {
  await assertRejects(
    () => runCommand({ cmd: ["true", "x".repeat(200_000)], cwd: "/" }, host()),
    CommandError,
    "[Errno 7] Argument list too long",
  );
});

Deno.test("a timeout kills the command with all its descendants and is reported", async () => {
  await withTemporaryDirectory(async (dir) => {
    const recorder = host();
    const started = performance.now();
    const cmd = `sleep 60 & echo $! > ${dir}/pid; echo before; wait`;
    const result = await runCommand({ cmd, shell: "/bin/sh", python_shell: true, timeout: 3 }, recorder);
    assert(performance.now() - started < 30_000, "the sleep of a minute was waited for");
    const { pid, ...rest } = result;
    assertEquals(rest, { stdout: `${cmd} : Timed out after 3 seconds`, stderr: "", retcode: 1 });
    assertEquals(recorder.children, [[pid, "started"], [pid, "ended"]]);
    const grandchild = Number(await Deno.readTextFile(`${dir}/pid`));
    await eventually(() => !alive(grandchild), { what: "the end of the grandchild" });
  });
});

Deno.test("a timeout also ends the wait for a descendant that left the process group and kept the pipe", async () => {
  await withTemporaryDirectory(async (dir) => {
    const cmd = `setsid sh -c 'echo $$ > ${dir}/pid; exec sleep 60' & while [ ! -s ${dir}/pid ]; do sleep 0.01; done`;
    const result = await sh(cmd, { timeout: 3 });
    assertEquals(result.retcode, 1);
    Deno.kill(Number(await Deno.readTextFile(`${dir}/pid`)), "SIGKILL");
  });
});

Deno.test("the timeout error of a command without a shell shows its words as a Python list", async () => {
  const { stdout } = await runCommand({ cmd: "sleep 60", timeout: 0.05 }, host());
  assertEquals(stdout, "['sleep', '60'] : Timed out after 0.05 seconds");
});

Deno.test("an abort kills the command with all its descendants and rejects with its reason", async () => {
  await withTemporaryDirectory(async (dir) => {
    const controller = new AbortController();
    const recorder = host(controller.signal);
    const cmd = `sleep 60 & echo $! > ${dir}/pid.new; mv ${dir}/pid.new ${dir}/pid; wait`;
    const running = runCommand({ cmd, shell: "/bin/sh", python_shell: true, redirect_stderr: true }, recorder);
    await eventually(() => which(`${dir}/pid`) === undefined && exists(`${dir}/pid`), { what: "the command's start" });
    const grandchild = Number(await Deno.readTextFile(`${dir}/pid`));
    controller.abort(new Error("the job is over"));
    await assertRejects(() => running, Error, "the job is over");
    await eventually(() => !alive(grandchild), { what: "the end of the grandchild" });
    assertEquals(recorder.children.map(([, state]) => state), ["started", "ended"]);
    await assertRejects(() => runCommand({ cmd: "true" }, recorder), Error, "the job is over");
  });
});

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

Deno.test("a command ends when its pipes are closed, not when it exits", async () => {
  assertEquals((await sh("(sleep 0.2; echo late) & echo early")).stdout, "early\nlate");
});

Deno.test("a background command outlives the call and is not one of the job's child processes", async () => {
  await withTemporaryDirectory(async (dir) => {
    const recorder = host();
    const request = {
      cmd: `while [ ! -e ${dir}/stop ]; do sleep 0.05; done`,
      shell: "/bin/sh",
      python_shell: true,
      bg: true,
    };
    const { pid, retcode, stdout } = await runCommand(request, recorder);
    assertEquals([retcode, stdout, recorder.children.length], [null, "", 0]);
    assert(alive(pid));
    await Deno.writeTextFile(`${dir}/stop`, "");
    await eventually(() => !alive(pid), { what: "the end of the command" });
  });
});

Deno.test("a child that does not read its large input causes no error", async () => {
  assertEquals((await sh("exit 4", { stdin: "x".repeat(1_000_000) })).retcode, 4);
});

Deno.test("10 MB of output and of input take seconds, not minutes", async () => {
  const started = performance.now();
  const { stdout } = await sh("head -c 10000000 /dev/zero | tr '\\0' x");
  assertEquals(stdout.length, 10_000_000);
  assertEquals((await sh("wc -c", { stdin: stdout })).stdout.trim(), "10000000");
  assert(performance.now() - started < 60_000, `it took ${performance.now() - started} ms`);
});

Deno.test("failures are logged as errors, unless the return code is ignored or the output is quiet", async () => {
  const logOf = async (more: Partial<CommandRequest>) => {
    const recorder = host();
    await runCommand({ cmd: "echo out; exit 2", shell: "/bin/sh", python_shell: true, cwd: "/", ...more }, recorder);
    return recorder.logged;
  };
  assertEquals(await logOf({}), [
    "info: Executing command 'echo' in directory '/'",
    "error: Command 'echo' failed with return code: 2",
    "error: stdout: out",
    "error: retcode: 2",
  ]);
  assertEquals((await logOf({ ignore_retcode: true, output_loglevel: "info" })).slice(1), [
    "info: stdout: out",
    "info: retcode: 2",
  ]);
  assertEquals(await logOf({ output_loglevel: "quiet" }), []);
});

Deno.test("a command has no terminal; this is logged if one was requested", async () => {
  const recorder = host();
  const result = await runCommand({ cmd: "test -t 0 || echo none", python_shell: true, use_vt: true }, recorder);
  assertEquals(result.stdout, "none");
  assertEquals(recorder.logged.filter((line) => line.includes("use_vt")), [
    "warning: use_vt is ignored: commands run without a terminal",
  ]);
});

const asRoot = { ignore: Deno.uid() !== 0 };

Deno.test(
  "runas sets the user's id, groups and login environment, and needs no permission for the cwd",
  asRoot,
  async () => {
    const result = await sh("id -u; id -gn; pwd; echo $HOME $USER", { runas: "nobody", cwd: "/root" });
    const [uid, group, cwd, identity] = result.stdout.split("\n");
    assertEquals([uid === "0", group === "root", cwd], [false, false, "/root"]);
    assertMatch(identity, / nobody$/);
  },
);

Deno.test("group accepts only a primary group", asRoot, async () => {
  assertEquals((await sh("id -u; id -gn", { group: "daemon" })).stdout, "0\ndaemon");
});

Deno.test("startable() distinguishes an executable program from a missing and a non-executable one", () => {
  assertEquals(startable("sh", { cwd: "/", path: "/usr/bin:/bin" }), "yes");
  assertEquals(startable("bin/sh", { cwd: "/", path: undefined }), "yes");
  assertEquals(startable("sh", { cwd: "/", path: "/etc" }), "missing");
  assertEquals(startable("passwd", { cwd: "/", path: "/etc" }), "forbidden");
});

Deno.test("which() finds executables by name and by path, and no directories", () => {
  assertStringIncludes(which("sh") ?? "", "/sh");
  assertEquals(which("/bin/sh"), "/bin/sh");
  assertEquals(which("/bin"), undefined);
  assertEquals(which(""), undefined);
  assertEquals(which("no-such-program"), undefined);
});

Deno.test("textDecoder() reports whether every byte was valid", () => {
  assertEquals(textDecoder("ascii")(new Uint8Array([97, 200])), { text: "a\ufffd", exact: false });
  assertEquals(textDecoder("UTF_8")(new Uint8Array([0xc3, 0xa9])), { text: "é", exact: true });
  assertThrows(() => textDecoder(""), InvocationError);
});

Deno.test("the output of a command is kept up to a limit over both streams, and a note reports the cut part", async () => {
  const recorder = host();
  const cmd = "printf out; head -c 100000 /dev/zero | tr '\\0' x; echo err >&2; exit 0";
  const result = await runCommand({ cmd, shell: "/bin/sh", python_shell: true }, { ...recorder, outputMax: 1_000 });
  const shown = result.stdout + result.stderr;
  assert(shown.length < 1_400, `${shown.length} characters`);
  assert(result.stdout.startsWith("outxxx"));
  const dropped = [...shown.matchAll(/was cut here: (\d+) more bytes were written, and 1000 are kept/g)];
  assertEquals(dropped.map(([, bytes]) => Number(bytes)).reduce((a, b) => a + b), 100_007 - 1_000);
  assertEquals([result.retcode, result.cut], [0, true]);
  assert(recorder.logged.some((line) => line.includes("wrote more than output_max, 1000 bytes")));
});

import { assert, assertEquals, assertMatch, assertThrows } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { daemonize } from "#lib/runtime/daemon.ts";
import { PreflightError } from "#lib/errors.ts";
import { claimPidFile, isRunning, readPid } from "#lib/runtime/pid_file.ts";
import { DENO_RUN, operatorCommand, selfCommand } from "#lib/runtime/self_command.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";

/** The import map of the service. */

/** The service that the tests start; its file name is `salt-test`. */
const SERVICE = `
import { takeDaemonRole } from "${new URL("../../lib/runtime/daemon.ts", import.meta.url)}";
import { claimPidFile } from "${new URL("../../lib/runtime/pid_file.ts", import.meta.url)}";
import { onDiagnostics, onShutdown } from "${new URL("../../lib/runtime/signals.ts", import.meta.url)}";
import { createLogger } from "${new URL("../../lib/runtime/log.ts", import.meta.url)}";
import { fileSink } from "${new URL("../../lib/runtime/log_sinks.ts", import.meta.url)}";

const [mode, root] = Deno.args;
const daemon = takeDaemonRole();
if (mode === "fail") {
  console.error("first line");
  console.error("salt-test: the port is taken\\n");
  Deno.exit(1);
}
if (mode === "mute") Deno.exit(3);
const sink = fileSink(root + "/log", { level: "info", format: "%(message)s", datefmt: "" });
const log = createLogger([sink]);
const controller = new AbortController();
const pidFile = claimPidFile(root + "/pid", "salt-test");
const undo = onShutdown({ controller, log, name: "salt-test", atOnce: () => pidFile.release() });
const undoDiagnostics = onDiagnostics({
  log,
  name: "salt-test",
  profileDir: root + "/profiles",
  describeThreads: () => Promise.resolve(["main: idle", "worker: busy\\nforged"]),
});
log.info("child of a daemon: " + (daemon !== undefined) + ", inherited: " + Deno.env.has("SALT_DAEMON_CHILD"));
const keepAlive = setInterval(() => {}, 1000);
daemon?.ready();
log.info("ready");
await new Promise((resolve) => controller.signal.addEventListener("abort", resolve));
if (mode === "stuck") await new Promise(() => {});
clearInterval(keepAlive);
undo();
undo();
undoDiagnostics();
pidFile.release();
log.info("ended by " + controller.signal.reason);
sink.close();
`;

class Place {
  readonly root = Deno.makeTempDirSync({ prefix: "salt_daemon_test_" });
  readonly script = `${this.root}/test.ts`;

  constructor() {
    Deno.writeTextFileSync(this.script, SERVICE);
  }

  get self() {
    return {
      command: Deno.execPath(),
      args: [...DENO_RUN, "--config", TREE_CONFIG, this.script],
    };
  }

  log(): string {
    try {
      return Deno.readTextFileSync(`${this.root}/log`);
    } catch {
      return "";
    }
  }

  async logged(pattern: RegExp): Promise<void> {
    await eventually(() => {
      assertMatch(this.log(), pattern);
      return true;
    }, { what: `${pattern} in the log` });
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

async function gone(pid: number): Promise<void> {
  await eventually(() => !isRunning(pid, "salt-test"), { what: `the end of process ${pid}` });
}

Deno.test("a daemon reports that it is ready, has its own session, and removes its pid file on SIGTERM", async () => {
  using place = new Place();
  const outcome = await daemonize({ args: ["run", place.root], self: place.self });
  assert(outcome.kind === "ready", JSON.stringify(outcome));
  try {
    assertEquals(readPid(`${place.root}/pid`), outcome.pid);
    await place.logged(/child of a daemon: true, inherited: false\nready/);
    if (Deno.build.os === "linux") {
      const stat = Deno.readTextFileSync(`/proc/${outcome.pid}/stat`).replace(/^.*\) /, "").split(" ");
      assertEquals(Number(stat[3]), outcome.pid); // the session id
    }
    assertThrows(
      () => claimPidFile(`${place.root}/pid`, "salt-test"),
      PreflightError,
      `salt-test is running already: process ${outcome.pid} holds ${place.root}/pid`,
    );
  } finally {
    Deno.kill(outcome.pid, "SIGTERM");
  }
  await place.logged(/received a SIGTERM. Exiting.\nended by SIGTERM/);
  await gone(outcome.pid);
  assertThrows(() => Deno.statSync(`${place.root}/pid`), Deno.errors.NotFound);
});

Deno.test("the last line of a failing daemon is repeated; without output its exit code is reported", async () => {
  using place = new Place();
  assertEquals(await daemonize({ args: ["fail", place.root], self: place.self }), {
    kind: "failed",
    message: "salt-test: the port is taken",
  });
  assertEquals(await daemonize({ args: ["mute", place.root], self: place.self }), {
    kind: "failed",
    message: "it ended at once with exit code 3",
  });
});

Deno.test("a daemon that never becomes ready is killed", async () => {
  const self = { command: "/bin/sleep", args: ["60"] };
  const outcome = await daemonize({ args: [], self, timeoutMs: 100 });
  assertEquals(outcome, { kind: "failed", message: "not ready in 0.1 seconds; see its log" });
});

Deno.test("SIGUSR1 logs the state of every thread, SIGUSR2 starts and stops a profile, a second SIGINT ends the process at once", async () => {
  using place = new Place();
  const [command, args] = [place.self.command, [...place.self.args, "stuck", place.root]];
  const child = new Deno.Command(command, { args, stdout: "null", stderr: "inherit" }).spawn();
  await place.logged(/ready/);
  child.kill("SIGUSR1");
  await place.logged(/SIGUSR1: 2 threads, \d+ MiB resident.*\n {2}main: idle\n {2}worker: busy\n {4}forged\n/);
  child.kill("SIGUSR2");
  await place.logged(/profiling the main thread/);
  child.kill("SIGUSR2");
  await place.logged(/CPU profile written to/);
  const path = /written to (\S+)/.exec(place.log())?.[1] ?? "";
  assertMatch(path, /\/profiles\/salt-test-\d{8}T\d{6}Z\.cpuprofile$/);
  const profile = JSON.parse(Deno.readTextFileSync(path));
  assert(Array.isArray(profile.nodes) && profile.nodes.length > 0 && profile.endTime > profile.startTime);
  assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, 0o600);
  child.kill("SIGINT");
  await place.logged(/received a SIGINT. Exiting./);
  child.kill("SIGINT");
  assertEquals((await child.status).code, 130);
  assertThrows(() => Deno.statSync(`${place.root}/pid`), Deno.errors.NotFound);
});

Deno.test("a stale pid file is replaced, that of another process is not removed", () =>
  withTemporaryDirectory((root) => {
    const path = `${root}/run/salt.pid`;
    Deno.mkdirSync(`${root}/run`);
    // The process of this test is alive, but it is no salt-master.
    for (const stale of ["999999999", "rubbish", "", "0", String(Deno.ppid)]) {
      Deno.writeTextFileSync(path, stale);
      const pidFile = claimPidFile(path, "salt-master");
      assertEquals(Deno.readTextFileSync(path), String(Deno.pid));
      assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, 0o644);
      pidFile.release();
      pidFile.release();
      assertThrows(() => Deno.statSync(path), Deno.errors.NotFound);
    }
    const pidFile = claimPidFile(path, "salt-master");
    Deno.writeTextFileSync(path, "1");
    pidFile.release();
    assertEquals(Deno.readTextFileSync(path), "1");
  }));

Deno.test("a pid file that cannot be written is a one-line error", () => {
  const file = Deno.makeTempFileSync();
  try {
    assertThrows(
      () => claimPidFile(`${file}/x.pid`, "salt-master"),
      PreflightError,
      `The pid file ${file}/x.pid cannot be written`,
    );
  } finally {
    Deno.removeSync(file);
  }
});

Deno.test("a program restarts itself with the same command line", () => {
  const facts = {
    launcher: undefined,
    standalone: false,
    execPath: "/bin/deno",
    mainModule: "file:///a%20b/master.ts",
  };
  assertEquals(selfCommand(facts), {
    command: "/bin/deno",
    args: [...DENO_RUN, "/a b/master.ts"],
  });
  assertEquals(selfCommand({ ...facts, standalone: true, execPath: "/opt/salt-master" }), {
    command: "/opt/salt-master",
    args: [],
  });
  assertEquals(selfCommand({ ...facts, launcher: "/opt/salt-master" }), { command: "/opt/salt-master", args: [] });
});

Deno.test("operatorCommand() returns the command in this executable's directory, or of the same sources", () => {
  const facts = { launcher: undefined, standalone: false, execPath: "/bin/deno", mainModule: "file:///x/minion.ts" };
  const words = operatorCommand("salt-run", facts);
  assertEquals([words[0], ...words.slice(-2)], ["/bin/deno", "--as", "salt-run"]);
  assertEquals(words.some((word) => word.endsWith("/salt.ts")), true);
  assertEquals(operatorCommand("salt-run", { ...facts, standalone: true, execPath: "/opt/bin/salt-minion" }), [
    "/opt/bin/salt-run",
  ]);
  assertEquals(operatorCommand("salt-run", { ...facts, launcher: "/opt/bin/salt-call" }), ["/opt/bin/salt-run"]);
});

import { CommandError } from "#lib/errors.ts";
import { exists } from "#lib/os/file_kind.ts";
import { invoke } from "#lib/plugins/call.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { map, repr, str, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "minion");

/** Calls `minion.restart` where the process 42 is the minion, which ends at once if it gets the signal. */
async function restart(signalled: readonly boolean[], retcode: number): Promise<string> {
  const left = [...signalled];
  const answers: Readonly<Record<string, () => Value>> = {
    "config.get": () => ["/bin/again", "-x"],
    "ps.kill_pid": () => left.shift() ?? false,
    "cmd.run_all": () => map({ pid: 7, retcode, stdout: "out", stderr: "" }),
  };
  const base = testContext({ grains: map({ pid: 42 }) });
  const context = { ...base, call: (fun: string): Promise<Value> => Promise.resolve(answers[fun]()) };
  const fun = await context.catalogue.get("minion.restart");
  if (fun === undefined) throw new Error("no minion.restart");
  return repr(await invoke(fun, { name: "minion.restart", args: [], kwargs: new Map(), context }));
}

const COMMAND = "'Using configuration minion_restart_command:', '    /bin/again', '    -x'";

Deno.test("minion.restart ends the minion and runs the command of minion_restart_command", async () => {
  assertEquals(
    await restart([true, false], 0),
    "{'killed': 42, 'restart': {'stdout': 'out', 'stderr': ''}, 'service_restart': {}, 'retcode': 0, " +
      `'comment': [${COMMAND}]}`,
  );
  assertEquals(
    await restart([true, false], 3),
    "{'killed': 42, 'restart': {'stdout': 'out', 'stderr': ''}, 'service_restart': {}, 'retcode': 3, " +
      `'comment': [${COMMAND}, 'Restart failed']}`,
  );
});

Deno.test("minion.restart starts nothing if the minion could not be ended", async () => {
  assertEquals(
    await restart([false], 0),
    "{'killed': None, 'restart': {}, 'service_restart': {}, 'retcode': 1, " +
      `'comment': [${COMMAND}, 'ps.kill_pid failed', 'Kill failed - not restarting']}`,
  );
});

Deno.test("minion.kill says that a minion does not end in time", async () => {
  const base = testContext({ grains: map({ pid: 42 }) });
  const context = { ...base, call: (): Promise<Value> => Promise.resolve(true) };
  const kill = await context.catalogue.get("minion.kill");
  if (kill === undefined) throw new Error("no minion.kill");
  assertEquals(
    repr(await invoke(kill, { name: "minion.kill", args: [0], kwargs: new Map(), context })),
    "{'killed': None, 'retcode': 75, 'comment': ['Timed out waiting for minion to exit']}",
  );
});

/** Runs `act` on a host of systemd whose service manager restarts what it is asked to. */
async function withSystemd(
  act: (restart: (kwargs?: object) => Promise<string>, programs: RecordedPrograms) => Promise<void>,
  restarted: () => Value = () => true,
): Promise<void> {
  using programs = new RecordedPrograms();
  programs.answer("systemctl");
  const base = testContext({ grains: map({ pid: 42, kernel: "Linux" }) });
  const asked: string[] = [];
  const context = {
    ...base,
    call: (fun: string, args: Value[] = [], kwargs: Value = null): Promise<Value> => {
      if (fun === "config.get") return Promise.resolve(null);
      asked.push(`${fun} ${repr(args)} ${repr(kwargs)}`);
      return Promise.resolve().then(restarted);
    },
  };
  const restart = async (kwargs: object = {}) => {
    const fun = await context.catalogue.get("minion.restart");
    if (fun === undefined) throw new Error("no minion.restart");
    asked.length = 0;
    const call = { name: "minion.restart", args: [], kwargs: map({ ...kwargs }), context };
    const result = repr(await invoke(fun, call) ?? null);
    assertEquals(asked, ["service.restart ['salt-minion'] {'no_block': True}"].slice(0, asked.length));
    return result;
  };
  const real = Deno.statSync;
  const statSync = (path: string | URL) => real(path === "/run/systemd/system" ? "/" : path);
  await withReplaced(Deno, { name: "statSync", by: statSync }, () => act(restart, programs));
}

const BEGUN = "'comment': ['Using systemctl to restart salt-minion'";

Deno.test("minion.restart has systemd restart the service, and start it later if that is wanted", async () => {
  await withSystemd(async (restart, programs) => {
    const done = "{'killed': None, 'restart': {}, 'service_restart': {'result': True}, 'retcode': 0, ";
    assertEquals(await restart(), `${done}${BEGUN}, 'Service restart successful']}`);
    programs.answer("systemd-run", [{ args: "--on-active=5 *", stderr: "Running timer as unit: run-r1.timer" }]);
    assertEquals(
      await restart({ schedule_retry: true, retry_delay: 5 }),
      "{'killed': None, 'restart': {}, 'service_restart': {'schedule_retry': {'detail': 'Running timer as unit: run-r1.timer', " +
        `'delay': 5}, 'result': True}, 'retcode': 0, ${BEGUN}, 'Scheduled retry for minion restart in 5 seconds', ` +
        "'Service restart successful']}",
    );
    assertEquals(programs.calls(), [
      "systemd-run --on-active=5 /bin/sh -c systemctl is-active salt-minion || systemctl start salt-minion",
    ]);
    const failed = (reason: string) =>
      `{'killed': None, 'restart': {}, 'service_restart': {'schedule_retry': {}, 'result': False, 'stderr': '${reason}'}, ` +
      `'retcode': 70, ${BEGUN}, 'Adding scheduled retry failed']}`;
    assertEquals(
      await restart({ schedule_retry: true, retry_delay: "soon" }),
      failed("Invalid retry_delay value: soon. Must be a number of seconds."),
    );
    programs.answer("systemd-run", [{ args: "*", stderr: "no bus", code: 1 }]);
    assertEquals(await restart({ schedule_retry: true }), failed("no bus"));
  });
  const refusing = () => {
    throw new CommandError("no such unit");
  };
  await withSystemd(async (restart) => {
    assertEquals(
      await restart(),
      "{'killed': None, 'restart': {}, 'service_restart': {'result': False, 'stderr': 'no such unit'}, 'retcode': 70, " +
        `${BEGUN}, 'Service restart failed']}`,
    );
  }, refusing);
});

/** Runs `act` while `Deno[name]`, which cannot be assigned, is `value`. */
async function withDeno<K extends "pid" | "args">(
  name: K,
  value: (typeof Deno)[K],
  act: () => Promise<void>,
): Promise<void> {
  const real = Object.getOwnPropertyDescriptor(Deno, name);
  if (real === undefined) throw new Error(`there is no Deno.${name}`);
  Object.defineProperty(Deno, name, { value, configurable: true });
  try {
    await act();
  } finally {
    Object.defineProperty(Deno, name, real);
  }
}

Deno.test("minion.kill and restart of the minion that this job is a thread of: another process ends it, and starts it", () =>
  withTemporaryDirectory(async (root) => {
    const ends: Promise<Deno.CommandStatus>[] = [];
    for (const fun of ["minion.kill", "minion.restart"]) {
      const minion = new Deno.Command("sleep", { args: ["60"] }).spawn();
      ends.push(minion.status);
      const base = testContext({ grains: map({ pid: minion.pid }) });
      const context = { ...base, call: (): Promise<Value> => Promise.resolve(["touch", `${root}/started`]) };
      const act = await context.catalogue.get(fun);
      if (act === undefined) throw new Error(`no ${fun}`);
      await withDeno("pid", minion.pid, async () => {
        const result = await invoke(act, { name: fun, args: [], kwargs: new Map(), context });
        assertEquals(mapOrEmpty(result ?? null).get("killed"), minion.pid);
      });
    }
    assertEquals((await Promise.all(ends)).map(({ signal }) => signal), ["SIGTERM", "SIGTERM"]);
    await eventually(() => exists(`${root}/started`), { what: "the start" });
  }));

Deno.test("minion.restart of a minion in the background starts it with its own command line", async () => {
  const context = testContext({ grains: map({ pid: 42 }) });
  const fun = await context.catalogue.get("minion.restart");
  if (fun === undefined) throw new Error("no minion.restart");
  const job = {
    ...context,
    call: (name: string): Promise<Value> => Promise.resolve(name === "config.get" ? null : false),
  };
  await withDeno("args", ["-c", "/etc/own", "--daemon"], async () => {
    const result = await invoke(fun, {
      name: "minion.restart",
      args: [],
      kwargs: map({ systemd: false }),
      context: job,
    });
    const comment = listOrEmpty(mapOrEmpty(result ?? null).get("comment")).map(str);
    assertEquals(comment[0], "Restart using process argv:");
    assertEquals(comment.slice(-5), [
      "    -c",
      "    /etc/own",
      "    --daemon",
      "ps.kill_pid failed",
      "Kill failed - not restarting",
    ]);
  });
});

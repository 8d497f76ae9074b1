import { packOpts } from "#lib/config/opts_transfer.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { type FunctionMessage, packFunctionJob, unpackFunctionOutcome } from "#lib/master/functions/messages.ts";
import { FunctionProcesses } from "#lib/master/functions/processes.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { isAlive, readNotes } from "#lib/jobs/proc_notes.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";
import { testServices } from "#tests/support/fleet/services.ts";

const CLOSE = () => new TimeBudget(10_000);

Deno.test("functions run in processes: some at once, some wait, others are refused; a lost process is reported", async () => {
  using services = await testServices();
  const { opts, log, fired } = services;
  const processes = new FunctionProcesses({
    opts: packOpts("master", opts),
    log,
    fire: (tag, data) => Promise.resolve(void fired.push({ tag, data })),
    bounds: { runner: { running: 1, waiting: 1 }, wheel: { running: 1, waiting: 0, ms: 60_000 } },
  });
  const messages = new Map<string, FunctionMessage>();
  const refused: string[] = [];
  let jids = 0;
  const take = (
    key: string,
    kind: "runner" | "wheel",
    fun: string,
    args: Value[] = [],
    kwargs: ValueMap = new Map(),
  ) => {
    const jid = `2024010203040500000${jids++}`;
    processes.take({ key, job: packFunctionJob({ kind, fun, args, kwargs, jid, user: "ann" }) }, (news) => {
      messages.set(key, news);
      if (news.state === "full") refused.push(key);
    });
  };
  const running = () => readNotes(opts.cachedir).flatMap(({ note }) => isAlive(note?.get("pid")) ? [note] : []);
  try {
    take("sleeper", "runner", "test.sleep", [600]);
    take("second", "runner", "test.arg", [1, "a"], map({ b: 2 }));
    take("third", "runner", "test.arg");
    assertEquals(refused, ["third"]);
    assertStringIncludes(processes.describe(), "1 runner functions running, 1 waiting");
    // A wheel function does not wait for runners.
    take("wheel", "wheel", "key.list", ["all"]);
    const ended = (key: string) =>
      eventually(() => messages.get(key)?.state === "ended" || messages.get(key)?.state === "lost", {
        what: `the end of ${key}`,
      });
    await ended("wheel");
    const wheel = unpackFunctionOutcome(messages.get("wheel")?.outcome ?? new Uint8Array());
    assertEquals([wheel.success, (wheel.return as ValueMap).get("minions_pre")], [true, []]);

    const note = await eventually(() => running().find((one) => one?.get("fun") === "runner.test.sleep"), {
      what: "the proc note of the runner",
    });
    assertEquals(note.get("user"), "ann");
    const pid = Number(note.get("pid"));
    assert(pid !== Deno.pid, "it has a process of its own");
    Deno.kill(pid, "SIGKILL");
    await ended("sleeper");
    assertEquals(messages.get("sleeper")?.state, "lost");
    const [{ tag, data }] = fired;
    assertEquals(tag, "salt/run/20240102030405000000/ret");
    assertEquals([data.get("fun"), data.get("success")], ["runner.test.sleep", false]);
    assertStringIncludes(String(data.get("return")), "SIGKILL");

    // The slot of the lost process is free again.
    await ended("second");
    const second = unpackFunctionOutcome(messages.get("second")?.outcome ?? new Uint8Array());
    assertEquals(second.return, map({ args: [1, "a"], kwargs: { b: 2 } }));

    // Running functions end with the master.
    take("last", "runner", "test.sleep", [600]);
    await eventually(() => running().length === 1, { what: "the last runner" });
  } finally {
    await processes.close(CLOSE());
  }
  assertEquals(running(), []);
  take("late", "runner", "test.arg");
  assertEquals(refused.at(-1), "late");
});

Deno.test("a user with many functions that wait leaves places to others, whose turn comes before theirs", async () => {
  using services = await testServices();
  const processes = new FunctionProcesses({
    opts: packOpts("master", services.opts),
    log: services.log,
    fire: () => Promise.resolve(),
    bounds: { runner: { running: 1, waiting: 4 }, wheel: { running: 1, waiting: 0 } },
  });
  const states: string[] = [];
  const take = (user: string, n: number) => {
    const job = {
      kind: "runner" as const,
      fun: "test.arg",
      args: [],
      kwargs: new Map(),
      jid: `2024010203040500002${n}`,
      user,
    };
    const key = `${user}${n}`;
    processes.take({ key, job: packFunctionJob(job) }, ({ state }) => void states.push(`${key} ${state}`));
  };
  try {
    for (let n = 1; n <= 5; n++) take("ann", n);
    assertEquals(states.splice(0), ["ann1 taken", "ann2 taken", "ann3 taken", "ann4 taken", "ann5 full"]);
    take("bob", 6);
    assertEquals(states.splice(0), ["bob6 taken"]);
    await eventually(() => states.length === 5, { what: "all to end", withinMs: 60_000 });
    assertEquals(states.slice(0, 2), ["ann1 ended", "bob6 ended"]);
  } finally {
    await processes.close(CLOSE());
  }
});

Deno.test("unknown functions, wrong arguments and failures are reported, and do not end the process", async () => {
  using services = await testServices();
  const processes = new FunctionProcesses({
    opts: packOpts("master", services.opts),
    log: services.log,
    fire: () => Promise.resolve(),
  });
  const cases: [fun: string, args: Value[], text: string][] = [
    ["key.nonsense", [], "is not available"],
    ["no-such.fun; rm -rf /", [], "is not available"],
    ["constructor.name", [], "is not available"],
    ["key.list", [], "missing 1 required positional argument"],
    ["error.error", ["Exception", "boom"], "boom"],
  ];
  try {
    await Promise.all(cases.map(async ([fun, args, text], i) => {
      const outcome = await new Promise<FunctionMessage>((resolve) => {
        const job = {
          kind: "wheel" as const,
          fun,
          args,
          kwargs: new Map(),
          jid: `2024010203040500001${i}`,
          user: "ann",
        };
        processes.take({ key: fun, job: packFunctionJob(job) }, (news) => news.state !== "taken" && resolve(news));
      });
      const { success, return: result } = unpackFunctionOutcome(outcome.outcome);
      assertEquals(success, false, fun);
      assertStringIncludes(String(result), text);
    }));
  } finally {
    await processes.close(CLOSE());
  }
});

Deno.test("a process that fails is lost, and what it printed is logged", async () => {
  using services = await testServices();
  const fired: string[] = [];
  const processes = new FunctionProcesses({
    opts: Uint8Array.of(0xc1), // no MessagePack
    log: services.log,
    fire: (tag) => Promise.resolve(void fired.push(tag)),
  });
  try {
    const { state } = await new Promise<FunctionMessage>((resolve) => {
      const job = {
        kind: "runner" as const,
        fun: "test.arg",
        args: [],
        kwargs: new Map(),
        jid: "20240102030405000009",
      };
      processes.take(
        { key: "k", job: packFunctionJob({ ...job, user: "ann" }) },
        (news) => news.state !== "taken" && resolve(news),
      );
    });
    assertEquals(state, "lost");
  } finally {
    await processes.close(CLOSE());
  }
  assertEquals(fired, ["salt/run/20240102030405000009/ret"]);
  assertMatch(services.logged.join("\n"), /runner test\.arg: .*MsgpackError/s);
});

Deno.test("when the time for ending is over processes are killed, and those that wait for one are refused", async () => {
  using services = await testServices();
  const processes = new FunctionProcesses({
    opts: packOpts("master", services.opts),
    log: services.log,
    fire: () => Promise.resolve(),
    bounds: { runner: { running: 1, waiting: 1 }, wheel: { running: 1, waiting: 0 } },
  });
  const states: string[] = [];
  for (const key of ["running", "waiting"]) {
    const job = { kind: "runner" as const, fun: "test.sleep", args: [600], kwargs: new Map(), jid: key, user: "ann" };
    processes.take({ key, job: packFunctionJob(job) }, ({ state }) => states.push(`${key} ${state}`));
  }
  await processes.close(new TimeBudget(0));
  assertEquals(states, ["running taken", "waiting taken", "waiting lost", "running lost"]);
});

Deno.test("a wheel function is ended after two minutes, as lost; a runner may take longer", async () => {
  using services = await testServices();
  const { opts, log } = services;
  for (const directory of ["wheel", "runners"]) {
    Deno.mkdirSync(`${opts.extension_modules}/${directory}`, { recursive: true });
    Deno.writeTextFileSync(
      `${opts.extension_modules}/${directory}/slow.js`,
      `export async function wait(path) {
         Deno.writeTextFileSync(path, "");
         for (;;) await new Promise((resolve) => setTimeout(resolve, 1_000));
       }`,
    );
  }
  const processes = new FunctionProcesses({ opts: packOpts("master", opts), log, fire: () => Promise.resolve() });
  const states = new Map<string, string>();
  using time = new SkippedTime();
  try {
    for (const [i, kind] of (["wheel", "runner"] as const).entries()) {
      const path = `${services.root}/${kind}`;
      const jid = `2024010203040500002${i}`;
      const job = { kind, fun: "slow.wait", args: [path], kwargs: new Map(), jid, user: "ann" };
      processes.take({ key: kind, job: packFunctionJob(job) }, ({ state }) => states.set(kind, state));
      await eventually(() => isFile(path), { what: `the ${kind} function` });
    }
    await time.to(110_000);
    assertEquals([...states], [["wheel", "taken"], ["runner", "taken"]]);
    await time.to(180_000);
    await eventually(() => states.get("wheel") === "lost", { what: "the end of the wheel function" });
    const line = "wheel slow.wait with jid 20240102030405000020 is lost: it was ended by SIGKILL";
    assertStringIncludes(services.logged.join("\n"), line);
    assertEquals(states.get("runner"), "taken");
  } finally {
    await processes.close(new TimeBudget(0)); // the runner never ends by itself
  }
});

/** Every process that is started meanwhile runs this script instead. */
async function withScript(script: string, act: () => Promise<void>): Promise<void> {
  const { Command } = Deno;
  Deno.Command = class extends Command {
    constructor(_command: string | URL, options?: Deno.CommandOptions) {
      super("/bin/sh", { ...options, args: ["-c", script] });
    }
  };
  try {
    await act();
  } finally {
    Deno.Command = Command;
  }
}

Deno.test("16 runners and 4 wheel functions run at a time, 1,000 and 8 wait, and others are refused", async () => {
  using services = await testServices();
  const processes = new FunctionProcesses({
    opts: packOpts("master", services.opts),
    log: services.log,
    fire: () => Promise.resolve(),
  });
  const refused: string[] = [];
  const take = (kind: "runner" | "wheel", count: number) => {
    for (let i = 0; i < count; i++) {
      const job = {
        kind,
        fun: "test.arg",
        args: [],
        kwargs: new Map(),
        jid: `${kind}${i}`,
        user: ["ann", "bob"][i % 2],
      };
      processes.take({ key: `${kind} ${i}`, job: packFunctionJob(job) }, ({ state }) => {
        if (state === "full") refused.push(`${kind} ${i}`);
      });
    }
  };
  await withScript("exec cat > /dev/null", async () => {
    take("runner", 1_017);
    take("wheel", 13);
    assertEquals(
      processes.describe(),
      "16 runner functions running, 1000 waiting; 4 wheel functions running, 8 waiting",
    );
    assertEquals(refused, ["runner 1016", "wheel 12"]);
    await processes.close(CLOSE());
  });
});

Deno.test("a process that announces an outcome of more than 256 MiB is ended; what it prints is logged up to 16 KiB", async () => {
  for (
    const [script, reason] of [
      ["printf '\\020\\000\\000\\001\\001'; exec sleep 600", "it was ended by SIGKILL"],
      ["head -c 100000 /dev/zero | tr '\\0' x >&2; exit 3", "it ended with 3"],
    ]
  ) {
    using services = await testServices();
    const fired: ValueMap[] = [];
    const processes = new FunctionProcesses({
      opts: packOpts("master", services.opts),
      log: services.log,
      fire: (_tag, data) => Promise.resolve(void fired.push(data)),
    });
    await withScript(script, async () => {
      const job = { kind: "runner" as const, fun: "test.arg", args: [], kwargs: new Map(), jid: "j", user: "ann" };
      await new Promise<void>((resolve) =>
        processes.take({ key: "k", job: packFunctionJob(job) }, ({ state }) => state === "lost" && resolve())
      );
      await processes.close(CLOSE());
    });
    assertEquals([fired[0].get("success"), fired[0].get("retcode")], [false, 1]);
    assertStringIncludes(String(fired[0].get("return")), reason);
    const printed = services.logged.find((line) => line.includes("xxx")) ?? "";
    assertEquals(printed.replace(/[^x]/g, "").length, reason.startsWith("it ended") ? 16_384 : 0);
  }
});

import { packOpts } from "../../lib/config/opts_transfer.ts";
import { TimeBudget } from "../../lib/os/time_budget.ts";
import { type FunctionMessage, packFunctionJob, unpackOutcome } from "../../lib/functions/messages.ts";
import { FunctionProcesses } from "../../lib/functions/processes.ts";
import { isFile } from "../../lib/os/file_kind.ts";
import { setTimeout } from "../../lib/os/timers.ts";
import { isAlive, readNotes } from "../../lib/jobs/proc_notes.ts";
import { map, type Value, type ValueMap } from "../../lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "../support/assert.ts";
import { eventually } from "../support/eventually.ts";
import { testServices } from "../support/fleet/services.ts";

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
    const wheel = unpackOutcome(messages.get("wheel")?.outcome ?? new Uint8Array());
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
    const second = unpackOutcome(messages.get("second")?.outcome ?? new Uint8Array());
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
      const { success, return: result } = unpackOutcome(outcome.outcome);
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
  const { now } = performance;
  /** The timers of this process see the time that has passed so far, and `ms` more. */
  const skip = async (ms: number) => {
    performance.now = () => now.call(performance) + ms;
    await new Promise<void>((resolve) => setTimeout(resolve, 1));
  };
  try {
    const started = now.call(performance);
    for (const [i, kind] of (["wheel", "runner"] as const).entries()) {
      const path = `${services.root}/${kind}`;
      const jid = `2024010203040500002${i}`;
      const job = { kind, fun: "slow.wait", args: [path], kwargs: new Map(), jid, user: "ann" };
      processes.take({ key: kind, job: packFunctionJob(job) }, ({ state }) => states.set(kind, state));
      await eventually(() => isFile(path), { what: `the ${kind} function` });
    }
    const passed = now.call(performance) - started;
    await skip(119_000 - passed);
    await new Promise<void>((resolve) => setTimeout(resolve, 100));
    assertEquals([...states], [["wheel", "taken"], ["runner", "taken"]]);
    await skip(121_000);
    await eventually(() => states.get("wheel") === "lost", { what: "the end of the wheel function" });
    assertStringIncludes(
      services.logged.join("\n"),
      "wheel slow.wait with jid 20240102030405000020 is lost: it was ended by SIGKILL",
    );
    assertEquals(states.get("runner"), "taken");
  } finally {
    performance.now = now;
    await processes.close(new TimeBudget(0)); // the runner never ends by itself
  }
});

/**
 * The short form of `deno task fuzz`: always the same inputs, for all targets without sockets. A failure names the
 * input and the command that feeds it again; see docs/fuzzing.md.
 * @module
 */

import { cpuUsage } from "node:process";
import { feedTarget, type Tally } from "./engine.ts";
import { Random } from "./mutate.ts";
import { type FuzzTarget, hold } from "./target.ts";
import { TARGETS } from "./targets.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

const SEED = "1";
/** Minimum number of inputs of all targets together. */
const INPUTS = 20_000;

const fed = TARGETS.filter(({ needsSockets }) => needsSockets === undefined);
const shares = fed.reduce((sum, { share }) => sum + share, 0);

for (const target of fed) {
  Deno.test(`${target.name}: no input causes a fault`, async () => {
    const inputs = Math.ceil(INPUTS * target.share / shares);
    const tally = await feedTarget(target, { seed: SEED, inputs });
    const faults = tally.faults.map(({ index, problem, input }) =>
      `deno task fuzz --seed ${SEED} --only ${target.name} --at ${index}\n${problem}\n${input}`
    );
    assertEquals(faults, []);
    assertEquals(tally.inputs, inputs);
    assert(Object.keys(tally.outcomes).length > 1, "all inputs came to the same end");
  });
}

/** A target that has faults for some of its inputs. */
function faulty(feed: (n: number) => string, changes: Partial<FuzzTarget> = {}): Promise<Tally> {
  const target: FuzzTarget = {
    name: "faulty",
    share: 1,
    refusals: [TypeError],
    checkEvery: 10,
    open: () => ({
      feed(random, note) {
        const n = random.int(100);
        note(String(n));
        return feed(n);
      },
      checkService() {},
      close() {},
    }),
    ...changes,
  };
  return feedTarget(target, { seed: SEED, inputs: 100 });
}

Deno.test("an error that is not declared is a fault, once for each kind, with its input", async () => {
  const { faults, outcomes, inputs } = await faulty((n) => {
    if (n % 2 === 0) throw new SyntaxError(`number ${n}`);
    if (n % 3 === 0) throw new TypeError("declared");
    return "taken";
  });
  assertEquals([faults.length, inputs], [1, 100]);
  assert(faults[0].problem.includes("SyntaxError") && Number(JSON.parse(faults[0].input)) % 2 === 0);
  assert(outcomes.TypeError > 0 && outcomes.taken > 0 && outcomes.SyntaxError > 0);
});

Deno.test("a violated property is a fault, for an input and at the end", async () => {
  const { faults } = await faulty((n) => {
    hold(n !== 7, "seven");
    return "taken";
  }, {});
  assertEquals(faults.map(({ problem }) => problem.includes("seven")), [true]);
  const ended = await faulty(() => "taken", {
    open: () => ({ feed: () => "taken", checkService() {}, close: () => hold(false, "too late") }),
  });
  assertEquals(ended.faults.map(({ problem }) => problem.includes("too late")), [true]);
});

Deno.test("a valid request that is not served is a fault", async () => {
  let fed = 0;
  const { faults } = await faulty(() => "taken", {
    open: () => ({ feed: () => `${fed++ % 2}`, checkService: () => hold(fed < 50, "no answer"), close() {} }),
  });
  assertEquals(faults.map(({ problem }) => problem.includes("no answer")), [true]);
  assertEquals(faults[0].index, 49);
});

Deno.test("an input that takes a second, also when it is fed again, is a fault", async () => {
  let times = 0;
  const once = await faulty(() => {
    if (++times === 5) workFor(150);
    return "taken";
  });
  assertEquals([once.faults.length, once.slow.length], [0, 0]);
  times = 0;
  const twice = await faulty(() => {
    if (++times === 5 || times === 6) workFor(1_050);
    return "taken";
  });
  assertEquals([twice.faults.length, twice.slow.length], [1, 1]);
});

/** Uses this many milliseconds of processor time, on a busy machine too. */
function workFor(ms: number): void {
  const before = cpuUsage();
  for (let spent = 0; spent < ms * 1000;) {
    const until = performance.now() + 1;
    while (performance.now() < until);
    const { user, system } = cpuUsage(before);
    spent = user + system;
  }
}

/**
 * A target whose fifth and later inputs cost `costs`, one after the other, in milliseconds; a valid input costs 3 ms.
 */
function costing(costs: readonly number[]): Promise<Tally> {
  let fed = 0;
  return faulty(() => "taken", {
    open: () => ({
      feed(_random, note) {
        note("x".repeat(2_000));
        workFor(costs[++fed - 5] ?? 0);
        return "taken";
      },
      ordinary: (bytes) => () => workFor(bytes === 2_048 ? 3 : 0),
      checkService() {},
      close() {},
    }),
  });
}

Deno.test("an input that always costs more than 20 times as much as a valid one of its size is a fault", async () => {
  // On a busy machine 3 ms may be measured as twice that.
  const dear = await costing(Array(10).fill(180));
  assertEquals(dear.faults.map(({ problem }) => /^costs .* of its 2000 bytes costs \d\.\d$/.test(problem)), [true]);
  // A single high cost is no fault, and neither is a cost of 20 times.
  assertEquals((await costing([90])).faults, []);
  assertEquals((await costing(Array(10).fill(40))).faults, []);
});

Deno.test("without a valid input to compare with, any cost below a second is allowed", async () => {
  assertEquals((await faulty(() => (workFor(30), "taken"), {})).faults, []);
});

Deno.test("the same seed gives the same numbers, another seed gives others", () => {
  const numbers = (seed: string) => Array.from({ length: 5 }, ((random) => () => random.bits())(new Random(seed)));
  assertEquals(numbers("1/a/0"), numbers("1/a/0"));
  assert(numbers("1/a/0").join() !== numbers("1/a/1").join());
  // The expected numbers are constants, so that a run can be repeated on another machine and after years.
  assertEquals(numbers("1/msgpack/0"), [4172945904, 2914111545, 3733381109, 3577865616, 1385962067]);
});

/**
 * The bounds of pillar, each to the number: what fits is used, and one more is not.
 * @module
 */

import { isUnsettled, stampOf } from "#lib/pillar/stamps.ts";
import { hasPillarFiles } from "#lib/pillar/has_files.ts";
import { isAboutPillar } from "#lib/pillar/messages.ts";
import { PillarCache } from "#lib/pillar/pillar_cache.ts";
import { PillarProcesses } from "#lib/pillar/processes.ts";
import { PillarReads } from "#lib/pillar/reads.ts";
import { PillarRoots } from "#lib/pillar/roots.ts";
import { SlsCache } from "#lib/pillar/sls_cache.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { float, map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const FACTS = { grains: new Map<Value, Value>(), own: new Map<Value, Value>() };

Deno.test("pillars that fill their cache to the byte stay in it; it has 64 MiB", () => {
  const filled = (cache: PillarCache, sizes: Readonly<Record<string, number>>) => {
    for (const [key, bytes] of Object.entries(sizes)) cache.keep(key, new Uint8Array(bytes), new PillarReads());
    return Object.keys(sizes).filter((key) => cache.find(key, FACTS, 60_000) !== undefined);
  };
  assertEquals(filled(new PillarCache(8), { a: 4, b: 4 }), ["a", "b"]);
  assertEquals(filled(new PillarCache(8), { a: 8 }), ["a"]);
  assertEquals(filled(new PillarCache(8), { a: 4, b: 5 }), ["b"]);
  const largest = 64 * 2 ** 20;
  assertEquals([filled(new PillarCache(), { a: largest }), filled(new PillarCache(), { a: largest + 1 })], [["a"], []]);
});

Deno.test("rendered files: sixteen results of one, twenty thousand values in one, and two thousand files are kept", () => {
  const cache = new SlsCache();
  const reads = (role: number) => {
    const read = new PillarReads();
    read.grain("role", role);
    return read;
  };
  const found = (key: string, role: number) => cache.find(key, { ...FACTS, grains: map({ role }) }) !== undefined;
  for (let role = 1; role <= 17; role++) cache.keep("a", { reads: reads(role), data: role });
  assertEquals([1, 2, 17].map((role) => found("a", role)), [false, true, true]);
  // The list itself is a value, too.
  const list = (values: number): Value => Array(values).fill(1);
  cache.keep("fits", { reads: reads(1), data: list(19_999) });
  cache.keep("large", { reads: reads(1), data: list(20_000) });
  cache.keep("deep", { reads: reads(1), data: [list(10_000), map({ a: list(10_000) })] });
  assertEquals(["fits", "large", "deep"].map((key) => found(key, 1)), [true, false, false]);
  const changing = reads(1);
  changing.changing("a command");
  cache.keep("changing", { reads: changing, data: 1 });
  assertEquals(found("changing", 1), false);
  const many = new SlsCache();
  const has = (key: string) => many.find(key, { ...FACTS, grains: map({ role: 1 }) }) !== undefined;
  for (let i = 0; i <= 2_000; i++) many.keep(`f${i}`, { reads: reads(1), data: 1 });
  assertEquals([has("f0"), has("f1"), has("f2000")], [false, true, true]);
});

Deno.test("a directory forty levels below a root has pillar files, a deeper one none; 200,000 entries are read, not more", () =>
  withTemporaryDirectory(async (root) => {
    const below = (levels: number) => [root, ...Array(levels).fill("d")].join("/");
    Deno.mkdirSync(below(41), { recursive: true });
    for (const levels of [40, 41]) Deno.writeTextFileSync(`${below(levels)}/x${levels}.sls`, "");
    const matching = () =>
      new PillarRoots({ pillar_roots: map({ base: [root] }) }, "base", { path: () => {} }).matching("*", "base");
    assertEquals(matching().map((name) => name.slice(name.lastIndexOf(".") + 1)), ["x40"]);
    let entries = 200_000;
    const entry = { isFile: true, isDirectory: false, isSymlink: false };
    const many = () => Array.from({ length: entries }, (_, i) => ({ ...entry, name: `${i}.txt` })).values();
    await withReplaced(Deno, { name: "readDirSync", by: many }, () => {
      assertEquals(matching(), []);
      entries++;
      assertThrows(matching, Error, "holds more than 200000 files");
    });
    // The environment of a request is shown, but not all of it.
    const warnings: string[] = [];
    const options = {
      pillar_roots: map({ __env__: [`${root}/__env__`] }),
      refuse: (text: string) => void warnings.push(text),
    };
    new PillarRoots(options, `../${"x".repeat(200)}`, { path: () => {} });
    assertEquals(warnings.map((text) => text.match(/x+/)?.[0].length), [97]);
  }));

Deno.test("reads hold for the first look at a file and the same type of a grain; a file is settled after 50 ms", () =>
  withTemporaryDirectory((root) => {
    const path = `${root}/f`;
    Deno.writeTextFileSync(path, "1");
    const { mtime, ctime } = Deno.statSync(path);
    const changed = Math.max(Number(mtime), Number(ctime));
    assertEquals([isUnsettled(path, changed + 49), isUnsettled(path, changed + 50)], [true, false]);
    assertEquals([stampOf(`${root}/none`), isUnsettled(`${root}/none`, 0)], ["", false]);
    const reads = new PillarReads();
    reads.path(path);
    assertEquals(reads.holds(FACTS), true);
    Deno.writeTextFileSync(path, "other");
    reads.path(path);
    assertEquals(reads.holds(FACTS), false);

    const same = (a: Value, b: Value) => {
      const [one, all] = [new PillarReads(), new PillarReads()];
      one.grain("g", a);
      all.grains(map({ g: a }));
      return [one.holds({ ...FACTS, grains: map({ g: b }) }), all.holds({ ...FACTS, grains: map({ g: b }) })];
    };
    for (const [a, b] of [["a", "a"], [1, 1], [map({ a: [1] }), map({ a: [1] })]] as const) {
      assertEquals(same(a, b), [true, true]);
    }
    for (const [a, b] of [["a", "b"], [1, float(1)], [1, true], [map({ a: [1] }), map({ a: [2] })]] as const) {
      assertEquals(same(a, b), [false, false]);
    }
  }));

Deno.test("a host has pillar with a top file, an external pillar, its options as pillar, or environments without names", () =>
  withTemporaryDirectory((root) => {
    const none = {
      pillar_roots: map({ base: [root] }),
      state_top: "salt://top.sls",
      ext_pillar: [],
      pillar_opts: false,
    };
    assertEquals([
      hasPillarFiles(none),
      hasPillarFiles({ ...none, ext_pillar: [map({ own: {} })] }),
      hasPillarFiles({ ...none, pillar_opts: true }),
      hasPillarFiles({ ...none, pillar_roots: map({ __env__: [`${root}/__env__`] }) }),
    ], [false, true, true, true]);
    Deno.writeTextFileSync(`${root}/top.sls`, "");
    assertEquals(hasPillarFiles(none), true);
  }));

Deno.test("a message is about pillar if its kind says so", () => {
  const others = [null, undefined, "pillar", 5, {}, { kind: "other" }, []];
  assertEquals(others.filter(isAboutPillar), []);
  assertEquals(isAboutPillar({ kind: "pillar" }), true);
});

/** Processes that run a command of the shell, and what they log. */
function processesOf(script: string) {
  const logged: string[] = [];
  const error = (text: string | (() => string)) => void logged.push(typeof text === "string" ? text : text());
  const processes = new PillarProcesses({
    opts: new Uint8Array(),
    processes: 1,
    timeoutMs: 60_000,
    log: { ...SILENT_LOGGER, error },
    command: ["sh", "-c", script],
  });
  const ask = (id: string): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>();
    processes.take({ kind: "pillar", key: id, id, request: new Uint8Array() }, ({ state }) => resolve(state));
    return promise;
  };
  return { logged, ask, [Symbol.asyncDispose]: () => processes.close(new TimeBudget(5_000)) };
}

Deno.test("ten thousand pillar requests wait, and no more; a process has 1,024 MB of heap", () =>
  withTemporaryDirectory(async (root) => {
    const all: Promise<string>[] = [];
    {
      await using processes = processesOf(
        `echo "$DENO_V8_FLAGS" > ${root}/flags.new; mv ${root}/flags.new ${root}/flags; exec sleep 60`,
      );
      for (let i = 0; i <= 10_000; i++) all.push(processes.ask(`m${i}`));
      assertEquals(await processes.ask("one more"), "full");
      const flags = await eventually(() => Deno.readTextFileSync(`${root}/flags`), { what: "its variables" });
      assertEquals(flags.match(/--max-old-space-size=(\d+)/)?.[1], "1024");
    }
    assertEquals((await Promise.all(all)).every((state) => state === "lost"), true);
  }));

Deno.test("of what a pillar process prints 16,384 characters are logged; an answer that would be too long is refused", async () => {
  await using printing = processesOf("head -c 40000 /dev/zero | tr '\\0' x >&2; exit 3");
  assertEquals(await printing.ask("m"), "compiled");
  await eventually(() => printing.logged.length === 2, { what: "both lines" });
  assertEquals(printing.logged.map((line) => line.match(/x{3,}/)?.[0].length ?? line).sort(), [
    16_384,
    "The pillar of m cannot be compiled: its process ended with 3",
  ]);
  // The head of a frame: 2 ** 31 + 1 bytes.
  await using long = processesOf("printf '\\200\\000\\000\\001\\001'; exec sleep 60");
  assertEquals(await long.ask("m"), "compiled");
  assertEquals(long.logged[0].includes("a message of 2147483649 bytes, of at most 2147483648"), true, long.logged[0]);
});

Deno.test("an environment that pillar_roots does not name exists only if __env__ stands for it", () =>
  withTemporaryDirectory((root) => {
    Deno.mkdirSync(`${root}/dev`);
    const envs = (roots: Record<string, string[]>) =>
      new PillarRoots({ pillar_roots: map(roots) }, "dev", { path: () => {} }).envs();
    assertEquals(envs({ base: [root] }), ["base"]);
    assertEquals(envs({ base: [root], __env__: [`${root}/__env__`] }), ["base", "dev"]);
  }));

Deno.test("a path that leads out of a root, or has a NUL, is not looked at", () =>
  withTemporaryDirectory((root) => {
    const looked: string[] = [];
    const roots = new PillarRoots({ pillar_roots: map({ base: [root] }) }, "base", {
      path: (path) => looked.push(path),
    });
    for (const path of ["../a", "a/../b", "a\0b", "a/."]) assertEquals(roots.find(path, "base"), undefined);
    assertEquals(looked, [`${root}/a`]);
  }));

Deno.test("the process that compiles pillars refuses a message of more than 2 GiB before its bytes come", async () => {
  const module = new URL("../../lib/pillar/serve_requests.ts", import.meta.url).href;
  const config = decodeURIComponent(new URL("../../deno.json", import.meta.url).pathname);
  const script = `import { servePillarRequests } from "${module}"; await servePillarRequests(() => { throw 1; });`;
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", "--config", config, script],
    stdin: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1" },
  }).spawn();
  const input = child.stdin.getWriter();
  // The head of a frame: 2 ** 31 + 1 bytes.
  await input.write(new Uint8Array([0x80, 0, 0, 1, 1]));
  await input.close();
  const { code, stderr } = await child.output();
  assertEquals([code, new TextDecoder().decode(stderr).includes("2147483649 bytes")], [1, true]);
});

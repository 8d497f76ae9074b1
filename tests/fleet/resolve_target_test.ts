import { TargetError } from "#lib/errors.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { type KnownFleet, type ResolveOptions, resolveTarget } from "#lib/fleet/resolve_target.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { dataCache } from "#tests/support/fleet/job_store.ts";
import { cpuMs } from "#tests/support/time.ts";
import { MINIONS, NODEGROUPS, ROWS } from "#tests/support/targets_corpus.ts";

const IDS = ["db1", "web1", "web10", "web2"];

function resolve(tgt: Value, tgtType?: string, fleet: Partial<KnownFleet> = {}, options?: ResolveOptions) {
  return resolveTarget({ tgt, tgtType }, { ids: IDS, nodegroups: NODEGROUPS, ...fleet }, options);
}

function withCache(run: (data: DataCache, cachedir: string) => void): void {
  const cachedir = Deno.makeTempDirSync({ prefix: "resolve_" });
  try {
    run(dataCache(cachedir), cachedir);
  } finally {
    Deno.removeSync(cachedir, { recursive: true });
  }
}

Deno.test("the master expects the same minions as Salt's master for every target", () => {
  withCache((data) => {
    for (const { id, grains, pillar, unknown } of MINIONS) {
      if (unknown) continue;
      data.setGrains(id, grains);
      data.setPillar(id, pillar);
    }
    const ids = MINIONS.map(({ id }) => id).sort();
    for (const row of ROWS) {
      let expectation = { minions: [] as string[], missing: [] as string[] };
      try {
        const { minions, missing } = resolveTarget(row, { ids, data, nodegroups: NODEGROUPS }, {
          delimiter: row.delimiter,
        });
        expectation = { minions: [...minions].sort(), missing: missing.sort() };
      } catch (error) {
        if (!(error instanceof TargetError)) throw error;
      }
      const expected = row.ours === undefined
        ? { minions: row.master, missing: row.missing }
        : { minions: row.ours, missing: [] };
      assertEquals(expectation, expected, `${row.tgtType} ${JSON.stringify(row.tgt)}`);
    }
  });
});

Deno.test("a target without a type is a glob, and a list target keeps its order", () => {
  for (const type of [undefined, ""]) assertEquals(resolve("web?", type).minions, ["web1", "web2"]);
  const { minions, missing } = resolve("web2,web1,,nobody,web1,nobody", "list");
  assertEquals({ minions, missing }, { minions: ["web2", "web1"], missing: ["nobody"] });
});

Deno.test("the ids of a target are kept with a list that cannot change, and each list has its own", () => {
  const before = Object.freeze(["web1", "web2"]), after = Object.freeze(["web1", "web3"]);
  const matching = (ids: readonly string[], tgt: string, tgtType?: string) => resolve(tgt, tgtType, { ids }).minions;
  assert(matching(before, "web*") === matching(before, "web*"));
  assertEquals(matching(before, "web*"), ["web1", "web2"]);
  assertEquals(matching(after, "web*"), ["web1", "web3"]);
  // The same text is another target as another type.
  assertEquals(matching(before, "web.", "pcre"), ["web1", "web2"]);
  assertEquals(matching(before, "web."), []);
  assertEquals([matching(before, "web2"), matching(after, "web2")], [["web2"], []]);
  const growing = ["web1"];
  assertEquals(matching(growing, "web*"), ["web1"]);
  growing.push("web2");
  assertEquals(matching(growing, "web*"), ["web1", "web2"]);
});

Deno.test("minions without cached data are named, and expected if they may match", () => {
  withCache((data) => {
    data.setGrains("web1", map({ os: "Debian", ipv4: ["192.0.2.1"] }));
    const { minions, unknown, byData } = resolve("web* and G@os:Debian", "compound", { data });
    assertEquals({ minions, unknown, byData }, { minions: ["web1"], unknown: ["db1", "web10", "web2"], byData: true });
    assertEquals(resolve("192.0.2.0/24", "ipcidr", { data }).minions, IDS);
    assertEquals(resolve("192.0.2.0/24", "ipcidr", { data }, { greedy: false }).minions, ["web1"]);
  });
});

Deno.test("a master without a data cache expects all minions that may match, for every target type", () => {
  const web = ["web1", "web10", "web2"];
  for (const tgt of ["web* and G@os:Debian", "web* and not G@os:Debian", "web* and not ( G@a:b or not I@c:d )"]) {
    assertEquals(resolve(tgt, "compound").minions, web);
  }
  assertEquals(resolve("os:Debian", "grain").minions, IDS);
  assertEquals(resolve("os:Debian", "grain", {}, { greedy: false }).minions, []);
});

Deno.test("a minion whose grains take too long to match does not match; the others do", () => {
  withCache((data) => {
    data.setGrains("web1", map({ roles: Array.from({ length: 2_000 }, () => `${"a".repeat(400)}!`) }));
    data.setGrains("web2", map({ roles: ["aaa"] }));
    const { minions, costly } = resolve("roles:(a+)+$", "grain_pcre", { data });
    assertEquals({ minions, costly }, { minions: ["web2"], costly: ["web1"] });
  });
});

Deno.test("unreadable cached data count as missing", () => {
  const broken = new Uint8Array([0x82, 0xa2, 0x6f, 0x73]);
  const data = {
    scan(_bank: string, begin: () => (id: string, bytes: Uint8Array | undefined) => void) {
      const visit = begin();
      visit("web1", broken);
      visit("web2", encode(map({ os: "Debian" }), "disk"));
      visit("nobody", encode(map({ os: "Debian" }), "disk"));
      visit("db1", encode(map({ os: "Debian" }), "disk"));
      visit("db1", undefined);
    },
  };
  const { minions, unknown } = resolve("os:Debian", "grain", { data });
  assertEquals({ minions, unknown }, { minions: ["web2"], unknown: ["db1", "web1", "web10"] });
});

Deno.test("data that are no map count as not known, also for a target of any key", () => {
  const data = {
    scan(_bank: string, begin: () => (id: string, bytes: Uint8Array | undefined) => void) {
      const visit = begin();
      visit("web1", encode(["Debian"], "disk"));
      visit("web2", encode(map({ os: "Debian" }), "disk"));
    },
  };
  for (const target of ["*:Debian", "os:Debian"]) {
    const { minions, unknown } = resolve(target, "grain", { data });
    assertEquals({ minions, unknown }, { minions: ["web2"], unknown: ["db1", "web1", "web10"] }, target);
  }
});

Deno.test("10,000 ids are resolved in a few milliseconds", () => {
  const ids = Array.from({ length: 10_000 }, (_, i) => `web${i}.example.com`);
  for (const [tgt, type] of [["web*9.example.*", "glob"], [".*9[.]example", "pcre"], [ids.join(","), "list"]]) {
    const tookMs = cpuMs(() => assert(resolve(tgt, type, { ids }).minions.length >= 1_000));
    assert(tookMs < 500, `${type}: ${tookMs} ms`);
  }
});

Deno.test("a target over many minions is given up after five seconds in total", () => {
  const { now } = performance;
  let ms = 0;
  // The clock advances by this much for each minion.
  const matchingIds = (ids: readonly string[], stepMs: number) => {
    ms = -stepMs;
    return resolve("web", "pcre", { ids }).minions;
  };
  try {
    let step = 0;
    performance.now = () => ms += step;
    step = 2_500;
    assertEquals(matchingIds(IDS.slice(1, 3), step), ["web1", "web10"]); // started at 0, checked at 2.5 and 5 s
    assertThrows(() => matchingIds(IDS.slice(1), step), TargetError, "takes too long");
    step = 1;
    assertEquals(matchingIds(IDS, step), ["web1", "web10", "web2"]);
  } finally {
    performance.now = now;
  }
});

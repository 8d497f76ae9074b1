import { DataCache } from "#lib/fleet/data_cache.ts";
import { Mine } from "#lib/fleet/mine.ts";
import { AGED, restricted } from "#lib/fleet/mine_form.ts";
import { answerMineGet } from "#lib/fleet/mine_query.ts";
import { StoreError } from "#lib/errors.ts";
import { isMap, map, repr, toNumber, type Value } from "#lib/values/value.ts";
import { deleteFromMine, flushMine, type MineRequestHost } from "#lib/fleet/mine_requests.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { withReplaced } from "#tests/support/replaced.ts";

const IDS = ["db1", "m1", "m2", "m3"];

/** A mine and the data of its minions. */
class Site implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "mine_query_" });
  readonly warned: string[] = [];
  readonly data = new DataCache(this.root, { log: this.#refuse });
  readonly mine = new Mine(this.root, { maxBytes: 100_000_000, log: this.#refuse });
  rules: Value = null;
  hasData = true;
  ids: readonly string[] = IDS;

  get #refuse(): (text: string) => void {
    return (text) => {
      throw new Error(text);
    };
  }

  constructor() {
    this.data.setGrains("m1", map({ role: "web" }));
    this.data.setGrains("m2", map({ role: "db" }));
    this.data.setGrains("m3", map({ role: "db" }));
    this.data.setPillar("m1", map({ tier: "one" }));
    this.data.setPillar("m2", map({ tier: "two" }));
    this.mine.store("m1", map({ f: "of m1", only1: 1 }));
    this.mine.store("m2", map({ f: "of m2" }));
  }

  /** The answer to a load of `_mine_get`, as Python shows it. */
  ask(load: Record<string, unknown>): string {
    return repr(this.answer(load));
  }

  answer(load: Record<string, unknown>): Value {
    return answerMineGet(map({ id: "m3", tgt: "*", fun: "f", ...load }), {
      opts: { mine_get: this.rules },
      mine: this.mine,
      data: this.data,
      fleet: () => ({
        ids: this.ids,
        nodegroups: map({ webs: "G@role:web" }),
        ...this.hasData ? { data: this.data } : {},
      }),
      warn: (text) => void this.warned.push(text),
    });
  }

  /** For requests that change the mine. */
  requestHost(keeps: boolean): MineRequestHost {
    const error = (text: string) => void this.warned.push(text);
    return {
      opts: { mine_get: null, minion_data_cache: keeps, enforce_mine_cache: false },
      mine: this.mine,
      data: this.data,
      fleet: () => ({ ids: IDS, nodegroups: new Map() }),
      warn: error,
      error,
    };
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

// Answers of a master of Salt 3008.3.
const TARGETS: readonly [load: Record<string, unknown>, answer: string][] = [
  [{}, "{'m1': 'of m1', 'm2': 'of m2'}"],
  [{ tgt: "m[12]", tgt_type: "pcre" }, "{'m1': 'of m1', 'm2': 'of m2'}"],
  [{ tgt: "m1,m9", tgt_type: "list" }, "{'m1': 'of m1'}"],
  [{ tgt: ["m2", "m1"], tgt_type: "list" }, "{'m2': 'of m2', 'm1': 'of m1'}"],
  [{ tgt: "role:db", tgt_type: "grain" }, "{'m2': 'of m2'}"],
  [{ tgt: "role:db", expr_form: "grain" }, "{'m2': 'of m2'}"],
  [{ tgt: "I@tier:one", tgt_type: "compound" }, "{'m1': 'of m1'}"],
  [{ tgt: "I@tier:o*", tgt_type: "compound" }, "{}"],
  [{ tgt: "tier:o*", tgt_type: "pillar" }, "{}"],
  [{ tgt: "tier:^o", tgt_type: "pillar_pcre" }, "{'m1': 'of m1'}"],
  [{ tgt: "webs", tgt_type: "nodegroup" }, "{'m1': 'of m1'}"],
  [{ tgt: "N@webs or m2", tgt_type: "compound" }, "{'m1': 'of m1', 'm2': 'of m2'}"],
  [{ tgt: "* and", tgt_type: "compound" }, "{}"],
  [{ tgt_type: "nosuch" }, "{}"],
  [{ tgt_type: null }, "''"],
  [{ tgt: "../../*" }, "{}"],
  [{ fun: "f,only1" }, "{'f': {'m1': 'of m1', 'm2': 'of m2'}, 'only1': {'m1': 1}}"],
  [{ fun: ["only1", "none"] }, "{'only1': {'m1': 1}}"],
  [{ fun: "f,f" }, "{'m1': 'of m1', 'm2': 'of m2'}"],
  [{ fun: "none" }, "{}"],
  [{ fun: 5 }, "{}"],
  [{ fun: null }, "{}"],
];

for (const [load, answer] of TARGETS) {
  Deno.test(`_mine_get ${JSON.stringify(load)} is ${answer}`, () => {
    using site = new Site();
    assertEquals(site.ask(load), answer);
  });
}

Deno.test("what is no target, and a query of too many names, has no values and a warning", () => {
  using site = new Site();
  const names = Array.from({ length: 1_001 }, (_, i) => `f${i}`);
  const broken = [{ tgt: null }, { tgt: 5 }, { tgt: map({}) }, { fun: names }, { tgt_type: 5 }, { max_age: "x" }, {
    max_age: -1,
  }];
  for (const load of broken) {
    site.warned.length = 0;
    assertEquals(site.ask(load), "{}", JSON.stringify(load));
  }
  assertEquals(site.ask({ fun: names.slice(0, 1_000) }), "{}");
});

/** Who may read what: [allow_tgt, allow_tgt_type, readers]. */
const READERS: readonly [tgt: Value, type: Value, readers: string][] = [
  ["m2", null, "m2"],
  ["m*", null, "m1 m2 m3"],
  ["*", null, "db1 m1 m2 m3"],
  ["role:db", "grain", "m2 m3"],
  ["G@role:db and not m3", "compound", "m2"],
  ["m1,m3", "list", "m1 m3"],
  [["m1"], "list", "m1"],
  ["tier:two", "pillar", "m2"],
  ["N@webs", "compound", "m1"],
  ["nosuch", null, ""],
  ["role:db", "nosuch", ""],
  ["(", "pcre", ""],
  ["* and", "compound", ""],
  [5, null, ""],
  [null, null, ""],
  [map({ a: 1 }), null, ""],
  ["*", 5, ""],
  [[1], "list", ""],
];

for (const [tgt, type, readers] of READERS) {
  Deno.test(`allow_tgt ${repr(tgt)} of type ${repr(type)} lets "${readers}" read`, () => {
    using site = new Site();
    site.mine.store("m1", map({ secret: restricted("s", tgt, type) }));
    const may = IDS.filter((id) => site.ask({ id, fun: "secret" }) === "{'m1': 's'}");
    assertEquals(may.join(" "), readers);
    for (const id of IDS.filter((id) => !may.includes(id))) assertEquals(site.ask({ id, fun: "secret" }), "{}");
    // The master itself is no minion.
    assertEquals(site.ask({ id: "host_master", fun: "secret" }), "{}");
  });
}

Deno.test("a minion whose grains are not known reads nothing that a grain allows, also not by its absence", () => {
  using site = new Site();
  site.mine.store("m1", map({ secret: restricted("s", "not G@role:web", "compound") }));
  assertEquals(site.ask({ id: "m2", fun: "secret" }), "{'m1': 's'}");
  assertEquals(site.ask({ id: "db1", fun: "secret" }), "{}");
  site.data.setPillar("db1", map({ tier: "three" }));
  assertEquals(site.ask({ id: "db1", fun: "secret" }), "{}");
  site.hasData = false;
  assertEquals(site.ask({ id: "m2", fun: "secret" }), "{}");
});

Deno.test("a restricted value without readers is for everybody, and one without a value for nobody", () => {
  using site = new Site();
  site.mine.store("m1", map({ f: { __data__: "x", __saltmine_acl__: 1 }, g: { __saltmine_acl__: 1 } }));
  assertEquals(site.ask({}), "{'m1': 'x', 'm2': 'of m2'}");
  assertEquals(site.ask({ fun: "g" }), "{}");
});

Deno.test("mine_get says which functions a minion may read, by the beginning of both names", () => {
  using site = new Site();
  site.mine.store("m2", map({ only2: 2 }));
  site.rules = map({ "m3": ["only", 5], "m2": ["f", "("], "db": "f" }).set(3, ["f"]);
  assertEquals(site.ask({}), "{}");
  assertEquals(site.ask({ fun: "only1" }), "{'m1': 1}");
  assertEquals(site.ask({ fun: "f,only1,only2" }), "{'only1': {'m1': 1}, 'only2': {'m2': 2}}");
  assertEquals(site.ask({ id: "m2", fun: "f,only1" }), "{'f': {'m1': 'of m1', 'm2': 'of m2'}}");
  assertEquals(site.ask({ id: "db1" }), "{}");
  for (const rules of [[], "f", new Map<Value, Value>()]) {
    site.rules = rules;
    assertEquals(site.ask({}), "{}");
  }
});

Deno.test("a mine whose file is broken is left out and told; the others are answered", () => {
  using site = new Site();
  // A map of two, of which the value of "f" is no MessagePack.
  Deno.writeFileSync(`${site.root}/mine/m1.p`, new Uint8Array([0x82, 0xa1, 0x66, 0xc1, 0xa1, 0x67, 1]));
  assertEquals(site.ask({}), "{'m2': 'of m2'}");
  assertEquals(site.warned.length, 1);
  assertStringIncludes(site.warned[0], "The mine of m1 cannot be read: ");
});

Deno.test("with_age and max_age look at when each value was stored", () => {
  using site = new Site();
  const young = site.answer({ with_age: true });
  const ret = isMap(young) ? young.get("ret") : undefined;
  const of1 = isMap(ret) ? ret.get("m1") : undefined;
  assert(isMap(young) && young.get(AGED) === 1 && isMap(of1), repr(young));
  assertEquals(of1.get("value"), "of m1");
  assert((toNumber(of1.get("age")) ?? -1) >= 0 && (toNumber(of1.get("age")) ?? 99) < 60, repr(of1));
  // The file of m1 was last changed long ago, by another master.
  Deno.utimeSync(`${site.root}/mine/m1.p`, 1e9, 1e9);
  assertEquals(site.ask({ max_age: 3600 }), "{'__mine_aged__': 1, 'ret': {'m2': 'of m2'}}");
  assertEquals(site.ask({ max_age: 3600, fun: "only1" }), "{'__mine_aged__': 1, 'ret': {}}");
  assertEquals(site.ask({ max_age: 3600, fun: "f,only1" }), "{'__mine_aged__': 1, 'ret': {'f': {'m2': 'of m2'}}}");
});

Deno.test("an answer that would be too large is a text, and a smaller one is not", () => {
  using site = new Site();
  for (const id of IDS) site.mine.store(id, map({ large: "x".repeat(30_000_000) }));
  assertEquals(
    site.ask({ fun: "large" }),
    "'The mine has more than 64 MiB for this target: ask for fewer functions or minions'",
  );
  assert(isMap(site.answer({ fun: "large", tgt: "m1" })));
});

Deno.test("an answer that takes too long is a text", async () => {
  using site = new Site();
  const { now } = performance;
  let lateMs = 0;
  const read = site.mine.read.bind(site.mine);
  site.mine.read = (ids, each) =>
    read(ids, (id, bytes) => {
      lateMs = 3_600_000;
      each(id, bytes);
    });
  await withReplaced(performance, { name: "now", by: () => now.call(performance) + lateMs }, () => {
    assertStringIncludes(site.ask({}), "The mine takes more than ");
  });
  assertEquals(site.ask({}), "{'m1': 'of m1', 'm2': 'of m2'}");
});

Deno.test("values with the same readers are each shown to them, and to nobody else", () => {
  using site = new Site();
  for (const id of ["m1", "m2"]) site.mine.store(id, map({ f: restricted(`of ${id}`, "m3", "glob") }));
  assertEquals(site.ask({}), "{'m1': 'of m1', 'm2': 'of m2'}");
  assertEquals(site.ask({ id: "db1" }), "{}");
});

Deno.test("of many minions one whose mine was removed meanwhile is left out", () => {
  using site = new Site();
  site.ids = Array.from({ length: 80 }, (_, i) => `n${String(i).padStart(2, "0")}`);
  for (const id of site.ids) site.mine.store(id, map({ f: 1 }));
  const answered = () => {
    const answer = site.answer({});
    return isMap(answer) ? [...answer.keys()].sort() : answer;
  };
  assertEquals(answered(), [...site.ids]);
  site.mine.flush("n40");
  assertEquals(answered(), site.ids.filter((id) => id !== "n40"));
});

Deno.test("a master that keeps no mine deletes nothing", () => {
  using site = new Site();
  const remove = (keeps: boolean) => deleteFromMine(map({ fun: "f" }), "m1", site.requestHost(keeps));
  assertEquals([remove(false), site.ask({ tgt: "m1" })], [false, "{'m1': 'of m1'}"]);
  assertEquals([remove(true), site.ask({ tgt: "m1" }), remove(true)], [true, "{}", true]);
  assertEquals(site.warned, []);
});

Deno.test("a mine that cannot be written is told, and answered with False", () => {
  using site = new Site();
  site.mine.flush = () => {
    throw new StoreError("the disk is full", site.root);
  };
  assertEquals([flushMine("m1", site.requestHost(true)), site.warned], [false, ["the disk is full"]]);
});

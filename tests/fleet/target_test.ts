import { TARGET_CLI_OPTIONS } from "../../lib/cli/common_options.ts";
import { TargetError, UsageError } from "../../lib/errors.ts";
import { matchesTarget, resolveTarget } from "../../lib/fleet/target.ts";
import { type TargetOption, targetType } from "../../lib/commands/target_type.ts";
import type { Value } from "../../lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "../support/assert.ts";
import { cpuMs } from "../support/time.ts";

const IDS = ["db1", "web1", "web10", "web2"];

const CASES: readonly [tgt: Value, type: string | undefined, minions: string[], missing: string[]][] = [
  ["*", "glob", IDS, []],
  ["*", undefined, IDS, []],
  ["*", "", IDS, []],
  ["web?", "glob", ["web1", "web2"], []],
  ["web1", "glob", ["web1"], []],
  ["web", "glob", [], []],
  ["Web*", "glob", [], []],
  [["web1"], "glob", [], []],
  [null, "glob", [], []],
  ["web1", "pcre", ["web1", "web10"], []],
  ["web1$", "pcre", ["web1"], []],
  ["eb", "pcre", [], []],
  [["web1"], "pcre", [], []],
  ["(?i)WEB|db", "pcre", IDS, []],
  ["web2,web1", "list", ["web2", "web1"], []],
  ["web1,,nobody,web1,nobody", "list", ["web1"], ["nobody"]],
  [["db1", "gone", 5], "list", ["db1"], ["gone"]],
  ["", "list", [], []],
  ["web*", "list", [], ["web*"]],
  [7, "list", [], []],
];

for (const [tgt, type, minions, missing] of CASES) {
  Deno.test(`a ${type ?? "plain"} target ${JSON.stringify(tgt)} means ${minions.join(", ") || "nobody"}`, () => {
    assertEquals(resolveTarget(tgt, type, IDS), { minions, missing });
    assertEquals(IDS.filter((id) => matchesTarget(tgt, type, id)), [...minions].sort());
  });
}

for (const type of ["grain", "compound", "nodegroup", "constructor", "__proto__"]) {
  Deno.test(`a target of type ${type} is refused by name, not taken for nobody`, () => {
    assertThrows(() => resolveTarget("x", type, IDS), TargetError, `"${type}"`);
    assertThrows(() => matchesTarget("x", type, "web1"), TargetError, `"${type}"`);
  });
}

Deno.test("a pcre target that Python would refuse is an error of the target", () => {
  assertThrows(() => resolveTarget("web(", "pcre", IDS), TargetError, "web(");
});

Deno.test("10,000 ids are resolved in a few milliseconds", () => {
  const ids = Array.from({ length: 10_000 }, (_, i) => `web${i}.example.com`);
  for (const [tgt, type] of [["web*9.example.*", "glob"], [".*9[.]example", "pcre"], [ids.join(","), "list"]]) {
    const tookMs = cpuMs(() => assert(resolveTarget(tgt, type, ids).minions.length >= 1_000));
    assert(tookMs < 500, `${type}: ${tookMs} ms`);
  }
});

Deno.test("a kind of target that is not built is refused by its option, before anybody is asked", () => {
  const unbuilt = [
    "grain",
    "grain_pcre",
    "nodegroup",
    "range",
    "compound",
    "pillar_target",
    "pillar_pcre",
    "ipcidr",
  ] as const satisfies TargetOption[];
  for (const name of unbuilt) {
    const { flags, help } = TARGET_CLI_OPTIONS[name];
    assertThrows(() => targetType({ [name]: true }), UsageError, flags.join("/"));
    assertStringIncludes(help, "Not built yet.");
  }
  assertEquals([targetType({}), targetType({ list: true }), targetType({ pcre: true })], ["glob", "list", "pcre"]);
});

Deno.test("an expression that is asked about many ids is given up after five seconds in all", () => {
  const { now } = performance;
  let ms = 0;
  // The clock goes on by so much with each id.
  const askedAbout = (ids: readonly string[], stepMs: number) => {
    ms = -stepMs;
    return resolveTarget("web", "pcre", ids).minions;
  };
  try {
    let step = 0;
    performance.now = () => ms += step;
    step = 2_500;
    assertEquals(askedAbout(IDS.slice(1, 3), step), ["web1", "web10"]); // begun at 0, asked at 2.5 and 5 s
    assertThrows(() => askedAbout(IDS.slice(1), step), TargetError, "takes too long");
    step = 1;
    assertEquals(askedAbout(IDS, step), ["web1", "web10", "web2"]);
  } finally {
    performance.now = now;
  }
});

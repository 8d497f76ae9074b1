/**
 * Arguments of `state.*`: what is misspelt is refused before anything runs.
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { type Called, openTree } from "#tests/support/calls/state_tree.ts";
import { isMap, type Value } from "#lib/values/value.ts";
import { exists } from "#lib/os/file_kind.ts";

const FILES = { "motd.sls": "made:\n  test.succeed_with_changes: []\n", "top.sls": "base:\n  '*': [motd]\n" };

/** The text of a call that was refused before anything ran. */
function refused({ returned, retcode, error }: Called): string {
  assertEquals([typeof returned, retcode], ["string", 1], String(returned));
  return error?.message ?? "";
}

type Call = readonly [fun: string, args: readonly Value[], kwargs: Readonly<Record<string, unknown>>, text: string];

Deno.test("a keyword that no function of state knows is refused, with the one that is meant", async () => {
  await using tree = await openTree({ files: FILES });
  const calls: Call[] = [
    ["apply", ["motd"], { tset: true }, "state.apply takes no argument 'tset'; did you mean test?"],
    ["apply", ["motd"], { tst: true }, "state.apply takes no argument 'tst'; did you mean test?"],
    ["apply", [], { pilar: { a: 1 } }, "state.apply takes no argument 'pilar'; did you mean pillar?"],
    ["apply", [], { exlude: "one" }, "state.apply takes no argument 'exlude'; did you mean exclude?"],
    ["apply", [], { zzz: 1 }, "state.apply takes no argument 'zzz'"],
    ["sls", ["motd"], { concurent: true }, "state.sls takes no argument 'concurent'; did you mean concurrent?"],
    ["highstate", [], { whitelst: "motd" }, "state.highstate takes no argument 'whitelst'; did you mean whitelist?"],
    ["top", ["top.sls"], { tset: true }, "state.top takes no argument 'tset'; did you mean test?"],
    ["test", ["motd"], { pilar: {} }, "state.test takes no argument 'pilar'; did you mean pillar?"],
    ["sls_id", ["made", "motd"], { tset: true }, "state.sls_id takes no argument 'tset'; did you mean test?"],
    ["high", [new Map([["a", "test.nop"]])], { tset: true }, "state.high takes no argument 'tset'; did you mean test?"],
    [
      "template_str",
      ["a: test.nop"],
      { pilar: {} },
      "state.template_str takes no argument 'pilar'; did you mean pillar?",
    ],
    ["lint", [], { sls: "motd" }, "state.lint takes no argument 'sls'"],
    ["show_sls", ["motd"], { salenv: "base" }, "state.show_sls takes no argument 'salenv'; did you mean saltenv?"],
    ["show_top", [], { salenv: "base" }, "state.show_top takes no argument 'salenv'; did you mean saltenv?"],
  ];
  for (const [fun, args, kwargs, text] of calls) {
    assertEquals(refused(await tree.call(`state.${fun}`, args, kwargs)), text);
  }
});

Deno.test("every keyword of Salt's state functions, and fields of publications, are taken", async () => {
  await using tree = await openTree({ files: FILES });
  const common = {
    ...{
      test: true,
      queue: false,
      saltenv: "base",
      pillarenv: "base",
      pillar: { a: 1 },
      concurrent: false,
      force: false,
    },
    ...{ orchestration_jid: "20260101000000000001", mock: false, terse: false, cache: false, cache_name: "highstate" },
    ...{ exclude: "none", state_events: false, env: "base", __pub_jid: "1", __other: 1 },
  };
  for (const [fun, args] of [["apply", ["motd"]], ["sls", ["motd"]], ["highstate", []], ["apply", []]] as const) {
    const { returned, retcode } = await tree.call(`state.${fun}`, args, common);
    assertEquals([isMap(returned) && returned.size, retcode], [1, 0], `${fun} ${String(returned)}`);
  }
});

Deno.test("a word that is neither True nor False is no test mode", async () => {
  await using tree = await openTree({ files: FILES });
  const comma = ". Several SLS names are separated by commas";
  const calls: Call[] = [
    ["apply", ["motd"], { test: "Ture" }, "test must be True or False, not 'Ture'"],
    ["apply", ["motd"], { TEST: "Ture" }, "TEST must be True or False, not 'Ture'"],
    ["apply", ["motd"], { test: "" }, "test must be True or False, not ''"],
    ["apply", ["motd", "motd"], {}, `test must be True or False, not 'motd'${comma}`],
    ["sls", ["motd", "motd"], {}, `test must be True or False, not 'motd'${comma}`],
    ["apply", ["motd", "test:True"], {}, "test must be True or False, not 'test:True'. It is written test=True"],
    ["apply", ["motd", "test", "=", "True"], {}, "test must be True or False, not 'test'. It is written test=True"],
    ["apply", ["motd,", "motd"], {}, "'motd,' ends in a comma. There is no space between SLS names"],
    ["apply", ["motd,"], {}, "'motd,' ends in a comma. There is no space between SLS names"],
    ["apply", ["motd"], { queue: "Ture" }, "queue must be True, False or a number, not 'Ture'"],
    ["apply", ["motd"], { concurrent: "Ture" }, "concurrent must be True or False, not 'Ture'"],
    ["show_sls", ["motd"], { queue: "Ture" }, "queue must be True, False or a number, not 'Ture'"],
    ["single", ["test.nop", "x"], { test: "Ture" }, "test must be True or False, not 'Ture'"],
  ];
  for (const [fun, args, kwargs, text] of calls) {
    assertEquals(refused(await tree.call(`state.${fun}`, args, kwargs)), text);
  }
});

Deno.test("the words True and False of a client that sends texts are what they say", async () => {
  await using tree = await openTree({ files: FILES });
  for (const [test, result] of [["True", null], ["true", null], ["False", true], [true, null], [1, null]] as const) {
    const { returned } = await tree.call("state.apply", ["motd"], { test });
    assert(isMap(returned));
    const [made] = returned.values();
    assertEquals(isMap(made) && made.get("result"), result, String(test));
  }
});

Deno.test("state.single refuses a misspelt argument of its state, and of its own", async () => {
  await using tree = await openTree({ files: {} });
  const path = `${tree.root}/s.txt`;
  const managed = async (kwargs: Record<string, unknown>) => {
    const called = await tree.call("state.single", ["file.managed", path], kwargs);
    assertEquals(exists(path), false);
    return refused(called);
  };
  assertEquals(await managed({ contnets: "foo" }), "file.managed takes no argument 'contnets'; did you mean contents?");
  assertEquals(
    await managed({ contents: "a", tset: true }),
    "file.managed takes no argument 'tset'; did you mean test?",
  );
  assertEquals(
    await managed({ contents: "a", unles: "true" }),
    "file.managed takes no argument 'unles'; did you mean unless?",
  );
  assertEquals(
    await managed({ contents: "a", pilar: {} }),
    "file.managed takes no argument 'pilar'; did you mean pillar?",
  );
  const { returned } = await tree.call("state.single", ["file.managed", path], {
    contents: "a",
    unless: "false",
    test: false,
  });
  assert(isMap(returned));
  assertEquals(exists(path), true);
});

Deno.test("an argument that is given by place and by name is refused in one line", async () => {
  await using tree = await openTree({ files: FILES });
  const { returned } = await tree.call("state.apply", ["motd", true], { test: "" });
  assertStringIncludes(String(returned), "got multiple values for argument 'test'");
  assertEquals(String(returned).trim().split("\n").length, 1);
});

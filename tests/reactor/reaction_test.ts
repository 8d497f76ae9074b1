/**
 * The forms of reactions and of the map, without a master.
 * @module
 */
import type { MasterOpts } from "#lib/config/options.ts";
import { ReactionChains } from "#lib/reactor/chains.ts";
import { addEntry, deleteEntry, parseChanges, readChanges, UNCHANGED } from "#lib/reactor/changes.ts";
import { compileReactions } from "#lib/reactor/compile.ts";
import { ReactorJournal, type Taken } from "#lib/reactor/journal.ts";
import { TagLimits } from "#lib/reactor/limits.ts";
import type { Reaction } from "#lib/reactor/reaction.ts";
import { MapMatcher, readReactorMap } from "#lib/reactor/reactor_map.ts";
import { engineWorkers, reactorOpts } from "#lib/reactor/reactor_opts.ts";
import { type ReactorRenderer, renderReactions } from "#lib/reactor/render_files.ts";
import { mistakeText, unpackRenderedEvent, unpackRenderEvent } from "#lib/reactor/rendering.ts";
import { takeReplay, writeReplay } from "#lib/reactor/replays.ts";
import { ReactorStatus } from "#lib/reactor/status.ts";
import { ConfigError, PreflightError, WireError } from "#lib/errors.ts";
import { frameRecord } from "#lib/os/record_file.ts";
import { p } from "#lib/plugins/module.ts";
import { encode } from "#lib/values/msgpack.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const NOWHERE = { key: () => undefined, item: () => undefined, holder: () => undefined };
/** One that takes anything, and one with a parameter that must be given. */
const FUNCTIONS: Readonly<
  Record<string, { doc: string; params: Record<string, ReturnType<typeof p.any>>; varKwargs?: string }>
> = {
  "test.arg": { doc: "", params: {}, varKwargs: "kwargs" },
  "key.list": { doc: "", params: { match: p.any() } },
  "job.list": { doc: "", params: { match: p.any(), name: p.any(null) } },
};

async function reactionsOf(
  ...texts: readonly string[]
): Promise<{ reactions: readonly Reaction[]; mistakes: string[] }> {
  const files = texts.map((text, i) => ({ path: `/${i}.sls`, data: loadYaml(text, `/${i}.sls`), positions: NOWHERE }));
  const functions = { find: (_kind: string, fun: string) => Promise.resolve(FUNCTIONS[fun]) };
  const { reactions, mistakes } = await compileReactions(files, functions);
  return { reactions, mistakes: mistakes.map(mistakeText) };
}

/** The arguments of the one reaction, or the texts of mistakes. */
async function call(type: string, ...lines: readonly string[]): Promise<Value | string[]> {
  const run = lines.map((line) => `    - ${line}\n`).join("");
  const { reactions, mistakes } = await reactionsOf(`a:\n  ${type}:\n${run}`);
  if (mistakes.length > 0) return mistakes;
  return reactions.map(({ args, kwargs }): Value => [...args, kwargs])[0];
}

const NONE: Value = new Map();

Deno.test("arguments have the forms of Salt's table, for jobs and for runners", async () => {
  for (const [type, tgt] of [["local.test.arg", ["tgt: g1"]], ["runner.test.arg", []]] as const) {
    const of = (...lines: string[]) => call(type, ...tgt, ...lines);
    assertEquals(await of("args: [{x: 1}, {y: two}]"), [map({ x: 1, y: "two" })]);
    assertEquals(await of("args: {x: 1, y: two}"), [map({ x: 1, y: "two" })]);
    assertEquals(await of("args: [one, 2]"), [new Map<Value, Value>([["one", null], [2, null]])]);
    assertEquals(await of("arg: [1, two]", "kwarg: {x: 1}"), [1, "two", map({ x: 1 })]);
    assertEquals(await of("args: [{x: 1}]", "arg: [2]", "kwarg: {y: 3}"), [map({ x: 1 })]);
    for (const wrong of ["args: [{x: 1, y: 2}]", "args: one", "args: []"]) {
      const [text] = await of(wrong) as string[];
      assertEquals(text.includes("Incorrect argument format"), true, `${wrong}: ${text}`);
    }
  }
  assertEquals(await call("local.test.arg", "tgt: g1"), [NONE]);
});

Deno.test("runners take what stands beside, by the parameters of the function; arg alone is a keyword too", async () => {
  assertEquals(await call("runner.test.arg", "x: 1", "y: two"), [map({ x: 1, y: "two" })]);
  assertEquals(await call("wheel.key.list", "match: un"), ["un", NONE]);
  assertEquals(await call("runner.test.arg", "arg: [1, 2]"), [1, 2, map({ arg: [1, 2] })]);
  assertEquals(await call("runner.test.arg", "name: given", "x: 1"), [map({ x: 1 })]);
  assertEquals(await call("runner.job.list", "match: un", "name: given"), ["un", map({ name: "given" })]);
  assertEquals(await call("wheel.key.list", "nosuch: 1"), [
    "/0.sls: Reactor 'a': failed to execute wheel 'key.list': it takes the arguments match, which are not given",
  ]);
  assertEquals(await call("wheel.key.list", "match: un", "nosuch: 1"), [
    "/0.sls: Reactor 'a': failed to execute wheel 'key.list': it takes no argument nosuch",
  ]);
  assertEquals(await call("runner.no.such", "x: 1"), [
    "/0.sls: Reactor 'a': failed to execute runner 'no.such': function not available",
  ]);
  assertEquals(await call("caller.test.arg", "args: [1, 2]"), [1, 2, NONE]);
});

Deno.test("a reaction that cannot be stops no other; data that are invalid as a whole stop all of the event", async () => {
  const good = "z:\n  local.test.arg:\n    - tgt: g1\n";
  const found = async (...texts: string[]) => {
    const { reactions, mistakes } = await reactionsOf(...texts);
    return [reactions.map(({ id }) => id).join(), mistakes.length];
  };
  assertEquals(await found(good, "a:\n  file.managed:\n    - name: /x\n"), ["z", 1]);
  assertEquals(await found(good, "a:\n  local.test.arg:\n    - arg: [x]\n"), ["z", 1]);
  assertEquals(await found(good, "- a\n"), ["z", 1]);
  assertEquals(await found(good, "a: local.test.arg\n"), ["z", 1]);
  assertEquals(await found(good, "a: reboot\n"), ["z", 1]);
  assertEquals(await found(good, "a:\n  local.test.arg:\n    tgt: g1\n"), ["", 1]);
  assertEquals(await found(good, "5:\n  local.test.arg:\n    - tgt: g1\n"), ["", 1]);
  assertEquals(await found(good, "a:\n  local.test.arg:\n    - tgt: g1\n    - require: [{local: none}]\n"), ["", 1]);
  const { mistakes } = await reactionsOf("a:\n  locl.test.arg:\n    - tgt: g1\n");
  assertEquals(mistakes, [
    "/0.sls: Reactor 'a': there is no reaction of the type 'locl' (locl.test.arg); did you mean local.test.arg?",
  ]);
});

Deno.test("of two functions of one type under an id the first by name counts, as in Salt", async () => {
  const run = "    - tgt: g1\n";
  const { reactions, mistakes } = await reactionsOf(`a:\n  local.test.b:\n${run}  local.test.a:\n${run}`);
  assertEquals([reactions.map(({ fun }) => fun), mistakes], [["test.a"], []]);
});

Deno.test("entries of a map of another form are named, and left out", () => {
  const value = loadYaml("[x, {a: f}, {b: [f, g]}, {c: null}, {d: f, e: f}, {1: f}]", "m");
  const { entries, mistakes } = readReactorMap(value);
  assertEquals(entries, [{ tag: "a", files: ["f"] }, { tag: "b", files: ["f", "g"] }]);
  assertEquals(mistakes.map(({ text }) => text.slice(0, 9)), ["entry 1: ", "entry 4: ", "entry 5: ", "entry 6: "]);
  assertEquals(readReactorMap(map({ a: "f" })).mistakes.length, 1);
});

Deno.test("entries are added and deleted besides those of the configuration", () => {
  const configured = readReactorMap(loadYaml("[{a: f}]", "m"));
  const added = addEntry(configured, UNCHANGED, { tag: "b", files: ["g"] });
  assertEquals(added.result, { status: true, comment: "Reactor added." });
  assertEquals(addEntry(configured, UNCHANGED, { tag: "a", files: ["g"] }).result.status, false);
  const changes = added.changes ?? UNCHANGED;
  assertEquals(deleteEntry(configured, changes, "b").changes, UNCHANGED);
  assertEquals(deleteEntry(configured, changes, "a").changes?.deleted, ["a"]);
  assertEquals(deleteEntry(configured, changes, "c").result.comment, "Reactor does not exists.");
  assertThrows(() => parseChanges("[]"), Error, "no list of changes");
});

Deno.test("changes that cannot be read are named with their path", () =>
  withTemporaryDirectory((directory) => {
    assertEquals(readChanges(directory), UNCHANGED);
    Deno.writeTextFileSync(`${directory}/changes.json`, "{");
    assertThrows(() => readChanges(directory), Error, `${directory}/changes.json cannot be read: `);
  }));

Deno.test("a map whose file cannot be read is a mistake; the files of tags stay right however many tags there are", () =>
  withTemporaryDirectory((directory) => {
    const { entries, mistakes } = readReactorMap(directory);
    assertEquals([entries, mistakes.length, mistakes[0].file], [[], 1, directory]);
    const matcher = new MapMatcher([{ tag: "t/*7", files: ["/a.sls"] }]);
    for (let n = 0; n < 5_010; n++) assertEquals(matcher.filesFor(`t/${n}`), n % 10 === 7 ? ["/a.sls"] : [], String(n));
    assertEquals(matcher.filesFor("t/7"), ["/a.sls"]);
  }));

Deno.test("the option engines gives the reactor its options, as a list or a map; those that cannot be are refused", () => {
  const own = { event_log: "files", reactor: [], reactor_worker_threads: 1, reactor_worker_hwm: 2 };
  const opts = (engines: Value) => ({ ...own, engines }) as unknown as MasterOpts;
  const workers = (engines: Value) => {
    const made = reactorOpts(opts(engines));
    return made && [made.reactor_worker_threads, made.reactor_worker_hwm];
  };
  assertEquals(workers(null), undefined);
  assertEquals(workers(["other"]), undefined);
  const both = map({ reactor: { worker_threads: 3, worker_hwm: 7 } });
  assertEquals([workers([both]), workers(both), workers(["reactor"])], [[3, 7], [3, 7], [1, 2]]);
  for (const wrong of [0, -1, 1.5, "many"]) {
    assertThrows(
      () => workers([map({ reactor: { worker_threads: wrong } })]),
      ConfigError,
      `worker_threads of the engine reactor must be an integer of at least 1, not ${wrong}`,
    );
  }
  assertThrows(() => reactorOpts({ ...opts(["reactor"]), event_log: "none" }), PreflightError, "needs the event log");
  assertEquals(engineWorkers(["reactor"], { running: 1, waiting: 2 }), { running: 1, waiting: 2 });
});

Deno.test("messages between the reactor and its process of another form are refused", () => {
  const bytes = (value: Value) => encode(value, "disk");
  for (const wrong of ["t", map({ data: [], files: [] }), map({ data: {}, files: "f" })]) {
    assertThrows(() => unpackRenderEvent(bytes(wrong)), WireError, "invalid event to render");
  }
  const rows: readonly [Value, string][] = [
    ["t", "invalid reactions"],
    [map({ reactions: [], mistakes: "m" }), "invalid reactions"],
    [map({ reactions: [], mistakes: ["m"] }), "invalid mistake of a reactor file"],
    [map({ reactions: [map({ kind: "remote" })], mistakes: [] }), "invalid reaction"],
    [map({ reactions: ["r"], mistakes: [] }), "invalid reaction"],
  ];
  for (const [wrong, text] of rows) assertThrows(() => unpackRenderedEvent(bytes(wrong)), WireError, text);
  assertEquals(mistakeText({ file: "", text: "no file" }), "no file");
});

Deno.test("a file of the map that is no absolute path, or that the file server does not give, is named with the reason", async () => {
  const files = { cacheFile: () => Promise.reject(new Error("no file server")) };
  const renderer = { host: { files }, renderer: "jinja|yaml", functions: {} } as unknown as ReactorRenderer;
  const event = { tag: "t/a", data: map({}), files: ["reactor/a.sls", "salt://a.sls"] };
  const { reactions, mistakes } = await renderReactions(event, renderer);
  assertEquals(reactions, []);
  assertEquals(mistakes.map(mistakeText), [
    "reactor/a.sls: cannot be rendered for the tag t/a: its path is not absolute",
    "salt://a.sls: cannot be rendered for the tag t/a: no file server",
  ]);
});

Deno.test("the report keeps the last fifty errors, the newest first", () => {
  const status = new ReactorStatus();
  for (let n = 0; n < 60; n++) status.failed("t", { file: "", text: `error ${n}` });
  const errors = status.value({}).get("errors");
  const texts = Array.isArray(errors) ? errors.map((error) => isMap(error) ? error.get("error") : null) : [];
  assertEquals([texts.length, texts[0], texts.at(-1)], [50, "error 59", "error 10"]);
});

const REACTION: Reaction = {
  kind: "local",
  fun: "test.arg",
  args: [1],
  kwargs: map({ x: 1 }),
  id: "a",
  file: "/a.sls",
  tgt: "g1",
  tgtType: "glob",
  ret: "",
  publish: map({}),
};
const taken = (jid: string): Taken => ({ jid, tag: "t", reaction: REACTION });

Deno.test("a journal gives what was taken over and not started, after every cut of its end", () =>
  withTemporaryDirectory((directory) => {
    const errors: string[] = [];
    const open = (at: string) => new ReactorJournal(at, (text) => void errors.push(text));
    const journal = open(directory);
    journal.take({ log: "l", number: 4 }, [taken("1"), taken("2")]);
    journal.started("1");
    journal.take({ log: "l", number: 9 }, [taken("3")]);
    const again = open(directory);
    assertEquals([again.position?.number, again.open.map(({ jid }) => jid)], [9, ["2", "3"]]);
    assertEquals(again.open[0].reaction, REACTION);
    const bytes = Deno.readFileSync(`${directory}/journal`);
    Deno.mkdirSync(`${directory}/cut`);
    for (const length of [bytes.length - 1, bytes.length - 60]) {
      Deno.writeFileSync(`${directory}/cut/journal`, bytes.subarray(0, length));
      const cut = open(`${directory}/cut`);
      assertEquals([cut.position?.number, cut.open.map(({ jid }) => jid)], [4, ["1", "2"]]);
    }
    assertEquals(errors, []);
  }));

Deno.test("a journal that cannot be written says so once, and has all again when it can; a foreign record ends it", () =>
  withTemporaryDirectory((root) => {
    const errors: string[] = [], directory = `${root}/reactor`, hidden = `${root}/hidden`;
    const open = () => new ReactorJournal(directory, (text) => void errors.push(text), { syncs: true });
    const journal = open();
    journal.take({ log: "l", number: 1 }, [taken("1")]);
    journal.take({ log: "l", number: 2 }, [taken("2")]);
    journal.close();
    Deno.renameSync(directory, hidden);
    journal.take({ log: "l", number: 3 }, [taken("3")]);
    journal.started("1");
    journal.flush();
    assertEquals(errors.length, 1);
    assertStringIncludes(errors[0], "reactions may be repeated after a restart");
    Deno.renameSync(hidden, directory);
    journal.flush();
    const jids = () => open().open.map(({ jid }) => jid);
    assertEquals(jids(), ["2", "3"]);
    const whole = Deno.readFileSync(`${directory}/journal`);
    const foreign = ["text", map({ taken: [map({ jid: "9" })], done: [] }), map({ taken: [5], done: [] })];
    for (const record of [...foreign.map((value) => encode(value, "disk")), new Uint8Array([0xc1])]) {
      Deno.writeFileSync(`${directory}/journal`, whole);
      Deno.writeFileSync(`${directory}/journal`, frameRecord(record, { checked: true }), { append: true });
      assertEquals(jids(), ["2", "3"]);
    }
    journal.close();
  }));

Deno.test("chains follow job ids and the tags of event.send; a limit counts the events of a tag in a minute", () => {
  const chains = new ReactionChains(2);
  const send: Reaction = { ...REACTION, kind: "runner", fun: "event.send", args: [], kwargs: map({ tag: "t/x" }) };
  const jid = "20261128000000000001";
  let chain = chains.of("t/begin", map({}), 0);
  for (let round = 0; round < 2; round++) {
    assertEquals(chains.loopOf(chain, ["/a.sls"]), undefined);
    const longer = chains.longer(chain, ["/a.sls"]);
    chains.note(longer, send, jid, 0);
    chain = chains.of("t/x", map({}), 1);
  }
  assertEquals(chains.loopOf(chain, ["/b.sls", "/a.sls"]), "/a.sls");
  assertEquals(new ReactionChains(0).loopOf(chain, ["/a.sls"]), undefined);
  assertEquals(chains.of(`salt/job/${jid}/ret/m1`, map({}), 1), chain);
  assertEquals(chains.of("any", map({ data: map({ __pub_jid: jid }) }), 1), chain);
  assertEquals(chains.of("t/x", map({}), 120_000).size, 0);
  const limits = new TagLimits(loadYaml("{'t/*': 2, other: none}", "m") as Map<Value, Value>);
  assertEquals([0, 1, 2, 3, 60_001].map((ms) => limits.take("t/a", ms)), ["yes", "yes", "first", "no", "yes"]);
  assertEquals([limits.take("t/b", 4), limits.take("other", 4)], ["yes", "yes"]);
});

Deno.test("a replay is taken once, and only where a request was written", () =>
  withTemporaryDirectory((directory) => {
    const jid = "20261128000000000001", replay = { first: 3, next: 9, tag: "t/*" };
    assertThrows(() => writeReplay(directory, "../x", replay), RangeError, "no job id: ../x");
    writeReplay(directory, jid, replay);
    assertEquals(takeReplay(directory, "salt/reactors/replay/../../x"), undefined);
    assertEquals(takeReplay(directory, `salt/reactors/replay/${jid}`), replay);
    assertEquals(takeReplay(directory, `salt/reactors/replay/${jid}`), undefined);
  }));

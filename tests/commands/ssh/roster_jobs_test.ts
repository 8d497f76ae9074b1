/**
 * What a host of a roster, and the operator for one, may ask of other hosts: without a host.
 * @module
 */

import { runOperatorCall } from "#lib/commands/ssh/operator_calls.ts";
import { RosterJobs } from "#lib/commands/ssh/roster_jobs.ts";
import type { PeerHosts } from "#lib/commands/ssh/roster_mine.ts";
import type { HostEnd, SshWork } from "#lib/commands/ssh/ssh_work.ts";
import { clientEnd } from "#lib/commands/ssh/client_end.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { TargetError } from "#lib/errors.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { AGED } from "#lib/fleet/mine_form.ts";
import { map, str, type Value } from "#lib/values/value.ts";
import { toWireArgs } from "#lib/yaml/arguments.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

interface Site {
  readonly hosts: PeerHosts;
  readonly jobs: RosterJobs;
  readonly lines: string[];
  /** The most functions that ran at a time. */
  most(): number;
  /** Lets functions end, which wait for it. */
  release(): void;
}

/** Hosts of a roster that end a function when they may. */
function siteOf(root: string, entries: Readonly<Record<string, unknown>>, waits = false): Site {
  const { log, lines } = memoryLog();
  const overrides = { root_dir: root, user: "root", ssh_max_procs: 2, peer: map({ ".*": ["test.*"] }) };
  const { opts } = loadMasterConfig({ readsFiles: false, overrides });
  const gate = Promise.withResolvers<void>();
  let running = 0, most = 0;
  const hosts: PeerHosts = {
    opts,
    log,
    find({ tgt }) {
      if (tgt === "[") return Promise.reject(new TargetError("the pattern has no end", "glob"));
      return Promise.resolve(new Map([...map({ ...entries })].map(([id, entry]): [string, Value] => [str(id), entry])));
    },
    async end(id: string, _entry: Value, work: SshWork): Promise<HostEnd> {
      most = Math.max(most, ++running);
      if (waits) await gate.promise;
      await Promise.resolve();
      running--;
      return { id, return: "fun" in work ? `${work.fun} on ${id}` : null, retcode: 0 };
    },
    pillar: () => Promise.reject(new Error("the pillar has no top file")),
  };
  const jobs = new RosterJobs(hosts, new DataCache(opts.cachedir, { log: log.warning }));
  return { hosts, jobs, lines, most: () => most, release: () => gate.resolve() };
}

const asked = (more: Readonly<Record<string, unknown>> = {}) =>
  map({ tgt: "*", fun: "test.ping", arg: [], tgt_type: "glob", ...more });

Deno.test("a host starts no more jobs and no more functions at a time than it may, and gets only its own returns", () =>
  withTemporaryDirectory(async (root) => {
    const { jobs, lines, most, release } = siteOf(root, { a: {}, b: {}, c: {}, d: {} }, true);
    const started = [];
    for (let n = 0; n < 5; n++) started.push(await jobs.publish(asked(), "web1"));
    assertEquals(started.map((one) => one.has("jid")), [true, true, true, true, false]);
    assertStringIncludes(lines.at(-1) ?? "", "web1 may not publish test.ping: 4 jobs of it run already");
    assertEquals((await jobs.publish(asked(), "web2")).has("jid"), true);
    release();
    await jobs.ended();
    assertEquals(most(), 2 * 5, "ssh_max_procs of each job");
    const load = map({ jid: started[0].get("jid") ?? null });
    assertEquals([...jobs.returns(load, "web1").keys()], ["a", "b", "c", "d"]);
    assertEquals(jobs.returns(load, "web1").get("a"), map({ ret: "test.ping on a" }));
    assertEquals([jobs.returns(load, "web2"), jobs.returns(map({ jid: ["x"] }), "web1")], [new Map(), new Map()]);
    assertEquals((await jobs.publish(asked(), "web1")).has("jid"), true);
    await jobs.ended();
  }));

Deno.test("what a host may not publish, or cannot, starts nothing", () =>
  withTemporaryDirectory(async (root) => {
    const { jobs, lines } = siteOf(root, { a: {} });
    const nothing = async (more: Readonly<Record<string, unknown>>) =>
      assertEquals(await jobs.publish(asked(more), "web1"), new Map(), JSON.stringify(more));
    await nothing({ fun: ["test.ping"] });
    await nothing({ arg: "x" });
    assertEquals(lines, []);
    await nothing({ fun: "cmd.run", arg: ["id"] });
    await nothing({ fun: "test.ping,test.echo" });
    await nothing({ fun: "publish.publish", arg: ["*", "test.ping"] });
    await nothing({ tgt: "[" });
    await nothing({ tgt: "secret:*", tgt_type: "pillar_pcre" });
    assertEquals(lines.map((line) => line.replace(/^WARNING web1 may not publish \S+ /, "")), [
      "the option peer does not allow it",
      "not here",
      "not here",
      "the pattern has no end",
      "a host may not match patterns of pillar",
    ]);
    const { jobs: nobody } = siteOf(root, {});
    assertEquals(await nobody.publish(asked(), "web1"), map({ jid: null, minions: [] }));
  }));

Deno.test("the mine of a roster joins what the master has: aged, and without what cannot be read", () =>
  withTemporaryDirectory(async (root) => {
    const { jobs, lines } = siteOf(root, {
      a: { host: "a", mine_functions: { "test.ping": [] } },
      b: { host: "b", mine_functions: { "test.ping": [{ mine_function: 5 }] } },
      c: { host: "c" },
      d: { host: "d", port: "http", mine_functions: { "test.ping": [] } },
    });
    const found = (answer: Value, more: Readonly<Record<string, unknown>> = {}) =>
      jobs.withMine(answer, asked(more), "web1");
    assertEquals(await found(map({ m: true })), map({ m: true, a: "test.ping on a" }));
    assertEquals(lines.map((line) => line.replace(/(left out|its mine_functions): .*$/, "$1")), [
      "ERROR mine_functions of b: test.ping is left out",
      "ERROR The pillar of c, for its mine_functions",
    ]);
    const aged = map({ [AGED]: 1, ret: { m: { value: true, age: 7 } } });
    const shown = await found(aged, { with_age: true });
    assert(shown instanceof Map);
    assertEquals(shown.get("ret"), map({ m: { value: true, age: 7 }, a: { value: "test.ping on a", age: 0 } }));
    // Nothing to add to.
    assertEquals([await found(false), await found(new Map(), { fun: 5 })], [false, new Map()]);
    lines.length = 0;
    for (const more of [{ tgt: "[" }, { tgt_type: "pillar_pcre" }]) {
      assertEquals(await found(new Map(), more), new Map());
    }
    assertEquals(lines.length, 2);
    assertStringIncludes(lines[0], "The target [ of a mine query of web1: the pattern has no end");
  }));

Deno.test("the operator's mine.get and publish.publish name what they cannot do, and run so many at a time", () =>
  withTemporaryDirectory(async (root) => {
    const { hosts, jobs, most } = siteOf(root, { a: {}, b: {}, c: {}, d: {} });
    const site = { hosts, mine: jobs.mine, regularMine: () => map({ m: "of the master" }) };
    const call = async (fun: string, args: readonly unknown[], kwargs: Readonly<Record<string, unknown>> = {}) => {
      const list = map({ args: [...args] }).get("args");
      return (await runOperatorCall(
        { fun, arg: toWireArgs(Array.isArray(list) ? list : [], map({ ...kwargs })) },
        "a",
        site,
      ))
        .return;
    };
    const published = await call("publish.publish", ["*", "test.ping"]);
    assertEquals([published instanceof Map && published.size, most()], [4, 2]);
    const refusals: readonly (readonly [string, readonly unknown[], Readonly<Record<string, unknown>>, string])[] = [
      ["mine.get", ["*", 5], {}, "ERROR: fun must be a function or a list"],
      ["mine.get", ["*"], {}, "ERROR: mine.get needs fun"],
      ["publish.publish", ["*", "test.ping,test.echo"], {}, "ERROR: several functions at once are not built here"],
      [
        ...["publish.publish", ["*", "test.ping"], { regular_minions: true }] as const,
        "ERROR: regular_minions is not built here: use salt for minions",
      ],
    ];
    for (const [fun, args, kwargs, why] of refusals) assertEquals(await call(fun, args, kwargs), why);
    assertEquals(await call("publish.publish", ["*", "test.ping"], { ssh_minions: false }), new Map());
    const regular = { regular_minions: true, ssh_minions: false };
    assertEquals(await call("mine.get", ["*", "test.ping"], regular), map({ m: "of the master" }));
  }));

Deno.test("the end of a script before the function is shown to programs as it is", () => {
  const ended = map({ stdout: "", stderr: "bad", retcode: 3 });
  const end: HostEnd = { id: "a", return: ended, retcode: 3, failure: "pre-flight" };
  assertEquals(clientEnd(end, { work: { fun: "test.ping", arg: [] }, jid: "1" }), ended);
});

/** How reactions are started: in their order, a few functions at once, again where the master has no room. */

import { RefusedError, TargetError } from "#lib/errors.ts";
import type { FunctionJob } from "#lib/master/functions/messages.ts";
import { FunctionRequests } from "#lib/master/functions/requests.ts";
import { Performer } from "#lib/master/reactor/performer.ts";
import type { Taken } from "#lib/reactor/journal.ts";
import type { ReactionKind } from "#lib/reactor/reaction.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

function taken(jid: string, kind: ReactionKind, fun = "test.ping", tgt = "*"): Taken {
  const publish = map({}), kwargs = map({ b: 2 });
  const reaction = {
    kind,
    fun,
    args: [1],
    kwargs,
    id: "a",
    file: "/srv/a.sls",
    tgt,
    tgtType: "glob",
    ret: "",
    publish,
  };
  return { jid, tag: "my/tag", reaction };
}

/** A function of which the master was asked. */
interface Asked {
  readonly job: FunctionJob;
  onTaken(): void;
  readonly end: PromiseWithResolvers<void>;
}

/** One function runs, and one waits. */
function openSite() {
  const asked: Asked[] = [], published: ValueMap[] = [], told: string[] = [];
  const functions = Object.assign(new FunctionRequests(() => {}, () => {}), {
    finish: (job: FunctionJob, onTaken: () => void) => {
      const end = Promise.withResolvers<void>();
      asked.push({ job, onTaken, end });
      return end.promise;
    },
  });
  const performer = new Performer({
    user: "root",
    functions,
    running: 1,
    waiting: 1,
    publish: (load) => {
      if (load.get("tgt") === "bad") return Promise.reject(new TargetError("no such target", "glob"));
      if (load.get("tgt") === "worse") return Promise.reject(new Error("no bus"));
      return Promise.resolve(void published.push(load));
    },
    onStarted: ({ jid }) => told.push(`${jid} started`),
    onFailed: ({ jid }, reason) => told.push(`${jid} failed: ${reason}`),
  });
  return { asked, published, told, performer };
}

Deno.test("jobs are published at once, and each that cannot be is told with its reason", async () => {
  const { published, told, performer } = openSite();
  for (const [jid, tgt] of [["1", "web*"], ["2", "bad"], ["3", "worse"]]) {
    await performer.perform(taken(jid, "local", "test.arg", tgt));
  }
  assertEquals(told, ["1 started", "2 failed: no such target", "3 failed: no bus"]);
  const wanted: Value = [1, map({ __kwarg__: true, b: 2 })];
  assertEquals(published.map((load) => [load.get("jid"), load.get("arg"), load.get("user")]), [["1", wanted, "root"]]);
  performer.close();
});

Deno.test("a function for which there is no place waits in the queue, and the next one before it", async () => {
  const { asked, told, performer } = openSite();
  await performer.perform(taken("1", "runner"));
  await performer.perform(taken("2", "wheel"));
  let isIn = false;
  const third = performer.perform(taken("3", "caller", "test.echo")).then(() => isIn = true);
  await Promise.resolve();
  assertEquals([asked.length, performer.waiting, performer.running.map(({ jid }) => jid), isIn], [1, 1, ["1"], false]);
  asked[0].onTaken();
  asked[0].end.resolve();
  await third;
  assertEquals([asked.length, performer.waiting], [2, 1]);
  asked[1].onTaken();
  // It has begun: the master tells how it ended.
  asked[1].end.reject(new Error("lost"));
  await eventually(() => asked.length === 3, { what: "the third function" });
  assertEquals(told, ["1 started", "2 started"]);
  assertEquals(asked.map(({ job }) => [job.kind, job.fun, job.args, job.user]), [
    ["runner", "test.ping", [1], "Reactor"],
    ["wheel", "test.ping", [1], "Reactor"],
    ["runner", "salt.cmd", ["test.echo", 1], "Reactor"],
  ]);
  // One that never began is told.
  asked[2].end.reject(new Error("no process"));
  await eventually(() => told.length === 3, { what: "the failure" });
  assertEquals(told[2], "3 failed: no process");
  performer.close();
});

Deno.test("a function that the master refuses for now is tried again, until the reactor ends", async () => {
  const { asked, told, performer } = openSite();
  await performer.perform(taken("1", "runner"));
  asked[0].end.reject(new RefusedError("SaltMasterError", "too many are running"));
  await eventually(() => asked.length === 2, { what: "the second try" });
  assertEquals(asked[1].job.jid, "1");
  await performer.perform(taken("2", "runner"));
  const third = performer.perform(taken("3", "runner"));
  performer.close();
  await third;
  asked[1].end.reject(new RefusedError("SaltMasterError", "too many are running"));
  await eventually(() => performer.running.length === 0, { what: "the end" });
  assertEquals([asked.length, told], [2, []]);
});

import { JobWatch } from "#lib/client/watch.ts";
import { assertEquals } from "#tests/support/assert.ts";

const watchOf = (...ids: string[]) => new JobWatch(ids, { timeoutMs: 5_000, now: 0 });

Deno.test("a watch ends when all minions have returned, and a second return is ignored", () => {
  const watch = watchOf("db1", "web1");
  assertEquals([watch.returned("web1"), watch.returned("web1"), watch.done], [true, false, false]);
  assertEquals([watch.returned("db1"), watch.done, watch.unreturned.size], [true, true, 0]);
});

Deno.test("no minion is asked before the time-out; then silent minions are asked, once", () => {
  const watch = watchOf("db1", "web1", "web2");
  watch.returned("web1");
  assertEquals([watch.toAsk(4_999), watch.nextAt], [[], 5_000]);
  assertEquals(watch.toAsk(5_000), ["db1", "web2"]);
  watch.queried(["db1", "web2"], 15_000);
  assertEquals([watch.toAsk(6_000), watch.nextAt], [[], 15_000]);
});

Deno.test("a minion that denies the job is dropped at once, one that runs it is asked again, and a silent one is dropped after the limit", () => {
  const watch = watchOf("idle", "busy", "mute");
  watch.queried(watch.toAsk(5_000), 15_000);
  watch.answered("idle", false, 5_100);
  watch.answered("busy", true, 5_200);
  watch.tick(14_999);
  assertEquals([watch.done, watch.toAsk(14_999)], [false, []]);
  watch.tick(15_000);
  assertEquals(watch.toAsk(15_000), ["busy"]);
  watch.queried(["busy"], 25_000);
  watch.answered("busy", false, 15_100);
  watch.tick(15_100);
  assertEquals([watch.done, [...watch.unreturned]], [true, ["idle", "busy", "mute"]]);
});

Deno.test("the time-out of a minion that waits for its turn begins when its turn comes", () => {
  const watch = watchOf("now", "later", "gone");
  watch.held(["later", "gone", "stranger"]);
  watch.presence("gone", false, 1_000);
  assertEquals([watch.toAsk(5_000), watch.toAsk(6_000)], [["now"], ["now", "gone"]]);
  watch.released(["later", "now"], 7_000);
  assertEquals(watch.toAsk(11_999), ["now", "gone"]);
  assertEquals(watch.toAsk(12_000), ["now", "later", "gone"]);
  const lost = watchOf("later");
  lost.held(["later"]);
  lost.eventsLost(20_000);
  assertEquals([lost.toAsk(24_999), lost.toAsk(25_000)], [[], ["later"]]);
});

Deno.test("a dropped minion that returns later counts as returned", () => {
  const watch = watchOf("web1");
  watch.queried(watch.toAsk(5_000), 6_000);
  watch.tick(6_000);
  assertEquals([watch.done, watch.returned("web1"), watch.unreturned.size], [true, true, 0]);
});

Deno.test("a minion that acknowledges is awaited without a limit, and never asked", () => {
  const watch = watchOf("web1");
  watch.acknowledged("web1", 0);
  assertEquals([watch.toAsk(1e9), watch.nextAt, watch.done], [[], Infinity, false]);
});

Deno.test("a minion that runs the job and loses its connection has one time-out to reconnect", () => {
  const watch = watchOf("web1", "web2");
  watch.acknowledged("web1", 0);
  watch.acknowledged("web2", 0);
  watch.presence("web1", false, 10_000);
  watch.presence("web2", false, 10_000);
  watch.presence("web2", true, 12_000);
  assertEquals([watch.toAsk(14_999), watch.nextAt, watch.toAsk(15_000)], [[], 15_000, ["web1"]]);
});

Deno.test("without a master the minions of a job have one time-out to answer, even if its absence is noticed several times", () => {
  const watch = watchOf("web1", "web2");
  watch.acknowledged("web1", 0);
  watch.acknowledged("web2", 0);
  watch.eventsLost(10_000);
  watch.eventsLost(11_000);
  watch.presence("web2", true, 12_000);
  assertEquals([watch.toAsk(14_999), watch.nextAt, watch.toAsk(15_000)], [[], 15_000, ["web1"]]);
});

Deno.test("while minions are asked nothing is to be checked before the question ends, though another's time is over", () => {
  const watch = watchOf("busy", "silent");
  watch.queried(watch.toAsk(5_000), 15_000);
  watch.answered("busy", true, 5_100);
  assertEquals([watch.toAsk(10_100), watch.nextAt], [[], 15_000]);
  watch.tick(15_000);
  assertEquals(watch.toAsk(15_000), ["busy"]);
});

Deno.test("a minion whose return may be among missing events is asked, though it is connected again, until it is heard of", () => {
  const watch = watchOf("web1", "web2");
  watch.acknowledged("web1", 0);
  watch.acknowledged("web2", 0);
  watch.eventsLost(10_000);
  watch.presence("web1", true, 12_000);
  watch.presence("web2", true, 12_000);
  watch.acknowledged("web2", 0);
  assertEquals([watch.toAsk(16_999), watch.toAsk(17_000)], [[], ["web1"]]);
});

Deno.test("a minion that acknowledges late, and was not seen since it left or since events are missing, is asked", () => {
  const gone = watchOf("web1");
  gone.presence("web1", false, 1_000);
  gone.acknowledged("web1", 2_000);
  assertEquals([gone.toAsk(6_999), gone.toAsk(7_000)], [[], ["web1"]]);
  const restarted = watchOf("web1", "web2");
  restarted.eventsLost(1_000);
  restarted.presence("web2", true, 1_500);
  for (const id of ["web1", "web2"]) restarted.acknowledged(id, 2_000);
  assertEquals([restarted.toAsk(6_999), restarted.toAsk(7_000)], [[], ["web1"]]);
});

Deno.test("a change of presence does not change the wait for a minion that has not acknowledged", () => {
  const watch = watchOf("web1");
  watch.presence("web1", false, 1_000);
  assertEquals(watch.nextAt, 5_000);
});

Deno.test("a minion that returns or acknowledges has answered: find_job is not waited for", () => {
  for (const last of ["returns", "acknowledges"]) {
    const watch = watchOf("busy", "web1");
    watch.queried(watch.toAsk(5_000), 15_000);
    watch.answered("busy", true, 5_100);
    if (last === "returns") watch.returned("web1");
    else watch.acknowledged("web1", 0);
    watch.tick(5_200);
    assertEquals(watch.toAsk(10_100), ["busy"], last);
  }
});

Deno.test("a minion that has returned is not awaited again, also after late answers", () => {
  const watch = watchOf("web1", "web2");
  watch.acknowledged("web2", 0);
  watch.returned("web2");
  watch.returned("web1");
  watch.acknowledged("web1", 0);
  watch.presence("web1", true, 1_000);
  watch.presence("web2", false, 1_000);
  assertEquals(watch.done, true);
});

Deno.test("only the first answer of a minion counts, and only if it was asked", () => {
  const watch = watchOf("busy", "web1");
  watch.answered("web1", false, 1_000);
  assertEquals(watch.toAsk(5_000), ["busy", "web1"]);
  watch.queried(["busy", "web1"], 15_000);
  watch.answered("busy", true, 5_200);
  watch.answered("busy", false, 5_300);
  watch.tick(15_000);
  assertEquals([watch.done, watch.toAsk(15_000)], [false, ["busy"]]);
});

Deno.test("the time-out of a connected minion that has not acknowledged continues", () => {
  const watch = watchOf("web1");
  watch.presence("web1", true, 1_000);
  assertEquals(watch.toAsk(5_000), ["web1"]);
});

Deno.test("a minion with a recorded disconnection is dropped at the time-out, unless it runs the job", () => {
  const watch = watchOf("away", "begun", "here");
  watch.acknowledged("begun", 0);
  watch.presence("begun", false, 0);
  const gone = new Map([["away", 0], ["begun", 0]]);
  const due = watch.toAsk(5_000);
  assertEquals([due, watch.giveUp(due, gone)], [["away", "begun", "here"], ["away"]]);
  assertEquals(watch.toAsk(5_000), ["begun", "here"]);
  watch.queried(["begun", "here"], 15_000);
  assertEquals([watch.done, watch.nextAt], [false, 15_000]);
});

Deno.test("a watch whose minions are all disconnected ends at the time-out", () => {
  const watch = watchOf("away", "off");
  watch.giveUp(watch.toAsk(5_000), new Set(["away", "off"]));
  assertEquals([watch.done, watch.nextAt, [...watch.unreturned]], [true, Infinity, ["away", "off"]]);
});

Deno.test("missing events raise no question about minions that have acknowledged and returned", () => {
  const watch = watchOf("web1", "web2");
  for (const id of ["web1", "web2"]) watch.acknowledged(id, 0);
  watch.returned("web1");
  watch.eventsLost(10_000);
  assertEquals([watch.toAsk(14_999), watch.toAsk(15_000)], [[], ["web2"]]);
});

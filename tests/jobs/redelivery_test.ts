import { type Missed, Redelivery } from "#lib/jobs/redelivery.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

const LOAD = map({ fun: "test.ping" });
const everybody = () => true;

function published(ttlMs = 10_000): Redelivery {
  const jobs = new Redelivery();
  jobs.published({ jid: "1", load: LOAD, minions: ["web1", "web2"], ttlMs, live: false }, 0);
  return jobs;
}

/** The loads to publish again, with their minions. */
function again(missed: readonly Missed[]): unknown[] {
  return missed.map(({ delivery, ids }) => [delivery.load, ids]);
}

Deno.test("a job acknowledged by all minions is forgotten", () => {
  const jobs = published();
  jobs.noteAnswer("1", "web1", 0);
  jobs.noteAnswer("1", "web2", 0);
  jobs.noteAnswer("2", "web1", 0);
  assertEquals([jobs.size, jobs.due(everybody, 5_000)], [0, []]);
});

Deno.test("a connected minion that does not acknowledge gets the job again, at most every 1.5 seconds", () => {
  const jobs = published();
  assertEquals(jobs.due(everybody, 1_499), []);
  assertEquals(again(jobs.due(everybody, 1_500)), [[LOAD, ["web1", "web2"]]]);
  assertEquals(jobs.due(everybody, 2_999), []);
  assertEquals(again(jobs.due((id) => id === "web2", 3_000)), [[LOAD, ["web2"]]]);
});

Deno.test("a disconnected minion gets the job when it connects, and nothing is published before", () => {
  const jobs = published();
  jobs.noteAnswer("1", "web2", 0);
  assertEquals(jobs.due((id) => id === "web2", 5_000), []);
  assertEquals(again(jobs.arrived(["web1"], 9_000)), [[LOAD, ["web1"]]]);
  assertEquals(jobs.arrived(["web2"], 9_000), []);
});

Deno.test("if many minions connect together, those that have missed a job get it once", () => {
  const jobs = published();
  jobs.published({ jid: "2", load: LOAD, minions: ["web2", "web3"], ttlMs: 10_000, live: false }, 0);
  assertEquals(again(jobs.arrived(["web2", "web1", "web9"], 5_000)), [[LOAD, ["web2", "web1"]], [LOAD, ["web2"]]]);
});

Deno.test("while first acknowledgements of a job arrive, it is not published again", () => {
  const jobs = published();
  jobs.noteAnswer("1", "web2", 1_400);
  assertEquals(jobs.due(everybody, 2_899), []);
  assertEquals(again(jobs.due(everybody, 2_900)), [[LOAD, ["web1"]]]);
  jobs.noteAnswer("1", "web2", 3_000);
  assertEquals(again(jobs.due(everybody, 4_400)), [[LOAD, ["web1"]]]);
});

Deno.test("a callback gets each finished job: all minions have it, its time is over, or it had no minions", () => {
  const over: string[] = [];
  const jobs = new Redelivery(({ jid }) => over.push(jid));
  const publish = (jid: string, minions: string[], ttlMs: number) =>
    jobs.published({ jid, load: LOAD, minions, ttlMs, live: false }, 0);
  publish("1", ["web1"], 10_000);
  publish("2", ["web1"], 1_000);
  publish("3", ["web1"], 0);
  publish("4", [], 1_000);
  assertEquals(over, ["3", "4"]);
  jobs.noteAnswer("1", "web1", 0);
  jobs.noteAnswer("1", "web1", 0);
  jobs.due(everybody, 2_000);
  assertEquals(over, ["3", "4", "1", "2"]);
});

Deno.test("a job is delivered until its time to live is over; a job without one is not delivered again", () => {
  const jobs = published(5_000);
  assertEquals([jobs.arrived(["web1"], 5_001), jobs.size], [[], 0]);
  assertEquals(published(0).size, 0);
  const last = published(5_000);
  assertEquals(again(last.arrived(["web1"], 5_000)), [[LOAD, ["web1"]]]);
  assertEquals(again(last.due(everybody, 5_000)), [[LOAD, ["web1", "web2"]]]);
  assertEquals([last.due(everybody, 5_001), last.size], [[], 0]);
});

Deno.test("if thousands of minions connect together, each is named once, a thousand at a time", () => {
  const jobs = new Redelivery();
  const minions = Array.from({ length: 2_500 }, (_, i) => `web${i}`);
  jobs.published({ jid: "1", load: LOAD, minions, ttlMs: 10_000, live: false }, 0);
  const named = jobs.arrived(["db1", ...minions], 5_000).map(({ ids }) => ids);
  assertEquals(named.map(({ length }) => length), [1_000, 1_000, 500]);
  assertEquals(named.flat(), minions);
});

Deno.test("if thousands of minions do not acknowledge, a thousand at a time get the job again, then the others", () => {
  const jobs = new Redelivery();
  const minions = Array.from({ length: 2_500 }, (_, i) => `web${i}`);
  jobs.published({ jid: "1", load: LOAD, minions, ttlMs: 10_000, live: false }, 0);
  const turns = [1_500, 3_000, 4_500].map((at) => jobs.due(everybody, at).flatMap(({ ids }) => ids));
  assertEquals(turns.map(({ length }) => length), [1_000, 1_000, 1_000]);
  assertEquals(new Set(turns.flat()).size, 2_500);
});

Deno.test("a job that goes to more of its minions waits for all of them, with its time anew", () => {
  const over: string[] = [];
  const jobs = new Redelivery(({ jid }) => over.push(jid));
  const more = (minions: string[], ms: number) =>
    jobs.publishedMore({ jid: "1", load: LOAD, minions, ttlMs: 10_000, live: false }, ms);
  more(["web1"], 0);
  more(["web2"], 9_000);
  assertEquals(again(jobs.due(everybody, 12_000)), [[LOAD, ["web1", "web2"]]]);
  jobs.noteAnswer("1", "web1", 12_000);
  assertEquals([over, jobs.has("1")], [[], true]);
  jobs.noteAnswer("1", "web2", 12_000);
  assertEquals([over, jobs.has("1")], [["1"], false]);
});

/** What readers of `/ws?format_events` are told of jobs and minions. */

import { FormattedEvents } from "#lib/api/endpoints/formatted_events.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

function jidOf(n: number): string {
  return `20261128120000${String(n).padStart(6, "0")}`;
}

/** The ids of the jobs that a text shows, the oldest first. */
function shownJobs(text: string | undefined): string[] {
  return Object.keys(JSON.parse(text ?? "{}").jobs);
}

function shownMinions(text: string | undefined): unknown {
  return JSON.parse(text ?? "{}").minions;
}

Deno.test("a reader is shown the newest hundred jobs, and those that no event has announced count too", () => {
  const begins = new FormattedEvents(() => undefined), returns = new FormattedEvents(() => undefined);
  const newest = (last: number, count: number) => Array.from({ length: count }, (_, i) => jidOf(last - count + 1 + i));
  for (let n = 1; n <= 150; n++) {
    const begun = begins.take({ tag: `salt/job/${jidOf(n)}/new`, data: map({ jid: jidOf(n), minions: ["m1"] }) });
    assertEquals(shownJobs(begun), newest(n, Math.min(n, 100)));
    // A job of a schedule: its return is the first that is heard of it.
    const data = map({ jid: jidOf(n), id: "m1", return: true, success: true });
    const returned = returns.take({ tag: `salt/job/${jidOf(n)}/ret/m1`, data });
    assertEquals(shownJobs(returned), newest(n, Math.min(n, 100)));
  }
});

Deno.test("what a return says of its minion is shown, and the job is complete when all have succeeded", () => {
  const events = new FormattedEvents(() => undefined);
  const jid = jidOf(1);
  events.take({ tag: `salt/job/${jid}/new`, data: map({ jid, minions: ["m1", "m2"] }) });
  const jobAfter = (id: string, success: boolean) => {
    const data = map({ jid, id, return: id, retcode: 0, success });
    return JSON.parse(events.take({ tag: `salt/job/${jid}/ret/${id}`, data }) ?? "{}").jobs[jid];
  };
  assertEquals(jobAfter("m1", true).state, "running");
  assertEquals(jobAfter("m2", false).state, "running");
  const { state, minions } = jobAfter("m2", true);
  assertEquals([state, minions.m1], ["complete", { return: "m1", retcode: 0, success: true }]);
});

Deno.test("minions are shown with the grains that they have returned, until their key is deleted or they are away", () => {
  const known: Record<string, ValueMap> = { web1: map({ os: "Debian" }) };
  const events = new FormattedEvents((id) => known[id]);
  const act = (act: string, id: string) => events.take({ tag: "salt/key", data: map({ act, id }) });
  const presence = (what: string, data: ValueMap) => events.take({ tag: `salt/presence/${what}`, data });

  assertEquals(shownMinions(act("accept", "db1")), [{ id: "db1" }]);
  const grains = map({ os: "Arch" });
  const tag = `salt/job/${jidOf(1)}/ret/db1`;
  const returned = events.take({ tag, data: map({ fun: "grains.items", return: grains, success: true }) });
  assertEquals(shownMinions(returned), [{ grains: { os: "Arch" }, id: "db1" }]);
  // Another acceptance does not forget them.
  assertEquals(shownMinions(act("accept", "db1")), [{ grains: { os: "Arch" }, id: "db1" }]);
  // A failed call returns a text.
  const failed = events.take({ tag, data: map({ fun: "grains.items", return: "no", success: false }) });
  assertEquals(shownJobs(failed), [jidOf(1)]);

  assertEquals(presence("change", map({ new: ["web1"], lost: [] })), undefined);
  assertEquals(shownMinions(presence("present", map({ present: ["db1", "web1"] }))), [
    { grains: { os: "Arch" }, id: "db1" },
    { grains: { os: "Debian" }, id: "web1" },
  ]);
  assertEquals(presence("present", map({ present: ["web1", "db1"] })), undefined);
  assertEquals(shownMinions(presence("present", map({ present: ["web1"] }))), [{
    grains: { os: "Debian" },
    id: "web1",
  }]);
  assertEquals(shownMinions(act("delete", "web1")), []);
});

Deno.test("events of neither a job, a key nor a minion change nothing", () => {
  const events = new FormattedEvents(() => undefined);
  for (const tag of ["salt/auth", "own/tag", `salt/job/${jidOf(1)}/ret`, "salt/job"]) {
    assertEquals(events.take({ tag, data: map({ return: true }) }), undefined, tag);
  }
});

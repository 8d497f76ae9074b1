/** The jobs in memory: what is forgotten, left out, or read again. */

import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import type { FedEvents } from "#lib/api/endpoints/event_source.ts";
import { JobIndex } from "#lib/api/endpoints/job_index.ts";
import { NoMasterError, StoreError } from "#lib/errors.ts";
import { QUESTION } from "#lib/jobs/listing.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

/** The id of the job number `i`. */
function jidOf(i: number): string {
  return `20261128120000${String(i).padStart(6, "0")}`;
}

/** The load of a job of these minions. */
function loadOf(minions: readonly string[], more: Readonly<Record<string, unknown>> = {}): ValueMap {
  return map({ fun: "test.ping", tgt: "*", tgt_type: "glob", user: "root", minions: [...minions], ...more });
}

/** An index, the events that it is told, and the job cache that it reads. */
class Desk {
  readonly stored = new Map<string, ValueMap>();
  /** The minions that have returned each stored job. */
  readonly returned = new Map<string, readonly string[]>();
  readonly lines: string[];
  readonly index: JobIndex;
  /** What listens now; how often something has begun to, and has ended. */
  listener: ((batch: FedEvents) => void) | undefined;
  begun = 0;
  ended = 0;
  /** Called when it subscribes. */
  subscribing: () => void = () => {};
  isBroken = false;

  constructor(maxJobs?: number) {
    const { log, lines } = memoryLog();
    this.lines = lines;
    const listen = (listener: (batch: FedEvents) => void) => {
      this.begun++;
      this.listener = listener;
      this.subscribing();
      return Promise.resolve(() => void this.ended++);
    };
    const { stored, returned } = this;
    const list = async function* () {
      for (const [jid, load] of stored) yield { jid, load };
    };
    const getLoad = (jid: string) => {
      return this.isBroken
        ? Promise.reject(new StoreError("the database is away", "jobs"))
        : Promise.resolve(stored.get(jid));
    };
    const getReturns = (jid: string) => {
      const returns = (returned.get(jid) ?? []).map((id) => [id, { return: true, retcode: 0 }] as const);
      return Promise.resolve(new Map(returns));
    };
    this.index = new JobIndex({
      store: { list, getLoad, getReturns },
      feed: { listen },
      log,
      ...maxJobs !== undefined && { maxJobs },
    });
  }

  tell(tag: string, data: ValueMap): void {
    this.listener?.({ events: [{ tag, data }], missed: 0 });
  }

  begin(i: number, minions: readonly string[]): void {
    this.tell(`salt/job/${jidOf(i)}/new`, loadOf(minions));
  }

  /** The numbers of the jobs, the newest first. */
  async jobs(): Promise<number[]> {
    return (await this.index.newest()).map(({ jid }) => Number(jid.slice(-6)));
  }

  /** Those of a minion. */
  async jobsOf(id: string): Promise<number[]> {
    return (await this.index.ofMinion(id)).map(({ jid }) => Number(jid.slice(-6)));
  }
}

function down(from: number, to: number): number[] {
  return Array.from({ length: from - to + 1 }, (_, i) => from - i);
}

Deno.test("a job that is forgotten is forgotten at its minions too, and a minion without jobs as well", async () => {
  const desk = new Desk(20);
  await desk.index.load();
  desk.begin(0, ["old", "web1"]);
  for (let i = 1; i <= 20; i++) desk.begin(i, ["web1"]);
  // The oldest two of 21 are forgotten.
  assertEquals(await desk.jobs(), down(20, 2));
  assertEquals([await desk.jobsOf("web1"), await desk.jobsOf("old")], [down(20, 2), []]);
});

Deno.test("the newest two hundred jobs of a minion are known", async () => {
  const desk = new Desk();
  await desk.index.load();
  // In any order: clocks of masters differ.
  desk.begin(205, ["web1"]);
  for (let i = 1; i <= 204; i++) desk.begin(i, ["web1"]);
  assertEquals(await desk.jobsOf("web1"), down(205, 6));
});

Deno.test("a question of the console is no job, also if its returns come late", async () => {
  const desk = new Desk();
  await desk.index.load();
  desk.begin(1, ["web1"]);
  desk.begin(2, ["web1", "db1"]);
  const metadata = new Map(QUESTION);
  desk.tell(`salt/job/${jidOf(2)}/publish`, loadOf([], { metadata }));
  desk.tell(`salt/job/${jidOf(2)}/ret/db1`, map({ jid: jidOf(2), id: "db1", retcode: 0, return: true }));
  // Those that ask for other jobs are none either.
  desk.tell(`salt/job/${jidOf(3)}/new`, loadOf(["web1"], { fun: "saltutil.find_job" }));
  const found = { jid: jidOf(3), id: "web1", fun: "saltutil.find_job", retcode: 0, return: {} };
  desk.tell(`salt/job/${jidOf(3)}/ret/web1`, map(found));
  assertEquals([await desk.jobs(), await desk.jobsOf("web1"), await desk.jobsOf("db1")], [[1], [1], []]);
});

Deno.test("jobs and returns of the job cache are read, many of them too, and events go on from there", async () => {
  const desk = new Desk();
  for (let i = 1; i <= 60; i++) desk.stored.set(jidOf(i), loadOf([], { Minions: ["web1", "db1"] }));
  desk.returned.set(jidOf(60), ["web1"]);
  // The first event comes while the index subscribes.
  desk.subscribing = () => void Promise.resolve().then(() => desk.begin(61, ["web1"]));
  assertEquals(await desk.jobs(), down(61, 1));
  assertEquals(await desk.index.ofMinion("web1").then((jobs) => jobs[1]), { jid: jidOf(60), outcome: "returned" });
  // A job that salt-call has run: its load is in the cache when its return comes.
  desk.stored.set(jidOf(62), loadOf([], { Minions: ["db1"], schedule: "nightly" }));
  desk.tell(`salt/job/${jidOf(62)}/ret/db1`, map({ jid: jidOf(62), id: "db1", retcode: 1, return: "no" }));
  const [job] = await desk.index.newest();
  assertEquals([job.schedule, job.outcomes.get("db1"), job.minions], ["nightly", "failed", 1]);
  assertEquals(desk.index.returns(), new Map([["failed", 1]]));
});

Deno.test("jobs whose events are lost are read when somebody asks", async () => {
  const desk = new Desk();
  desk.stored.set(jidOf(1), loadOf([], { Minions: ["web1"] }));
  assertEquals(await desk.jobs(), [1]);
  desk.stored.set(jidOf(2), loadOf([], { Minions: ["web1"] }));
  desk.listener?.({ events: [], missed: Infinity });
  await Promise.resolve();
  assertEquals([desk.begun, desk.ended, desk.index.get(jidOf(2))], [1, 1, undefined]);
  assertEquals([await desk.jobs(), desk.begun], [[2, 1], 2]);
  desk.begin(3, ["web1"]);
  assertEquals(await desk.jobsOf("web1"), [3, 2, 1]);
});

Deno.test("an event whose job cannot be read is named, and those after it are taken", async () => {
  const desk = new Desk();
  await desk.index.load();
  desk.isBroken = true;
  const tag = `salt/job/${jidOf(1)}/ret/web1`;
  desk.tell(tag, map({ jid: jidOf(1), id: "web1", retcode: 0, return: true }));
  desk.begin(2, ["web1"]);
  assertEquals(await desk.jobs(), [2]);
  assertEquals(desk.lines, [`WARNING The event ${tag} cannot be read: the database is away`]);
});

Deno.test("an index that cannot be read is read again by the next who asks", async () => {
  const desk = new Desk();
  desk.stored.set(jidOf(1), loadOf(["web1"]));
  let tries = 0;
  desk.subscribing = () => {
    if (++tries === 1) throw new NoMasterError("no master");
  };
  await assertRejects(() => desk.index.newest(), NoMasterError);
  assertEquals(await desk.jobs(), [1]);
  assert(tries === 2);
});

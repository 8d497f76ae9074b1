/** @module */
import { jobStore } from "#tests/support/fleet/job_store.ts";
import { jidDirectory } from "#lib/protocol/jid.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { finish } from "#tests/support/finish.ts";

const HOUR_MS = 3_600_000;
const DAY_S = 24 * 3600;
const OLD = "20240102030405000000", YOUNG = "20240102030405000001";

/** A job cache in which {@linkcode OLD} was created 25 hours ago, and {@linkcode YOUNG} now. */
class Place implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "job_cleaning_" });
  readonly log: string[] = [];
  readonly jobs = jobStore(this.root, { log: (line) => this.log.push(line) });
  readonly now = Date.now();

  constructor() {
    for (const jid of [OLD, YOUNG]) {
      this.jobs.prepare(jid);
      this.jobs.saveLoad(jid, map({ jid, fun: "test.ping", tgt: "*" }), ["web1"]);
    }
    this.jobs.saveReturn(map({ jid: OLD, id: "web1", return: true }));
    this.age(`${this.directory(OLD)}/jid`, 25);
  }

  directory(jid: string): string {
    return `${this.root}/jobs/${jidDirectory(jid, "sha256")}`;
  }

  age(path: string, hours: number): void {
    const past = new Date(this.now - hours * HOUR_MS);
    Deno.utimeSync(path, past, past);
  }

  /** Sets the modification time of every job directory to an hour ago. */
  settle(): void {
    for (const { name } of Deno.readDirSync(`${this.root}/jobs`)) this.age(`${this.root}/jobs/${name}`, 1);
  }

  clean(hoursLater = 0, keepSeconds = DAY_S): number {
    return finish(this.jobs.clean({ nowMs: this.now + hoursLater * HOUR_MS, keepSeconds }));
  }

  /** The number of jobs that a round checks. */
  looked(): number {
    return [...this.jobs.clean({ nowMs: this.now, keepSeconds: DAY_S })].length;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

Deno.test("a round removes only old jobs, incomplete jobs and their empty parents; the next round removes nothing", () => {
  using place = new Place();
  const { root, jobs } = place;
  const ruin = `${root}/jobs/zz/ruin`, starting = `${root}/jobs/yy/starting`;
  for (const path of [ruin, starting]) Deno.mkdirSync(path, { recursive: true });
  place.age(ruin, 25);

  assertEquals(place.clean(0, 0), 0);
  assertEquals(place.clean(), 2);
  assertEquals([jobs.exists(OLD), jobs.exists(YOUNG)], [false, true]);
  assertEquals([...Deno.readDirSync(`${root}/jobs`)].length, 2);
  assert(Deno.statSync(starting).isDirectory);
  assertEquals([place.clean(), place.log], [0, []]);
});

Deno.test("an expired job is removed even if nothing else has happened since the last round", () => {
  using place = new Place();
  assertEquals(place.clean(), 1);
  place.settle();
  assertEquals([place.clean(23), place.jobs.exists(YOUNG)], [0, true]);
  assertEquals([place.clean(25), place.jobs.exists(YOUNG)], [1, false]);
});

Deno.test("if nothing is old and nothing has changed, a round checks no job", () => {
  using place = new Place();
  place.clean();
  assertEquals([place.looked(), place.looked()], [1, 1], "what has changed this moment may change again unseen");
  place.settle();
  assertEquals([place.looked(), place.looked()], [1, 0]);
});

Deno.test("a job that arrived since the last round is checked, even in a known directory", () => {
  using place = new Place();
  place.clean();
  place.settle();
  place.clean();
  const parent = place.directory(YOUNG).replace(/\/[^/]*$/, "");
  Deno.mkdirSync(`${parent}/another`);
  Deno.writeTextFileSync(`${parent}/another/jid`, OLD);
  place.age(`${parent}/another/jid`, 25);
  assertEquals(place.clean(), 1);
  assert(place.jobs.exists(YOUNG));
});

Deno.test("a job that is being created is kept, and removed a minute later if it is still incomplete", () => {
  using place = new Place();
  place.clean();
  const starting = `${place.directory(YOUNG)}x`;
  Deno.mkdirSync(starting);
  place.settle();
  assertEquals(place.clean(), 0);
  place.age(starting, 1);
  place.settle();
  assertEquals(place.clean(), 1);
});

/**
 * What one master at a time does for all, when that master is stopped or killed: the other goes on with the reactor and
 * the schedule, and removes old jobs.
 * @module
 */

import { stamp } from "#lib/bus/event.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { sleep } from "#lib/os/sleep.ts";
import { jidMs } from "#lib/protocol/jid.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { valueAt } from "#tests/support/cluster/cluster_site.ts";
import { ProcessMasters } from "#tests/chaos/harness/process_masters.ts";
import { serverProgram } from "#tests/support/database_servers.ts";
import { eventually } from "#tests/support/eventually.ts";
import type { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";

/** Interval of the scheduled job, in seconds. */
const TICK_S = 2;

/** Options of both masters: what they do is a line in a file of `directory`. */
function optionsIn(directory: string): Readonly<Record<string, unknown>> {
  const react = `a:\n  local.cmd.run:\n    - tgt: m1\n    - arg: ["echo {{ data.n }} >> ${directory}/reacted"]\n`;
  Deno.writeTextFileSync(`${directory}/say.sls`, react);
  return {
    reactor: [{ "t/say": [`${directory}/say.sls`] }],
    schedule: {
      tick: {
        function: "salt.cmd",
        args: ["cmd.run", `echo ran >> ${directory}/ticks`],
        kwargs: { python_shell: true },
        seconds: TICK_S,
      },
    },
    loop_interval: 1,
  };
}

function linesOf(path: string): string[] {
  return (readTextFileIfExists(path) ?? "").split("\n").filter((line) => line !== "");
}

async function leases(fleet: ProcessFleet): Promise<Value> {
  const { out, err } = await fleet.salt("salt-run", "cluster.leases", "--out=json");
  if (out === "") throw new Error(err);
  return parseJson(out);
}

/** The number of times that a master has removed old jobs. */
function removals(fleet: ProcessFleet): number {
  return fleet.log("master").split("\n").filter((line) => /Removed \d+ old jobs/.test(line)).length;
}

/** When a master has started the scheduled job, in milliseconds. */
function starts(fleet: ProcessFleet): number[] {
  return [...fleet.log("master").matchAll(/Running scheduled job: tick with jid (\d+)/g)].map(([, jid]) => jidMs(jid));
}

/** Two masters, and what they have done. */
class LeaseMoves {
  readonly #masters: ProcessMasters;
  readonly #directory: string;
  #fired = 0;
  #old = 0;

  constructor(masters: ProcessMasters, directory: string) {
    this.#masters = masters;
    this.#directory = directory;
  }

  /** Fires events at a master, one after the other. */
  async fire(fleet: ProcessFleet, count: number): Promise<void> {
    const sender = new EventSender(masterBus(fleet.masterOpts.sock_dir).pull);
    for (let i = 0; i < count; i++) await sender.fire("t/say", stamp(map({ n: ++this.#fired })));
    sender.close();
  }

  /** Waits until each event that was fired has its one reaction, and that ran once. */
  async reacted(): Promise<void> {
    const path = `${this.#directory}/reacted`, wanted = Array.from({ length: this.#fired }, (_, i) => String(i + 1));
    const all = () => linesOf(path).length >= wanted.length;
    await eventually(all, { what: `${wanted.length} reactions`, withinMs: 60_000, everyMs: 200 });
    assertEquals(linesOf(path).toSorted((a, b) => Number(a) - Number(b)), wanted);
    // A minion drops a job that it has by its id: the jobs are counted too.
    await this.#masters.server.sql(`do $$ begin
      if (select count(*) from salt.jobs where fun = '{cmd.run}') <> ${wanted.length} then
        raise exception 'there are % jobs', (select count(*) from salt.jobs where fun = '{cmd.run}');
      end if; end $$`);
  }

  /** Waits until the scheduled job runs again. */
  async ticks(): Promise<void> {
    const path = `${this.#directory}/ticks`, before = linesOf(path).length;
    await eventually(() => linesOf(path).length > before + 1, { what: "runs of the schedule", withinMs: 60_000 });
  }

  /**
   * The shortest time between two starts of the scheduled job at either master, in seconds. The time of its jid: on a
   * busy machine the command itself begins up to seconds later.
   */
  shortestPause(): number {
    const times = this.#masters.all.flatMap(starts).toSorted((a, b) => a - b);
    assert(times.length >= linesOf(`${this.#directory}/ticks`).length, `${times.length} starts are logged`);
    return Math.min(...times.slice(1).map((time, i) => time - times[i])) / 1_000;
  }

  /** Makes old jobs; `by` removes them, and the others nothing. */
  async removed(by: ProcessFleet): Promise<void> {
    const others = this.#masters.all.filter((fleet) => fleet !== by);
    const before = removals(by), else_ = others.map(removals);
    for (let i = 0; i < 3; i++) {
      await this.#masters.server.sql(
        `insert into salt.jobs (jid, fun, load, made) values ('old-${++this
          .#old}', '{x}', '\\x80', now() - interval '9 days')`,
      );
      await sleep(1_200);
    }
    await eventually(() => removals(by) > before, { what: "the removal of old jobs", withinMs: 30_000 });
    assertEquals(others.map(removals), else_);
  }
}

const missing = serverProgram("postgres") === undefined;

Deno.test({
  name: `the reactor, the schedule and the removal of old jobs go on at the other master when one is stopped or killed${
    missing ? " (skipped: there is no postgres)" : ""
  }`,
  ignore: missing,
  async fn() {
    const directory = Deno.makeTempDirSync({ prefix: "lease_moves_" });
    await using masters = await ProcessMasters.start(optionsIn(directory));
    try {
      const [a, b] = masters.all, moves = new LeaseMoves(masters, directory);
      await masters.startMinions(["m1"], [a, b], {});
      for (const name of ["maintenance", "reactor", "schedule"]) {
        assertEquals(valueAt(await leases(b), name, "master"), "master-a");
      }
      await moves.fire(a, 3);
      await moves.fire(b, 3);
      await moves.reacted();
      await moves.ticks();
      await moves.removed(a);
      const away = await b.salt("salt-run", "reactor.replay", "15m", "tag=t/say");
      assertMatch(away.out + away.err, /The reactor runs on master-a, which holds its lease: run this there/);
      assertEquals(away.code, 1);

      // A master that does not answer, and wakes up with a lease that another has.
      Deno.kill(a.master.pid, "SIGSTOP");
      await moves.fire(b, 5);
      await moves.reacted();
      await moves.ticks();
      await moves.removed(b);
      Deno.kill(a.master.pid, "SIGCONT");
      await moves.fire(a, 3);
      await moves.reacted();
      await moves.ticks();
      for (const name of ["maintenance", "reactor", "schedule"]) {
        assertEquals(valueAt(await leases(b), name, "master"), "master-b");
      }

      await Promise.all([moves.fire(a, 5), b.killMaster()]);
      await moves.fire(a, 5);
      await moves.reacted();
      await moves.ticks();
      await moves.removed(a);
      assert(moves.shortestPause() > TICK_S / 2, `${moves.shortestPause()} s between two runs of the schedule`);
    } catch (error) {
      throw new Error(`${error}\n${masters.lastWords()}`, { cause: error });
    } finally {
      Deno.removeSync(directory, { recursive: true });
    }
  },
});

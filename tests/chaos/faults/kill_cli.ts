/**
 * `kill -9` of the operator's `salt` at any time.
 * @module
 */

import { sleep } from "#lib/os/sleep.ts";
import { eventually } from "#tests/support/eventually.ts";
import { Service } from "#tests/support/processes.ts";
import type { Fault, Figure } from "#tests/chaos/harness/fault.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";

const LONG = { kills: 50, minions: 5 };
const SHORT = { kills: 4, minions: 2 };
/** Approximate time until a command has published its job, in milliseconds. */
const PUBLISHED_MS = 400;

/** See {@linkcode Fault}. */
export const killCli: Fault = {
  name: "kill-cli",
  what: "kill -9 of salt before, while and after it publishes a job",
  promise:
    "a published job runs to its end, its returns are stored, and jobs.attach shows them; nothing else is affected",
  async run({ long, random, say }): Promise<Figure[]> {
    const { kills, minions } = long ? LONG : SHORT;
    await using fleet = await ProcessFleet.start({ minions });
    for (let kill = 1; kill <= kills; kill++) {
      const words = fleet.saltWords("salt", "-t", "30", "*", "cmd.run", `sleep 1; echo ${kill}`);
      const cli = Service.start("salt", words, `${fleet.root}/salt.out`);
      await sleep(random.int(2 * PUBLISHED_MS));
      await cli.crash();
      await cli.stop(1_000);
    }
    say(`${kills} commands killed`);
    const published = () => fleet.jobs.list().filter(({ load }) => load.get("fun") === "cmd.run");
    const missing = () =>
      published().reduce((sum, { jid }) => sum + fleet.ids.filter((id) => !fleet.jobs.has(jid, id)).length, 0);
    await eventually(() => missing() === 0, { what: "the returns", everyMs: 200 }).catch(() => {});
    let attached = 0;
    const some = published().slice(-3);
    for (const { jid } of some) {
      const { out } = await fleet.salt("salt-run", "jobs.attach", jid);
      if (fleet.ids.every((id) => out.includes(id))) attached++;
    }
    const { code, out } = await fleet.salt("salt", "--static", "--out=json", "*", "test.ping");
    return [
      { name: "kills", value: kills },
      { name: "jobs that were published by then", value: published().length },
      { name: "returns lost", value: missing(), atMost: 0 },
      { name: "looked up with jobs.attach", value: some.length },
      { name: "shown completely by jobs.attach", value: attached, atLeast: some.length },
      { name: "answers to the next salt", value: code === 0 ? (out.match(/true/g) ?? []).length : 0, atLeast: minions },
    ];
  },
};

/**
 * Rows: a master under load by many simultaneous operators, sign-ins, events; and the time until a fleet is back after
 * a restart.
 * @module
 */

import { masterBus } from "#lib/bus/paths.ts";
import { eventually } from "#tests/support/eventually.ts";
import { run } from "#tests/bench/harness/processes.ts";
import type { Fleet } from "#tests/bench/fleets/fleet.ts";
import { growth } from "./memory.ts";
import { MB, MS, PER_SECOND, type Row, type Stage } from "./row.ts";
import { benchCommand, benchScript, type Side } from "#tests/bench/harness/sides.ts";
import { BUSY_LIMIT } from "#tests/bench/fleets/swarm_jobs.ts";
import { warmSwarm } from "./swarm.ts";

const OPERATORS = 16;
const OPERATED_MINIONS = 20;
const OPERATED_MINION = "operated-1";
const OPERATING_S = 3;
const SIGN_INS = 300;
const PILLARS = 500;
/** A few files of a usual pillar tree: by grains, by role, and for each minion. */
const PILLAR_FILES: Readonly<Record<string, string>> = {
  "top.sls":
    "base:\n  '*': [common, users, own]\n  'G@os:Debian': [apt]\n  'G@os:Rocky': [dnf]\n  'roles:web': [{match: grain}, web]\n",
  "common.sls": "ntp: {servers: [a, b, c]}\nsearch: {{ ['one', 'two'] }}\n",
  "users.sls":
    "users:\n{%- for i in range(40) %}\n  user{{ i }}: {uid: {{ 1000 + i }}, groups: [a, b], shell: /bin/sh}\n{%- endfor %}\n",
  "own.sls": "id: {{ grains.id }}\nthreads: {{ grains['num_cpus'] * 2 }}\nfqdn: {{ grains.id }}.example.com\n",
  "apt.sls": "repos:\n{%- for i in range(10) %}\n  - deb http://example.com/{{ i }} stable main\n{%- endfor %}\n",
  "dnf.sls": "repos: {{ ['baseos', 'appstream']|join(',') }}\n",
  "web.sls":
    "vhosts:\n{%- for i in range(20) %}\n  site{{ i }}: {port: {{ 8000 + i }}, root: /srv/{{ grains.id }}/{{ i }}}\n{%- endfor %}\n",
};
const RETURNING_FLEET = 300;
const SUBSCRIBERS = 8;
/** Number of events in one measurement: enough for one or two seconds. Python Salt's bus gets a tenth of it. */
const EVENTS = { ours: 30_000, python: 2_000 };
const GROWTH_EVENTS = 100_000;
const WARMING_EVENTS = 2_000;
/** Time limit for a fleet to be back, in milliseconds. */
const BACK_MS = 120_000;

async function masterAlone(stage: Stage, side: Side): Promise<Fleet> {
  return await stage.fleet(side, async (fleet) => void await fleet.startMaster());
}

async function operate(fleet: Fleet, target: string): Promise<number> {
  const { python } = fleet.side;
  const program = python === undefined
    ? benchCommand("programs/operators.ts")
    : [python, benchScript("programs/operators.py")];
  const { out } = await run([...program, fleet.configDir, target, String(OPERATORS), String(OPERATING_S)]);
  const { jobs, seconds } = JSON.parse(out);
  return jobs / seconds;
}

function operators(target: string): Row["measure"] {
  return async (stage, side) => {
    const fleet = await warmSwarm(stage, side, OPERATED_MINIONS);
    const { result, busy } = await fleet.swarmBusy(() => operate(fleet, target));
    if (busy > BUSY_LIMIT) stage.remarks.add(`${side.name}: the swarm itself was busy ${Math.round(busy * 100)}%`);
    return result;
  };
}

async function carryEvents(fleet: Fleet, count: number): Promise<{ events: number; seconds: number }> {
  const { python } = fleet.side;
  const { pull, pub } = masterBus(fleet.sockDir);
  const words = python === undefined
    ? [...benchCommand("programs/bus_load.ts"), pull, pub]
    : [python, benchScript("programs/bus_load.py"), `${fleet.configDir}/master`];
  const { out } = await run([...words, String(SUBSCRIBERS), String(count)]);
  return JSON.parse(out);
}

export const LOAD_ROWS: readonly Row[] = [
  {
    name: "jobs-one",
    title: `jobs a second, ${OPERATORS} operators at once, each job to one of ${OPERATED_MINIONS} simulated minions`,
    unit: PER_SECOND,
    group: "operators",
    measure: operators(`each of ${OPERATED_MINIONS}`),
  },
  {
    name: "jobs-all",
    title: `jobs a second, ${OPERATORS} operators at once, each job to all ${OPERATED_MINIONS}`,
    unit: PER_SECOND,
    group: "operators",
    measure: operators("*"),
  },
  {
    name: "jobs-minion",
    title: `jobs a second, ${OPERATORS} operators at once, all jobs to one real minion`,
    unit: PER_SECOND,
    group: "operated minion",
    async measure(stage, side) {
      const fleet = await stage.fleet(side, async (fleet) => {
        await fleet.startMaster();
        await fleet.startMinion(OPERATED_MINION);
        await fleet.warmUp("*", 1);
      });
      return await operate(fleet, OPERATED_MINION);
    },
  },
  {
    name: "sign-ins",
    title: `sign-ins a second, ${SIGN_INS} minions at once, on the master alone`,
    unit: PER_SECOND,
    group: "sign-ins",
    pythons: ["3008.3", "3006.28"],
    async measure(stage, side) {
      const fleet = await masterAlone(stage, side);
      const { host, port } = fleet.requestAddress;
      const words = [...benchCommand("programs/sign_in_load.ts"), host, String(port), fleet.pkiDir, String(SIGN_INS)];
      const { signIns, seconds } = JSON.parse((await run(words)).out);
      if (signIns !== SIGN_INS) stage.remarks.add(`${side.name}: only ${signIns} were let in`);
      return signIns / seconds;
    },
  },
  {
    name: "pillars",
    title:
      `${PILLARS} minions ask for their pillar at once after a restart, of 7 files that are templates: until all have it`,
    unit: MS,
    group: "pillars",
    pythons: ["3008.3"],
    async measure(stage, side) {
      const fleet = await stage.fleet(side, (fleet) => {
        const roots = `${fleet.root}/pillar`;
        Deno.mkdirSync(roots);
        for (const [name, text] of Object.entries(PILLAR_FILES)) Deno.writeTextFileSync(`${roots}/${name}`, text);
        fleet.setOptions({ pillar_roots: `{base: [${roots}]}` });
        return Promise.resolve();
      });
      // A master that has just started has no pillar in memory, so every run is equal.
      await fleet.stopMaster();
      await fleet.startMaster();
      const { host, port } = fleet.requestAddress;
      const words = [...benchCommand("programs/pillar_load.ts"), host, String(port), fleet.pkiDir, String(PILLARS)];
      const { pillars, seconds } = JSON.parse((await run(words)).out);
      if (pillars !== PILLARS) throw new Error(`only ${pillars} got their pillar`);
      return seconds * 1000;
    },
  },
  {
    name: "back",
    title: `${RETURNING_FLEET} simulated minions back after their master's kill -9: until one job is answered by all`,
    unit: MS,
    group: "back",
    async measure(stage, side) {
      const fleet = await warmSwarm(stage, side, RETURNING_FLEET);
      const started = performance.now();
      await fleet.killMaster();
      await fleet.startMaster();
      await eventually(async () => {
        fleet.checkSwarms();
        // A job that some minions did not get ends with an error; it is tried again.
        const { out } = await run([...fleet.words("salt"), "-t", "2", "*", "test.ping"]).catch(() => ({ out: "" }));
        return (out.match(/^ +True$/gm) ?? []).length === RETURNING_FLEET;
      }, { what: `${RETURNING_FLEET} answers`, withinMs: BACK_MS });
      return performance.now() - started;
    },
  },
  {
    name: "events",
    title: `events a second through the bus to ${SUBSCRIBERS} subscribers, who read them`,
    unit: PER_SECOND,
    group: "bus",
    pythons: ["3008.3", "3006.28"],
    async measure(stage, side) {
      const fleet = await masterAlone(stage, side);
      const expected = side.python === undefined ? EVENTS.ours : EVENTS.python;
      const { events, seconds } = await carryEvents(fleet, expected);
      if (events !== expected) stage.remarks.add(`${side.name}: a subscriber got ${events} of ${expected} events`);
      return events / seconds;
    },
  },
  {
    name: "events-growth",
    title: `master's growth (PSS) by ${GROWTH_EVENTS} events to ${SUBSCRIBERS} subscribers`,
    unit: MB,
    group: "bus",
    runs: 1,
    // Python Salt's bus would need minutes for this number of events, as the row before shows.
    pythons: [],
    long: true,
    async measure(stage, side) {
      const fleet = await masterAlone(stage, side);
      await carryEvents(fleet, WARMING_EVENTS); // the warm-up by the first events does not count as growth
      return await growth(fleet, async () => {
        const { events } = await carryEvents(fleet, GROWTH_EVENTS);
        if (events !== GROWTH_EVENTS) {
          stage.remarks.add(`${side.name}: a subscriber got ${events} of ${GROWTH_EVENTS} events`);
        }
      }) / 1024;
    },
  },
];

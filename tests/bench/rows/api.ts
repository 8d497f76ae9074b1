/**
 * Rows: the REST API of the executables beside Python's with rest_cherrypy, which needs CherryPy in its virtual
 * environment.
 * @module
 */

import type { Fleet } from "#tests/bench/fleets/fleet.ts";
import { installed } from "./executables.ts";
import { treeMemory } from "#tests/bench/harness/process_figures.ts";
import { run } from "#tests/bench/harness/processes.ts";
import { benchCommand, type Side } from "#tests/bench/harness/sides.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { eventually } from "#tests/support/eventually.ts";
import type { Service } from "#tests/support/processes.ts";
import { MB, MS_TENTHS, PER_SECOND, PERCENT, type Row, type Stage } from "./row.ts";
import { cpuPercent } from "./rested_minion.ts";

const MINION = "bench-1";
const PASSWORD = "bench";
/** Users, each of whom has a share of the streams: here a user has at most 100. */
const USERS = Array.from({ length: 10 }, (_, n) => `user${n}`);
/** Jobs one after another: one of Python's API takes half a second. */
const POSTS = { ours: 200, python: 40 };
/** The time for which pages are asked, in seconds, by so many connections: CherryPy keeps ten open. */
const GET_SECONDS = 5, GET_CONNECTIONS = 8;
/** Open streams: Python's API has a thread for each, of a pool of 100, and answers nothing without one. */
const STREAMS = { ours: 1_000, python: 50 };
/** Events that are sent to all streams. */
const EVENTS = 100;
/** Time after which the API counts as at rest, and time for which its processor time is counted, in milliseconds. */
const SETTLE_MS = 45_000, WATCH_MS = 60_000;
/** Time limit for the start of the API, in milliseconds. */
const UP_MS = 60_000;

interface Site {
  readonly url: string;
  readonly api: Service;
}

const sites = new WeakMap<Fleet, Site>();

async function siteOf(stage: Stage, side: Side): Promise<Site> {
  if (side.python !== undefined) {
    await run([side.python, "-c", "import cherrypy"]).catch(() => {
      throw new Error(`there is no CherryPy: ${side.python} -m pip install cherrypy`);
    });
  }
  const fleet = await stage.fleet(await installed(side), async (fleet) => {
    const port = freePort(), file = `${fleet.root}/api_users`;
    Deno.writeTextFileSync(file, USERS.map((user) => `${user}:${PASSWORD}\n`).join(""));
    const rules = Object.fromEntries(USERS.map((user) => [user, [".*", "@runner", "@wheel"]]));
    fleet.setOptions({
      external_auth: JSON.stringify({ file: { "^filename": file, ...rules } }),
      netapi_enable_clients: JSON.stringify(["local"]),
      rest_cherrypy: JSON.stringify({ host: "127.0.0.1", port, disable_ssl: true }),
    });
    await fleet.startMaster();
    await fleet.startMinion(MINION);
    await fleet.warmUp("*", 1);
    const api = fleet.startApi(), url = `http://127.0.0.1:${port}`;
    await eventually(async () => {
      await (await fetch(url)).body?.cancel();
      return true;
    }, { what: `salt-api; it says: ${api.written}`, withinMs: UP_MS });
    sites.set(fleet, { url, api });
  });
  const site = sites.get(fleet);
  if (site === undefined) throw new Error("the fleet has no API");
  return site;
}

/** Figures of programs/api_load.ts. */
async function load(site: Site, ...words: readonly string[]): Promise<Record<string, number>> {
  const { out } = await run([...benchCommand("programs/api_load.ts"), site.url, USERS.join(), PASSWORD, ...words]);
  return JSON.parse(out);
}

function streamsOf({ python }: Side): number {
  return python === undefined ? STREAMS.ours : STREAMS.python;
}

async function streams(stage: Stage, side: Side): Promise<Record<string, number>> {
  const count = streamsOf(side), site = await siteOf(stage, side);
  const figures = await load(site, "streams", String(count), String(EVENTS), String(site.api.pid));
  if (figures.seen !== count * EVENTS) {
    stage.remarks.add(`${side.name}: ${figures.seen} of ${count * EVENTS} events came`);
  }
  return figures;
}

const WITH_STREAMS = `${STREAMS.ours} open streams of events (Python: ${STREAMS.python})`;

export const API_ROWS: readonly Row[] = [
  {
    name: "api-post",
    title: "POST / of salt-api with local test.ping, one after another, the median",
    unit: MS_TENTHS,
    group: "api",
    runs: 3,
    measure: async (stage, side) => {
      const count = side.python === undefined ? POSTS.ours : POSTS.python;
      return (await load(await siteOf(stage, side), "post", String(count))).p50;
    },
  },
  {
    name: "api-get",
    title: `GET / of salt-api, ${GET_CONNECTIONS} connections`,
    unit: PER_SECOND,
    group: "api",
    runs: 3,
    measure: async (stage, side) => {
      const site = await siteOf(stage, side);
      return (await load(site, "get", String(GET_SECONDS), String(GET_CONNECTIONS))).perSecond;
    },
  },
  {
    name: "api-streams",
    title: `an event until it is in each of ${WITH_STREAMS}: the slowest of a hundred`,
    unit: MS_TENTHS,
    group: "api streams",
    runs: 1,
    measure: async (stage, side) => (await streams(stage, side)).p99,
  },
  {
    name: "api-streams-memory",
    title: `memory (PSS) of salt-api with ${WITH_STREAMS}`,
    unit: MB,
    // Python's API notices that a stream has ended only at the next event: a second run would find no thread.
    group: "api streams memory",
    runs: 1,
    measure: async (stage, side) => (await streams(stage, side)).pssKb / 1024,
  },
  {
    name: "api-idle-memory",
    title: "memory (PSS) of salt-api that has answered one request",
    unit: MB,
    group: "api at rest",
    runs: 1,
    measure: async (stage, side) => {
      const { api } = await siteOf(stage, side);
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      return treeMemory(api.pid).pssKb / 1024;
    },
  },
  {
    name: "api-idle-cpu",
    title: `processor time of salt-api at rest over ${WATCH_MS / 1000} s`,
    unit: PERCENT,
    group: "api at rest",
    runs: 1,
    long: true,
    measure: async (stage, side) => {
      const { api } = await siteOf(stage, side);
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      return await cpuPercent(api.pid, WATCH_MS);
    },
  },
];

/**
 * What the minion answers its jobs: a job runs in a worker or a process, without sockets to the master or files of the
 * minion.
 * @module
 */

import { askOnBus } from "#lib/bus/ask.ts";
import { minionBus } from "#lib/bus/paths.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { WireError } from "#lib/errors.ts";
import { connectedMasters, type Masters } from "#lib/minion/masters/masters.ts";
import { type MinionRequest, unpackValue } from "#lib/minion/worker/job_protocol.ts";
import { unpackPillarQuery } from "#lib/minion/worker/pillar_query.ts";
import type { Refresh } from "#lib/plugins/job_context.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import type { GrainsAndPillar } from "./grains_and_pillar.ts";

/** What the answers are made of. */
export interface AnsweringMinion {
  readonly opts: MinionOpts;
  readonly known: Pick<GrainsAndPillar, "grains" | "pillarFor">;
  readonly refreshes: Readonly<Record<Refresh, () => Promise<void>>>;
  /** `undefined`: it has none. */
  masters(): Masters | undefined;
  fireLocal(tag: string, data: ValueMap): Promise<boolean>;
  /**
   * The socket of the process for Python.
   * @throws {CommandError} If there is no Python.
   */
  pythonSocket(): Promise<string>;
  /** The socket of the keeper of commands. */
  keeperSocket(): Promise<string | undefined>;
}

/**
 * The answer to a request.
 * @param job The load of the job that asks; `undefined` if it has just ended.
 * @throws {WireError} If the request does not have the shape of its kind.
 */
export async function answerJob(
  request: MinionRequest,
  job: ValueMap | undefined,
  minion: AnsweringMinion,
): Promise<Value> {
  switch (request.what) {
    case "request": {
      const load = unpackValue(request.load);
      if (!isMap(load)) throw new WireError("a request is not a map");
      return await connectedMasters(minion.masters()).request(load, job);
    }
    case "fire": {
      const data = unpackValue(request.data);
      return await minion.fireLocal(request.tag, isMap(data) ? data : map({ data }));
    }
    case "ask": {
      const { tag, answerTag, waitS } = request, data = unpackValue(request.data);
      if (!isMap(data)) throw new WireError("a question is not a map");
      return await askOnBus(minionBus(minion.opts), { tag, data, answerTag, waitS });
    }
    case "pillar":
      return await minion.known.pillarFor(unpackPillarQuery(request.query), job);
    case "grains":
      await minion.refreshes.grains();
      return minion.known.grains;
    case "python":
      return await minion.pythonSocket();
    case "keeper":
      return await minion.keeperSocket() ?? null;
    case "refresh":
      await minion.refreshes[request.refresh]();
      return true;
    default:
      throw new Error(`nobody answers ${request.what}`);
  }
}

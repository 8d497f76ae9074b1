/**
 * What `salt-ssh` answers to hosts in place of a master: files of the file roots, pillar, `master_tops` and the mine. A
 * host proves its id by its connection, so a request is answered for the id of the roster, whatever the load says.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { CommandError, StoreError } from "#lib/errors.ts";
import { FILE_COMMANDS } from "#lib/files/server/file_commands.ts";
import { openLocalServer } from "#lib/files/client/local_server.ts";
import type { SendFileCommand } from "#lib/files/client/server_calls.ts";
import type { DataCache } from "#lib/fleet/data_cache.ts";
import type { Mine } from "#lib/fleet/mine.ts";
import { answerMineGet } from "#lib/fleet/mine_query.ts";
import { acceptedFleet } from "#lib/fleet/resolve_target.ts";
import type { KeyStore } from "#lib/keys/store.ts";
import { masterPillarHost } from "#lib/master/processes/pillar_compiler.ts";
import { answerMasterOpts, serveTops } from "#lib/master/requests/minion_data.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { compilePillar } from "#lib/pillar/compile.ts";
import type { PillarHost } from "#lib/pillar/host.ts";
import { type PillarRequest, readPillarRequest } from "#lib/pillar/request.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { HostPillars } from "./host_pillars.ts";
import type { RosterJobs } from "./roster_jobs.ts";
import { encode } from "#lib/values/msgpack.ts";
import { onlyStrings } from "#lib/values/shape.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** What the answers are made of. */
export interface ControlParts {
  readonly opts: MasterOpts;
  readonly keys: KeyStore;
  readonly data: DataCache;
  readonly mine: Mine;
  /** Whether the grains of hosts are kept, for targets. */
  readonly keepsGrains: boolean;
  /** What hosts may ask of others; `undefined`: nothing. */
  readonly jobs?: RosterJobs;
  /** Compiles pillar apart from this process; `undefined`: it is compiled here. */
  apart(): Pick<HostPillars, "compile"> | undefined;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Answers the requests of the hosts of one run. */
export class ControlAnswers {
  readonly #parts: ControlParts;
  #files: Promise<SendFileCommand> | undefined;
  #pillarHost: PillarHost | undefined;

  constructor(parts: ControlParts) {
    this.#parts = parts;
  }

  /**
   * The answer to a request of the host `id`.
   * @throws {CommandError} For a request that needs a master.
   */
  async answer(load: ValueMap, id: string): Promise<Value> {
    const { opts } = this.#parts;
    const cmd = str(load.get("cmd") ?? "");
    if (Object.hasOwn(FILE_COMMANDS, cmd)) return await this.#file(load);
    switch (cmd) {
      case "_pillar":
        return await this.#pillar(load, id);
      case "_master_opts":
        return await answerMasterOpts(load, id, { opts, files: { envs: () => this.#envs() }, park: () => {} });
      case "_master_tops":
      case "_ext_nodes":
        return await serveTops(load, id, {
          opts,
          pillars: { compile: async (request) => encode(await this.#compile(request), "wire") },
        });
      case "_mine_get": {
        const answer = this.regularMine(load, id);
        return this.#parts.jobs === undefined ? answer : await this.#parts.jobs.withMine(answer, load, id);
      }
      case "minion_pub":
        return this.#parts.jobs === undefined ? new Map() : await this.#parts.jobs.publish(load, id);
      case "pub_ret":
        return this.#parts.jobs?.returns(load, id) ?? new Map();
      default:
        throw new CommandError(`${cmd} needs a master: a host of salt-ssh has none`);
    }
  }

  /** What the master's own mine has for the host `id`. */
  regularMine(load: ValueMap, id: string): Value {
    const { data, mine, keys, opts, log } = this.#parts;
    const warn = (text: string) => log.warning(text);
    const fleet = () => acceptedFleet(opts, { keys, data });
    return answerMineGet(new Map(load).set("id", id), { opts, mine, data, fleet, warn });
  }

  /** The pillar of the host `id`, with the grains that it had last. */
  async pillarOf(id: string): Promise<ValueMap> {
    const grains = this.#parts.data.get(id)?.grains ?? new Map();
    return await this.#compile(readPillarRequest(map({ grains }), id));
  }

  /** Whether the file roots have plugins of the operator's own, which hosts then fetch. */
  hasPlugins(): boolean {
    const { opts } = this.#parts;
    if (opts.fileserver_backend.some((name) => name !== "roots")) return true;
    const roots = [...opts.file_roots.values()].flatMap((paths) => onlyStrings(paths));
    return roots.some((root) => PLUGIN_DIRECTORIES.some((name) => isDirectory(`${root}/${name}`)));
  }

  async #file(load: ValueMap): Promise<Value> {
    const { opts, log, signal } = this.#parts;
    this.#files ??= openLocalServer(opts, {
      log: (level, message) => log[level](message),
      backends: this.#catalogue().fileBackends,
      signal,
    });
    return await (await this.#files)(load);
  }

  async #envs(): Promise<string[]> {
    return onlyStrings(await this.#file(map({ cmd: "_file_envs" })));
  }

  async #pillar(load: ValueMap, id: string): Promise<Value> {
    const request = readPillarRequest(load, id);
    const { keepsGrains, data, log } = this.#parts;
    const pillar = await this.#compile(request);
    if (keepsGrains) {
      try {
        data.setGrains(id, request.grains);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        log.warning(`The grains of ${id} are not kept: ${error.message}`);
      }
    }
    return pillar;
  }

  async #compile(request: PillarRequest): Promise<ValueMap> {
    const { opts, log, signal, apart } = this.#parts;
    const processes = apart();
    if (processes !== undefined) return await processes.compile(request);
    this.#pillarHost ??= masterPillarHost(opts, { log, signal });
    return (await compilePillar(request, this.#pillarHost)).pillar;
  }

  #catalogue() {
    const { opts, log } = this.#parts;
    return loadCatalogue({
      extensionModules: opts.extension_modules,
      moduleDirs: opts.module_dirs,
      warn: log.warning,
    });
  }
}

/** The directories of file roots whose files are plugins of hosts. */
const PLUGIN_DIRECTORIES: readonly string[] = [
  ...["_modules", "_states", "_grains", "_renderers", "_returners", "_utils"],
];

/**
 * The execution functions of a host for plugins in Python that run beside its jobs, as `__salt__` of engines and of
 * systems of `external_auth`: called as `salt-call` does, on a master with the master's options.
 * @module
 */

import type { EngineBus } from "#lib/engines/engine_bus.ts";
import { loadGrains } from "#lib/minion/agent/grains.ts";
import { loadCoreGrains } from "#lib/minion/catalogue/catalogue.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import type { CallingHost } from "#lib/python_bridge/loader/answers_by_calls.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { type CallMaster, WITHOUT_MASTER } from "./call_master.ts";
import { callDirectly } from "./job.ts";
import { CallModules } from "./modules.ts";
import { openMasterSession } from "./session.ts";

/** What the functions run with. */
export interface PluginFunctionsParts {
  /** Takes the events that functions fire. */
  readonly bus: Pick<EngineBus, "fire" | "fireHere">;
  readonly log: Logger;
  /** Of the minion; of a master, those of a minion on its host. */
  readonly opts: MinionOpts;
  /** `__opts__`. */
  readonly values: ValueMap;
  /** A minion's functions may ask its master. */
  readonly role: "master" | "minion";
  /** Aborted when the functions must end. */
  readonly signal: AbortSignal;
}

/** The execution functions of a host. */
export class PluginFunctions implements CallingHost, AsyncDisposable {
  readonly #parts: PluginFunctionsParts;
  readonly #grains: ValueMap;
  readonly #modules: CallModules;
  #session: Promise<CallMaster> | undefined;

  private constructor(parts: PluginFunctionsParts, grains: ValueMap) {
    this.#parts = parts;
    this.#grains = grains;
    this.#modules = new CallModules({ opts: parts.opts, log: parts.log });
  }

  /** Reads the grains of the host, which the functions have. */
  static async open(parts: PluginFunctionsParts): Promise<PluginFunctions> {
    const { opts, log } = parts;
    const grains = await loadGrains(opts, { core: await loadCoreGrains(), warn: (text) => log.warning(text) });
    return new PluginFunctions(parts, grains);
  }

  opts(): ValueMap {
    return this.#parts.values;
  }

  grains(): ValueMap {
    return this.#grains;
  }

  pillar(): ValueMap {
    return new Map();
  }

  /** Whether there is a function of this name. */
  async has(fun: string): Promise<boolean> {
    return await this.#modules.catalogue.get(fun) !== undefined;
  }

  /** @throws What the function throws. */
  async call(fun: string, args: readonly Value[], kwargs: ValueMap): Promise<Value> {
    const { role, bus } = this.#parts;
    const sent = sentEvent(fun, args, kwargs);
    // As in Salt, `event.fire` is for the bus of this host.
    if (sent !== undefined) return await (fun === "event.fire" ? bus.fireHere : bus.fire)(sent.tag, sent.data);
    const master = role === "minion" && needsMaster(fun) ? await this.#master() : WITHOUT_MASTER;
    return await this.#callWith(master, fun, args, kwargs);
  }

  async #callWith(master: CallMaster, fun: string, args: readonly Value[], kwargs: ValueMap): Promise<Value> {
    const { log, signal, opts } = this.#parts;
    const host = { opts, grains: this.#grains, modules: this.#modules, master, log, signal };
    return await callDirectly({ fun, args: [...args], kwargs, jid: makeJid(), user: opts.user }, host);
  }

  #master(): Promise<CallMaster> {
    return this.#session ??= openMasterSession(this.#parts.opts, {
      grains: this.#grains,
      log: this.#parts.log,
      signal: this.#parts.signal,
      // It names the masters, so there is none yet that it could ask.
      call: (fun) => this.#callWith(WITHOUT_MASTER, fun, [], new Map()),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#modules[Symbol.asyncDispose]();
    (await this.#session?.catch(() => undefined))?.[Symbol.dispose]();
  }
}

/** Functions that ask the minion's master. */
function needsMaster(fun: string): boolean {
  return /^(cp|mine|pillar|state|publish|saltutil|file|event|slsutil)\./.test(fun);
}

/** `event.send` and its kin go through the bus of the host. */
function sentEvent(fun: string, args: readonly Value[], kwargs: ValueMap): { tag: string; data: ValueMap } | undefined {
  if (!["event.send", "event.fire", "event.fire_master"].includes(fun)) return undefined;
  const [first = null, second = null] = args;
  const [tag, data] = fun === "event.send" ? [first, second] : [second, first];
  const given = [tag, kwargs.get("tag")].find((one) => typeof one === "string");
  const sent = isMap(data) ? data : kwargs.get("data") ?? data;
  return { tag: str(given ?? null), data: isMap(sent) ? sent : map({ data: sent ?? null }) };
}

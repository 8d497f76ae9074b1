/**
 * The context of runners and wheel modules, made from the master's options: for `salt-run`, and for the process in
 * which a master runs a function that a client asked for.
 * @module
 */

import type { EventData } from "#lib/bus/event.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { lateKeyBank } from "#lib/cluster_banks/late_key_bank.ts";
import { changeNotes } from "#lib/config/master_paths.ts";
import { requestRotation } from "#lib/keys/dropfile.ts";
import { commandStore } from "#lib/client/command_store.ts";
import { KeyManager } from "#lib/keys/manager.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { loadWheel } from "#lib/master/functions/catalogues.ts";
import type { MasterPython } from "#lib/master/functions/python_functions.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { RunnerHost } from "#lib/client/runner.ts";

/** The parts of a {@linkcode RunnerHost} that do not follow from the options. */
export interface RunnerHostParts
  extends
    Pick<RunnerHost, "catalogue" | "jid" | "user" | "signal" | "local" | "print" | "showProgress" | "forTerminal"> {
  readonly log: Logger;
  /** The plugins in Python. */
  readonly python: MasterPython;
  /**
   * Stamps an event and fires it on the master's bus.
   * @returns Whether it arrived.
   */
  fire(tag: string, data: EventData): Promise<boolean>;
}

/** The context of functions of the master with these options. */
export function runnerHost(opts: MasterOpts, parts: RunnerHostParts): RunnerHost {
  const { log, fire, signal } = parts;
  const warn = (text: string) => log.warning(text);
  const keys = new KeyStore(opts.pki_dir);
  const data = new DataCache(opts.cachedir, { log: warn, notes: changeNotes(opts) });
  return {
    opts,
    jobs: commandStore(opts, { log: warn }),
    keys,
    data,
    local: parts.local,
    catalogue: parts.catalogue,
    wheel: loadWheel(opts, log, parts.python),
    jid: parts.jid,
    user: parts.user,
    signal,
    forTerminal: parts.forTerminal,
    fire,
    manager: new KeyManager(keys, {
      fire: async (tag, event) => void await fire(tag, event),
      forget: (id) => {
        if (!opts.preserve_minion_cache) data.remove(id);
      },
      bank: lateKeyBank(opts, { store: keys, by: parts.user, warn }),
    }),
    rotateKey: () => requestRotation(opts),
    async execute(call) {
      // Few runners need execution modules, and a minion's options.
      const { executeOnMaster } = await import("./master_execution.ts");
      return await executeOnMaster(call, { opts, log, signal, user: parts.user });
    },
    pillar: {
      async compile(request) {
        const { compilePillar } = await import("#lib/pillar/compile.ts");
        const { masterPillarHost } = await import("./pillar_compiler.ts");
        return (await compilePillar(request, masterPillarHost(opts, { log, signal }))).pillar;
      },
      async top(request) {
        const { pillarTop } = await import("#lib/pillar/compile.ts");
        const { masterPillarHost } = await import("./pillar_compiler.ts");
        const { top, errors } = await pillarTop(request, masterPillarHost(opts, { log, signal }));
        return { top: new Map([...top.targets].map(([env, targets]) => [env, new Map(targets)])), errors };
      },
    },
    reactor: {
      async render(tag, data, files) {
        const { explainEvent } = await import("#lib/master/reactor/explain.ts");
        return await explainEvent({ tag, data, files }, { opts, log, signal });
      },
    },
    showProgress: parts.showProgress,
    print: parts.print,
    log: (level, message) => log[level](message),
  };
}

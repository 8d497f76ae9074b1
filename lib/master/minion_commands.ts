/**
 * The encrypted commands of minions: what each does, as a table. Those of parts of Salt that are not built are in
 * unbuilt_commands.ts.
 *
 * Whoever calls has been authenticated: `id` is the minion that signed in, and the load's own `id` is the same.
 * Source: salt-protocol.md sections 5 and 6.
 * @module
 */

import { isAcknowledged, notDone } from "../protocol/acknowledgement.ts";
import { truncateValue } from "../text/truncate.ts";
import { writeDropfile } from "../keys/dropfile.ts";
import { StoreError, WireError } from "../errors.ts";
import { KEY_EVENT, minionRefresh } from "../protocol/tags.ts";
import type { MasterServices } from "./services.ts";
import { isMap, map, type Value, type ValueMap } from "../values/value.ts";
import { storeReturn } from "./returns.ts";
import { fireEvents } from "./minion_events.ts";
import { UNBUILT_COMMANDS } from "./unbuilt_commands.ts";

/** A reply for the minion's pillar is sealed for it alone; the others go under its session key. */
export interface MinionReply {
  /** What the command answers. */
  readonly value: Value;
  /** Whether only the minion's own key may open it. */
  readonly sealed?: true;
}

type Handler = (load: ValueMap, id: string, services: MasterServices) => Promise<Value> | Value;

/** The reason that is told; the log has the whole. */
const FAILED = "Some exception handling minion payload";

const HANDLERS: Readonly<Record<string, Handler>> = {
  _return: storeReturn,
  _minion_event: fireEvents,
  _master_opts: masterOpts,
  revoke_auth: revokeAuth,
};

/**
 * Runs a minion's command.
 * @returns Salt's answer; `{}` to a command that nobody knows. To one that failed `""`, as Salt, or where the minion waits for an
 * acknowledgement what is none: it sends again what could not be taken. Python minions look at neither.
 * @throws {WireError} If there is no command.
 */
export async function minionCommand(load: ValueMap, id: string, services: MasterServices): Promise<MinionReply> {
  const cmd = load.get("cmd");
  if (cmd === undefined) throw new WireError(`a request of ${id} without a command`, "cmd");
  if (cmd === "_pillar") return { value: servePillar(load, id, services), sealed: true };
  if (typeof cmd === "string" && Object.hasOwn(UNBUILT_COMMANDS, cmd)) {
    const { part, answer, loses } = UNBUILT_COMMANDS[cmd];
    if (loses?.(load)) services.complain(`What minion ${id} sent by ${cmd} is not kept (not built yet: ${part})`);
    return { value: answer() };
  }
  if (typeof cmd !== "string" || !Object.hasOwn(HANDLERS, cmd)) {
    services.complain(`Minion ${id} asked for the unknown command ${truncateValue(cmd)}`);
    return { value: new Map() };
  }
  try {
    return { value: await HANDLERS[cmd](load, id, services) };
  } catch (error) {
    services.log.error(`The command ${cmd} of minion ${id} failed: ${error instanceof Error ? error.stack : error}`);
    return { value: isAcknowledged(cmd) ? notDone(FAILED) : "" };
  }
}

function servePillar(load: ValueMap, id: string, { data, opts, log, fire }: MasterServices): Value {
  const grains = load.get("grains");
  const pillar: ValueMap = new Map();
  if (opts.minion_data_cache && isMap(grains)) {
    try {
      data.setGrains(id, grains);
      data.setPillar(id, pillar);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      log.error(`The grains of ${id} are not in the data cache: ${error.message}`);
    }
    if (opts.minion_data_cache_events) void fire(minionRefresh(id), map({ "Minion data cache refresh": id }));
  }
  return pillar;
}

function masterOpts(load: ValueMap, _id: string, { opts }: MasterServices): Value {
  const common = {
    file_roots: { base: [] },
    top_file_merging_strategy: opts.top_file_merging_strategy,
    env_order: opts.env_order,
    default_top: opts.default_top,
  };
  if (load.get("env_only") === true) return map(common);
  return map({
    ...common,
    renderer: opts.renderer,
    failhard: opts.failhard,
    state_top: opts.state_top,
    state_top_saltenv: null,
    nodegroups: opts.nodegroups,
    state_auto_order: true,
    state_events: false,
    state_aggregate: false,
  });
}

async function revokeAuth(_load: ValueMap, id: string, services: MasterServices): Promise<Value> {
  const { opts, keys, sessions, data, log, fire, complain } = services;
  if (!opts.allow_minion_key_revoke) {
    complain(`Minion ${id} asked to revoke its key, which allow_minion_key_revoke forbids`);
    return false;
  }
  keys.remove(id);
  sessions.remove(id);
  if (!opts.preserve_minion_cache) data.remove(id);
  // What is published from now on is not for it any more.
  if (opts.rotate_aes_key) writeDropfile(opts.cachedir, opts.id);
  log.info(`The key of ${id} was deleted at its own request`);
  await fire(KEY_EVENT, map({ result: true, act: "delete", id }));
  return true;
}

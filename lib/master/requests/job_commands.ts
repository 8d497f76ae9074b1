/**
 * The commands of minions about jobs.
 * Source: docs/protocol.md "Commands of minions".
 * @module
 */

import type { MinionCommands } from "./services.ts";
import { storeReturn } from "./returns.ts";
import { storeSyndicReturns } from "./syndics.ts";

/** The commands of minions about jobs, by name. */
export const JOB_COMMANDS: MinionCommands<"auth" | "jobs" | "opts" | "log" | "warn" | "fire"> = {
  _return: storeReturn,
  _syndic_return: storeSyndicReturns,
};

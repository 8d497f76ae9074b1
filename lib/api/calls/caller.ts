/**
 * Who runs chunks of the API, and with what.
 * @module
 */

import type { Logger } from "#lib/runtime/log.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** The user of a request, and what the calls for that user need. */
export interface ApiCaller {
  readonly opts: MasterOpts;
  readonly log: Logger;
  /** What proves to the master who it is: a token, or a name and a password. */
  readonly proof: ValueMap;
  /** The user's name, as far as it is known here; the master decides by the proof. */
  readonly user: string;
  /** Aborted when the client has gone, or the API ends. */
  readonly signal: AbortSignal;
}

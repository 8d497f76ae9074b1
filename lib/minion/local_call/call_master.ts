/**
 * The master of a function that `salt-call` runs, or none. Separate from session.ts, which makes one, because
 * `salt-call --local` needs no connection code.
 * @module
 */

import { NoMasterError } from "#lib/errors.ts";
import type { PillarQuery } from "#lib/plugins/job_context.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** The master of a call, or none. */
export interface CallMaster extends Disposable {
  readonly pillar: ValueMap;
  /**
   * Compiles the minion's pillar now.
   * @throws {NoMasterError} If there is no master, and this host compiles none.
   */
  freshPillar(query: PillarQuery): Promise<ValueMap>;
  /**
   * Sends an encrypted request.
   * @throws {NoMasterError} If there is no master.
   */
  request(load: ValueMap): Promise<Value>;
}

/** No master, for `salt-call --local`. */
export const WITHOUT_MASTER: CallMaster = {
  pillar: new Map(),
  freshPillar: () => Promise.reject(new NoMasterError("There is no master: this runs locally")),
  request: () => Promise.reject(new NoMasterError("There is no master: this runs locally")),
  [Symbol.dispose]: () => {},
};

/**
 * The master of a function that `salt-call` runs, or the lack of one. Apart from session.ts, which makes one: `salt-call --local`
 * needs nothing of what a connection takes.
 * @module
 */

import { NoMasterError } from "../errors.ts";
import type { Value, ValueMap } from "../values/value.ts";

/** The master of a call, or the lack of one. */
export interface CallMaster extends Disposable {
  /** The minion's pillar. */
  readonly pillar: ValueMap;
  /** Sends an encrypted request. @throws {NoMasterError} Where there is no master. */
  request(load: ValueMap): Promise<Value>;
}

/** No master: `salt-call --local`. */
export const WITHOUT_MASTER: CallMaster = {
  pillar: new Map(),
  request: () => Promise.reject(new NoMasterError("There is no master: this runs locally")),
  [Symbol.dispose]: () => {},
};

/**
 * `require_operator_signature` of a minion: what is done with the result of the check of a published job.
 * @module
 */

import type { MinionOpts } from "#lib/config/options.ts";
import { messageOf } from "#lib/errors.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";
import { AuthorizedOperators } from "./authorized_operators.ts";
import { type CheckedJob, checkJob, type JobPlace } from "./check_job.ts";

/** Checks the jobs of one minion. */
export class OperatorCheck {
  readonly #id: string;
  readonly #isRequired: boolean;
  readonly #operators: AuthorizedOperators;
  readonly #log: Logger;

  /** @param opts Those of the minion, with `require_operator_signature: log` or `true`. */
  constructor({ id, operators_dir, require_operator_signature }: MinionOpts, log: Logger) {
    this.#id = id;
    this.#isRequired = require_operator_signature === "true";
    this.#operators = new AuthorizedOperators(operators_dir, log.error);
    this.#log = log;
  }

  /** Checks a job; with `log` it is never refused. */
  check(load: ValueMap, op: Value | undefined, place: Pick<JobPlace, "masterPems" | "matches">): CheckedJob {
    const checked = this.#check(load, op, place);
    if (checked.refused === undefined) return checked;
    const job = `Job ${str(load.get("jid") ?? "")}, ${str(load.get("fun") ?? null)}`;
    if (this.#isRequired) {
      this.#log.error(`${job}, is refused: ${checked.refused}`);
      return checked;
    }
    this.#log.warning(`${job}, would be refused with require_operator_signature: true, because ${checked.refused}`);
    return { body: checked.body, key: "" };
  }

  #check(load: ValueMap, op: Value | undefined, place: Pick<JobPlace, "masterPems" | "matches">): CheckedJob {
    try {
      return checkJob(load, op, { ...place, id: this.#id, operators: this.#operators, nowMs: Date.now() });
    } catch (error) {
      // Without the operators' keys nothing is proved; the minion goes on.
      const refused = `it cannot be checked: ${messageOf(error)}`;
      return { body: new Uint8Array(), key: "", refused };
    }
  }
}

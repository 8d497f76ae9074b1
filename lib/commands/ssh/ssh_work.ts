/**
 * What is run on hosts of a roster, and how it ends there.
 * @module
 */

import type { SshFailure } from "#lib/errors.ts";
import type { Value } from "#lib/values/value.ts";

/** What is run on a host: a function with its arguments as on the wire, or the words of a command line. */
export type SshWork = { readonly fun: string; readonly arg: readonly Value[] } | { readonly raw: readonly string[] };

/** The end of the work on a host. */
export interface HostEnd {
  readonly id: string;
  /** The return; of a failure its text. */
  readonly return: Value;
  readonly retcode: number;
  /** What kept the host from a return; `roster`: its entry is bad. */
  readonly failure?: SshFailure | "roster" | "other";
  readonly out?: string;
  readonly errorDetails?: readonly string[];
}

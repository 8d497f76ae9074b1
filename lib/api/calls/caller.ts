/**
 * Who runs chunks of the API, and with what.
 * @module
 */

import type { AuditEntry } from "#lib/auth/audit_log.ts";
import { RefusedError } from "#lib/errors.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { type TraceContext, writeTrace } from "#lib/tracing/trace_context.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** A call, as the audit log has it. */
export type RecordedCall = Pick<AuditEntry, "what" | "target" | "count" | "outcome">;

/** The user of a request, and what the calls for that user need. */
export interface ApiCaller {
  readonly opts: MasterOpts;
  readonly log: Logger;
  /** What proves to the master who it is: a token, or a name and a password. */
  readonly proof: ValueMap;
  /** The user's name, as far as it is known here; the master decides by the proof. */
  readonly user: string;
  /** Called when the master does not accept the name and password. */
  onRefused?(): void;
  /** Writes a call into the audit log. */
  record(call: RecordedCall): void;
  /** Aborted when the client has gone, or the API ends. */
  readonly signal: AbortSignal;
  /** The span of the request, if it is traced: what it causes is below it. */
  readonly trace?: TraceContext;
}

/** Tells the caller of a refusal if the master did not accept the name and password. */
export function noteRefusal(error: unknown, { onRefused }: ApiCaller): void {
  if (!(error instanceof RefusedError)) return;
  if (error.kind === "AuthenticationError" || error.kind === "EauthAuthenticationError") onRefused?.();
}

/** What a request to the master holds besides the call: the proof, and where its trace goes on. */
export function proofWithTrace({ proof, trace }: ApiCaller): ValueMap {
  const load = new Map(proof);
  writeTrace(load, trace);
  return load;
}

/**
 * Adds an operator's signature to a job that is about to be published. The client makes the job's id, which is signed.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { UsageError } from "#lib/errors.ts";
import { masterPublicKey } from "#lib/keys/pair.ts";
import { operatorKeyPath } from "#lib/operators/key_file.ts";
import { LONGEST_S, statementOf } from "#lib/operators/job_statement.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { dirName } from "#lib/os/paths.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { OP } from "#lib/protocol/operator_field.ts";
import { portableTarget } from "#lib/targeting/target.ts";
import { toNumber, type ValueMap } from "#lib/values/value.ts";
import type { JobRequest } from "./job.ts";

/** Seconds that a statement holds beyond the time of delivery: the clocks of minions differ. */
const CLOCKS_S = 300;

/** Signs statements. */
export interface Signs {
  /**
   * The signature of a statement, as a load has it.
   * @throws {CommandError} If the key cannot be used.
   */
  sign(body: Uint8Array): Promise<ValueMap>;
}

/** Whose job it is, and for which master. */
export interface SigningPlace {
  readonly opts: MasterOpts;
  /** The user that the master will write into the job. */
  readonly user: string;
  readonly signer: Signs;
}

/**
 * The job with its id and the signature.
 * @throws {UsageError} If the master's public key is not at hand.
 */
export async function signedRequest(job: JobRequest, { opts, user, signer }: SigningPlace): Promise<JobRequest> {
  const jid = job.jid || makeJid(undefined, { unique: opts.unique_jid });
  const { tgt, tgtType } = portableTarget(job, opts.nodegroups);
  const kwargs: ValueMap = new Map(job.kwargs ?? []);
  const wantedS = toNumber(kwargs.get("job_ttl")) ?? opts.job_ttl ?? opts.timeout;
  const body = statementOf({
    ...{ jid, user, tgt, kwargs, fun: job.fun, arg: job.arg },
    tgt_type: tgtType || "glob",
    masterPem: masterPem(opts),
    notAfter: Math.floor(Date.now() / 1000) + Math.min(Math.ceil(wantedS) + CLOCKS_S, LONGEST_S - CLOCKS_S),
  });
  return { ...job, jid, kwargs: kwargs.set(OP, await signer.sign(body)) };
}

/** The operator's own copy of the master's public key, else the one on this host. */
function masterPem({ pki_dir, id }: MasterOpts): string {
  const own = `${dirName(operatorKeyPath())}/master.pub`;
  const pem = readTextFileIfExists(own) ?? hostsPem(pki_dir, id);
  if (pem === undefined) {
    throw new UsageError(`A job is signed for one master: copy the public key of yours, master.pub, to ${own}`);
  }
  return pem;
}

function hostsPem(pkiDir: string, id: string): string | undefined {
  try {
    return masterPublicKey(pkiDir, id);
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) return undefined;
    throw error;
  }
}

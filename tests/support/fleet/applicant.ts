/**
 * A minion that signs in, and its link, for tests and measurements.
 * @module
 */

import type { PrivateKey } from "#lib/crypto/rsa.ts";
import { type Backoff, backoff } from "#lib/minion/masters/backoff.ts";
import { MasterLink } from "#lib/minion/masters/link.ts";
import type { Applicant } from "#lib/minion/masters/sign_in.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { tcpAddress } from "#lib/sockets/request_channel.ts";

/** An applicant with a minion's default options. */
export function applicantOf(id: string, key: PrivateKey, pkiDir: string): Applicant {
  return {
    id,
    pkiDir,
    key,
    encAlgorithm: "OAEP-SHA1",
    sigAlgorithm: "PKCS1v15-SHA1",
    hashType: "sha256",
    masterFinger: "",
    verifyMasterPubkeySign: false,
    masterSignKeyName: "master_sign",
    openMode: false,
    alwaysVerifySignature: false,
    autosignGrains: new Map(),
  };
}

/** Where the link of an applicant goes, and how it waits. */
export interface LinkOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** The master's `ret_port`. */
  readonly port: number;
  /** Time limit of a request, in milliseconds. */
  readonly timeoutMs: number;
  /** How often a request is sent, at most. Default: once. */
  readonly tries?: number;
  readonly backoff?: Backoff;
}

/** Time that an applicant waits for its master. */
const SIGN_IN_TIMEOUTS = {
  authTimeoutMs: 120_000,
  authTries: 3,
  masterTries: 10,
  acceptanceWaitMs: 2_000,
  acceptanceWaitMaxMs: 2_000,
  rejectedRetry: false,
  rejectedWaitMs: [0, 0],
  failOnPending: false,
} as const;

/** The link of an applicant, which has not signed in yet. */
export function linkOf(
  applicant: Applicant,
  { host = "127.0.0.1", port, timeoutMs, tries = 1, backoff: wait }: LinkOptions,
): MasterLink {
  return new MasterLink({
    address: tcpAddress(host, port),
    applicant,
    timeouts: SIGN_IN_TIMEOUTS,
    backoff: wait ?? backoff({ leastMs: 100, mostMs: 1_000, randomize: true }),
    requestTimeouts: { timeoutMs, tries },
    signMessages: false,
    log: SILENT_LOGGER,
  });
}

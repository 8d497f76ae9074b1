/**
 * The settings of a link to the master, from a minion's options; `salt-call` uses them with shorter limits.
 * @module
 */

import { backoff } from "#lib/minion/masters/backoff.ts";
import { MinionPair } from "#lib/keys/minion_pair.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { LinkSettings, SignInTimeouts } from "#lib/minion/masters/link.ts";
import { addressesOf, type MasterAddresses } from "./master_addresses.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import type { Applicant, SignInCredentials } from "./sign_in.ts";
import type { KeepAlive } from "#lib/sockets/settings.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** Maximum time until the first message to an operator who waits for a minion or a salt-call, in milliseconds. */
const FIRST_WORD_MS = 2_000;

/** The data for a sign-in; makes the minion's key pair at its first start. */
export async function applicantOf(
  opts: MinionOpts,
  grains: ValueMap,
): Promise<Applicant & { readonly pair: MinionPair }> {
  const autosignGrains: ValueMap = new Map();
  for (const name of opts.autosign_grains ?? []) {
    const value = grains.get(name);
    if (value !== undefined) autosignGrains.set(name, value);
  }
  const pair = await MinionPair.open({
    id: opts.id,
    pkiDir: opts.pki_dir,
    keysize: opts.keysize,
    permissive: opts.permissive_pki_access,
  });
  return {
    id: opts.id,
    pkiDir: opts.pki_dir,
    pair,
    get key() {
      return pair.key;
    },
    encAlgorithm: opts.encryption_algorithm,
    sigAlgorithm: opts.signing_algorithm,
    hashType: opts.hash_type,
    masterFinger: opts.master_finger,
    verifyMasterPubkeySign: opts.verify_master_pubkey_sign,
    masterSignKeyName: opts.master_sign_key_name,
    alwaysVerifySignature: opts.always_verify_signature,
    openMode: opts.open_mode,
    autosignGrains,
  };
}

/** The parts of a link that are not options. */
export interface LinkParts {
  /** The minion that signs in. */
  readonly applicant: Applicant;
  readonly log: Logger;
  /** The addresses of the master. Default: that of the options. */
  readonly addresses?: MasterAddresses;
  /** Called after each sign-in. */
  onSignedIn?(credentials: SignInCredentials): void;
  /** Time limits that differ from the options. */
  readonly timeouts?: Partial<SignInTimeouts>;
}

/** The settings of a link to the master in the options. */
export function linkSettings(opts: MinionOpts, parts: LinkParts): LinkSettings {
  return {
    address: parts.addresses ??
      addressesOf({ host: opts.master, port: opts.master_port }, opts),
    applicant: parts.applicant,
    timeouts: {
      authTimeoutMs: opts.auth_timeout * 1000,
      authTries: opts.auth_tries,
      masterTries: opts.master_tries,
      acceptanceWaitMs: opts.acceptance_wait_time * 1000,
      acceptanceWaitMaxMs: opts.acceptance_wait_time_max * 1000,
      rejectedRetry: opts.rejected_retry,
      rejectedWaitMs: [opts.random_reauth_delay * 1000, opts.random_reauth_delay * 2000],
      failOnPending: false,
      silence: {
        afterMs: FIRST_WORD_MS,
        retryDnsMs: opts.retry_dns * 1000,
        retryDnsCount: opts.retry_dns_count ?? Infinity,
      },
      ...parts.timeouts,
    },
    backoff: backoff({ leastMs: opts.recon_default, mostMs: opts.recon_max, randomize: opts.recon_randomize }),
    requestTimeouts: { timeoutMs: opts.request_channel_timeout * 1000, tries: opts.request_channel_tries },
    maxRequestBytes: opts.max_request_bytes,
    signMessages: opts.minion_sign_messages,
    keepalive: keepAlive(opts),
    ipv6: opts.ipv6 ?? undefined,
    log: parts.log,
    onSignedIn: parts.onSignedIn,
  };
}

/** TCP keep-alive as in the options. */
export function keepAlive(opts: MinionOpts): KeepAlive {
  return {
    on: opts.tcp_keepalive,
    idleS: opts.tcp_keepalive_idle,
    count: opts.tcp_keepalive_cnt,
    intervalS: opts.tcp_keepalive_intvl,
  };
}

/**
 * A minion's options as its link to the master takes them; `salt-call` uses the same, with less patience.
 * @module
 */

import { backoff } from "./backoff.ts";
import { loadOrCreateKeyPair } from "../keys/pair.ts";
import type { Logger } from "../process/log.ts";
import type { LinkSettings, SignInPatience } from "./link.ts";
import type { MinionOpts } from "../config/options.ts";
import { tcpAddress } from "../sockets/request_channel.ts";
import type { Applicant, Credentials } from "./sign_in.ts";
import type { KeepAlive } from "../sockets/settings.ts";
import type { ValueMap } from "../values/value.ts";

/** An operator who waits for a minion or a salt-call is not to wait longer for its first word. In milliseconds. */
const FIRST_WORD_MS = 2_000;

/** Who signs in; makes the minion's key pair at its first start. */
export async function applicantOf(opts: MinionOpts, grains: ValueMap): Promise<Applicant> {
  const autosignGrains: ValueMap = new Map();
  for (const name of opts.autosign_grains ?? []) {
    const value = grains.get(name);
    if (value !== undefined) autosignGrains.set(name, value);
  }
  return {
    id: opts.id,
    pkiDir: opts.pki_dir,
    key: await loadOrCreateKeyPair(opts.pki_dir, "minion", opts.keysize, {
      permissive: opts.permissive_pki_access,
    }),
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

/** What a link needs beside the options. */
export interface LinkParts {
  /** Who signs in. */
  readonly applicant: Applicant;
  /** Where the link logs. */
  readonly log: Logger;
  /** Called after each sign-in. */
  onSignedIn?(credentials: Credentials): void;
  /** What differs from the options' patience. */
  readonly patience?: Partial<SignInPatience>;
}

/** The settings of a link to the master that the options name. */
export function linkSettings(opts: MinionOpts, parts: LinkParts): LinkSettings {
  return {
    address: tcpAddress(opts.master, opts.master_port),
    applicant: parts.applicant,
    patience: {
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
      ...parts.patience,
    },
    backoff: backoff({ leastMs: opts.recon_default, mostMs: opts.recon_max, randomize: opts.recon_randomize }),
    requestPatience: { timeoutMs: opts.request_channel_timeout * 1000, tries: opts.request_channel_tries },
    maxRequestBytes: opts.max_request_bytes,
    signMessages: opts.minion_sign_messages,
    keepalive: keepAlive(opts),
    ipv6: opts.ipv6 ?? undefined,
    log: parts.log,
    onSignedIn: parts.onSignedIn,
  };
}

/** How the options want idle connections probed. */
export function keepAlive(opts: MinionOpts): KeepAlive {
  return {
    on: opts.tcp_keepalive,
    idleS: opts.tcp_keepalive_idle,
    count: opts.tcp_keepalive_cnt,
    intervalS: opts.tcp_keepalive_intvl,
  };
}

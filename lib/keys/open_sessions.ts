/**
 * The session keys of a thread of a master: its own, or those of its cluster.
 * @module
 */

import { DerivedSessionKeys } from "./derived_sessions.ts";
import { type MinionSessions, SessionKeys } from "./sessions.ts";
import { KeyStore } from "./store.ts";

/** What they are opened with. */
interface SessionsInit {
  /** The memory of session keys in files. */
  readonly sessions: SharedArrayBuffer;
  /** The root of the cluster's keys, if the master belongs to one. */
  readonly cluster?: { readonly root: Uint8Array };
}

/** The options of a master that concern them. */
interface SessionsOpts {
  readonly cachedir: string;
  readonly pki_dir: string;
  readonly publish_session: number;
}

/** The sessions, as one thread sees them. */
export function openSessions(
  { cachedir, pki_dir, publish_session }: SessionsOpts,
  { sessions, cluster }: SessionsInit,
): MinionSessions {
  const lifetimeMs = publish_session * 1000;
  if (cluster === undefined) return new SessionKeys(cachedir, lifetimeMs, sessions);
  return new DerivedSessionKeys({ root: cluster.root, keys: new KeyStore(pki_dir), lifetimeMs });
}

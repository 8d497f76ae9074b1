/**
 * The state machine of sign-ins as a table: the content of the pki directory, the minion's request, and the result.
 * @module
 */

import type { KeyState } from "#lib/keys/store.ts";
import type { Value } from "#lib/values/value.ts";

/** One sign-in: the state before, the request, the result. */
export interface SignInRow {
  readonly name: string;
  readonly opts?: Record<string, Value>;
  /** The stored keys: state to owner. */
  readonly stored?: Partial<Record<KeyState, "mine" | "other">>;
  /** The `autosign_file` and `autoreject_file` to write, and a stub. */
  readonly files?: { readonly autosign?: string; readonly autoreject?: string; readonly stub?: string };
  readonly fields?: Record<string, unknown>;
  readonly id?: string;
  /** `ret`, or "keys". */
  readonly reply: boolean | "full" | "keys";
  readonly disk: Record<string, string>;
  /** `act` of the salt/auth event and its `result`; none: no event. */
  readonly event?: [act: string, result: boolean];
}

export const SIGN_IN_ROWS: readonly SignInRow[] = [
  { name: "a new key is pending", reply: true, disk: { "minions_pre/web1": "mine" }, event: ["pend", true] },
  {
    name: "a pending key stays pending",
    stored: { pending: "mine" },
    reply: true,
    disk: { "minions_pre/web1": "mine" },
    event: ["pend", true],
  },
  {
    name: "another key than the pending one is denied",
    stored: { pending: "other" },
    reply: false,
    disk: { "minions_pre/web1": "other", "minions_denied/web1": "mine" },
    event: ["denied", false],
  },
  {
    name: "an accepted key gets the keys",
    stored: { accepted: "mine" },
    reply: "keys",
    disk: { "minions/web1": "mine" },
    event: ["accept", true],
  },
  {
    name: "another key than the accepted one is denied",
    stored: { accepted: "other" },
    reply: false,
    disk: { "minions/web1": "other", "minions_denied/web1": "mine" },
    event: ["denied", false],
  },
  {
    name: "another key than the accepted one is denied with auto_accept too",
    opts: { auto_accept: true },
    stored: { accepted: "other" },
    reply: false,
    disk: { "minions/web1": "other", "minions_denied/web1": "mine" },
    event: ["denied", false],
  },
  {
    name: "a rejected key is refused",
    stored: { rejected: "mine" },
    reply: false,
    disk: { "minions_rejected/web1": "mine" },
    event: ["reject", false],
  },
  {
    name: "a rejected key is refused with auto_accept too",
    opts: { auto_accept: true },
    stored: { rejected: "mine" },
    reply: false,
    disk: { "minions_rejected/web1": "mine" },
    event: ["reject", false],
  },
  {
    name: "a denied key counts for nothing",
    stored: { denied: "mine" },
    reply: true,
    disk: { "minions_pre/web1": "mine", "minions_denied/web1": "mine" },
    event: ["pend", true],
  },
  {
    name: "auto_accept lets a new key in",
    opts: { auto_accept: true },
    reply: "keys",
    disk: { "minions/web1": "mine" },
    event: ["accept", true],
  },
  {
    name: "auto_accept lets a pending key in",
    opts: { auto_accept: true },
    stored: { pending: "mine" },
    reply: "keys",
    disk: { "minions/web1": "mine" },
    event: ["accept", true],
  },
  {
    name: "auto_accept does not let another key than the pending one in",
    opts: { auto_accept: true },
    stored: { pending: "other" },
    reply: false,
    disk: { "minions_pre/web1": "other", "minions_denied/web1": "mine" },
    event: ["denied", false],
  },
  {
    name: "autosign_file lets a new key in",
    files: { autosign: "# who\nweb*\n" },
    reply: "keys",
    disk: { "minions/web1": "mine" },
    event: ["accept", true],
  },
  {
    name: "autosign_file does not let another id in",
    files: { autosign: "db*\n" },
    reply: true,
    disk: { "minions_pre/web1": "mine" },
    event: ["pend", true],
  },
  {
    name: "autoreject_file rejects a new key",
    files: { autoreject: "web1\n" },
    reply: false,
    disk: { "minions_rejected/web1": "mine" },
    event: ["reject", false],
  },
  {
    name: "autoreject_file rejects a pending key",
    files: { autoreject: "web1\n" },
    stored: { pending: "mine" },
    reply: false,
    disk: { "minions_rejected/web1": "mine" },
    event: ["reject", false],
  },
  {
    name: "autoreject_file wins over autosign_file",
    files: { autoreject: "web1\n", autosign: "web1\n" },
    reply: false,
    disk: { "minions_rejected/web1": "mine" },
    event: ["reject", false],
  },
  {
    name: "autoreject_file says nothing of an accepted key",
    files: { autoreject: "web1\n" },
    stored: { accepted: "mine" },
    reply: "keys",
    disk: { "minions/web1": "mine" },
    event: ["accept", true],
  },
  {
    name: "a stub lets a new key in",
    files: { stub: "web1" },
    reply: "keys",
    disk: { "minions/web1": "mine" },
    event: ["accept", true],
  },
  {
    name: "autosign_grains let a new key in",
    fields: { autosign_grains: { uuid: "secret" } },
    reply: "keys",
    disk: { "minions/web1": "mine" },
    event: ["accept", true],
  },
  {
    name: "other autosign_grains do not",
    fields: { autosign_grains: { uuid: "guess" } },
    reply: true,
    disk: { "minions_pre/web1": "mine" },
    event: ["pend", true],
  },
  {
    name: "autosign_grains that are no map do not",
    fields: { autosign_grains: ["uuid", "secret"] },
    reply: true,
    disk: { "minions_pre/web1": "mine" },
    event: ["pend", true],
  },
  {
    name: "open_mode lets a new key in",
    opts: { open_mode: true },
    reply: "keys",
    disk: { "minions/web1": "mine" },
    event: ["accept", true],
  },
  {
    name: "open_mode replaces an accepted key",
    opts: { open_mode: true },
    stored: { accepted: "other" },
    reply: "keys",
    disk: { "minions/web1": "mine" },
    event: ["accept", true],
  },
  {
    name: "open_mode lets a rejected key in",
    opts: { open_mode: true },
    stored: { rejected: "mine" },
    reply: "keys",
    disk: { "minions/web1": "mine" },
    event: ["accept", true],
  },
  { name: "open_mode refuses an empty key", opts: { open_mode: true }, fields: { pub: "" }, reply: false, disk: {} },
  { name: "an empty key is refused", fields: { pub: "" }, reply: false, disk: {} },
  { name: "no key is refused", fields: { pub: null }, reply: false, disk: {} },
  {
    name: "a corrupt key is refused",
    fields: { pub: "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----" },
    reply: false,
    disk: {},
  },
  {
    name: "an empty key is refused with auto_accept too",
    opts: { auto_accept: true },
    fields: { pub: "" },
    reply: false,
    disk: {},
  },
  ...["", ".", "..", "../web1", "a/b", "a\\b", ".hidden", "a\nb", "x".repeat(10_000)].map((id): SignInRow => ({
    name: `the id ${JSON.stringify(id).slice(0, 16)} is refused`,
    opts: { auto_accept: true },
    id,
    reply: false,
    disk: {},
  })),
];

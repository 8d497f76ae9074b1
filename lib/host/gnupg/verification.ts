/**
 * Parses gpg's status lines about signatures, and about encrypted and decrypted messages.
 * Source: doc/DETAILS of GnuPG; Verify and Crypt of python-gnupg 0.5.7.
 * @module
 */

import { splitWhitespace } from "#lib/text/split_lines.ts";
import type { GpgStatusLine } from "./gpg.ts";

/** gpg's trust levels for the key of a good signature, in Salt's form. */
const TRUST_LEVELS: Readonly<Record<string, string>> = {
  TRUST_EXPIRED: "Expired",
  TRUST_UNDEFINED: "Undefined",
  TRUST_NEVER: "Never",
  TRUST_MARGINAL: "Marginal",
  TRUST_FULLY: "Fully",
  TRUST_ULTIMATE: "Ultimate",
};

/** One signature with an id. */
export interface VerifiedSignature {
  username: string | null;
  keyid: string;
  /** The fingerprint of the primary key. */
  fingerprint: string | null;
  /** `null`: gpg did not report it as good. */
  trustLevel: string | null;
  status: string;
}

/** The result of a verification. */
export interface Verification {
  /** The user id of the last signature's key; `null`: gpg has not named it. */
  username: string | null;
  /** The key id of the last signature; `null`: gpg has not named it. */
  keyId: string | null;
  /** The last signature for which gpg reported the key's trust; `null`: there is none, and nothing is verified. */
  trustLevel: string | null;
  /** The text of the last status; `null`: none. */
  status: string | null;
  readonly signatures: VerifiedSignature[];
}

/** Reads the status lines of `gpg --verify`. */
export function verification(lines: readonly GpgStatusLine[]): Verification {
  const state = start();
  for (const line of lines) take(state, line);
  return state;
}

interface State extends Verification {
  /** The signature that the following lines are about. Only a good one gets one, by SIG_ID. */
  current: VerifiedSignature | undefined;
}

function start(): State {
  return { username: null, keyId: null, trustLevel: null, status: null, signatures: [], current: undefined };
}

/** The first word and the rest. */
function splitHead(value: string): [string, string] {
  const [, first, rest] = /^(\S*)\s*(.*)$/.exec(value) ?? ["", value, ""];
  return [first, rest];
}

/** The status for lines with the key and the user of a signature. */
const SIGNED: Readonly<Record<string, string>> = {
  BADSIG: "signature bad",
  EXPSIG: "signature expired",
  GOODSIG: "signature good",
};

/** The status for lines with a key. */
const KEYED: Readonly<Record<string, string>> = {
  EXPKEYSIG: "signing key has expired",
  REVKEYSIG: "signing key was revoked",
};

function take(state: State, { key, value }: GpgStatusLine): void {
  const { current } = state;
  if (Object.hasOwn(TRUST_LEVELS, key)) {
    state.trustLevel = TRUST_LEVELS[key];
    if (current !== undefined) current.trustLevel = state.trustLevel;
    // A further signature has its own id if it is good, so what follows is not about this one.
    state.current = undefined;
  } else if (Object.hasOwn(SIGNED, key)) {
    const [keyid, username] = splitHead(value);
    Object.assign(state, { keyId: keyid, username, status: SIGNED[key] });
    if (current !== undefined) Object.assign(current, { keyid, username, status: SIGNED[key] });
  } else if (Object.hasOwn(KEYED, key)) {
    const [keyid, username] = splitHead(value);
    Object.assign(state, { keyId: keyid, username, status: KEYED[key] });
    if (current !== undefined) Object.assign(current, { keyid, status: KEYED[key] });
  } else if (key === "ERRSIG") {
    const [keyid = ""] = splitWhitespace(value);
    Object.assign(state, { keyId: keyid, status: "signature error" });
    if (current !== undefined) Object.assign(current, { keyid, status: "signature error" });
  } else if (key === "VALIDSIG") {
    state.status = "signature valid";
    if (current !== undefined) {
      current.status = "signature valid";
      current.fingerprint = splitWhitespace(value).at(9) ?? current.fingerprint;
    }
  } else if (key === "SIG_ID") {
    state.current = { username: null, keyid: "", fingerprint: null, trustLevel: null, status: "" };
    state.signatures.push(state.current);
  } else if (key === "NEWSIG") state.current = undefined;
  else if (key === "NO_PUBKEY") Object.assign(state, { keyId: value, status: "no public key" });
  else if (key === "NO_SECKEY") Object.assign(state, { keyId: value, status: "no secret key" });
  else if (key === "UNEXPECTED") state.status = "unexpected data";
  else if (key === "FAILURE") state.status ||= failureText(value);
  else if (key === "NODATA") state.status = "signature expected but not found";
}

const SYSTEM_ERRORS: Readonly<Record<number, string>> = {
  1: "permission denied",
  35: "file exists",
  81: "file not found",
  97: "not a directory",
};
const GPG_ERRORS: Readonly<Record<number, string>> = { 11: "incorrect passphrase" };

/** `decrypt 11`, whose number is libgpg-error's, with the part of the program in its upper byte. */
function failureText(value: string): string {
  const [, operation, digits] = /^(.*) (\d+)$/.exec(value) ?? [];
  if (digits === undefined) return `error - ${value}`;
  const code = Number(digits) & 0xffffff;
  const errors = (code & 0x8000) === 0 ? GPG_ERRORS : SYSTEM_ERRORS;
  const text = errors[code & 0x7fff];
  return text === undefined ? `error - ${value}` : `${operation}: ${text}`;
}

/** The result of an encryption or decryption. */
export interface Crypted {
  readonly ok: boolean;
  /** As text: `decryption failed`. */
  readonly status: string;
}

/** The status for each of these lines. */
const CRYPT: Readonly<Record<string, string>> = {
  NEED_PASSPHRASE: "need passphrase",
  BAD_PASSPHRASE: "bad passphrase",
  GOOD_PASSPHRASE: "good passphrase",
  MISSING_PASSPHRASE: "missing passphrase",
  KEY_NOT_CREATED: "key not created",
  NEED_PASSPHRASE_PIN: "need passphrase pin",
  NEED_PASSPHRASE_SYM: "need symmetric passphrase",
  BEGIN_ENCRYPTION: "encryption incomplete",
  DECRYPTION_OKAY: "decryption ok",
  END_ENCRYPTION: "encryption ok",
  KEYEXPIRED: "key expired",
  SIG_CREATED: "sig created",
  SIGEXPIRED: "sig expired",
};

/** Reads the status lines of `gpg --encrypt` and `gpg --decrypt`. */
export function readCrypted(lines: readonly GpgStatusLine[]): Crypted {
  const state = { ...start(), status: "" };
  let ok = false;
  for (const { key, value } of lines) {
    if (key === "NODATA") {
      if (state.status !== "decryption failed") state.status = "no data was provided";
    } else if (key === "DECRYPTION_FAILED" || key === "BEGIN_DECRYPTION") {
      // "no secret key" is more specific.
      if (state.status !== "no secret key") {
        state.status = key === "DECRYPTION_FAILED" ? "decryption failed" : "decryption incomplete";
      }
    } else if (key === "INV_RECP") {
      state.status = state.status === "" ? "invalid recipient" : `invalid recipient: ${state.status}`;
    } else if (Object.hasOwn(CRYPT, key)) {
      state.status = CRYPT[key];
      ok ||= key === "DECRYPTION_OKAY" || key === "END_ENCRYPTION";
    } else take(state, { key, value });
  }
  return { ok, status: state.status };
}

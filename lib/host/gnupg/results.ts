/**
 * Parses gpg's status lines about imported, created and deleted keys.
 * Source: doc/DETAILS of GnuPG; ImportResult, GenKey and DeleteResult of python-gnupg 0.5.7.
 * @module
 */

import type { GpgStatusLine } from "./gpg.ts";

/** The result for one key of an import. */
export interface ImportedKey {
  /** `null`: gpg printed none. */
  readonly fingerprint: string | null;
  /**
   * `0`: it existed; `1`: it is new; other numbers are sums of flags for its new parts. Absent: there was a problem.
   */
  readonly ok?: string;
  /** The problem, in words. */
  readonly problem?: string;
}

/** The result of an import. */
export interface Imported {
  readonly keys: readonly ImportedKey[];
  /** All keys that exist now, one entry for each part that was read. */
  readonly fingerprints: readonly string[];
  /** How many keys were read. */
  readonly count: number;
  readonly imported: number;
  readonly unchanged: number;
  readonly notImported: number;
}

const PROBLEMS: Readonly<Record<string, string>> = {
  "0": "No specific reason given",
  "1": "Invalid Certificate",
  "2": "Issuer Certificate missing",
  "3": "Certificate Chain too long",
  "4": "Error storing certificate",
};

/** Status lines without a key that report a problem. */
const FAILURES: Readonly<Record<string, string>> = {
  NODATA: "No valid data found",
  KEYEXPIRED: "Key expired",
  SIGEXPIRED: "Signature expired",
  FAILURE: "Other failure",
};

/** Reads the status lines of `gpg --import` and `gpg --recv-keys`. */
export function readImport(lines: readonly GpgStatusLine[]): Imported {
  const keys: ImportedKey[] = [];
  let counts: number[] = [];
  for (const { key, value } of lines) {
    const [first = "", second] = value.split(/\s+/);
    if (key === "IMPORT_OK") keys.push({ fingerprint: second ?? "", ok: first });
    else if (key === "IMPORT_PROBLEM") {
      keys.push({ fingerprint: second ?? "<unknown>", problem: PROBLEMS[first] ?? PROBLEMS["0"] });
    } else if (key === "IMPORT_RES") counts = value.split(/\s+/).map(Number);
    else if (Object.hasOwn(FAILURES, key)) keys.push({ fingerprint: null, problem: FAILURES[key] });
  }
  const [count = 0, , whole = 0, rsa = 0, unchanged = 0, , , , , , , , notImported = 0] = counts;
  const fingerprints = keys.flatMap(({ fingerprint, ok }) =>
    ok === undefined || fingerprint === null ? [] : fingerprint
  );
  return { keys, fingerprints, count, imported: whole + rsa, unchanged, notImported };
}

/** The fingerprint of the key that `gpg --gen-key` made; `undefined` if it made none. */
export function madeKey(lines: readonly GpgStatusLine[]): string | undefined {
  return lines.findLast(({ key }) => key === "KEY_CREATED")?.value.split(/\s+/).at(1);
}

/** The error text of a deletion; `undefined` if it succeeded. */
export function deletionProblem(lines: readonly GpgStatusLine[]): string | undefined {
  const reasons: Readonly<Record<string, string>> = {
    "1": "No such key",
    "2": "Must delete secret key first",
    "3": "Ambiguous specification",
  };
  const problem = lines.findLast(({ key }) => key === "DELETE_PROBLEM")?.value;
  return problem === undefined ? undefined : reasons[problem] ?? `Unknown error: '${problem}'`;
}

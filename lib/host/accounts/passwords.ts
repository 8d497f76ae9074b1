/**
 * The passwords of users in shadow, and their expiry.
 * Source: Salt 3008.3, `salt/modules/linux_shadow.py`; shadow(5), chage(1).
 * @module
 */

import { accountFile, type AccountHost, findPasswdEntry, shadowEntries, type ShadowEntry } from "./account_entries.ts";
import { checkUserName, rootOption } from "./users.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";

/** The place of passwords. */
export interface ShadowPlace {
  readonly root: string | null;
  readonly host: AccountHost;
}

/** The entry of a user in shadow. */
export function findShadowEntry(name: string, root: string | null): ShadowEntry | undefined {
  return shadowEntries(root).find((entry) => entry.name === name);
}

/**
 * Sets one of chage's fields.
 * @returns Whether this succeeded.
 */
export async function setAge(
  name: string,
  change: {
    readonly field: keyof ShadowEntry;
    readonly option: string;
    /** A number of days, or a date. */
    readonly value: string | number;
    /** Whether the field is checked afterwards. */
    readonly verify: boolean;
  },
  { root, host }: ShadowPlace,
): Promise<boolean> {
  const { field, option, value, verify } = change;
  const before = findShadowEntry(checkUserName(name), root);
  if (before === undefined || before[field] === value) return before !== undefined;
  // -1 is a value, not an option.
  const word = /^-?\d+$/.test(String(value)) ? String(value) : checkedWord(String(value), field);
  const { retcode } = await runProgram(["chage", ...rootOption(root), option, word, "--", name], host);
  return verify ? findShadowEntry(name, root)?.[field] === value : retcode === 0;
}

/** Runs passwd with one option for a user. */
export async function runPasswd(option: "-d" | "-l" | "-u", name: string, { root, host }: ShadowPlace): Promise<void> {
  await runProgram(["passwd", ...rootOption(root), option, "--", checkUserName(name)], host, {
    secret: option === "-d",
  });
}

const DAY_MS = 86_400_000;

/**
 * Writes a password's hash to shadow. The file is replaced atomically, and keeps its owner and mode.
 * @returns Whether it is set now; False for an unknown user.
 */
export async function setPasswordHash(name: string, hash: string, { root, host }: ShadowPlace): Promise<boolean> {
  if (await findPasswdEntry(checkUserName(name), host, root) === undefined) return false;
  if (/[:\n\0]/.test(hash)) return false;
  const path = accountFile("shadow", root);
  const text = readTextFileIfExists(path);
  if (text === undefined) return false;
  const today = String(Math.floor(Date.now() / DAY_MS));
  const lines = text.split("\n");
  const at = lines.findIndex((line) => line.split(":", 1)[0] === name);
  if (at >= 0) {
    const fields = Array.from({ length: 9 }, (_, i) => lines[at].split(":")[i] ?? "");
    lines[at] = fields.with(1, hash).with(2, today).join(":");
  } else lines.splice(text.endsWith("\n") ? -1 : lines.length, 0, `${name}:${hash}:${today}::::::`);
  const { mode, uid, gid } = Deno.statSync(path);
  writeFileAtomic(path, lines.join("\n"), { mode: (mode ?? 0o640) & 0o777, sync: true });
  if (uid !== null && gid !== null) Deno.chownSync(path, uid, gid);
  return findShadowEntry(name, root)?.passwd === hash;
}

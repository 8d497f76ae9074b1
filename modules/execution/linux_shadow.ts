/**
 * Execution module `shadow` for Linux.
 * Source: the functions of Salt 3008.3 `salt/modules/linux_shadow.py`.
 * @module
 */

import { shadowEntries, type ShadowEntry } from "#lib/host/accounts/account_entries.ts";
import { hashPassword } from "#lib/host/accounts/password_hash.ts";
import { findShadowEntry, runPasswd, setAge, setPasswordHash } from "#lib/host/accounts/passwords.ts";
import { checkUserName, rootOption } from "#lib/host/accounts/users.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { str, toNumber, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "shadow",
  serves: [{ grains: { kernel: ["Linux"] }, otherwise: "The shadow module is for Linux." }],
};

const PLACE = { name: p.str(), root: p.str(null) };

export const default_hash: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the password hash of a locked account: nobody can log in with it.",
    "shadow.default_hash",
  ),
  permissions: "all",
  params: {},
  run: () => "!",
});

export const info: ModuleFunction<JobContext> = fn({
  doc: describe("Return a user's entry in shadow; empty strings if there is none.", "shadow.info root"),
  permissions: "all",
  params: PLACE,
  run({ name, root }) {
    const empty = { name: "", passwd: "", lstchg: "", min: "", max: "", warn: "", inact: "", expire: "" };
    return findShadowEntry(name, root) ?? empty;
  },
});

function ageFunction(
  name: string,
  how: { readonly field: keyof ShadowEntry; readonly option: string; readonly param: string; readonly what: string },
): ModuleFunction<JobContext> {
  const { field, option, param, what } = how;
  return fn({
    doc: describe(`Set ${what}. Return whether it has this value now.`, `shadow.${name} username 7`),
    permissions: "all",
    params: { name: p.str(), [param]: p.int(), root: p.str(null) },
    run: (bound: Readonly<Record<string, string | number | null>>, host) =>
      setAge(str(bound.name), { field, option, value: bound[param] ?? -1, verify: true }, {
        root: bound.root === null ? null : str(bound.root),
        host,
      }),
  });
}

export const set_inactdays: ModuleFunction<JobContext> = ageFunction("set_inactdays", {
  field: "inact",
  option: "-I",
  param: "inactdays",
  what: "the days for which an expired password still counts",
});
export const set_maxdays: ModuleFunction<JobContext> = ageFunction("set_maxdays", {
  field: "max",
  option: "-M",
  param: "maxdays",
  what: "the days after which a password must be changed",
});
export const set_mindays: ModuleFunction<JobContext> = ageFunction("set_mindays", {
  field: "min",
  option: "-m",
  param: "mindays",
  what: "the days before a password may be changed again",
});
export const set_warndays: ModuleFunction<JobContext> = ageFunction("set_warndays", {
  field: "warn",
  option: "-W",
  param: "warndays",
  what: "the days before the end of a password in which its user is told",
});

/** A day's number, or a date as chage reads it. */
function dayOf(given: Value): string | number {
  return toNumber(given) ?? str(given);
}

export const set_date: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set the day of the last change of a password: a number of days since 1970, or a date.",
    "shadow.set_date username 0",
  ),
  permissions: "all",
  params: { name: p.str(), date: p.any(), root: p.str(null) },
  run: ({ name, date, root }, host) =>
    setAge(name, { field: "lstchg", option: "-d", value: dayOf(date), verify: false }, { root, host }),
});

export const set_expire: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set the day on which an account expires: a number of days since 1970, a date, or -1 for never.",
    "shadow.set_expire username -1",
  ),
  permissions: "all",
  params: { name: p.str(), expire: p.any(), root: p.str(null) },
  run: ({ name, expire, root }, host) =>
    setAge(name, { field: "expire", option: "-E", value: dayOf(expire), verify: false }, { root, host }),
});

export const gen_password: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the hash of a password, by sha512, sha256, blowfish, md5 or crypt; the default crypt_salt is random.",
    "shadow.gen_password 'I_am_password'",
    "shadow.gen_password 'I_am_password' crypt_salt='I_am_salt' algorithm=sha256",
  ),
  permissions: "all",
  params: { password: p.str(), crypt_salt: p.str(null), algorithm: p.str("sha512") },
  run: ({ password, crypt_salt, algorithm }) => hashPassword(password, { salt: crypt_salt, method: algorithm }),
});

export const del_password: ModuleFunction<JobContext> = fn({
  doc: describe("Delete a user's password. Return whether it is gone.", "shadow.del_password username"),
  permissions: "all",
  params: PLACE,
  async run({ name, root }, host) {
    await runPasswd("-d", name, { root, host });
    return findShadowEntry(name, root)?.passwd === "";
  },
});

function lockFunction(name: string, option: "-l" | "-u", what: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`${what} Return whether it has this value now.`, `shadow.${name} username`),
    permissions: "all",
    params: PLACE,
    async run({ name, root }, host) {
      const isSo = () => findShadowEntry(name, root)?.passwd.startsWith("!") === (option === "-l");
      if (findShadowEntry(checkUserName(name), root) === undefined) return false;
      if (!isSo()) await runPasswd(option, name, { root, host });
      return isSo();
    },
  });
}

export const lock_password: ModuleFunction<JobContext> = lockFunction(
  "lock_password",
  "-l",
  "Lock a user's password, so that nobody can log in with it.",
);
export const unlock_password: ModuleFunction<JobContext> = lockFunction(
  "unlock_password",
  "-u",
  "Unlock a user's password.",
);

export const set_password: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set a user's password, given as its hash (see shadow.gen_password). use_usermod=True uses the program chpasswd\n" +
      "(not usermod, which would show the hash in the process list). Return whether it has this value now.",
    "shadow.set_password root '$1$UYCIxa628.9qXjpQCjM4a..'",
  ),
  permissions: "all",
  params: { name: p.str(), password: p.str(), use_usermod: p.bool(false), root: p.str(null) },
  async run({ name, password, use_usermod, root }, host) {
    if (use_usermod) {
      // A colon would begin the next field of the file.
      if (password.includes(":")) return false;
      const line = `${checkUserName(name)}:${checkedWord(password, "hash of a password")}\n`;
      await runProgram(["chpasswd", "-e", ...rootOption(root)], host, { secret: true, stdin: line });
      return findShadowEntry(name, root)?.passwd === password;
    }
    const done = await setPasswordHash(name, password, { root, host });
    if (!done) host.log("warning", `The password of ${name} could not be set`);
    return done;
  },
});

export const list_users: ModuleFunction<JobContext> = fn({
  doc: describe("Return the names of all users in shadow, sorted.", "shadow.list_users"),
  permissions: "all",
  params: { root: p.str(null) },
  run: ({ root }) => shadowEntries(root).map(({ name }) => name).sort(),
});

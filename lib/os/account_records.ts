/**
 * Parses passwd and group, as files and `getent` have them.
 * Source: passwd(5), group(5).
 * @module
 */

/** One line of passwd. */
export interface User {
  readonly name: string;
  /** `x` if the password is in shadow. */
  readonly passwd: string;
  readonly uid: number;
  readonly gid: number;
  /** Full name, room, phones and more, with commas between. */
  readonly gecos: string;
  /** The home directory; it may not exist. */
  readonly home: string;
  /** The login shell; empty means `/bin/sh`. */
  readonly shell: string;
}

/** One line of group. */
export interface Group {
  readonly name: string;
  readonly passwd: string;
  readonly gid: number;
  /** The users whose supplementary group it is. */
  readonly members: readonly string[];
}

/** The users of a passwd file; other lines (comments, NIS entries) are skipped. */
export function parsePasswd(text: string): User[] {
  return accountRecords(text, 7).flatMap(([name, passwd, uid, gid, gecos, home, shell]) =>
    isId(uid) && isId(gid) ? [{ name, passwd, uid: Number(uid), gid: Number(gid), gecos, home, shell }] : []
  );
}

/** The groups of a group file. */
export function parseGroup(text: string): Group[] {
  return accountRecords(text, 4).flatMap(([name, passwd, gid, members]) =>
    isId(gid) ? [{ name, passwd, gid: Number(gid), members: members.split(",").filter((member) => member !== "") }] : []
  );
}

/** The fields of each line that has at least `fields` of them, without comments and NIS entries. */
export function accountRecords(text: string, fields: number): string[][] {
  return text.split("\n").map((line) => line.trim().split(":")).filter((record) =>
    record.length >= fields && record[0] !== "" && !/^[#+-]/.test(record[0])
  );
}

/** Whether a text is the number of a user or group. */
export function isId(text: string): boolean {
  return /^\d{1,10}$/.test(text);
}

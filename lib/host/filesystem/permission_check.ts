/**
 * `file.check_perms`: sets a file's owner, group, mode, attributes and SELinux context, and reports the changes. With
 * the option `test` it reports what would change. Source: Salt 3008.3, `salt/modules/file.py` check_perms.
 * @module
 */

import {
  changeAttributes,
  compareAttributes,
  listAttributes,
  selinuxParts,
  setSelinuxContext,
  splitContext,
} from "./attributes.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { isInt, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import type { FileHost, SelinuxContext } from "./file_host.ts";
import { changeMode, changeOwner, normalizeMode } from "./ownership.ts";
import { isLink } from "#lib/os/disk_paths.ts";
import { type FileStatus, fileStatus } from "./status.ts";

/** The wanted owner, mode and so on; None and empty texts change nothing. */
export interface WantedPermissions {
  readonly user: Value;
  readonly group: Value;
  readonly mode: Value;
  readonly attrs?: string | null;
  readonly follow?: boolean;
  readonly seuser?: string | null;
  readonly serole?: string | null;
  readonly setype?: string | null;
  readonly serange?: string | null;
}

/** A state's result: `name`, `changes`, `comment` (text, or a list of them) and `result`. */
export interface PermissionResult {
  name: string;
  changes: ValueMap;
  comment: string | string[];
  result: boolean | null;
  /** Further fields that the caller's map had, or that Salt adds. */
  more: ValueMap;
}

/** Reads a state's result out of an argument; a new one for None and an empty map. */
export function readResult(name: string, ret: Value): PermissionResult {
  if (!(ret instanceof Map) || ret.size === 0) {
    return { name, changes: new Map(), comment: "", result: true, more: new Map() };
  }
  const changes = ret.get("changes"), comment = ret.get("comment") ?? "", result = ret.get("result") ?? null;
  const more = new Map([...ret].filter(([key]) => !["name", "changes", "comment", "result"].includes(str(key))));
  return {
    name: str(ret.get("name") ?? name),
    changes: changes instanceof Map ? changes : new Map(),
    comment: Array.isArray(comment) ? comment.map((line) => str(line)) : str(comment),
    result: result === null ? null : truthy(result),
    more,
  };
}

/** The map that Salt has of it. */
export function permissionResultMap({ name, changes, comment, result, more }: PermissionResult): ValueMap {
  return new Map([...map({ name, changes, comment, result }), ...more]);
}

/** Whether the owner or group `wanted` is not what the file has, by name or number. */
function differsFrom(wanted: Value, has: () => string | number, id: number): boolean {
  return truthy(wanted) && wanted !== id && wanted !== has();
}

/**
 * Changes what is not as wanted. `ret.comment` becomes one text, as in Salt.
 * @param file.before What the system says of the file now, if the caller has asked already, as `wanted.follow` says.
 * @returns `ret`, and Salt's map of what was there (`luser`, `lgroup`, `lmode`) and what was to change (`cuser`, …).
 * @throws {CommandError} If there is no such file.
 */
export async function checkPermissions(
  ret: PermissionResult,
  { path, wanted, host, before = fileStatus(path, { follow: wanted.follow ?? false }) }: {
    readonly path: string;
    readonly wanted: WantedPermissions;
    readonly host: FileHost;
    readonly before?: FileStatus;
  },
): Promise<{ readonly ret: PermissionResult; readonly perms: ValueMap }> {
  const { user, group, follow = false } = wanted;
  const mode = normalizeMode(wanted.mode);
  const original = ret.comment;
  const comments: string[] = [];
  const fail = (comment: string) => {
    ret.result = false;
    comments.push(comment);
  };
  const perms: ValueMap = new Map();
  const linkItself = !follow && before.type === "link";
  if (differsFrom(user, () => before.user, before.uid)) perms.set("cuser", user);
  if (differsFrom(group, () => before.group, before.gid)) perms.set("cgroup", group);
  if ((perms.has("cuser") || perms.has("cgroup")) && !host.test) {
    const problem = tryChangeOwner(path, { wanted, before, linkItself });
    if (problem !== undefined) fail(problem);
  }
  if (mode !== null && !host.test && !linkItself && mode !== before.mode) {
    perms.set("cmode", mode);
    changeMode(path, mode);
  }
  const after = perms.size > 0 && !host.test ? fileStatus(path, { follow }) : before;
  const judged: Judged[] = [
    { what: "user", value: user, still: differsFrom(user, () => after.user, after.uid), tried: perms.has("cuser") },
    {
      what: "group",
      value: group,
      still: differsFrom(group, () => after.group, after.gid),
      tried: perms.has("cgroup"),
    },
  ];
  if (mode !== null && !linkItself) {
    judged.push({ what: "mode", value: mode, still: mode !== after.mode, tried: perms.has("cmode") });
  }
  noteChanges(ret, judged, host.test ? undefined : fail);
  if (typeof wanted.attrs === "string" && !isDirectory(path) && !linkItself) {
    await checkAttributes(ret, { path, attrs: wanted.attrs, host, fail });
  }
  await checkSelinux(ret, { path, wanted, host, comments });
  if (typeof original === "string") {
    ret.comment = [...original === "" ? [] : [original], ...comments].join("; ");
  } else {
    ret.comment = comments;
  }
  if (host.test && ret.changes.size > 0) ret.result = null;
  return {
    ret,
    get perms() {
      return new Map([...wasThere(before, wanted), ...perms]);
    },
  };
}

/** What the file had: names are looked up only for who asks for them. */
function wasThere(before: FileStatus, { user, group }: WantedPermissions): ValueMap {
  return map({
    luser: isInt(user) ? before.uid : before.user,
    lgroup: isInt(group) ? before.gid : before.group,
    lmode: before.mode,
  });
}

/** A part of the permissions after the changes. */
interface Judged {
  readonly what: "user" | "group" | "mode";
  readonly value: Value;
  /** Whether it differs from the wanted value. */
  readonly still: boolean;
  /** Whether a change was tried. */
  readonly tried: boolean;
}

/** @param fail Called for what could not be changed; without it, nothing was tried. */
function noteChanges(
  { changes }: PermissionResult,
  judged: readonly Judged[],
  fail: ((comment: string) => void) | undefined,
): void {
  for (const { what, value, still, tried } of judged) {
    if (still && fail !== undefined) fail(`Failed to change ${what} to ${str(value)}`);
    else if (still || tried) changes.set(what, value);
  }
}

function tryChangeOwner(
  path: string,
  { wanted, before, linkItself }: {
    readonly wanted: WantedPermissions;
    readonly before: FileStatus;
    readonly linkItself: boolean;
  },
): string | undefined {
  try {
    const problem = changeOwner(path, {
      user: wanted.user ?? before.user,
      group: wanted.group ?? before.group,
      link: linkItself,
    });
    // The system takes the bits for setuid and setgid off.
    if (problem === undefined && !isLink(path)) changeMode(path, before.mode);
    return problem;
  } catch {
    return undefined; // the comment will say what is still as it was
  }
}

async function checkAttributes(
  ret: PermissionResult,
  { path, attrs, host, fail }: {
    readonly path: string;
    readonly attrs: string;
    readonly host: FileHost;
    readonly fail: (comment: string) => void;
  },
): Promise<void> {
  const difference = await compareAttributes(path, attrs, host);
  if (difference === undefined || (difference.added === null && difference.removed === null)) return;
  const attributeLetters = async () => ((await listAttributes(path, host))?.get(path) ?? []).join("");
  const old = await attributeLetters();
  let now = attrs;
  if (!host.test) {
    if (difference.added !== null) {
      await changeAttributes([path], { operator: "add", attributes: difference.added }, host);
    }
    if (difference.removed !== null) {
      await changeAttributes([path], { operator: "remove", attributes: difference.removed }, host);
    }
    const left = await compareAttributes(path, attrs, host);
    if (left !== undefined && (left.added !== null || left.removed !== null)) {
      fail(`Failed to change attributes to ${attrs}`);
      now = await attributeLetters();
    }
  }
  if (old !== now) ret.changes.set("attrs", map({ old, new: now }));
}

async function checkSelinux(
  ret: PermissionResult,
  { path, wanted, host, comments }: {
    readonly path: string;
    readonly wanted: WantedPermissions;
    readonly host: FileHost;
    readonly comments: string[];
  },
): Promise<void> {
  const requested = { user: wanted.seuser, role: wanted.serole, type: wanted.setype, range: wanted.serange };
  if (Object.values(requested).every((part) => !part)) return;
  const current = await selinuxParts(path, host);
  if (current === undefined) {
    ret.result = false;
    comments.push("Failed to get selinux attributes");
    return;
  }
  const parts = (["user", "role", "type", "range"] as const).filter((part) =>
    requested[part] && requested[part] !== current[part]
  );
  if (parts.length === 0) return;
  const title = (part: string) => part[0].toUpperCase() + part.slice(1);
  const Old = parts.map((part) => `${title(part)}: ${current[part]}`).join(" ");
  const New = parts.map((part) => `${title(part)}: ${requested[part]}`).join(" ");
  if (host.test) {
    comments.push(`File ${path} selinux context to be updated`);
    ret.result = null;
    ret.changes.set("selinux", map({ Old, New }));
    return;
  }
  const asRequested: SelinuxContext = Object.fromEntries(parts.map((part) => [part, requested[part]]));
  const request = { ...asRequested, type: asRequested.type ?? current.type };
  await host.addFileContext(path, request);
  const result = await setSelinuxContext(path, request, host);
  const now = result === false ? undefined : splitContext(result);
  if (now === undefined) {
    ret.result = false;
    comments.push("Failed to set selinux attributes");
    return;
  }
  comments.push(`The file ${path} is set to be changed`);
  for (const part of parts) {
    if (now[part] === requested[part]) continue;
    comments.push(`Unable to update se${part} context`);
    ret.result = false;
  }
  ret.changes.set("selinux", map({ Old, New }));
}

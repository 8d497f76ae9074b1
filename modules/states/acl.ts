/**
 * State module `acl`: access control lists of files.
 * Source: Salt 3008.3 `salt/states/linux_acl.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { isDirectory, lexists } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

const NOT_THERE = "The linux_acl state cannot be loaded: the getfacl or setfacl binary is not in the path.";

export const virtual: Virtual = {
  serves: [{ programs: ["getfacl"], otherwise: NOT_THERE }, { programs: ["setfacl"], otherwise: NOT_THERE }],
};

const WANTED = "Permissions are in the desired state";
const NO_TYPE = "ACL Type does not exist";

/** The number of permissions like `rwX`. */
function octal(perms: string): number {
  return [...perms].reduce((sum, letter) => sum + ({ r: 4, w: 2, x: 1, X: 1 }[letter] ?? 0), 0);
}

/** The permissions of a number: `r-x`. */
function letters(bits: number): string {
  return `${bits & 4 ? "r" : "-"}${bits & 2 ? "w" : "-"}${bits & 1 ? "x" : "-"}`;
}

/** What an entry is about: `user`, `group`, …, of the file or of what will be made in the directory. */
interface Kind {
  readonly type: string;
  readonly isDefault: boolean;
}

function kindOf(given: string): Kind {
  const isDefault = given.startsWith("d:") || given.startsWith("default:");
  return { isDefault, type: isDefault ? given.slice(given.indexOf(":") + 1) : given };
}

/** The entries of a kind by name, of one file as `acl.getfacl` shows it; `undefined` if there are none. */
function entriesOf(file: Value | undefined, { type, isDefault }: Kind): ValueMap | undefined {
  if (!isMap(file)) return undefined;
  const part = isDefault ? file.get("defaults") : file;
  const entries = isMap(part) ? part.get(type) : undefined;
  if (!Array.isArray(entries)) return isMap(entries) ? entries : undefined;
  return entries.length === 0 ? undefined : new Map(entries.flatMap((entry) => isMap(entry) ? [...entry] : []));
}

function octalOf(entry: Value | undefined): number {
  return (isMap(entry) ? toNumber(entry.get("octal")) : undefined) ?? 0;
}

/** The owner's name, under which getfacl shows an entry without one. */
function ownName(file: Value | undefined, type: string): string {
  const comment = isMap(file) ? file.get("comment") : undefined;
  return isMap(comment) ? str(comment.get(type) ?? "") : "";
}

/** The lists of a file and, with `recursive`, of what is below it. */
async function listsOf(name: string, context: StateContext, recursive?: boolean): Promise<ValueMap> {
  const kwargs = recursive === undefined ? new Map() : map({ recursive });
  return mapOrEmpty(await context.call("acl.getfacl", [name], kwargs));
}

/** Entries to be made. */
interface Wanted {
  readonly path: string;
  readonly acl_type: string;
  readonly names: readonly string[];
  readonly perms: string;
  readonly recurse: boolean;
  readonly force: boolean;
}

async function setEntries({ path, acl_type, names, perms, recurse, force }: Wanted, context: StateContext) {
  const options = map({ recursive: recurse, raise_err: true });
  if (force) await context.call("acl.wipefacls", [path], options);
  for (const name of names) await context.call("acl.modfacl", [acl_type, name, perms, path], options);
}

/** A change of entries with what is said of it. */
interface Change {
  readonly changes: ValueMap;
  readonly planned: string;
  readonly done: string;
  /** The user, for error messages. */
  readonly whom: string;
}

/** Makes the entries, or says that they would be made. */
async function applyEntries(wanted: Wanted, change: Change, context: StateContext): Promise<StateResult> {
  const name = wanted.path;
  if (context.test) return { name, result: null, comment: change.planned, changes: change.changes };
  try {
    await setEntries(wanted, context);
    return { name, result: true, comment: change.done, changes: change.changes };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return failState(name, `Error updating permissions for ${change.whom}: ${error.message}`);
  }
}

/** Whether all files below a path have an entry as wanted. */
function allAsWanted(lists: ValueMap, kind: Kind, { name, perms }: { name: string; perms: string }): boolean {
  const number = octal(perms);
  return [...lists].every(([path, file]) => {
    if (kind.isDefault && !isDirectory(str(path))) return true;
    const entry = entriesOf(file, kind)?.get(name);
    if (entry === undefined) return false;
    const now = octalOf(entry);
    return now === number || (perms.endsWith("X") && now % 2 === 0 && now === number - 1);
  });
}

const COMMON_DOC =
  "\n\nname\n    The path of a file or directory.\n\nacl_type\n    user, group, mask, other, or the same with `d:` or " +
  "`default:` before it.";

export const present: ModuleFunction<StateContext> = stateFn({
  doc:
    `Make sure that a file's access control list has an entry.${COMMON_DOC}\n\nacl_name\n    The user or group. Default: the owner.\n\nperms\n    rwx, ` +
    "r-X, ….\n\nrecurse\n    Whether everything below it is included.\n\nforce\n    Whether all other entries are removed first.",
  params: {
    name: p.str(),
    acl_type: p.str(),
    acl_name: p.str(""),
    perms: p.str(""),
    recurse: p.bool(false),
    force: p.bool(false),
  },
  async run({ name, acl_type, acl_name, perms, recurse, force }, context) {
    if (!lexists(name)) return failState(name, `${name} does not exist`);
    const lists = await listsOf(name, context, recurse);
    const kind = kindOf(acl_type);
    const file = lists.get(name);
    const entries = entriesOf(file, kind);
    if (entries === undefined && !kind.isDefault) return failState(name, NO_TYPE);
    const searched = acl_name === "" ? ownName(file, kind.type) : acl_name;
    const wanted: Wanted = { path: name, acl_type, names: [acl_name], perms, recurse, force };
    const entry = entries?.get(searched);
    const now = { acl_name, acl_type, perms };
    if (entry === undefined) {
      return await applyEntries(wanted, {
        changes: map({ new: now }),
        planned: `New permissions will be applied for ${acl_name}: ${perms}`,
        done: `Applied new permissions for ${acl_name}`,
        whom: acl_name,
      }, context);
    }
    const isWanted = recurse ? allAsWanted(lists, kind, { name: searched, perms }) : octalOf(entry) === octal(perms);
    if (isWanted) return { ...startResult(name), comment: WANTED };
    const old = letters(octalOf(entry));
    return await applyEntries(wanted, {
      changes: map({ new: now, old: { acl_name, acl_type, perms: old } }),
      planned: `Updated permissions will be applied for ${acl_name}: ${old} -> ${perms}`,
      done: `Updated permissions for ${acl_name}`,
      whom: acl_name,
    }, context);
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc:
    `Make sure that a file's access control list does not have this entry.${COMMON_DOC}\n\nacl_name\n    The user or group. Default: the owner.\n\nperms\n` +
    "    Accepted without effect, as in Salt.\n\nrecurse\n    Whether everything below it is included.",
  params: { name: p.str(), acl_type: p.str(), acl_name: p.str(""), perms: p.str(""), recurse: p.bool(false) },
  async run({ name, acl_type, acl_name, recurse }, context) {
    if (!lexists(name)) return failState(name, `${name} does not exist`);
    const lists = await listsOf(name, context, recurse);
    const kind = kindOf(acl_type);
    const entries = entriesOf(lists.get(name), kind);
    if (entries === undefined && !kind.isDefault) return failState(name, NO_TYPE);
    const searched = acl_name === "" ? ownName(lists.get(name), kind.type) : acl_name;
    const anywhere = [...lists.values()].some((file) =>
      entriesOf(file, { ...kind, isDefault: false })?.has(searched) === true
    );
    if (entries?.has(searched) !== true && !anywhere) return { ...startResult(name), comment: WANTED };
    const comment = "Removing permissions";
    if (context.test) return { ...startResult(name, null), comment };
    await context.call("acl.delfacl", [acl_type, acl_name, name], map({ recursive: recurse }));
    return { ...startResult(name), comment };
  },
});

/** The names of an argument: a list, or one. */
function namesOf(given: Value): string[] {
  if (given === null || given === "") return [];
  return Array.isArray(given) ? given.map(str) : [str(given)];
}

export const list_present: ModuleFunction<StateContext> = stateFn({
  doc:
    `Make sure that a file's access control list has entries for several users or groups.${COMMON_DOC}\n\nacl_names\n    The users or groups.\n\nperms\n` +
    "    rwx, r-x, ….\n\nrecurse\n    Whether everything below it is included.\n\nforce\n    Whether all other entries are removed first.",
  params: {
    name: p.str(),
    acl_type: p.str(),
    acl_names: p.any(null),
    perms: p.str(""),
    recurse: p.bool(false),
    force: p.bool(false),
  },
  async run({ name, acl_type, acl_names, perms, recurse, force }, context) {
    if (!lexists(name)) return failState(name, `${name} does not exist`);
    const lists = await listsOf(name, context);
    const kind = kindOf(acl_type);
    const entries = entriesOf(lists.get(name), kind);
    if (entries === undefined && !kind.isDefault) return failState(name, NO_TYPE);
    const names = namesOf(acl_names);
    const nameList = names.join(", ");
    const nameText = str([...names]);
    const wanted: Wanted = { path: name, acl_type, names, perms, recurse, force };
    const adding: Change = {
      changes: map({ new: { acl_name: nameList, acl_type, perms } }),
      planned: `New permissions will be applied for ${nameText}: ${perms}`,
      done: `Applied new permissions for ${nameList}`,
      whom: nameText,
    };
    if (!names.some((one) => entries?.has(one) === true)) return await applyEntries(wanted, adding, context);
    let result = startResult(name);
    for (const one of names) {
      const entry = entries?.get(one);
      if (entry !== undefined && octalOf(entry) === octal(perms)) {
        result.comment = WANTED;
        continue;
      }
      const old = String(octalOf(entry));
      const updating: Change = {
        changes: map({
          new: { acl_name: nameList, acl_type, perms: octal(perms) },
          old: { acl_name: nameList, acl_type, perms: old },
        }),
        planned: `Updated permissions will be applied for ${nameText}: ${old} -> ${perms}`,
        done: `Updated permissions for ${nameText}`,
        whom: nameText,
      };
      result = await applyEntries(wanted, entry === undefined ? adding : updating, context);
      if (context.test) return result;
    }
    return result;
  },
});

export const list_absent: ModuleFunction<StateContext> = stateFn({
  doc:
    `Make sure that a file's access control list has no entries for these users or groups.${COMMON_DOC}\n\nacl_names\n    The users or groups.\n\n` +
    "recurse\n    Whether everything below it is included.",
  params: { name: p.str(), acl_type: p.str(), acl_names: p.any(null), recurse: p.bool(false) },
  async run({ name, acl_type, acl_names, recurse }, context) {
    if (!lexists(name)) return failState(name, `${name} does not exist`);
    const lists = await listsOf(name, context);
    const kind = kindOf(acl_type);
    const entries = entriesOf(lists.get(name), kind);
    if (entries === undefined && !kind.isDefault) return failState(name, NO_TYPE);
    const names = namesOf(acl_names);
    if (!names.some((one) => entries?.has(one) === true)) return { ...startResult(name), comment: WANTED };
    const comment = "Removing permissions";
    if (context.test) return { ...startResult(name, null), comment };
    for (const one of names) {
      await context.call("acl.delfacl", [acl_type, one, name], map({ recursive: recurse }));
    }
    return { ...startResult(name), comment };
  },
});

/**
 * Execution module `acl`: access control lists of files.
 * Source: the functions of Salt 3008.3 `salt/modules/linux_acl.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { parseAcls } from "#lib/host/filesystem/acl_output.ts";
import { type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { holdTarget } from "#lib/os/held_path.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "acl",
  serves: [{
    programs: ["getfacl"],
    otherwise: "The linux_acl execution module cannot be loaded: the getfacl binary is not in the path.",
  }],
};

/**
 * The paths to work on, of which none becomes an option.
 * @throws {CommandError} If there are none.
 */
function paths(args: readonly Value[]): string[] {
  if (args.length === 0) {
    throw new CommandError("You need to specify at least one file or directory to work with!");
  }
  return args.map(str).map((path) => path.startsWith("-") ? `./${path}` : path);
}

/** Before the name of a file that is not there: nothing ever is. */
const ABSENT = "/proc/self/fd/none";

/**
 * Runs setfacl on what the paths lead to, which root holds meanwhile: a user may exchange it, and root would open
 * another file to that user.
 * @throws {CommandError} If another user's link leads to what is not that user's.
 */
async function setAcls(
  words: readonly string[],
  args: readonly Value[],
  context: JobContext,
): Promise<ProgramResult> {
  using held = new DisposableStack();
  const acls = new Map<string, string>();
  const given = paths(args);
  const safe = Deno.uid() !== 0 ? given : given.map((path) => {
    const place = pathOfHeld(path.startsWith("/") ? path : `/${path}`, held);
    acls.set(place, path);
    return place;
  });
  const all = ["setfacl", ...words, ...safe];
  const ran = await runProgram(all, context, { joined: true, setsRetcode: true });
  return { ...ran, stdout: ran.stdout.replaceAll(/\/proc\/[^:\n]+/g, (path) => acls.get(path) ?? path) };
}

/** The path of what is at `path`, which is held; one of nothing if there is nothing. */
function pathOfHeld(path: string, held: DisposableStack): string {
  try {
    return held.use(holdTarget(path)).pathForPrograms;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory)) throw error;
    return ABSENT + path;
  }
}

function recursion(kwargs: ValueMap): string[] {
  return isTrue(kwargs.get("recursive")) ? ["-R"] : [];
}

export const version: ModuleFunction<JobContext> = fn({
  doc: describe("Return the version of getfacl.", "acl.version"),
  permissions: "all",
  params: {},
  run: async (_bound, context) =>
    (await runProgram(["getfacl", "--version"], context, { joined: true })).stdout.split("\n")[0].split(/\s+/)[1] ?? "",
});

export const getfacl: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the access control lists of files by path: users, groups, mask, others, and for directories defaults.\n" +
      "recursive=True: also of what is below them.",
    "acl.getfacl /tmp/house/kitchen",
    "acl.getfacl /tmp/house/kitchen /tmp/house/livingroom recursive=True",
  ),
  permissions: "all",
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  async run(_bound, context, { args, kwargs }) {
    const words = ["getfacl", "--absolute-names", ...recursion(kwargs), ...paths(args)];
    return parseAcls((await runProgram(words, context, { joined: true, setsRetcode: true })).stdout);
  },
});

export const wipefacls: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove all but the owner's, group's and others' permissions. Return True.",
    "acl.wipefacls /tmp/house/kitchen",
    "acl.wipefacls /tmp/house/kitchen /tmp/house/livingroom recursive=True",
  ),
  permissions: "all",
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  async run(_bound, context, { args, kwargs }) {
    await setAcls(["-b", ...recursion(kwargs)], args, context);
    return true;
  },
});

/** setfacl's word for a type: `d:u` for `default:user`. */
function prefix(given: string): string {
  const isDefault = given.startsWith("d");
  const type = isDefault ? given.replace("default:", "").replace("d:", "") : given;
  const letter = { user: "u", u: "u", group: "g", g: "g", mask: "m", m: "m" }[type] ?? "";
  return `${isDefault ? "d:" : ""}${letter}`;
}

export const modfacl: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set an entry. acl_type: user, group, mask, or `default:user` and so on; acl_name: the user or group; perms: such as rwx. Return True.\n" +
      "Keywords: recursive, and raise_err, whether a failure is an error.",
    "acl.modfacl user myuser rwx /tmp/house/kitchen",
    "acl.modfacl default:group mygroup rx /tmp/house/kitchen",
    "acl.modfacl d:u myuser 7 /tmp/house/kitchen recursive=True",
  ),
  permissions: "all",
  params: { acl_type: p.str(), acl_name: p.str(""), perms: p.str("") },
  varArgs: "args",
  varKwargs: "kwargs",
  async run({ acl_type, acl_name, perms }, context, { args, kwargs }) {
    const entry = `${prefix(acl_type)}:${acl_name}:${perms}`;
    const { retcode, stdout } = await setAcls([...recursion(kwargs), "-m", entry], args, context);
    if (retcode !== 0 && isTrue(kwargs.get("raise_err"))) throw new CommandError(stdout);
    return true;
  },
});

export const delfacl: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove an entry. Return True.",
    "acl.delfacl user myuser /tmp/house/kitchen",
    "acl.delfacl default:group mygroup /tmp/house/kitchen",
  ),
  permissions: "all",
  params: { acl_type: p.str(), acl_name: p.str("") },
  varArgs: "args",
  varKwargs: "kwargs",
  async run({ acl_type, acl_name }, context, { args, kwargs }) {
    await setAcls([...recursion(kwargs), "-x", `${prefix(acl_type)}:${acl_name}`], args, context);
    return true;
  },
});

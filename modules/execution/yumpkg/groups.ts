/**
 * The functions of the module `pkg` of yum and dnf for groups of packages.
 * Source: the functions of Salt 3008.3 `salt/modules/yumpkg.py`.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import { installedRpms } from "#lib/host/packages/rpm.ts";
import { yumOptions, yumProgram } from "#lib/host/packages/yum.ts";
import { GROUP_KINDS, parseDnf5Groups, parseYumGroup, parseYumGroups } from "#lib/host/packages/yum_output.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { compareStrings, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

export const group_list: ModuleFunction<JobContext> = fn({
  doc: describe("Return the groups of packages: installed, available, environments, languages.", "pkg.group_list"),
  permissions: "all",
  params: {},
  async run(_bound, context) {
    const program = yumProgram();
    const words = program === "dnf5" ? ["group", "list", "--hidden"] : ["grouplist", "hidden"];
    const { stdout } = await runProgram([program, ...words], context, { setsRetcode: true });
    return program === "dnf5" ? parseDnf5Groups(stdout) : parseYumGroups(stdout);
  },
});

/** Options of a query for groups. */
interface Asking {
  readonly options: readonly string[];
  /** Whether the groups of an environment are listed with their packages. */
  readonly expand: boolean;
  /** Groups that were listed already. */
  readonly done: string[];
  readonly context: JobContext;
}

async function groupInfo(name: string, { options, expand, done, context }: Asking): Promise<ValueMap> {
  const program = yumProgram();
  const words = program === "dnf5" ? ["group", "info"] : ["groupinfo"];
  const command = [program, "--quiet", ...options, ...words, checkedWord(name, "group")];
  const group = parseYumGroup((await runProgram(command, context, { setsRetcode: true })).stdout);
  if (group === undefined) throw new CommandError(`Group '${name}' not found`);
  const { members, ...about } = group;
  if (!expand || group.type !== "environment group") return map({ ...Object.fromEntries(members), ...about });
  const all = new Map(GROUP_KINDS.map((kind) => [kind, new Set<string>()]));
  for (const member of [...members.values()].flat()) {
    if (done.includes(member)) continue;
    done.push(member);
    const inner = await anyGroup(member, { options: [], expand, done, context });
    for (const kind of GROUP_KINDS) for (const one of listOf(inner.get(kind))) all.get(kind)?.add(one);
  }
  const sorted = [...all].map(([kind, names]) => [kind, [...names].sort(compareStrings)]);
  return map({ ...Object.fromEntries(sorted), ...about });
}

/** A group by its id, or by its name. */
async function anyGroup(name: string, asking: Asking): Promise<ValueMap> {
  try {
    return await groupInfo(`@${name}`, asking);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return await groupInfo(name, asking);
  }
}

function listOf(value: Value | undefined): string[] {
  return listOrEmpty(value).map(str);
}

/** Options for the keywords that say where groups are looked for. */
function placeOptions(kwargs: ValueMap): string[] {
  const options = ["fromrepo", "enablerepo", "disablerepo"];
  return yumOptions(new Map([...kwargs].filter(([key]) => options.includes(str(key)))));
}

export const group_info: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a group of packages: mandatory, optional, default and conditional ones. For an environment, expand=True returns the\n" +
      "packages of its groups.",
    "pkg.group_info 'Perl Support'",
  ),
  permissions: "all",
  params: { name: p.str(), expand: p.bool(false), ignore_groups: p.any(null) },
  varKwargs: "kwargs",
  run: ({ name, expand, ignore_groups }, context, { kwargs }) =>
    groupInfo(name, { options: placeOptions(kwargs), expand, done: listOf(ignore_groups), context }),
});

export const group_diff: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return which packages of a group are installed, and which are not.",
    "pkg.group_diff 'Perl Support'",
  ),
  permissions: "all",
  params: { name: p.str() },
  varKwargs: "kwargs",
  async run({ name }, context, { kwargs }) {
    const installed = await installedRpms(context);
    const group = await groupInfo(name, { options: placeOptions(kwargs), expand: true, done: [], context });
    return new Map(GROUP_KINDS.map((kind) => {
      const members = listOf(group.get(kind));
      return [kind, {
        installed: members.filter((one) => installed.has(one)),
        "not installed": members.filter((one) => !installed.has(one)),
      }];
    }));
  },
});

function wordList(given: Value, name: string): string[] {
  if (typeof given === "string") return given.split(",");
  if (Array.isArray(given)) return given.map(str);
  throw new InvocationError(`'${name}' must be a list`);
}

export const group_install: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Install the mandatory and default packages of groups (a list, or a text with commas), without those of skip, and with those\n" +
      "of include. More keywords are those of pkg.install. Return what has changed.",
    "pkg.group_install 'My Group'",
    `pkg.group_install "['My Group', 'Another Group']"`,
    "pkg.group_install 'My Group' skip='foo,bar' include='baz'",
  ),
  permissions: "all",
  params: { name: p.any(), skip: p.any([]), include: p.any([]) },
  varKwargs: "kwargs",
  async run({ name, skip, include }, context, { kwargs }) {
    const groups = wordList(name, "groups");
    if (groups.length === 0) throw new InvocationError("no groups specified");
    const [skipped, added] = [wordList(skip, "skip"), wordList(include, "include")];
    const targets: string[] = [];
    for (const group of groups) {
      const info = await groupInfo(group, { options: [], expand: false, done: [], context });
      targets.push(...listOf(info.get("mandatory")));
      targets.push(...listOf(info.get("default")).filter((one) => !skipped.includes(one)));
    }
    const installed = await installedRpms(context);
    const pkgs = [...new Set([...targets, ...added])].filter((one) => !installed.has(one));
    if (pkgs.length === 0) return {};
    return await context.call("pkg.install", [], new Map<Value, Value>([...kwargs, ["pkgs", pkgs]]));
  },
});

export const groupinstall: ModuleFunction<JobContext> = {
  ...group_install,
  doc: describe("The same as pkg.group_install.", "pkg.groupinstall 'My Group'"),
};

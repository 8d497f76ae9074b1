/**
 * Execution module `ipset`: sets of addresses, networks and ports that rules of the firewall name.
 * Source: the functions of Salt 3008.3 `salt/modules/ipset.py`; ipset(8).
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { containsMember, parseMember } from "#lib/host/firewall/ipset_members.ts";
import { checkedWord, type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { splitWhitespace } from "#lib/text/split_lines.ts";
import { asList } from "#lib/values/shape.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{
    programs: ["ipset"],
    otherwise: "The ipset execution modules cannot be loaded: ipset binary not in path.",
  }],
};

const FAMILIES: Readonly<Record<string, string>> = { ipv4: "inet", ip4: "inet", ipv6: "inet6", ip6: "inet6" };

const SHARED = ["timeout", "counters", "comment", "skbinfo"] as const;
const HASH = ["family", "hashsize", "maxelem", "netmask", ...SHARED] as const;

/** What a set of each type may be made with. */
const CREATE_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  "bitmap:ip": ["range", "netmask", ...SHARED],
  "bitmap:ip,mac": ["range", ...SHARED],
  "bitmap:port": ["range", ...SHARED],
  "hash:ip": HASH,
  "hash:mac": ["hashsize", "maxelem", ...SHARED],
  "hash:net": HASH,
  "hash:net,net": HASH,
  "hash:net,port": HASH,
  "hash:net,port,net": HASH,
  "hash:ip,port,ip": HASH,
  "hash:ip,port,net": HASH,
  "hash:ip,port": HASH,
  "hash:ip,mark": ["family", "markmask", "hashsize", "maxelem", ...SHARED],
  "hash:net,iface": HASH,
  "list:set": ["size", "timeout", "counters", "comment"],
};

const WITHOUT_VALUE: readonly string[] = ["comment", "counters", "skbinfo"];

/** Types whose entries may be exceptions. */
const NOMATCH: readonly string[] = [
  ...["hash:net", "hash:net,net", "hash:net,port", "hash:net,port,net", "hash:ip,port,net", "hash:ip,port"],
  "hash:net,iface",
];

const NO_SET = "Error: Set needs to be specified";
const NO_ENTRY = "Error: Entry needs to be specified";

function ipset(words: readonly string[], context: JobContext): Promise<ProgramResult> {
  return runProgram(["ipset", ...words], context, { joined: true, setsRetcode: true });
}

/** What ipset says of a change; true if it says nothing. */
async function change(words: readonly string[], context: JobContext): Promise<string | true> {
  return (await ipset(words, context)).stdout || true;
}

/** The facts of a set, by their names; `undefined` if there is none. */
async function infoOf(name: string, context: JobContext): Promise<Map<string, string> | undefined> {
  const { retcode, stdout } = await ipset(["list", "-t", checkedWord(name, "set")], context);
  if (retcode > 0) return undefined;
  return new Map(stdout.split("\n").filter((line) => line.includes(":")).map(factOf));
}

function factOf(line: string): [string, string] {
  const end = line.indexOf(":");
  return [line.slice(0, end), line.slice(end + 2)];
}

async function typeOf(name: string, context: JobContext): Promise<string | undefined> {
  return (await infoOf(name, context))?.get("Type");
}

/** The members of a set; none if there is no set. */
async function membersOf(name: string, context: JobContext): Promise<string[]> {
  const { retcode, stdout } = await ipset(["list", name], context);
  const lines = stdout.split("\n");
  const start = lines.findIndex((line) => line.includes("Members:"));
  return retcode > 0 || start < 0 ? [] : lines.slice(start + 1);
}

const FAMILY = { family: p.str("ipv4") };
const SET = { name: p.str(null), ...FAMILY };
const ENTRY = { name: p.str(null), entry: p.any(null), ...FAMILY };

export const version: ModuleFunction<JobContext> = fn({
  doc: describe("Return the version of ipset.", "ipset.version"),
  permissions: "all",
  params: {},
  run: async (_bound, context) => (await ipset(["--version"], context)).stdout.split(/\s+/)[1] ?? "",
});

export const new_set: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Make a set. Returns True, or the output of ipset.

set_type
    \`hash:ip\`, \`hash:net\`, \`hash:ip,port\`, \`bitmap:port\`, \`list:set\`, ….

family : ipv4
    ipv4 or ipv6.

comment : False
    Whether its entries may have comments.

Other arguments are options of the type: range, netmask, hashsize, maxelem, timeout, counters, skbinfo, markmask, size.`,
    "ipset.new_set custom_set list:set",
    "ipset.new_set custom_set list:set comment=True",
  ),
  permissions: "all",
  params: { name: p.str(null), set_type: p.str(null), ...FAMILY, comment: p.bool(false) },
  varKwargs: "kwargs",
  run: async ({ name, set_type, family, comment }, context, { kwargs }) => {
    if (!Object.hasOwn(FAMILIES, family)) throw new InvocationError(`There is no family ${family}`);
    if (!name) return "Error: Set Name needs to be specified";
    if (!set_type) return "Error: Set Type needs to be specified";
    if (!Object.hasOwn(CREATE_OPTIONS, set_type)) return "Error: Set Type is invalid";
    const optionNames = CREATE_OPTIONS[set_type];
    if (optionNames.includes("range") && !kwargs.has("range")) return "Error: range is a required argument";
    const options = optionNames.filter((option) => kwargs.has(option)).flatMap((option) =>
      WITHOUT_VALUE.includes(option) ? [option] : [option, checkedWord(str(kwargs.get(option) ?? ""), option)]
    );
    const families = optionNames.includes("family") ? ["family", FAMILIES[family]] : [];
    const words = ["create", checkedWord(name, "set"), set_type, ...options, ...families];
    return await change([...words, ...comment ? ["comment"] : []], context);
  },
});

export const delete_set: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a set. Returns True, or the output of ipset.", "ipset.delete_set custom_set"),
  permissions: "all",
  params: SET,
  run: async ({ name }, context) => name ? await change(["destroy", checkedWord(name, "set")], context) : NO_SET,
});

export const rename_set: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Rename a set. Returns True, or the error.",
    "ipset.rename_set custom_set new_set=new_set_name",
  ),
  permissions: "all",
  params: { name: p.str(null), new_set: p.str(null), ...FAMILY },
  run: async ({ name, new_set: later }, context) => {
    if (!name) return NO_SET;
    if (!later) return "Error: New name for set needs to be specified";
    if (await typeOf(name, context) === undefined) return "Error: Set does not exist";
    if (await typeOf(later, context) !== undefined) return "Error: New Set already exists";
    return await change(["rename", name, later], context);
  },
});

export const list_sets: ModuleFunction<JobContext> = fn({
  doc: describe("Return the properties of each set.", "ipset.list_sets"),
  permissions: "all",
  params: FAMILY,
  run: async (_bound, context) => {
    const blocks: Map<string, string>[] = [new Map()];
    for (const line of (await ipset(["list", "-t"], context)).stdout.split("\n")) {
      if (line === "") blocks.push(new Map());
      else blocks[blocks.length - 1].set(...factOf(line));
    }
    return blocks;
  },
});

export const check_set: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a set exists.", "ipset.check_set name"),
  permissions: "all",
  params: SET,
  run: async ({ name }, context) => name ? await infoOf(name, context) !== undefined : NO_SET,
});

/** What of the options of an entry a set was not made for. */
function missingSupport(name: string, header: string, kwargs: ValueMap): string | undefined {
  const needs: readonly (readonly [string, readonly string[]])[] = [
    ["timeout", ["timeout"]],
    ["counters", ["packets", "bytes"]],
    ["comment", ["comment"]],
    ["skbinfo", ["skbmark", "skbprio", "skbqueue"]],
  ];
  const missing = needs.find(([what, options]) =>
    options.some((option) => kwargs.has(option)) && !header.includes(what)
  );
  return missing && `Error: Set ${name} not created with ${missing[0]} support`;
}

export const add: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add an entry to a set. Its options follow it after a space, or are arguments: timeout, packets, bytes, comment, nomatch, skbmark, skbprio, skbqueue.\n" +
      "Returns `Success`, or the error.",
    "ipset.add setname 192.168.1.26",
    "ipset.add setname 192.168.0.3,AA:BB:CC:DD:EE:FF",
  ),
  permissions: "all",
  params: ENTRY,
  varKwargs: "kwargs",
  run: async ({ name, entry: given }, context, { kwargs }) => {
    if (!name) return NO_SET;
    if (!truthy(given)) return NO_ENTRY;
    const entry = str(given);
    const info = await infoOf(name, context);
    if (info === undefined) return `Error: Set ${name} does not exist`;
    const mistake = missingSupport(name, info.get("Header") ?? "", kwargs);
    if (mistake !== undefined) return mistake;
    const words = splitWhitespace(entry).map((word) => checkedWord(word, "entry"));
    if (kwargs.has("comment") && !entry.includes("comment")) words.push("comment", str(kwargs.get("comment") ?? ""));
    const options = ["timeout", "packets", "bytes", "skbmark", "skbprio", "skbqueue"];
    if (NOMATCH.includes(info.get("Type") ?? "")) options.push("nomatch");
    // Ports have no place in a queue.
    for (const option of options.filter((one) => kwargs.has(one))) {
      words.push(option, checkedWord(str(kwargs.get(option) ?? ""), option));
    }
    if ((await membersOf(name, context)).includes(entry)) return `Warn: Entry ${entry} already exists in set ${name}`;
    const answer = await change(["add", "-exist", name, ...words], context);
    return answer === true ? "Success" : `Error: ${answer}`;
  },
});

const deleteEntry: ModuleFunction<JobContext> = fn({
  doc: describe("Remove an entry from a set. Returns `Success`, or the error.", "ipset.delete setname 192.168.0.3"),
  permissions: "all",
  params: ENTRY,
  varKwargs: "kwargs",
  run: async ({ name, entry }, context) => {
    if (!name) return NO_SET;
    if (!truthy(entry)) return NO_ENTRY;
    if (await typeOf(name, context) === undefined) return `Error: Set ${name} does not exist`;
    const answer = await change(["del", name, checkedWord(str(entry), "entry")], context);
    return answer === true ? "Success" : `Error: ${answer}`;
  },
});

export { deleteEntry as delete };

export const check: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether an entry, or one of a list, is among the members of a set.",
    "ipset.check name 192.168.0.3",
  ),
  permissions: "all",
  params: ENTRY,
  run: async ({ name, entry }, context) => {
    if (!name) return NO_SET;
    if (!truthy(entry)) return NO_ENTRY;
    const type = await typeOf(name, context);
    if (type === undefined) return `Error: Set ${name} does not exist`;
    const entries = asList(entry).map((one: Value) => parseMember(type, str(one)));
    const members = (await membersOf(name, context)).map((member) => parseMember(type, member));
    return members.some((member) => entries.some((one) => containsMember(member, one)));
  },
});

export const test: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether ipset finds an entry in a set.", "ipset.test name 192.168.0.3"),
  permissions: "all",
  params: ENTRY,
  varKwargs: "kwargs",
  run: async ({ name, entry }, context) => {
    if (!name) return NO_SET;
    if (!truthy(entry)) return NO_ENTRY;
    if (await typeOf(name, context) === undefined) return `Error: Set ${name} does not exist`;
    return (await ipset(["test", name, checkedWord(str(entry), "entry")], context)).retcode <= 0;
  },
});

export const flush: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove all entries of a set, or of all sets. Returns whether ipset printed nothing.",
    "ipset.flush setname",
  ),
  permissions: "all",
  params: SET,
  run: async ({ name }, context) =>
    await change(["flush", ...name ? [checkedWord(name, "set")] : []], context) === true,
});

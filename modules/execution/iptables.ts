/**
 * Execution module `iptables`: chains and rules of iptables and ip6tables.
 * Source: the functions of Salt 3008.3 `salt/modules/iptables.py`.
 * @module
 */

import { createDirectory } from "#lib/os/new_files.ts";
import { CommandError } from "#lib/errors.ts";
import { dirName } from "#lib/os/paths.ts";
import { parseSaved } from "#lib/host/firewall/iptables_output.ts";
import { buildIptablesRule } from "#lib/host/firewall/iptables_rule.ts";
import { checkedWord, type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, truthy, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{
    programs: ["iptables"],
    otherwise: "The iptables execution module cannot be loaded: iptables not installed.",
  }],
};

const FAMILY = { family: p.str("ipv4") };
const CHAIN = { table: p.str("filter"), chain: p.str(null) };

const NO_CHAIN = "Error: Chain needs to be specified";
const NO_RULE = "Error: Rule needs to be specified";

function programOf(family: string): string {
  return family === "ipv6" ? "ip6tables" : "iptables";
}

/** Runs iptables, or a program whose name begins so. */
function iptables(
  words: readonly string[],
  { family, context, suffix = "" }: { readonly family: string; readonly context: JobContext; readonly suffix?: string },
): Promise<ProgramResult> {
  return runProgram([programOf(family) + suffix, ...words], context, { setsRetcode: true });
}

async function hasOption(option: string, family: string, context: JobContext): Promise<boolean> {
  return (await runProgram([programOf(family), "--help"], context)).stdout.includes(option);
}

/** `--wait`, if this iptables knows how to wait for another one. */
async function waitWords(family: string, context: JobContext): Promise<string[]> {
  return await hasOption("--wait", family, context) ? ["--wait"] : [];
}

/** What a change says of a failure; an empty string if it went well. */
async function change(
  table: string,
  words: readonly string[],
  { family, context }: { readonly family: string; readonly context: JobContext },
): Promise<string> {
  const wait = await waitWords(family, context);
  const place = ["-t", checkedWord(table, "table")];
  return (await iptables([...wait, ...place, ...words], { family, context })).stderr;
}

/** The files in which distributions keep the rules, for IPv4 and IPv6. */
const SAVED: Readonly<Record<string, readonly [four: string, six: string]>> = {
  RedHat: ["/etc/sysconfig/iptables", "/etc/sysconfig/ip6tables"],
  Arch: ["/etc/iptables/iptables.rules", "/etc/iptables/ip6tables.rules"],
  Debian: ["/etc/iptables/rules.v4", "/etc/iptables/rules.v6"],
  Gentoo: ["/var/lib/iptables/rules-save", "/var/lib/ip6tables/rules-save"],
  Suse: ["/etc/sysconfig/scripts/SuSEfirewall2-custom", "/etc/sysconfig/scripts/SuSEfirewall2-custom"],
  Void: ["/etc/iptables/iptables.rules", "/etc/iptables/ip6tables.rules"],
  Alpine: ["/etc/iptables/rules-save", "/etc/iptables/rules6-save"],
  NILinuxRT: ["/etc/natinst/share/iptables.conf", "/etc/natinst/share/ip6tables.conf"],
};

/** @throws {CommandError} If nothing is known of this distribution. */
function savedPath(family: string, { grains }: JobContext): string {
  const names = ["os_family", "os"].map((grain) => str(grains.get(grain) ?? ""));
  const known = names.find((name) => Object.hasOwn(SAVED, name));
  if (known !== undefined) return SAVED[known][family === "ipv6" ? 1 : 0];
  throw new CommandError(
    `Saving iptables to file is not supported on ${names[1]}. Please file an issue with SaltStack`,
  );
}

export const version: ModuleFunction<JobContext> = fn({
  doc: describe("Return the version of iptables.", "iptables.version", "iptables.version family=ipv6"),
  permissions: "all",
  params: FAMILY,
  run: async ({ family }, context) => (await iptables(["--version"], { family, context })).stdout.split(/\s+/)[1] ?? "",
});

export const build_rule: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Build a rule from keywords. Each is an option of iptables; if, of, proto, match, match-set, connstate, dports, sports, comment\n" +
      "and jump are translated. A value that begins with ! or not is negated. full=True: the whole command, with\n" +
      "table, chain and command, for an insertion also position.",
    "iptables.build_rule match=state \\\n        connstate=RELATED,ESTABLISHED jump=ACCEPT",
    "iptables.build_rule filter INPUT command=I position=3 \\\n        full=True match=state connstate=RELATED,ESTABLISHED jump=ACCEPT",
  ),
  permissions: "all",
  params: {
    table: p.str("filter"),
    chain: p.str(null),
    command: p.str(null),
    position: p.str(""),
    full: p.any(null),
    ...FAMILY,
  },
  varKwargs: "kwargs",
  async run({ table, chain, command, position, full, family }, context, { kwargs }) {
    const rule = buildIptablesRule(kwargs);
    if (rule.startsWith("Error") || !truthy(full)) return rule;
    if (table === "") return "Error: Table needs to be specified";
    if (!chain) return NO_CHAIN;
    if (!command) return "Error: Command needs to be specified";
    const flag = "ACDIRLSFZNXPE".includes(command) ? "-" : "--";
    const wait = (await waitWords(family, context)).join("");
    const program = which(programOf(family)) ?? programOf(family);
    return `${program} ${wait} -t ${table} ${flag}${command} ${chain} ${position} ${rule}`;
  },
});

async function currentRules(family: string, context: JobContext): Promise<ValueMap> {
  return parseSaved((await iptables([], { family, context, suffix: "-save" })).stdout);
}

function savedRules(file: string | null, family: string, context: JobContext): ValueMap {
  const path = file || savedPath(family, context);
  if (!isFile(path)) throw new CommandError(`[Errno 2] No such file or directory: '${path}'`);
  return parseSaved(Deno.readTextFileSync(path));
}

/** One field of a chain. */
function chainField(rules: ValueMap, { table, chain }: { table: string; chain: string }, field: string) {
  const chains = rules.get(table);
  const fields = isMap(chains) ? chains.get(chain) : undefined;
  return isMap(fields) ? fields.get(field) ?? null : null;
}

export const get_saved_rules: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the saved rules by table and chain.",
    "iptables.get_saved_rules",
    "iptables.get_saved_rules family=ipv6",
  ),
  permissions: "all",
  params: { conf_file: p.str(null), ...FAMILY },
  run: ({ conf_file, family }, context) => savedRules(conf_file, family, context),
});

export const get_rules: ModuleFunction<JobContext> = fn({
  doc: describe("Return the rules by table and chain.", "iptables.get_rules", "iptables.get_rules family=ipv6"),
  permissions: "all",
  params: FAMILY,
  run: ({ family }, context) => currentRules(family, context),
});

export const get_saved_policy: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the saved policy of a chain.",
    "iptables.get_saved_policy filter INPUT",
    "iptables.get_saved_policy filter INPUT conf_file=/etc/iptables.saved",
  ),
  permissions: "all",
  params: { ...CHAIN, conf_file: p.str(null), ...FAMILY },
  run({ table, chain, conf_file, family }, context) {
    if (!chain) return NO_CHAIN;
    return chainField(savedRules(conf_file, family, context), { table, chain }, "policy");
  },
});

export const get_policy: ModuleFunction<JobContext> = fn({
  doc: describe("Return the policy of a chain.", "iptables.get_policy filter INPUT"),
  permissions: "all",
  params: { ...CHAIN, ...FAMILY },
  async run({ table, chain, family }, context) {
    if (!chain) return NO_CHAIN;
    return chainField(await currentRules(family, context), { table, chain }, "policy");
  },
});

export const set_policy: ModuleFunction<JobContext> = fn({
  doc: describe("Set the policy of a chain. Return the error text.", "iptables.set_policy filter INPUT DROP"),
  permissions: "all",
  params: { ...CHAIN, policy: p.str(null), ...FAMILY },
  async run({ table, chain, policy, family }, context) {
    if (!chain) return NO_CHAIN;
    if (!policy) return "Error: Policy needs to be specified";
    const words = ["-P", checkedWord(chain, "chain"), checkedWord(policy, "policy")];
    return await change(table, words, { family, context });
  },
});

export const save: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Save the rules, by default where the distribution loads them from. The option iptables.save_filters lists regular expressions\n" +
      "of lines that are left out.",
    "iptables.save /etc/sysconfig/iptables",
  ),
  permissions: "all",
  params: { filename: p.str(null), ...FAMILY },
  async run({ filename, family }, context) {
    const path = filename || savedPath(family, context);
    createDirectory(dirName(path), { recursive: true });
    const { stdout } = await iptables([], { family, context, suffix: "-save" });
    const given = await context.call("config.option", ["iptables.save_filters", []]);
    const filters = listOrEmpty(given).map((one) => pythonRegex(str(one), { search: true }));
    const lines = stdout.split(/(?<=\n)/).filter((line) => !filters.some((filter) => filter.test(line)));
    return await context.call("file.write", [path, lines.join("")]);
  },
});

const RULE = { ...CHAIN, rule: p.str(null), ...FAMILY };

interface Rule {
  readonly table: string;
  readonly chain: string;
  readonly rule: string;
  readonly family: string;
}

/** Its own chain, in which an iptables that cannot check is shown a rule. */
const CHECK_CHAIN = "salt_check";

async function hasRule({ table, chain, rule, family }: Rule, context: JobContext): Promise<boolean> {
  const place = ["-t", checkedWord(table, "table")];
  const words = shlexSplit(rule);
  if (await hasOption("--check", family, context)) {
    const command = [programOf(family), ...place, "-C", checkedWord(chain, "chain"), ...words];
    return (await runProgram(command, context)).retcode === 0;
  }
  const run = (...more: string[]) => runProgram([programOf(family), ...place, ...more], context);
  await run("-N", CHECK_CHAIN);
  await run("-A", CHECK_CHAIN, ...words);
  const saved = (await iptables([], { family, context, suffix: "-save" })).stdout.split("\n");
  await run("-F", CHECK_CHAIN);
  await run("-X", CHECK_CHAIN);
  const rules = saved.filter((line) => line.startsWith(`-A ${CHECK_CHAIN}`));
  return rules.some((line) => saved.includes(line.replaceAll(CHECK_CHAIN, () => chain)));
}

export const check: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a chain has a rule.",
    "iptables.check filter INPUT \\\n        rule='-m state --state RELATED,ESTABLISHED -j ACCEPT'",
  ),
  permissions: "all",
  params: RULE,
  async run({ table, chain, rule, family }, context) {
    if (!chain) return NO_CHAIN;
    if (!rule) return NO_RULE;
    return await hasRule({ table, chain, rule, family }, context);
  },
});

export const check_chain: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether there is a chain.", "iptables.check_chain filter INPUT"),
  permissions: "all",
  params: { ...CHAIN, ...FAMILY },
  async run({ table, chain, family }, context) {
    if (!chain) return NO_CHAIN;
    const words = ["-t", checkedWord(table, "table")];
    return (await iptables(words, { family, context, suffix: "-save" })).stdout.includes(`:${chain} `);
  },
});

/** Makes or deletes a chain. */
function ofChain(flag: "-N" | "-X", name: string, doc: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(doc, `iptables.${name} filter CUSTOM_CHAIN`),
    permissions: "all",
    params: { ...CHAIN, ...FAMILY },
    async run({ table, chain, family }, context) {
      if (!chain) return NO_CHAIN;
      return await change(table, [flag, checkedWord(chain, "chain")], { family, context }) || true;
    },
  });
}

export const new_chain: ModuleFunction<JobContext> = ofChain(
  "-N",
  "new_chain",
  "Make a chain. Return True, or what is wrong.",
);
export const delete_chain: ModuleFunction<JobContext> = ofChain(
  "-X",
  "delete_chain",
  "Delete a chain. Return True, or what is wrong.",
);

export const append: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a rule at the end of a chain. Return whether this was done; False if it is there.",
    "iptables.append filter INPUT \\\n        rule='-m state --state RELATED,ESTABLISHED -j ACCEPT'",
  ),
  permissions: "all",
  params: RULE,
  async run({ table, chain, rule, family }, context) {
    if (!chain) return NO_CHAIN;
    if (!rule) return NO_RULE;
    if (await hasRule({ table, chain, rule, family }, context)) return false;
    return await change(table, ["-A", checkedWord(chain, "chain"), ...shlexSplit(rule)], { family, context }) === "";
  },
});

export const insert: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a rule at a position of a chain, from the end if it is negative. Return the error text; False if the rule is there.",
    "iptables.insert filter INPUT position=3 \\\n        rule='-m state --state RELATED,ESTABLISHED -j ACCEPT'",
  ),
  permissions: "all",
  params: { ...CHAIN, position: p.int(null), rule: p.str(null), ...FAMILY },
  async run({ table, chain, position, rule, family }, context) {
    if (!chain) return NO_CHAIN;
    if (!position) return "Error: Position needs to be specified or use append (-A)";
    if (!rule) return NO_RULE;
    const at = position > 0 ? position : await fromEnd(position, { table, chain, family }, context);
    if (await hasRule({ table, chain, rule, family }, context)) return false;
    const words = ["-I", checkedWord(chain, "chain"), String(at), ...shlexSplit(rule)];
    return await change(table, words, { family, context });
  },
});

/** The position that a negative one means: -1 is behind the last rule. */
async function fromEnd(
  position: number,
  { table, chain, family }: { readonly table: string; readonly chain: string; readonly family: string },
  context: JobContext,
): Promise<number> {
  const rules = chainField(await currentRules(family, context), { table, chain }, "rules");
  const size = Array.isArray(rules) ? rules.length : 0;
  return Math.max(size + position + 1, 1);
}

export const delete_: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Delete a rule of a chain, by its position or its text. Return the error text.",
    "iptables.delete filter INPUT position=3",
    "iptables.delete filter INPUT \\\n        rule='-m state --state RELATED,ESTABLISHED -j ACCEPT'",
  ),
  permissions: "all",
  params: { table: p.str(), chain: p.str(null), position: p.str(null), rule: p.str(null), ...FAMILY },
  async run({ table, chain, position, rule, family }, context) {
    if (position && rule) return "Error: Only specify a position or a rule, not both";
    const words = position ? [checkedWord(position, "position")] : shlexSplit(rule ?? "");
    return await change(table, ["-D", checkedWord(chain ?? "", "chain"), ...words], { family, context });
  },
});

export const flush: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Delete all rules of a chain, or, without chain, of a table. Return the error text.",
    "iptables.flush filter INPUT",
  ),
  permissions: "all",
  params: { table: p.str("filter"), chain: p.str(""), ...FAMILY },
  run: ({ table, chain, family }, context) =>
    change(table, ["-F", ...chain === "" ? [] : [checkedWord(chain, "chain")]], { family, context }),
});

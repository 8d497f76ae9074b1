/**
 * Execution module `debconf`: the answers to the questions that Debian's packages ask when they are configured.
 * Source: the functions of Salt 3008.3 `salt/modules/debconfmod.py`; debconf-set-selections(1).
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { checkedWord, outputOf, runProgram } from "#lib/programs/run_program.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "debconf",
  serves: [
    {
      grains: { os_family: ["Debian"] },
      otherwise: "The debconfmod module could not be loaded: unsupported OS family",
    },
    {
      programs: ["debconf-get-selections"],
      otherwise: "The debconfmod module could not be loaded: debconf-utils is not installed.",
    },
  ],
};

/** All answers by package: each a list of question, type and value. */
async function selections(context: JobContext, fetchempty = true): Promise<ValueMap> {
  const answers = new Map<Value, Value[]>();
  for (const line of (await outputOf(["debconf-get-selections"], context)).split("\n")) {
    const [, name, question, type, value] = /^([^#]\S+)[\t ]+(\S+)[\t ]+(\S+)[\t ]+(.*)$/.exec(line) ?? [];
    if (name === undefined || (!fetchempty && value === "")) continue;
    answers.set(name, [...answers.get(name) ?? [], [question, type, value]]);
  }
  return answers;
}

export const get_selections: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the answers of all packages, by the package's name: lists of question, type and value. fetchempty=False leaves\n" +
      "out those without a value.",
    "debconf.get_selections",
  ),
  permissions: "all",
  params: { fetchempty: p.bool(true) },
  run: ({ fetchempty }, context) => selections(context, fetchempty),
});

export const show: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the answers of a package, lists of question, type and value; None if debconf does not know the package.",
    "debconf.show <package name>",
  ),
  permissions: "all",
  params: { name: p.str() },
  run: async ({ name }, context) => (await selections(context)).get(name) ?? null,
});

/** Has debconf take the answers in a file. */
async function takeFile(path: string, context: JobContext): Promise<void> {
  const { retcode, stderr } = await runProgram(["debconf-set-selections", checkedWord(path, "path")], context);
  if (retcode !== 0) context.log("error", `debconf-set-selections ${path}: ${stderr}`);
}

export const set_: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set the answer to a question of a package. Further values are joined with blanks.",
    "debconf.set <package> <question> <type> <value> [<value> ...]",
  ),
  permissions: "all",
  params: { package: p.str(), question: p.str(), type: p.str(), value: p.str() },
  varArgs: "extra",
  async run(bound, context, { args }) {
    const line = [bound.package, bound.question, bound.type, bound.value, ...args].map(str).join(" ");
    if (/[\n\r\0]/.test(line)) throw new InvocationError("An answer has several lines");
    const path = await Deno.makeTempFile({ prefix: "salt_debconf_" });
    try {
      await Deno.writeTextFile(path, line);
      await takeFile(path, context);
    } finally {
      await Deno.remove(path);
    }
    return true;
  },
});

const FILE = { path: p.str() };

/**
 * Fetches a file, and has debconf take it.
 * @returns Whether there is such a file.
 */
async function setFile(path: string, saltenv: string, context: JobContext): Promise<boolean> {
  const cached = await context.call("cp.cache_file", [path, saltenv]);
  if (typeof cached !== "string" || cached === "") return false;
  await takeFile(cached, context);
  return true;
}

export const set_file: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set answers from a file, a path or a URL. Return whether the file is there.",
    "debconf.set_file salt://pathto/pkg.selections",
  ),
  permissions: "all",
  params: { ...FILE, saltenv: p.str("base") },
  varKwargs: "kwargs",
  run: ({ path, saltenv }, context) => setFile(path, saltenv, context),
});

export const set_template: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set answers from a rendered template. context: variables of the template; defaults: variables that count where\n" +
      "the context has none of their name. Return whether the file is there.",
    "debconf.set_template salt://pathto/pkg.selections.jinja jinja None None",
  ),
  permissions: "all",
  params: { ...FILE, template: p.str(), context: p.any(), defaults: p.any(), saltenv: p.str("base") },
  varKwargs: "kwargs",
  async run({ path, template, saltenv, ...bound }, context, { kwargs }) {
    const variables = [bound.defaults, bound.context].flatMap((one) => isMap(one) ? [...one] : []);
    const made = await Deno.makeTempFile({ prefix: "salt_debconf_" });
    try {
      const options = new Map([...kwargs, ...map({ context: new Map(variables), template, saltenv })]);
      const rendered = await context.call("cp.get_template", [path, made], options);
      if (typeof rendered !== "string" || rendered === "") return false;
      await takeFile(made, context);
      return true;
    } finally {
      await Deno.remove(made);
    }
  },
});

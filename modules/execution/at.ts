/**
 * Execution module `at`: commands that are run once, later.
 * Source: the functions of Salt 3008.3 `salt/modules/at.py`.
 * @module
 */

import { type AtJob, parseJobs, parseMade, parseTag } from "#lib/host/accounts/at_jobs.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ programs: ["at"], otherwise: "The at module could not be loaded: at command not found" }],
};

async function outputOf(words: readonly string[], context: JobContext): Promise<string> {
  return (await runProgram(words, context, { setsRetcode: true })).stdout;
}

/** The jobs that wait, all or those of a tag or number. */
async function jobs(context: JobContext, tag: Value = null): Promise<AtJob[]> {
  const isRedHat = context.grains.get("os_family") === "RedHat";
  const listed = parseJobs(await outputOf(isRedHat ? ["at", "-l"] : ["atq"], context), { dates: isRedHat });
  const jobs: AtJob[] = [];
  for (const one of listed) {
    const own = parseTag(await outputOf(["at", "-c", String(one.job)], context));
    if (!truthy(tag) || tag === own || tag === one.job) jobs.push({ ...one, tag: own });
  }
  return jobs;
}

export const atq: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the waiting jobs: all, those of a tag, or the job of a number.",
    "at.atq",
    "at.atq [tag]",
    "at.atq [job number]",
  ),
  permissions: "all",
  params: { tag: p.any(null) },
  run: async ({ tag }, context) => ({ jobs: await jobs(context, tag) }),
});

export const atrm: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove jobs: by number, all, or all of a tag. Return the removed jobs and the tag.",
    "at.atrm <jobid> <jobid> .. <jobid>",
    "at.atrm all",
    "at.atrm all [tag]",
  ),
  permissions: "all",
  params: {},
  varArgs: "args",
  async run(_bound, context, { args }) {
    if (args.length === 0) return { jobs: { removed: [], tag: null } };
    const [first, tag = null] = args.map(str);
    const isAll = first === "all";
    const wanted = args.map(str);
    const all = await jobs(context, isAll ? tag : null);
    const removed = all.map(({ job }) => String(job)).filter((job) => isAll || wanted.includes(job));
    if (removed.length > 0) await outputOf(["at", "-d", ...removed], context);
    return { jobs: { removed, tag: isAll ? tag : null } };
  },
});

export const at: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Run a command once, at a time in at's notation, and return the job. Keywords: tag, to find the job again; runas, the user.",
    "at.at <timespec> <cmd> [tag=<tag>] [runas=<user>]",
    "at.at 12:05am '/sbin/reboot' tag=reboot",
    "at.at '3:05am +3 days' 'bin/myscript' tag=nightly runas=jim",
  ),
  permissions: "all",
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  async run(_bound, context, { args, kwargs }) {
    if (args.length < 2) return { jobs: [] };
    const [when, ...words] = args.map(str);
    const tag = kwargs.has("tag") ? `### SALT: ${str(kwargs.get("tag") ?? null)}\n` : "";
    const runas = kwargs.get("runas");
    const { stdout } = await runProgram(["at", checkedWord(when, "time")], context, {
      stdin: `${tag}${words.join(" ")}\n`,
      joined: true,
      setsRetcode: true,
      ...runas !== undefined && { runas: str(runas) },
    });
    if (stdout.endsWith("Garbled time")) return { jobs: [], error: "invalid timespec" };
    const job = parseMade(stdout);
    return job === undefined ? { jobs: [], error: stdout } : { jobs: await jobs(context, job) };
  },
});

export const atc: ModuleFunction<JobContext> = fn({
  doc: describe("Return the script of a job.", "at.atc <jobid>"),
  permissions: "all",
  params: { jobid: p.str() },
  async run({ jobid }, context) {
    const script = await outputOf(["at", "-c", checkedWord(jobid, "job")], context);
    return script === "" ? { error: `invalid job id '${jobid}'` } : script;
  },
});

/** The parts of a job's time that `jobcheck` may name. */
const PARTS: Readonly<Record<string, (job: AtJob) => string>> = {
  hour: ({ time }) => time.split(":")[0],
  minute: ({ time }) => time.split(":")[1],
  day: ({ date }) => date.split("-")[2],
  month: ({ date }) => date.split("-")[1],
  year: ({ date }) => date.split("-")[0],
};

function isWanted(job: AtJob, conditions: ValueMap): boolean {
  return [...conditions].every(([key, value]) => {
    const name = str(key);
    if (!truthy(value)) return true;
    if (name === "runas") return job.user === value;
    if (name === "tag") return job.tag === value;
    if (!Object.hasOwn(PARTS, name)) return true;
    const text = str(value).padStart(2, "0");
    return PARTS[name](job) === (name === "year" && text.length === 2 ? `20${text}` : text);
  });
}

export const jobcheck: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the jobs that match all conditions: runas, tag, hour, minute, day, month, year.",
    "at.jobcheck runas=jam day=13",
    "at.jobcheck day=13 month=12 year=13 tag=rose",
  ),
  permissions: "all",
  params: {},
  varKwargs: "kwargs",
  async run(_bound, context, { kwargs }) {
    const conditions = ownKeywords(kwargs);
    if (conditions.size === 0) return { error: "You have given a condition" };
    const all = await jobs(context);
    const chosen = all.filter((job) => isWanted(job, conditions));
    if (chosen.length > 0 || all.length === 0) return { jobs: chosen };
    return { jobs: [], note: "No match jobs or time format error" };
  },
});

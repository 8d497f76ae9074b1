/**
 * Execution module `supervisord`: the processes of Supervisor, with the program supervisorctl.
 * Source: the functions of Salt 3008.3 `salt/modules/supervisord.py`.
 * @module
 */

import { CommandError, CommandNotFoundError } from "#lib/errors.ts";
import { exists, isDirectory, isFile } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { readConfigParser } from "#lib/render/config_parser.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { numberOfText } from "#lib/values/python_text.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** How supervisorctl is run: as whom, with which configuration, and where it is. */
interface Place {
  readonly user: string | null;
  readonly conf_file: string | null;
  readonly bin_env: string | null;
}

const PLACE = { user: p.str(null), conf_file: p.str(null), bin_env: p.str(null) };

/** @throws {CommandNotFoundError} If it is not there. */
function supervisorctl(bin_env: string | null): string {
  if (bin_env && !isDirectory(bin_env)) return bin_env;
  const program = bin_env ? `${bin_env.replace(/\/$/, "")}/bin/supervisorctl` : which("supervisorctl");
  if (program === undefined || (bin_env && !isFile(program))) {
    throw new CommandNotFoundError("Could not find a `supervisorctl` binary");
  }
  return program;
}

/** What supervisorctl prints; a failure begins with `ERROR`. */
async function control(words: readonly string[], place: Place, context: JobContext): Promise<string> {
  const { user, conf_file, bin_env } = place;
  const all = [supervisorctl(bin_env), ...conf_file === null ? [] : ["-c", conf_file], ...words];
  const { retcode, stdout } = await runProgram(all, context, { runas: user, setsRetcode: true });
  return retcode === 0 || stdout.includes("ERROR") ? stdout : `ERROR: ${stdout}`;
}

/** The word for a process or a group; none for an empty name. */
function nameWords(name: string | null): string[] {
  return name ? [checkedWord(name, "process")] : [];
}

/** A group's name as supervisorctl takes it: `group:`. */
function groupName(name: string): string {
  return name.endsWith(":*") ? name.slice(0, -1) : name;
}

/** A group's name without a colon. */
function bareName(name: string): string {
  return name.replace(/:\*?$/, "");
}

function acting(command: "start" | "restart" | "stop", text: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(text, `supervisord.${command} <service>`, `supervisord.${command} <group>:`),
    permissions: "all",
    params: { name: p.str("all"), ...PLACE },
    run: ({ name, ...place }, context) => control([command, ...nameWords(groupName(name))], place, context),
  });
}

export const start: ModuleFunction<JobContext> = acting("start", "Start a process or a group, by default all.");
export const restart: ModuleFunction<JobContext> = acting("restart", "Restart a process or a group, by default all.");
export const stop: ModuleFunction<JobContext> = acting("stop", "Stop a process or a group, by default all.");

function configuring(command: "add" | "remove", text: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(text, `supervisord.${command} <name>`),
    permissions: "all",
    params: { name: p.str(), ...PLACE },
    run: ({ name, ...place }, context) => control([command, ...nameWords(bareName(name))], place, context),
  });
}

export const add: ModuleFunction<JobContext> = configuring(
  "add",
  "Make what the configuration says of a process or a group active.",
);
export const remove: ModuleFunction<JobContext> = configuring(
  "remove",
  "Remove a process or a group from the active configuration.",
);

export const reread: ModuleFunction<JobContext> = fn({
  doc: describe("Read the configuration again.", "supervisord.reread"),
  permissions: "all",
  params: PLACE,
  run: (place, context) => control(["reread"], place, context),
});

export const update: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Read the configuration again, and add, remove and restart what has changed, or one group.",
    "supervisord.update",
  ),
  permissions: "all",
  params: { ...PLACE, name: p.str(null) },
  run: ({ name, ...place }, context) =>
    control(["update", ...nameWords(name === null ? null : bareName(name))], place, context),
});

/** A line of the status: process, state, and the rest. */
function statusOf(line: string): readonly [process: string, state: string, reason: string] {
  const [, process = "", state = "", reason = ""] = /^\s*(\S+)\s*(\S*)\s*(.*?)\s*$/.exec(line) ?? [];
  return [process, state, reason];
}

function rawStatus(name: string | null, place: Place, context: JobContext): Promise<string> {
  return control(["status", ...nameWords(name)], place, context);
}

export const status: ModuleFunction<JobContext> = fn({
  doc: describe("Return the processes with their state, all or one.", "supervisord.status"),
  permissions: "all",
  params: { name: p.str(null), ...PLACE },
  async run({ name, ...place }, context) {
    const lines = splitLines(await rawStatus(name, place, context)).map(statusOf);
    return new Map(lines.map(([process, state, reason]): [Value, Value] => [process, map({ state, reason })]));
  },
});

export const status_raw: ModuleFunction<JobContext> = fn({
  doc: describe("Return what `supervisorctl status` prints.", "supervisord.status_raw"),
  permissions: "all",
  params: { name: p.str(null), ...PLACE },
  run: ({ name, ...place }, context) => rawStatus(name, place, context),
});

export const custom: ModuleFunction<JobContext> = fn({
  doc: describe("Run any command of supervisorctl.", `supervisord.custom "mstop '*gunicorn*'"`),
  permissions: "all",
  params: { command: p.str(), ...PLACE },
  run: ({ command, ...place }, context) => control([command], place, context),
});

export const status_bool: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether there is a process, and with expected_state whether it is in this state.",
    "supervisord.status_bool nginx expected_state='RUNNING'",
  ),
  permissions: "all",
  params: { name: p.str(), expected_state: p.str(null), ...PLACE },
  async run({ name, expected_state, ...place }, context) {
    const output = await control([`status ${checkedWord(name, "process")}`], place, context);
    const [process, state, reason] = statusOf(splitLines(output).at(-1) ?? "");
    if (reason === "(no such process)" || process !== name) return false;
    return expected_state === null || state === expected_state;
  },
});

/** Where the configuration usually is. */
const CONFIG_FILES = ["/etc/supervisor/supervisord.conf", "/etc/supervisord.conf"];

/** @throws {CommandError} If there is none, or it cannot be read. */
function readConfig(conf_file: string | null): ValueMap {
  const path = conf_file ?? CONFIG_FILES.find(exists);
  if (path === undefined) throw new CommandError("No suitable config file found");
  try {
    return readConfigParser(Deno.readTextFileSync(path), { file: path });
  } catch (error) {
    // As Python's parser: a file that is not there has no sections.
    if (error instanceof Deno.errors.NotFound) return new Map();
    if (error instanceof CommandError) throw error;
    throw new CommandError(`Unable to read from ${path}: ${error}`, { cause: error });
  }
}

/** An option's value: a number, a bool, or the text before a comment. */
function optionValue(text: string): Value {
  const word = text.split(";")[0].trim();
  const number = numberOfText(word);
  if (number !== undefined) return number;
  const lower = word.toLowerCase();
  return lower === "true" || lower === "false" ? lower === "true" : word;
}

export const options: ModuleFunction<JobContext> = fn({
  doc: describe("Return the options of a process, from the configuration.", "supervisord.options foo"),
  permissions: "all",
  params: { name: p.str(), conf_file: p.str(null) },
  run({ name, conf_file }) {
    const section = readConfig(conf_file).get(`program:${name}`);
    if (section === undefined) throw new CommandError(`Process '${name}' not found`);
    return new Map([...mapOrEmpty(section)].map(([key, value]): [Value, Value] => [key, optionValue(str(value))]));
  },
});

/**
 * Runs one program in a container: by the engine, or with nsenter from the host.
 * Source: docs.docker.com, "Docker Engine API v1.41", "Exec"; Salt 3006.28 `salt/modules/container_resource.py`.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import type { AttachedConnection } from "#lib/host/docker/attached_connection.ts";
import { type DockerEngine, DockerError, enginePath } from "#lib/host/docker/engine.ts";
import { outputFrames } from "#lib/host/docker/output_frames.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { rstrip } from "#lib/values/python_text.ts";
import { mapOrEmpty, textOrNull } from "#lib/values/shape.ts";
import { map, str, toNumber, truthy, type Value } from "#lib/values/value.ts";
import { engineOf } from "./connection.ts";
import { inspectContainer } from "./lookups.ts";

/** Where programs of a container are. */
const PATH = "PATH=/bin:/usr/bin:/sbin:/usr/sbin:/opt/bin:/usr/local/bin:/usr/local/sbin";

const DRIVERS: readonly string[] = ["nsenter", "docker-exec"];

/** How a program is run. */
export interface CommandOptions {
  readonly exec_driver: string | null;
  readonly stdin: string | Uint8Array | null;
  readonly python_shell: boolean;
  readonly output_loglevel: string;
  readonly ignore_retcode: boolean;
  readonly keep_env: Value;
  /** Whether stderr is a part of stdout, in the order of writing. */
  readonly joins?: boolean;
  /** Whether the output is thrown away. */
  readonly quiet?: boolean;
}

/** What came of it. */
export interface ContainerResult {
  readonly pid: number;
  readonly retcode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Of a script that could not be had. */
  readonly cache_error?: boolean;
}

/** What a shell reads by its own rules outside of quotes, in a text in which quoted parts are emptied. */
const SHELL_ONLY = /[;&|<>`$()\n]/;
const QUOTED = /\\[\s\S]|'[^']*'|"(?:\\[\s\S]|[^"\\$`])*"/g;

/**
 * The words of a command. Salt passes the text to a shell of the host: what such a shell would do outside of the
 * container is refused.
 */
function wordsOf(cmd: Value, pythonShell: boolean): string[] {
  if (Array.isArray(cmd)) return cmd.map(str);
  const text = str(cmd);
  if (pythonShell && SHELL_ONLY.test(text.replace(QUOTED, ""))) {
    throw new InvocationError(
      "docker.run starts one program, without a shell. For a shell of the container: sh -c '...'",
    );
  }
  return shlexSplit(text);
}

/** The words before those of a command, which empty its environment. */
function environmentWords(keepEnv: Value): string[] {
  const kept = keepEnv === null || typeof keepEnv === "boolean"
    ? []
    : Array.isArray(keepEnv)
    ? keepEnv.map(str)
    : str(keepEnv).split(",");
  const variables = kept.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [`${name}=${value}`];
  });
  if (keepEnv === true) return [];
  return ["env", "-i", ...kept.includes("PATH") ? [] : [PATH], ...variables];
}

/** The driver of the options, or of the argument. */
async function driverOf(context: JobContext, given: string | null): Promise<string> {
  const configured = await context.call("config.option", ["docker.exec_driver", "docker-exec"]);
  const driver = given ?? textOrNull(configured) ?? "docker-exec";
  if (DRIVERS.includes(driver)) return driver;
  throw new InvocationError(`Invalid command execution driver. Valid drivers are: ${DRIVERS.join(", ")}`);
}

/** Runs a program in a container that runs. Its return code is the job's, unless it is to be ignored. */
export async function runInContainer(
  context: JobContext,
  name: string,
  cmd: Value,
  options: CommandOptions,
): Promise<ContainerResult> {
  const words = [...environmentWords(options.keep_env), ...wordsOf(cmd, options.python_shell)];
  const engine = await engineOf(context);
  const driver = await driverOf(context, options.exec_driver);
  const result = driver === "nsenter"
    ? await byNsenter(engine, context, name, words, options)
    : await byEngine(engine, name, words, options);
  if (options.output_loglevel !== "quiet") {
    context.log("debug", `docker: ${words.join(" ")} in container ${name} ended with ${result.retcode}`);
  }
  if (result.retcode !== 0 && !options.ignore_retcode) {
    context.setRetcode(result.retcode);
    if (options.output_loglevel !== "quiet") {
      context.log(
        "error",
        `A command in container ${name} ended with ${result.retcode}: ${result.stderr || result.stdout}`,
      );
    }
  }
  return result;
}

async function byNsenter(
  engine: DockerEngine,
  context: JobContext,
  name: string,
  words: readonly string[],
  { stdin, joins = false }: CommandOptions,
): Promise<ContainerResult> {
  const state = mapOrEmpty((await inspectContainer(engine, name)).get("State"));
  const pid = toNumber(state.get("Pid")) ?? 0;
  if (pid === 0) throw new CommandError(`Container '${name}' is not running`);
  const enter = ["nsenter", "--target", String(pid), "--mount", "--uts", "--ipc", "--net", "--pid", "--"];
  return await runProgram(
    [...enter, ...words.map((word, i) => i === 0 ? checkedWord(word, "command") : word)],
    context,
    {
      ...stdin !== null && { stdin },
      joined: joins,
    },
  );
}

async function byEngine(
  engine: DockerEngine,
  name: string,
  words: readonly string[],
  options: CommandOptions,
): Promise<ContainerResult> {
  try {
    const id = await makeExec(engine, name, { Cmd: [...words], AttachStdin: truthy(options.stdin) });
    const { stdout, stderr } = await exchange(engine, id, options);
    const { pid, retcode } = await execState(engine, id);
    return { pid, retcode, stdout, stderr };
  } catch (error) {
    if (!(error instanceof DockerError)) throw error;
    const { retcode, text } = refusedProgram(error);
    return { pid: 0, retcode, stdout: options.joins === true ? text : "", stderr: options.joins === true ? "" : text };
  }
}

/**
 * Makes a program that {@linkcode DockerEngine.attach} can start in a container.
 * @param more Fields of the engine: `Cmd`, `Env`, `User` …
 * @returns Its id.
 */
export async function makeExec(
  engine: DockerEngine,
  name: string,
  more: Readonly<Record<string, Value>>,
): Promise<string> {
  const json = map({ AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: false, ...more });
  const made = mapOrEmpty(await engine.ask({ method: "POST", path: enginePath("containers", name, "exec"), json }));
  return str(made.get("Id") ?? "");
}

/** Starts one; its input and output are those of the connection. */
export function attachExec(engine: DockerEngine, id: string): Promise<AttachedConnection> {
  return engine.attach(enginePath("exec", id, "start"), map({ Detach: false, Tty: false }));
}

/** How such a program is, or has ended. */
export interface ExecState {
  readonly isRunning: boolean;
  readonly pid: number;
  readonly retcode: number;
}

/** Asks for one. */
export async function execState(engine: DockerEngine, id: string): Promise<ExecState> {
  const state = mapOrEmpty(await engine.ask({ method: "GET", path: enginePath("exec", id, "json") }));
  return {
    isRunning: state.get("Running") === true,
    pid: toNumber(state.get("Pid")) ?? 0,
    retcode: toNumber(state.get("ExitCode")) ?? 0,
  };
}

/** What the command `docker exec` would end with and say. */
export function refusedProgram({ explanation }: DockerError): { readonly retcode: number; readonly text: string } {
  const text = `Error response from daemon: ${explanation}`;
  const retcode = /executable file not found/.test(text) ? 127 : /OCI runtime exec failed/.test(text) ? 126 : 1;
  return { retcode, text };
}

/** Gives a program its input, and takes its output. */
async function exchange(engine: DockerEngine, id: string, { stdin, joins = false, quiet = false }: CommandOptions) {
  using connection = await attachExec(engine, id);
  const bytes = typeof stdin === "string" ? new TextEncoder().encode(stdin) : stdin ?? new Uint8Array();
  const giving = bytes.length > 0 ? connection.input(bytes) : Promise.resolve();
  const [out, err]: [Uint8Array[], Uint8Array[]] = [[], []];
  for await (const { stream, bytes } of outputFrames(connection.output)) {
    if (!quiet) (stream === "stdout" || joins ? out : err).push(bytes);
  }
  await giving;
  const text = (pieces: Uint8Array[]) => rstrip(new TextDecoder().decode(joinBytes(pieces)));
  return { stdout: text(out), stderr: text(err) };
}

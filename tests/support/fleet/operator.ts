/**
 * An operator with a real ssh-agent, or with a key file, in a temporary directory, for the tests of one file alone.
 * @module
 */

import { which } from "#lib/programs/which.ts";
import { eventually } from "#tests/support/eventually.ts";
import { makeTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** Why tests that need OpenSSH are ignored; `undefined`: they are not. */
export const withoutOpenSsh: string | undefined =
  ["ssh-agent", "ssh-add", "ssh-keygen"].every((name) => which(name) !== undefined) ? undefined : "needs OpenSSH";

/** Runs a program of OpenSSH. */
export async function ssh(program: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args, env }).output();
  if (!success) throw new Error(`${program}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/** The variables that this process sees, with some in place of its own. */
class Variables implements Disposable {
  readonly #get = Deno.env.get;

  constructor(own: Readonly<Record<string, string | undefined>>) {
    const get = this.#get.bind(Deno.env);
    Deno.env.get = (name) => Object.hasOwn(own, name) ? own[name] : get(name);
  }

  [Symbol.dispose](): void {
    Deno.env.get = this.#get;
  }
}

/** An operator, whose agent this process asks until the object is disposed of. */
export class TestOperator implements AsyncDisposable {
  readonly #variables: Variables;
  readonly #agent: Deno.ChildProcess | undefined;
  /** Its files; `config` is XDG_CONFIG_HOME. */
  readonly directory: string;
  /** The lines of authorized keys, without options, by the name of the key. */
  readonly lines: ReadonlyMap<string, string>;

  private constructor(directory: string, agent: Deno.ChildProcess | undefined, lines: ReadonlyMap<string, string>) {
    this.directory = directory;
    this.#agent = agent;
    this.lines = lines;
    const socket = agent === undefined ? undefined : `${directory}/agent`;
    this.#variables = new Variables({ SSH_AUTH_SOCK: socket, XDG_CONFIG_HOME: `${directory}/config` });
  }

  /** With an agent that holds a key of each name. */
  static async withAgent(...names: string[]): Promise<TestOperator> {
    const directory = makeTemporaryDirectory("operator_"), socket = `${directory}/agent`;
    const agent = new Deno.Command("ssh-agent", { args: ["-D", "-a", socket], stdout: "null", stderr: "null" }).spawn();
    const lines = new Map<string, string>();
    for (const name of names) lines.set(name, await makeKey(`${directory}/${name}`, ""));
    await eventually(() => Deno.lstat(socket), { what: "the socket of ssh-agent" });
    for (const name of names) await ssh("ssh-add", ["-q", `${directory}/${name}`], { SSH_AUTH_SOCK: socket });
    return new TestOperator(directory, agent, lines);
  }

  /** With a key file and no agent. */
  static async withFile(passphrase: string): Promise<TestOperator> {
    const directory = makeTemporaryDirectory("operator_");
    Deno.mkdirSync(`${directory}/config/salt`, { recursive: true });
    const line = await makeKey(`${directory}/config/salt/operator_key`, passphrase);
    return new TestOperator(directory, undefined, new Map([["file", line]]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#variables[Symbol.dispose]();
    this.#agent?.kill("SIGTERM");
    await this.#agent?.status;
    Deno.removeSync(this.directory, { recursive: true });
  }
}

async function makeKey(path: string, passphrase: string): Promise<string> {
  await ssh("ssh-keygen", ["-q", "-t", "ed25519", "-N", passphrase, "-C", "operator", "-f", path]);
  return (await Deno.readTextFile(`${path}.pub`)).trim();
}

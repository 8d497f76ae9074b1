/**
 * Runs commands as another user of this host. Needs root and Linux's `setpriv`.
 * @module
 */

import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { findUser, type User } from "#lib/os/users.ts";
import { type Ran, run } from "./processes.ts";
import { TREE_CONFIG } from "./tree_config.ts";

const SOURCES = new URL("../..", import.meta.url).pathname;

/** A user with their own directory. */
export class OtherUser implements Disposable {
  readonly account: User;
  /** Their own directory. */
  readonly home = Deno.makeTempDirSync({ prefix: "user_" });
  readonly #deno: string;

  /** @param name The name of an account of this host. */
  constructor(name: string) {
    const account = findUser(name);
    if (account === undefined) throw new Error(`this host has no user ${name}`);
    this.account = account;
    // The Deno executable may be in a directory that other users cannot enter.
    this.#deno = `${this.home}/deno`;
    try {
      Deno.linkSync(Deno.realPathSync(Deno.execPath()), this.#deno);
    } catch {
      Deno.copyFileSync(Deno.execPath(), this.#deno); // the directory is on another file system
    }
    Deno.chownSync(this.home, account.uid, account.gid);
  }

  /** Runs a command to its end. */
  run(...words: string[]): Promise<Ran> {
    const { uid, gid } = this.account;
    const as = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--reset-env"];
    // What runs in it counts for the coverage of the tests, too.
    const figures = Deno.env.get("DENO_COVERAGE_DIR");
    const env = [`HOME=${this.home}`, `DENO_DIR=${this.home}/cache`, "NO_COLOR=1"];
    if (figures !== undefined) env.push(`DENO_COVERAGE_DIR=${figures}`);
    return run([...as, "env", ...env, ...words]);
  }

  /**
   * Runs code with Deno; `~/` in its imports is this project.
   * @returns What it wrote.
   * @throws {Error} If it fails.
   */
  async code(text: string): Promise<string> {
    const path = `${this.home}/code.ts`;
    Deno.writeTextFileSync(path, text.replaceAll('"~/', `"file://${SOURCES}`));
    const { code, out, err } = await this.run(this.#deno, ...DENO_RUN, "--config", TREE_CONFIG, path);
    if (code !== 0) throw new Error(`the code ended with ${code}: ${err}`);
    return out.trim();
  }

  /** Runs a file of this project with Deno. */
  deno(file: string, ...args: string[]): Promise<Ran> {
    return this.run(this.#deno, ...DENO_RUN, `${SOURCES}${file}`, ...args);
  }

  /** Runs one of the operator's commands with a master's configuration. */
  salt(program: "salt" | "salt-run" | "salt-key" | "salt-cp", configDir: string, ...args: string[]): Promise<Ran> {
    return this.deno("salt.ts", ...program === "salt" ? [] : ["--as", program], "-c", configDir, ...args);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.home, { recursive: true });
  }
}

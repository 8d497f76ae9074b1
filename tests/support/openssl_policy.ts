/**
 * Code as it runs on a host whose system policy takes every algorithm from OpenSSL.
 * @module
 */

import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { run } from "./processes.ts";
import { TREE_CONFIG } from "./tree_config.ts";

const SOURCES = new URL("../..", import.meta.url);

/** Of OpenSSL's providers only the one that has no algorithms is loaded. */
const POLICY = "openssl_conf = init\n[init]\nproviders = all\n[all]\nbase = base\n[base]\nactivate = 1\n";

/**
 * Runs code; `~/` in its imports is this project.
 * @returns What it wrote.
 * @throws {Error} If it fails.
 */
export async function withoutAlgorithms(text: string): Promise<string> {
  const directory = await Deno.makeTempDir({ prefix: "openssl_" });
  try {
    await Deno.writeTextFile(`${directory}/openssl.cnf`, POLICY);
    await Deno.writeTextFile(`${directory}/code.ts`, text.replaceAll('"~/', `"${SOURCES}`));
    const config = ["--config", TREE_CONFIG];
    const words = [Deno.execPath(), ...DENO_RUN, ...config, `${directory}/code.ts`];
    const { code, out, err } = await run(["env", `OPENSSL_CONF=${directory}/openssl.cnf`, ...words]);
    if (code !== 0 || err !== "") throw new Error(`the code ended with ${code}: ${err}`);
    return out.trim();
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

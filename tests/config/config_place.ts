/**
 * A configuration directory of a test, and an environment that is not this host's.
 * @module
 */

import type { ConfigRequest } from "#lib/config/load.ts";
import type { ProcessEnvironment } from "#lib/config/place.ts";

/** A directory with the given files, by relative path, and an environment independent of this host. */
export class ConfigPlace {
  readonly root = Deno.makeTempDirSync({ prefix: "salt_config_" });
  /** The environment variables. */
  readonly variables: Record<string, string> = {};

  /** @param files Their texts, by relative path. */
  constructor(files: Record<string, string> = {}) {
    for (const [path, text] of Object.entries(files)) this.write(path, text);
  }

  /** The absolute path of a file. */
  path(path: string): string {
    return `${this.root}/${path}`;
  }

  /** Writes a file, and makes its directories. */
  write(path: string, text: string): void {
    Deno.mkdirSync(this.path(path).replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(this.path(path), text);
  }

  /** The environment of a load. */
  get environment(): ProcessEnvironment {
    return {
      env: (name) => this.variables[name],
      cwd: this.root,
      hostNames: () => ({
        hostname: "box",
        hosts: "127.0.1.1 box.example.org box",
        hostnameFile: "box\n",
        addresses: [],
      }),
      user: () => "tester",
    };
  }

  /** A request that loads its files, with these options of the command line. */
  request(overrides: ConfigRequest["overrides"] = {}): ConfigRequest {
    return {
      configDir: this.path("etc/salt"),
      overrides: { root_dir: this.root, ...overrides },
      environment: this.environment,
    };
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

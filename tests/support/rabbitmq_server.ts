/**
 * A scratch RabbitMQ on loopback, in a temporary directory, with its own Erlang port mapper. It is started only if its
 * programs are on the host.
 * @module
 */

import { freePort } from "#scripts/fleet/free_port.ts";
import { exists } from "#lib/os/file_kind.ts";
import { eventually } from "#tests/support/eventually.ts";
import { SearchPath } from "#tests/support/search_path.ts";

/** Where Debian's package and others keep the programs, each version in a directory of its own. */
const VERSIONS = "/usr/lib/rabbitmq/lib";

/** The directory of RabbitMQ's programs; `undefined`: the host does not have them. */
export function rabbitmqPrograms(): string | undefined {
  if (!exists(VERSIONS)) return undefined;
  return [...Deno.readDirSync(VERSIONS)].map(({ name }) => `${VERSIONS}/${name}/sbin`).find(exists);
}

async function outcome(program: string, ...args: string[]): Promise<{ code: number; text: string }> {
  const command = new Deno.Command(program, { args, stdin: "null", stdout: "piped", stderr: "piped" });
  const { code, stdout, stderr } = await command.output();
  return { code, text: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

/**
 * Starts it, and puts `rabbitmqctl` and `rabbitmq-plugins` that speak to it in front of PATH until it is disposed of.
 * @param programs From {@linkcode rabbitmqPrograms}.
 */
export async function startRabbitmq(programs: string): Promise<AsyncDisposable> {
  const directory = Deno.makeTempDirSync({ prefix: "rabbitmq_" });
  const mapperPort = freePort();
  const settings = {
    HOME: directory,
    ERL_EPMD_PORT: mapperPort,
    ERL_EPMD_ADDRESS: "127.0.0.1",
    RABBITMQ_NODENAME: `salt${mapperPort}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: "127.0.0.1",
    RABBITMQ_NODE_PORT: freePort(),
    RABBITMQ_DIST_PORT: freePort(),
    RABBITMQ_MNESIA_BASE: `${directory}/data`,
    RABBITMQ_LOG_BASE: `${directory}/log`,
    RABBITMQ_CONFIG_FILE: `${directory}/none`,
    RABBITMQ_ENABLED_PLUGINS_FILE: `${directory}/plugins`,
  };
  const exports = Object.entries(settings).map(([name, value]) => `export ${name}=${value}\n`).join("");
  for (const name of ["rabbitmqctl", "rabbitmq-plugins", "rabbitmq-server"]) {
    Deno.writeTextFileSync(`${directory}/${name}`, `#!/bin/sh\n${exports}exec ${programs}/${name} "$@"\n`, {
      mode: 0o755,
    });
  }
  Deno.writeTextFileSync(`${directory}/stop-mapper`, `#!/bin/sh\n${exports}exec epmd -kill\n`, { mode: 0o755 });
  const control = `${directory}/rabbitmqctl`;
  const path = new SearchPath(directory);
  const server = new Deno.Command(`${directory}/rabbitmq-server`, { stdin: "null", stdout: "null", stderr: "null" })
    .spawn();
  const stop = async () => {
    path[Symbol.dispose]();
    await outcome(control, "shutdown");
    await server.status;
    await outcome(`${directory}/stop-mapper`);
    Deno.removeSync(directory, { recursive: true });
  };
  try {
    await eventually(async () => (await outcome(control, "await_startup", "--timeout", "5")).code === 0, {
      what: "RabbitMQ's start",
      everyMs: 500,
    });
  } catch (error) {
    server.kill("SIGTERM");
    await stop();
    throw error;
  }
  return { [Symbol.asyncDispose]: stop };
}

/**
 * A master with the web console: without a section `rest_cherrypy`, the master serves it itself, on the loopback
 * address alone; with one, `salt-api` does.
 * @module
 */

import { ApiServer } from "./api_server.ts";
import { type ApiSettings, apiSettings } from "#lib/api/endpoints/api_settings.ts";
import { ConfigError, messageOf, PreflightError } from "#lib/errors.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { Service } from "#lib/commands/daemons/service.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";
import { hasUsers } from "#lib/auth/first_user.ts";
import { map } from "#lib/values/value.ts";
import { withConsoleClients } from "./console_endpoint.ts";

/** The port of a console that nothing else is said about. */
const CONSOLE_PORT = 8000;

/** What a console needs. */
export interface ConsoleParts {
  readonly opts: MasterOpts;
  readonly log: Logger;
  /** The port that it is served on by the master itself. Default: 8000. */
  readonly port?: number;
  /** Shows a line to the operator who started the master. */
  say(line: string): void;
}

/**
 * Starts the console beside a master. A console that cannot be served is reported; the master runs on without it.
 * @returns The master and the console as one service.
 */
export async function withConsole(
  master: Service,
  { opts, log, port = CONSOLE_PORT, say }: ConsoleParts,
): Promise<Service> {
  const tell = (line: string) => {
    log.info(line);
    say(`${line}\n`);
  };
  let server: ApiServer | undefined;
  try {
    const isOwn = opts.rest_cherrypy.size === 0;
    const section = isOwn ? map({ port, host: "127.0.0.1" }) : opts.rest_cherrypy;
    const { settings } = apiSettings(section);
    if (isOwn) server = await ApiServer.start(withConsoleClients(opts), { settings, log: log.named("salt.api") });
    const address = consoleAddress(settings, server?.port ?? settings.port);
    tell(isOwn ? `Web console: ${address}` : `Web console: ${address} as soon as salt-api runs`);
    if (!hasUsers(opts)) tell("Nobody may log in yet: salt-run auth.first_user makes a user (docs/console.md)");
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof PreflightError)) throw error;
    log.error(`The web console is not served: ${messageOf(error)}`);
    say(`The web console is not served: ${messageOf(error)}\n`);
  }
  if (server === undefined) return master;
  const console = server;
  return {
    closed: master.closed,
    describeThreads: async () => [...await master.describeThreads(), ...await console.describeThreads()],
    async close(budget: TimeBudget) {
      await console.close(budget);
      await master.close(budget);
    },
  };
}

/** Where a browser finds the console. */
function consoleAddress({ host, disable_ssl, ssl_crt }: ApiSettings, port: number): string {
  const name = host === "0.0.0.0" || host === "::" ? Deno.hostname() : host;
  const shown = name.includes(":") ? `[${name}]` : name;
  return `${disable_ssl || ssl_crt === null ? "http" : "https"}://${shown}:${port}/console/`;
}

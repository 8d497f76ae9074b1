/**
 * The program `salt-api`.
 * Source: Salt 3008.3 `salt/cli/api.py`.
 * @module
 */

import { type ApiSettings, apiSettings } from "#lib/api/endpoints/api_settings.ts";
import { ApiServer } from "./api_server.ts";
import { type ConfigRequest, type LoadedConfig, loadMasterConfig } from "#lib/config/load.ts";
import { withConsoleClients } from "./console_endpoint.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { preflightApi } from "#lib/commands/daemons/preflight.ts";
import { runService } from "#lib/commands/daemons/service.ts";
import { SALT_API } from "#lib/commands/daemons/service_options.ts";

/** The options of the master, with the API's own log and pid file, and what it serves. */
type ApiOpts = MasterOpts & { readonly api: ApiSettings };

function loadApiConfig(request: ConfigRequest = {}): LoadedConfig<ApiOpts> {
  const { opts, warnings, steps } = loadMasterConfig(request);
  const { settings, warnings: more } = apiSettings(opts.rest_cherrypy);
  const own = {
    pidfile: request.overrides?.pidfile === undefined ? opts.api_pidfile : opts.pidfile,
    log_file: request.overrides?.log_file === undefined ? opts.api_logfile : opts.log_file,
  };
  return { opts: { ...withConsoleClients(opts), ...own, api: settings }, warnings: [...warnings, ...more], steps };
}

/**
 * Runs `salt-api` until it ends.
 * @returns The exit code.
 */
export async function runSaltApi(args: readonly string[]): Promise<number> {
  return await runService<ApiOpts>({
    command: SALT_API,
    role: "master",
    load: loadApiConfig,
    preflight: preflightApi,
    start: (opts, log) => Promise.resolve(ApiServer.start(opts, { settings: opts.api, log: log.named("salt.api") })),
    umask: 0o077,
  }, args);
}

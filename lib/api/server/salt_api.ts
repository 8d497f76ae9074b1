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
import { oidcSettings } from "#lib/auth/oidc_settings.ts";
import { preflightApi } from "#lib/commands/daemons/preflight.ts";
import { runService } from "#lib/commands/daemons/service.ts";
import { SALT_API } from "#lib/commands/daemons/service_options.ts";
import { writeError, writeOut } from "#lib/commands/cli/process_io.ts";
import { openCommandLine } from "#lib/commands/cli/run_command.ts";
import { startUp } from "#lib/commands/cli/start_up.ts";
import { messageOf } from "#lib/errors.ts";
import { sanitize } from "#lib/text/terminal.ts";
import { asList, mapOrEmpty } from "#lib/values/shape.ts";
import { str } from "#lib/values/value.ts";

const MAKE_CERTIFICATE = "--make-certificate";

/** The options of the master, with the API's own log and pid file, and what it serves. */
type ApiOpts = MasterOpts & { readonly api: ApiSettings };

function loadApiConfig(request: ConfigRequest = {}): LoadedConfig<ApiOpts> {
  const { opts, warnings, steps } = loadMasterConfig(request);
  const { settings, warnings: more } = apiSettings(opts.rest_cherrypy);
  oidcSettings(opts);
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
  if (args.includes(MAKE_CERTIFICATE)) return await runMakeCertificate(args);
  return await runService<ApiOpts>({
    command: SALT_API,
    role: "master",
    load: loadApiConfig,
    preflight: preflightApi,
    start: (opts, log) => ApiServer.start(opts, { settings: opts.api, log: log.named("salt.api") }),
    umask: 0o077,
  }, args);
}

/** Makes a certificate, and says what to write into the configuration. */
async function runMakeCertificate(args: readonly string[]): Promise<number> {
  const opening = await openCommandLine(SALT_API, args, { write: writeOut, writeError });
  if ("exitCode" in opening) return opening.exitCode;
  const { certificateNames, makeApiCertificate } = await import("./make_certificate.ts");
  try {
    const { opts } = startUp(SALT_API, opening.parsed, { role: "master", load: loadMasterConfig });
    const section = mapOrEmpty(opts.rest_cherrypy);
    const names = certificateNames({
      host: str(section.get("host") ?? ""),
      api_hosts: asList(section.get("api_hosts") ?? []).map(str),
    });
    const { ssl_crt, ssl_key, authority } = await makeApiCertificate(`${opts.pki_dir}/api`, names);
    writeOut(
      `A certificate for ${names.join(", ")} is made. Its authority, which clients and browsers must trust:\n` +
        `${authority}\n\nIn the master's configuration:\n\nrest_cherrypy:\n  port: ${
          str(section.get("port") ?? 8000)
        }\n` +
        `  ssl_crt: ${ssl_crt}\n  ssl_key: ${ssl_key}\n\nA salt-api that runs with these files takes it within seconds.\n`,
    );
    return 0;
  } catch (error) {
    writeError(sanitize(`salt-api: ${messageOf(error)}\n`));
    return 1;
  }
}

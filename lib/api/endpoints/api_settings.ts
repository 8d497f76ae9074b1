/**
 * The section `rest_cherrypy` of the master's configuration, checked.
 * Source: Salt 3008.3 `salt/netapi/rest_cherrypy/app.py`; docs.saltproject.io, "rest_cherrypy".
 * @module
 */

import {
  boolOption,
  checkOption,
  dictOption,
  intOption,
  type Loaded,
  notNeeded,
  type Option,
  portOption,
  strOption,
  strsOption,
} from "#lib/config/option_types.ts";
import { ConfigError } from "#lib/errors.ts";
import { didYouMean } from "#lib/text/nearest_name.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** SaltGUI's pages have styles in them. */
const APP_POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** The options of the section. */
export const API_OPTIONS = {
  port: portOption(null, "Port to listen on; required."),
  host: strOption("0.0.0.0", "Address to listen on."),
  disable_ssl: boolOption(false, "Whether plain HTTP is served. On a loopback address it is without this too."),
  ssl_crt: strOption(null, "File of the certificate (PEM)."),
  ssl_key: strOption(null, "File of its private key (PEM)."),
  ssl_chain: strOption(null, "File of the certificates between it and the root (PEM)."),
  static: strOption(null, "Directory of files that are served under static_path."),
  static_path: strOption("/static", "Path of these files."),
  app: strOption(null, "A page that browsers get at app_path, and wherever they ask for HTML."),
  app_path: strOption("/app", "Path of that page."),
  webhook_url: strOption("/hook", "Path under which requests become events of the bus."),
  webhook_disable_auth: boolOption(false, "Whether they need no session."),
  stats_disable_auth: boolOption(false, "Whether /stats needs no session."),
  collect_stats: boolOption(false, "Whether /stats counts requests by path as well."),
  enable_sessions: boolOption(
    true,
    "Whether there are sessions: without them, /login, /minions and /jobs are not served.",
  ),
  api_acl: dictOption(new Map(), "users: names, each with the addresses from which that user may log in."),
  authorized_ips: strsOption([], "Addresses whose requests are answered; empty: all."),
  trusted_proxies: strsOption(
    [],
    "Addresses of proxies whose Forwarded, X-Forwarded-For, X-Forwarded-Proto and X-Forwarded-Host are believed.",
  ),
  root_prefix: strOption("/", "Path below which everything is served, for a proxy that leaves it in the path."),
  api_hosts: strsOption(
    [],
    "Names in Host that are answered, besides localhost, this host's own name and addresses; others: 421. Over TLS, empty: all.",
  ),
  cors_origins: strsOption(
    [],
    "Origins of other sites whose pages may read answers: https://x.example. Never with the cookie.",
  ),
  content_security_policy: strOption(
    APP_POLICY,
    "The header Content-Security-Policy of HTML files of app and static; empty: none.",
  ),
  metrics_token: strOption(
    null,
    "A secret with which /metrics is read, as a bearer: from other hosts, without a session.",
  ),
  max_request_body_size: intOption(1_048_576, "Bytes of a body.", { min: 1 }),
  session_idle_hours: intOption(10, "Hours without a request after which a session ends.", { min: 1 }),
  events_for_all: boolOption(false, "Whether every user sees every event at /events, as in Salt."),
  debug: notNeeded(boolOption(false, "No answer shows a stack trace; the log has it.")),
  thread_pool: notNeeded(intOption(100, "There are no threads for requests.")),
  queue_size: notNeeded(intOption(30, "The operating system queues connections.")),
  socket_queue_size: notNeeded(intOption(30, "As queue_size.")),
  expire_responses: notNeeded(boolOption(true, "No answer is kept by caches.")),
  log_access_file: notNeeded(strOption(null, "Requests are in the log, at the level info.")),
  log_error_file: notNeeded(strOption(null, "Errors are in the log.")),
  favicon: notNeeded(strOption(null, "Put it in the directory of static.")),
};

/** The checked section; the port is there. */
export type ApiSettings = Omit<Loaded<typeof API_OPTIONS>, "port"> & { readonly port: number };

/** A checked section, and warnings for the operator. */
export interface LoadedApiSettings {
  readonly settings: ApiSettings;
  readonly warnings: readonly string[];
}

/**
 * Checks the section.
 * @throws {ConfigError} With a sentence that says what to write, if it cannot be served.
 */
export function apiSettings(section: Value): LoadedApiSettings {
  if (!isMap(section) || section.size === 0) {
    throw new ConfigError("There is nothing to serve: the master's configuration has no section rest_cherrypy");
  }
  const warnings: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, option] of Object.entries<Option>(API_OPTIONS)) values[name] = optionValue(section, name, option);
  for (const name of section.keys()) {
    if (typeof name === "string" && Object.hasOwn(API_OPTIONS, name)) continue;
    const near = didYouMean(str(name), Object.keys(API_OPTIONS));
    warnings.push(`rest_cherrypy: there is no option ${str(name)}${near}`);
  }
  // The loop above has set every name of the table to a value of its type.
  const settings = values as Loaded<typeof API_OPTIONS>;
  const { port } = settings;
  if (port === null) throw new ConfigError("rest_cherrypy: port is required");
  checkTls(settings);
  return { settings: { ...settings, port }, warnings };
}

function optionValue(section: ValueMap, name: string, option: Option): unknown {
  if (!section.has(name)) return option.default;
  const checked = checkOption(option, section.get(name) ?? null);
  if ("problem" in checked) throw new ConfigError(`rest_cherrypy: ${name} ${checked.problem}`);
  return checked.value;
}

/** @throws {ConfigError} If others could read what is sent, and the operator has not said that they may. */
function checkTls({ host, disable_ssl, ssl_crt, ssl_key }: Loaded<typeof API_OPTIONS>): void {
  if ((ssl_crt === null) !== (ssl_key === null)) {
    throw new ConfigError("rest_cherrypy: ssl_crt and ssl_key are needed together");
  }
  if (ssl_crt === null && !disable_ssl && !isLoopback(host)) {
    throw new ConfigError(
      `rest_cherrypy: passwords would be sent in clear text to ${host}. Set ssl_crt and ssl_key, set host to ` +
        "127.0.0.1, or set disable_ssl: True if a proxy in front encrypts",
    );
  }
}

/** Whether the API itself speaks TLS. */
export function usesTls({ ssl_crt, disable_ssl }: Pick<ApiSettings, "ssl_crt" | "disable_ssl">): boolean {
  return ssl_crt !== null && !disable_ssl;
}

/** Whether an address is of this host alone. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

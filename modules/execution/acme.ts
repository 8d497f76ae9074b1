/**
 * Execution module `acme`: certificates of Let's Encrypt and of other authorities, by certbot.
 * Source: the functions of Salt 3006.28 `salt/modules/acme.py`, which Salt 3008 has no longer.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { CERTBOT_PARAMETERS } from "#lib/host/x509/certbot_parameters.ts";
import { directoriesIn } from "#lib/os/directory_names.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { strftime } from "#lib/text/strftime.ts";
import { asList, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

const PROGRAMS = ["certbot", "letsencrypt", "certbot-auto", "letsencrypt-auto", "/opt/letsencrypt/letsencrypt-auto"];

export const virtual: Virtual = {
  serves: [{
    programs: PROGRAMS,
    otherwise: "The ACME execution module cannot be loaded: letsencrypt-auto not installed.",
  }],
};

/** Where certbot keeps what is valid. */
const LIVE = "/etc/letsencrypt/live";
const DAY_MS = 86_400_000;

/** @throws {InvocationError} If the name is no name of a directory. */
function fileOf(name: string, kind: string): string {
  if (name.includes("/") || name.includes("\0") || name === ".." || name === "." || name === "") {
    throw new InvocationError(`Invalid name of a certificate: ${JSON.stringify(name)}`);
  }
  return `${LIVE}/${name}/${kind}.pem`;
}

/** The moment at which a certificate expires. */
async function expiry(name: string, context: JobContext): Promise<Date> {
  const read = mapOrEmpty(await context.call("x509.read_certificate", [fileOf(name, "cert")]));
  return new Date(`${str(read.get("not_after") ?? "").replace(" ", "T")}Z`);
}

/** Local time as Python's `isoformat` writes it. */
function isoformat(moment: Date): string {
  return strftime(moment, "%Y-%m-%dT%H:%M:%S");
}

function daysBefore(moment: Date, days: number): Date {
  return new Date(moment.getTime() - days * DAY_MS);
}

async function isDue(name: string, window: Value, context: JobContext): Promise<boolean> {
  const text = str(window).toLowerCase();
  if (truthy(window) && (text === "force" || text === "true")) return true;
  if (truthy(window) && !/^\d+$/.test(text)) {
    throw new InvocationError(
      'The argument "window", if provided, must be one of the following : True (boolean), "force" or "Force" (str) or a ' +
        "numerical value in days.",
    );
  }
  const days = truthy(window) ? Number(text) : 0;
  return daysBefore(await expiry(name, context), days).getTime() <= Date.now();
}

/** An option with its value, if there is one. */
function option(word: string, value: Value): string[] {
  return truthy(value) ? [word, checkedWord(str(value), word.slice(2))] : [];
}

/** What certbot is told, besides whether it renews. */
function requestWords(given: Readonly<Record<keyof typeof CERTBOT_PARAMETERS, Value>>, certname: string): string[] {
  const authenticator = truthy(given.webroot)
    ? ["--authenticator", "webroot", ...given.webroot === true ? [] : option("--webroot-path", given.webroot)]
    : given.dns_plugin === "cloudflare"
    ? [
      "--dns-cloudflare",
      ...["--dns-cloudflare-credentials", checkedWord(str(given.dns_plugin_credentials), "path")],
      ...["--dns-cloudflare-propagation-seconds", checkedWord(str(given.dns_plugin_propagate_seconds), "seconds")],
    ]
    : ["--authenticator", "standalone"];
  return [
    ...option("--server", given.server),
    ...option("--cert-name", certname),
    ...given.test_cert === true ? ["--test-cert"] : [],
    ...authenticator,
    ...option("--email", given.email),
    ...option("--rsa-key-size", given.keysize),
    ...option("--domains", given.name),
    ...given.aliases === null ? [] : asList(given.aliases).flatMap((alias) => option("--domains", alias)),
    ...option("--preferred-challenges", given.preferred_challenges),
    ...option("--tls-sni-01-port", given.tls_sni_01_port),
    ...option("--tls-sni-01-address", given.tls_sni_01_address),
    ...option("--http-01-port", given.http_01_port),
    ...option("--http-01-address", given.http_01_address),
  ];
}

export const cert: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Get a certificate, or renew it. name is its common name, aliases more names; webroot a directory or True, else certbot listens " +
      "itself, or dns_plugin=cloudflare with dns_plugin_credentials; renew=True, or days before its end; owner, group and mode are " +
      "those of the key. Return a map with `result` (None: unchanged), `comment` and `not_after`.",
    `acme.cert dev.example.com "[gitlab.example.com]" test_cert=True renew=14 webroot=/opt/gitlab/public`,
  ),
  permissions: "all",
  params: CERTBOT_PARAMETERS,
  async run(given, context) {
    const { name, server, test_cert } = given;
    const certname = given.certname ?? name;
    const file = fileOf(certname, "cert");
    const renews = isFile(file) && await isDue(certname, given.renew, context);
    if (server && test_cert) return map({ result: false, comment: "Use either server or test_cert, not both" });
    const program = PROGRAMS.map((one) => which(one)).find((path) => path !== undefined) ?? "certbot";
    const words = [
      ...[program, "certonly", "--non-interactive", "--agree-tos"],
      ...renews ? ["--renew-by-default"] : [],
      ...requestWords(given, certname),
    ];
    let result = await runProgram(words, context, { setsRetcode: true });
    if (result.retcode !== 0 && result.stderr.includes("expand")) {
      result = await runProgram([...words, "--expand"], context, { setsRetcode: true });
    }
    if (result.retcode !== 0) {
      return map({ result: false, comment: `Certificate ${name} renewal failed with:\n${result.stderr}` });
    }
    const isSame = result.stdout.includes("no action taken");
    const comment = isSame
      ? `Certificate ${file} unchanged`
      : `Certificate ${certname} ${renews ? "renewed" : "obtained"}`;
    const not_after = isoformat(await expiry(certname, context));
    const outcome = map({ comment, not_after, changes: {}, result: isSame ? null : true });
    const perms = [fileOf(certname, "privkey"), outcome, given.owner, given.group, given.mode];
    const checked = await context.call("file.check_perms", perms, map({ follow_symlinks: true }));
    const [withPerms] = Array.isArray(checked) ? checked : [outcome];
    // file.check_perms names the file.
    return isMap(withPerms) ? new Map([...withPerms].filter(([key]) => key !== "name")) : outcome;
  },
});

export const certs: ModuleFunction<JobContext> = fn({
  doc: describe("Return the names of the certificates.", "acme.certs"),
  permissions: "all",
  params: {},
  run: () => directoriesIn(LIVE),
});

const NAME = { name: p.str() };

export const has: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether there is a certificate.", "acme.has dev.example.com"),
  permissions: "all",
  params: NAME,
  run: ({ name }) => isFile(fileOf(name, "cert")),
});

export const info: ModuleFunction<JobContext> = fn({
  doc: describe("Return what is in a certificate.", "acme.info dev.example.com"),
  permissions: "all",
  params: NAME,
  async run({ name }, context): Promise<ValueMap> {
    const file = fileOf(name, "cert");
    return isFile(file) ? mapOrEmpty(await context.call("x509.read_certificate", [file])) : new Map();
  },
});

export const expires: ModuleFunction<JobContext> = fn({
  doc: describe("Return when a certificate expires, in ISO format and local time.", "acme.expires dev.example.com"),
  permissions: "all",
  params: NAME,
  run: async ({ name }, context) => isoformat(await expiry(name, context)),
});

export const renew_by: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return when a certificate is to be renewed: window days before it expires.",
    "acme.renew_by dev.example.com 14",
  ),
  permissions: "all",
  params: { ...NAME, window: p.any(null) },
  run: async ({ name, window }, context) =>
    isoformat(daysBefore(await expiry(name, context), window === null ? 0 : toNumber(window) ?? 0)),
});

export const needs_renewal: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a certificate is to be renewed: window days before it expires; always with window=True or force.",
    "acme.needs_renewal dev.example.com 14",
  ),
  permissions: "all",
  params: { ...NAME, window: p.any(null) },
  run: ({ name, window }, context) => isDue(name, window, context),
});

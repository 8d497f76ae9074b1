/**
 * Returner `webhook`: sends returns and events to a web service, as JSON by POST. With a secret, the header
 * `X-Salt-Signature` is `sha256=` and the HMAC of the body in hexadecimal digits, as web services sign and check it.
 * @module
 */

import { CommandError, UnstorableError } from "#lib/errors.ts";
import { HttpError, httpRequest } from "#lib/host/network/http_request.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { p } from "#lib/plugins/module.ts";
import { type ReturnerContext, returnerFn, type ReturnerFunction } from "#lib/plugins/returner.ts";
import { returnerJson } from "#lib/returners/fields.ts";
import { ReturnerOptions } from "#lib/returners/options.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Answers that say that this body will never be taken. */
const REFUSED_CONTENT = [400, 413, 422];

/** Seconds for one request if the option `webhook.timeout` is not set. */
const TIMEOUT_S = 30;

export const returner: ReturnerFunction = returnerFn({
  doc:
    "Send the return to the URL in the option webhook.url, as JSON. Options: webhook.url, .secret, .headers, .timeout, .verify_ssl, .ca_bundle.",
  params: { ret: p.dict() },
  permissions: "all",
  run: ({ ret }, context) => post(ret, context, ret),
});

export const event_return: ReturnerFunction = returnerFn({
  doc: 'Send events to the URL in the option webhook.url, as JSON: {"events": [{"tag": …, "data": …}, …]}.',
  params: { events: p.list() },
  permissions: "all",
  run: ({ events }, context) => post(map({ events }), context),
});

async function post(body: Value, context: ReturnerContext, ret?: ValueMap): Promise<null> {
  const options = new ReturnerOptions(["webhook"], context, ret);
  const text = returnerJson(body);
  const headers = new Map([["Content-Type", "application/json"]]);
  const configured = options.get("headers");
  if (isMap(configured)) { for (const [name, value] of configured) headers.set(str(name), str(value)); }
  const secret = options.text("secret");
  if (secret !== undefined) {
    const digest = nodeBuiltin("node:crypto").createHmac("sha256", secret).update(text).digest("hex");
    headers.set("X-Salt-Signature", `sha256=${digest}`);
  }
  const bundle = options.text("ca_bundle");
  const ca = bundle === undefined ? undefined : readTextFileIfExists(bundle);
  if (bundle !== undefined && ca === undefined) throw new CommandError(`webhook.ca_bundle: there is no file ${bundle}`);
  const { status, reason } = await httpRequest({
    url: options.required("url"),
    method: "POST",
    headers,
    body: text,
    verify: options.flag("verify_ssl", true),
    ...ca !== undefined && { ca },
    timeoutMs: (options.integer("timeout") ?? TIMEOUT_S) * 1000,
    signal: context.signal,
  });
  const answer = `The web service answered ${status} ${reason}`;
  if (REFUSED_CONTENT.includes(status)) throw new UnstorableError(answer);
  if (status < 200 || status > 299) throw new HttpError(answer);
  return null;
}

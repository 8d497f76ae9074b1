/**
 * Returner `smtp`: sends returns and events by mail. A subject is one line, whatever a return has in it.
 * Source: Salt 3007.15 `salt/returners/smtp_return.py`.
 * @module
 */

import { InvocationError, UnstorableError } from "#lib/errors.ts";
import { TemplateError } from "#lib/jinja/syntax/template_error.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { p } from "#lib/plugins/module.ts";
import { returnerFn, type ReturnerFunction } from "#lib/plugins/returner.ts";
import { ReturnerOptions } from "#lib/returners/options.ts";
import { renderReturn } from "#lib/returners/return_template.ts";
import { isMap, str, type ValueMap } from "#lib/values/value.ts";

/** Milliseconds until a server is given up: for the connection, its greeting, and each of its answers. */
const WAIT_MS = 30_000;

const CONTENT = [
  "id: {{ id }}",
  "function: {{ fun }}",
  "function args: {{ fun_args }}",
  "jid: {{ jid }}",
  "return: {{ return }}",
  "",
].join("\r\n");

/** Options that are not built, with the reason. */
const REFUSED = {
  gpgowner: "mails are not encrypted: use smtp.tls, or another returner",
  renderer: "templates are Jinja",
};

export const returner: ReturnerFunction = returnerFn({
  doc:
    "Send the return by mail. Options: smtp.from, .to, .host, .port, .username, .password, .tls, .subject, .fields, .template.",
  params: { ret: p.dict() },
  permissions: "all",
  run: ({ ret }, context) => send(ret, new ReturnerOptions(["smtp"], context, ret)),
});

export const event_return: ReturnerFunction = returnerFn({
  doc: "Send a mail for each event that has data.",
  params: { events: p.list() },
  permissions: "all",
  async run({ events }, context) {
    // Events have fields that minions choose: none of them is an option.
    const options = new ReturnerOptions(["smtp"], context);
    for (const event of events) {
      const data = isMap(event) ? event.get("data") : undefined;
      if (isMap(data) && data.size > 0) await send(data, options);
    }
    return null;
  },
});

async function send(ret: ValueMap, options: ReturnerOptions): Promise<null> {
  for (const [name, why] of Object.entries(REFUSED)) {
    const value = options.text(name);
    if (value !== undefined && value !== "jinja") throw new InvocationError(`smtp.${name} is not built: ${why}`);
  }
  const from = options.required("from"), to = options.required("to").split(",").map((address) => address.trim());
  const user = options.text("username"), pass = options.text("password");
  const library: typeof import("./_smtp_library.ts") = await import(
    new URL("./_smtp_library.ts", import.meta.url).href
  );
  const isTls = options.flag("tls");
  const transport = library.createTransport({
    host: options.required("host"),
    port: options.integer("port") ?? 25,
    // As Salt's option: the connection begins in clear, and turns to TLS before anything is sent.
    secure: false,
    requireTLS: isTls,
    ignoreTLS: !isTls,
    ...user !== undefined && pass !== undefined && { auth: { user, pass } },
    connectionTimeout: WAIT_MS,
    greetingTimeout: WAIT_MS,
    socketTimeout: WAIT_MS,
    // A return never names a file or URL to attach.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    await transport.sendMail({ from, to, ...await mailOf(ret, options) });
  } finally {
    transport.close();
  }
  return null;
}

/** @throws {UnstorableError} If the templates name a field that the return does not have. */
async function mailOf(ret: ValueMap, options: ReturnerOptions): Promise<{ subject: string; text: string }> {
  try {
    return { subject: await subjectOf(ret, options), text: await textOf(ret, options) };
  } catch (error) {
    if (error instanceof TemplateError) throw new UnstorableError(error.message, { cause: error });
    throw error;
  }
}

async function subjectOf(ret: ValueMap, options: ReturnerOptions): Promise<string> {
  const subject = await renderReturn(options.text("subject") ?? "Email from Salt", ret);
  const fields = options.text("fields")?.split(",").map((field) => field.trim()) ?? [];
  const values = fields.flatMap((field) => ret.has(field) ? [str(ret.get(field) ?? null)] : []);
  return [subject, ...values].join(" ").replaceAll(/\s+/g, " ");
}

async function textOf(ret: ValueMap, options: ReturnerOptions): Promise<string> {
  const path = options.text("template");
  if (path === undefined) return await renderReturn(CONTENT, ret);
  const template = readTextFileIfExists(path);
  if (template === undefined) throw new InvocationError(`smtp.template: there is no file ${path}`);
  return await renderReturn(template, ret);
}

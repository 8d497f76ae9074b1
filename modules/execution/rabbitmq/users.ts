/**
 * The functions of `rabbitmq` for users, their passwords, tags and permissions.
 * Source: Salt 3008.3 `salt/modules/rabbitmq.py`.
 * @module
 */

import { checkedOutput, control, ofVirtualHost, operands, rowsByName, RUNAS } from "./running.ts";
import { CommandError, JsonError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { ProgramResult } from "#lib/programs/run_program.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { asList, mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The first version that can check a password. */
const CHECKS_PASSWORDS = [3, 5, 7];

/** Tags as rabbitmqctl prints them: `[administrator, monitoring]`. */
function readTags(text: string): string[] {
  const inner = text.slice(1, -1);
  return text.includes(",") ? inner.split(",").map((tag) => tag.trim()) : inner.split(" ");
}

async function users(runas: string | null, context: JobContext): Promise<ValueMap> {
  const output = checkedOutput(await control(["list_users", "-q"], runas, context));
  return rowsByName(output, ["user", "tags"], readTags);
}

export const list_users: ModuleFunction<JobContext> = fn({
  doc: describe("Return the users with their tags.", "rabbitmq.list_users"),
  permissions: "all",
  params: RUNAS,
  run: ({ runas }, context) => users(runas, context),
});

export const user_exists: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a user exists.", "rabbitmq.user_exists rabbit_user"),
  permissions: "all",
  params: { name: p.str(), ...RUNAS },
  run: async ({ name, runas }, context) => (await users(runas, context)).has(name),
});

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/** A password of 15 letters and digits, of a generator for secrets. */
function temporaryPassword(): string {
  let text = "";
  while (text.length < 15) {
    const [byte] = crypto.getRandomValues(new Uint8Array(1));
    // The highest values would make some letters more likely than others.
    if (byte < 252) text += LETTERS[byte % LETTERS.length];
  }
  return text;
}

async function clearPassword(name: string, runas: string | null, context: JobContext): Promise<string> {
  return checkedOutput(await control(["clear_password", ...operands(name)], runas, context));
}

async function removeUser(name: string, runas: string | null, context: JobContext): Promise<string> {
  return checkedOutput(await control(["delete_user", ...operands(name)], runas, context));
}

export const add_user: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a user. One without a password cannot log in with one.",
    "rabbitmq.add_user rabbit_user password",
  ),
  permissions: "all",
  params: { name: p.str(), password: p.str(null), ...RUNAS },
  async run({ name, password, runas }, context) {
    // RabbitMQ wants a password, which is cleared at once.
    const words = ["add_user", ...operands(name, password ?? temporaryPassword())];
    const result = await control(words, runas, context, { secret: true });
    if (password === null && result.retcode === 0) {
      try {
        await clearPassword(name, runas, context);
      } catch (error) {
        // A user whose password nobody knows would be in the way of the next attempt.
        await removeUser(name, runas, context);
        throw error;
      }
    }
    return { Added: checkedOutput(result) };
  },
});

export const delete_user: ModuleFunction<JobContext> = fn({
  doc: describe("Delete a user.", "rabbitmq.delete_user rabbit_user"),
  permissions: "all",
  params: { name: p.str(), ...RUNAS },
  run: async ({ name, runas }, context) => ({ Deleted: await removeUser(name, runas, context) }),
});

export const change_password: ModuleFunction<JobContext> = fn({
  doc: describe("Change a user's password.", "rabbitmq.change_password rabbit_user password"),
  permissions: "all",
  params: { name: p.str(), password: p.str(), ...RUNAS },
  async run({ name, password, runas }, context) {
    const words = ["change_password", ...operands(name, password)];
    return { "Password Changed": checkedOutput(await control(words, runas, context, { secret: true })) };
  },
});

export const clear_password: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a user's password.", "rabbitmq.clear_password rabbit_user"),
  permissions: "all",
  params: { name: p.str(), ...RUNAS },
  run: async ({ name, runas }, context) => ({ "Password Cleared": await clearPassword(name, runas, context) }),
});

/** The version that `rabbitmqctl status` tells; zeros if it does not. */
function serverVersion(status: string): number[] {
  const found = /\{rabbit,"RabbitMQ","(.+)"\}/.exec(status) ?? /RabbitMQ version:\s*(.+)/.exec(status);
  const parts = found?.[1].split("-")[0].split(".").map(Number) ?? [];
  return parts.length < 3 || parts.some(Number.isNaN) ? [0, 0, 0] : parts;
}

function isAtLeast(version: readonly number[], wanted: readonly number[]): boolean {
  const at = wanted.findIndex((part, i) => version[i] !== part);
  return at < 0 || version[at] > wanted[at];
}

/** A text between the quotes of Erlang's `<<"…">>`. */
function erlangText(text: string): string {
  return text.replace(/[\\"]/g, "\\$&");
}

export const check_password: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a user's password is this one.", "rabbitmq.check_password rabbit_user password"),
  permissions: "all",
  params: { name: p.str(), password: p.str(), ...RUNAS },
  async run({ name, password, runas }, context) {
    const status = await control(["status"], runas, context, { joined: true });
    if (isAtLeast(serverVersion(status.stdout), CHECKS_PASSWORDS)) {
      const words = ["authenticate_user", ...operands(name, password)];
      const { retcode, stderr } = await control(words, runas, context, { secret: true });
      return retcode === 0 && stderr === "";
    }
    const check = `rabbit_auth_backend_internal:check_user_login(<<"${erlangText(name)}">>, ` +
      `[{password, <<"${erlangText(password)}">>}]).`;
    const answer = checkedOutput(await control(["eval", check], runas, context, { secret: true }));
    return !answer.includes("invalid credentials");
  },
});

export const set_permissions: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set a user's permissions in a virtual host: patterns of what may be configured, written and read.",
    "rabbitmq.set_permissions myvhost myuser",
  ),
  permissions: "all",
  params: { vhost: p.str(), user: p.str(), conf: p.str(".*"), write: p.str(".*"), read: p.str(".*"), ...RUNAS },
  async run({ vhost, user, conf, write, read, runas }, context) {
    const words = ["set_permissions", ...ofVirtualHost(vhost), ...operands(user, conf, write, read)];
    return { "Permissions Set": checkedOutput(await control(words, runas, context)) };
  },
});

/** Permissions as JSON, by one of their fields. */
function permissionsBy(field: string, { stdout, stderr }: ProgramResult): ValueMap {
  let rows: Value;
  try {
    rows = parseJson(stdout);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new CommandError(`RabbitMQ command failed: ${stderr || stdout}`);
  }
  return new Map(
    asList(rows).map((row): [Value, Value] => {
      const permissions = new Map(mapOrEmpty(row));
      const name = permissions.get(field) ?? null;
      permissions.delete(field);
      return [name, permissions];
    }),
  );
}

export const list_permissions: ModuleFunction<JobContext> = fn({
  doc: describe("Return the permissions in a virtual host, by user.", "rabbitmq.list_permissions /myvhost"),
  permissions: "all",
  params: { vhost: p.str(), ...RUNAS },
  async run({ vhost, runas }, context) {
    const words = ["list_permissions", "--formatter=json", ...ofVirtualHost(vhost)];
    return permissionsBy("user", await control(words, runas, context));
  },
});

export const list_user_permissions: ModuleFunction<JobContext> = fn({
  doc: describe("Return a user's permissions, by virtual host.", "rabbitmq.list_user_permissions user"),
  permissions: "all",
  params: { name: p.str(), ...RUNAS },
  async run({ name, runas }, context) {
    const format = "--formatter=json";
    const words = ["list_user_permissions", ...name.startsWith("-") ? [format, "--", name] : [name, format]];
    return permissionsBy("vhost", await control(words, runas, context));
  },
});

export const set_user_tags: ModuleFunction<JobContext> = fn({
  doc: describe("Set a user's tags, one or a list.", "rabbitmq.set_user_tags myadmin administrator"),
  permissions: "all",
  params: { name: p.str(), tags: p.any(), ...RUNAS },
  async run({ name, tags, runas }, context) {
    const words = ["set_user_tags", ...operands(name, ...asList(tags).map(str))];
    return map({ "Tag(s) set": checkedOutput(await control(words, runas, context)) });
  },
});

/**
 * Returner `syslog`: sends returns to the host's syslog, a line of JSON for each.
 * Source: Salt 3008.3 `salt/returners/syslog_return.py`; RFC 3164; syslog(3).
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { sendUnixDatagram } from "#lib/libc/unix_datagram.ts";
import { p } from "#lib/plugins/module.ts";
import { returnerFn, type ReturnerFunction } from "#lib/plugins/returner.ts";
import { returnerJson } from "#lib/returners/fields.ts";
import { ReturnerOptions } from "#lib/returners/options.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";

const LEVELS = ["EMERG", "ALERT", "CRIT", "ERR", "WARNING", "NOTICE", "INFO", "DEBUG"].map((name) => `LOG_${name}`);
const FACILITIES: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    ["KERN", "USER", "MAIL", "DAEMON", "AUTH", "SYSLOG", "LPR", "NEWS", "UUCP", "CRON", "AUTHPRIV", "FTP"].map((
      name,
      i,
    ) => [`LOG_${name}`, i]),
  ),
  ...Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`LOG_LOCAL${i}`, 16 + i])),
};
/** Options of syslog(3); only the process id changes what is sent. */
const OPTIONS = ["LOG_PID", "LOG_CONS", "LOG_NDELAY", "LOG_NOWAIT", "LOG_PERROR"];
/** Salt's limit of the tag. */
const MOST_TAG = 32;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const SOCKET = "/dev/log";

export const returner: ReturnerFunction = returnerFn({
  doc:
    "Send the return to syslog. Options: syslog.level (LOG_INFO), .facility (LOG_USER), .tag, .options (LOG_PID), .socket (/dev/log).",
  params: { ret: p.dict() },
  permissions: { ffi: true, read: true },
  run({ ret }, context) {
    const options = new ReturnerOptions(["syslog"], context, ret);
    const level = LEVELS.indexOf(options.text("level") ?? "LOG_INFO");
    if (level < 0) throw new InvocationError(`syslog.level is none of ${LEVELS.join(", ")}`);
    const facility = FACILITIES[options.text("facility") ?? "LOG_USER"];
    if (facility === undefined) {
      throw new InvocationError(`syslog.facility is none of ${Object.keys(FACILITIES).join(", ")}`);
    }
    const tag = options.text("tag") ?? "salt-minion";
    if (tag.length > MOST_TAG) throw new InvocationError(`syslog.tag has more than ${MOST_TAG} characters`);
    const pid = listed(options.get("options")).includes("LOG_PID") ? `[${Deno.pid}]` : "";
    const line = `<${facility * 8 + level}>${timestamp(new Date())} ${tag}${pid}: ${returnerJson(ret)}`;
    sendUnixDatagram(new TextEncoder().encode(line), options.text("socket") ?? SOCKET);
    return null;
  },
});

function listed(value: Value | undefined): string[] {
  const names = value === undefined || isMap(value) ? [] : (Array.isArray(value) ? value : [value]).map(str);
  const unknown = names.find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) throw new InvocationError(`syslog.options: ${unknown} is none of ${OPTIONS.join(", ")}`);
  return names;
}

function timestamp(now: Date): string {
  const two = (n: number, fill = "0") => String(n).padStart(2, fill);
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map((n) => two(n)).join(":");
  return `${MONTHS[now.getMonth()]} ${two(now.getDate(), " ")} ${time}`;
}

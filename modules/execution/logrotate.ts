/**
 * Execution module `logrotate`: the files of logrotate.
 * Source: the functions of Salt 3008.3 `salt/modules/logrotate.py`.
 * @module
 */

import { escapeRegex } from "#lib/regex/escape.ts";
import {
  type LogrotateSetting,
  type LogrotateStanza,
  parseLogrotate,
  stanzaText,
} from "#lib/host/etc_files/logrotate.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { asCommandError } from "#lib/os/command_error.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { compareStrings, map, str, truthy, type Value } from "#lib/values/value.ts";

/** What is in a file and in those that it includes; `include files` says which of them names what. */
type Conf = Map<string, LogrotateSetting | LogrotateStanza | Map<string, string[]>>;

/** How deep files may include others. */
const MAX_DEPTH = 8;

/** @throws {CommandError} If it cannot be read. */
function reading<T>(path: string, read: (path: string) => T): T {
  try {
    return read(path);
  } catch (error) {
    throw asCommandError(error, path);
  }
}

function namesIn(directory: string): string[] {
  return Array.from(Deno.readDirSync(directory), ({ name }) => name).sort(compareStrings);
}

function read(path: string, depth = 0): Conf {
  if (depth > MAX_DEPTH) throw new CommandError(`${path}: files of logrotate include each other`);
  const { settings, include } = parseLogrotate(reading(path, Deno.readTextFileSync));
  const conf: Conf = new Map(settings);
  if (include === undefined) return conf;
  const files = new Map<string, string[]>();
  for (const name of reading(include, namesIn)) {
    const included = read(`${include}/${name}`, depth + 1);
    for (const [key, value] of included) conf.set(key, value);
    files.set(name, [...included.keys()]);
  }
  return conf.set("include files", files);
}

const CONF = { conf_file: p.str("/etc/logrotate.conf") };

export const show_conf: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the contents of a logrotate configuration file and of those that it includes.",
    "logrotate.show_conf",
    "logrotate.show_conf conf_file=/etc/logrotate.d/syslog",
  ),
  permissions: { read: true },
  params: CONF,
  run: ({ conf_file }) => read(conf_file),
});

export const get: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a setting, or the settings of a log file, or one of these; False if it is not there.",
    "logrotate.get rotate",
    "logrotate.get /var/log/wtmp rotate",
  ),
  permissions: { read: true },
  params: { key: p.str(), value: p.str(null), ...CONF },
  run({ key, value, conf_file }) {
    const setting = read(conf_file).get(key) ?? false;
    if (!value || !(setting instanceof Map)) return setting;
    return setting.get(value) ?? false;
  },
});

function setting(value: Value): LogrotateSetting {
  return value === true || typeof value === "number" ? value : str(value);
}

/** Python's re.MULTILINE, and re.DOTALL besides. */
const MULTILINE = 8, MULTILINE_DOTALL = 24;

export const set_: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set a setting, or, with three arguments, a setting of a log file; False removes it. Return whether the file has it now.",
    "logrotate.set rotate 2",
    "logrotate.set /var/log/wtmp rotate 2",
  ),
  permissions: "all",
  params: { key: p.str(), value: p.any(), setting: p.any(null), ...CONF },
  async run({ key, value, setting: given, conf_file }, context) {
    if ([key, str(value), str(given)].some((word) => /[\r\n]/.test(word))) {
      throw new InvocationError("A setting is one line");
    }
    const conf = read(conf_file);
    const files = conf.get("include files");
    const file = files instanceof Map
      ? [...files].find(([, keys]) => Array.isArray(keys) && keys.includes(key))
      : undefined;
    const path = file === undefined ? conf_file : `${conf.get("include")}/${file[0]}`;
    const replace = (pattern: string, repl: string, more: Record<string, Value>) =>
      context.call(
        "file.replace",
        [path, pattern, repl],
        map({ backup: false, show_changes: false, ...more }),
      );
    const section = conf.get(key) ?? false;
    if (given === null) {
      if (section instanceof Map) {
        throw new InvocationError(
          `Error: ${key} includes a dict, and a specific setting inside the dict was not declared`,
        );
      }
      if (value === section) return true;
      const line = value === true ? key : truthy(value) ? `${key} ${str(value)}` : "";
      return await replace(`^${escapeRegex(key)}.*`, line.replaceAll("\\", "\\\\"), {
        flags: MULTILINE,
        prepend_if_not_found: true,
      });
    }
    if (section !== false && !(section instanceof Map)) {
      throw new InvocationError(
        "Error: A setting for a dict was declared, but the configuration line given is not a dict",
      );
    }
    const stanza: LogrotateStanza = new Map(section === false ? [] : [...section] as [string, LogrotateSetting][]);
    if (given === (stanza.get(str(value)) ?? false)) return true;
    if (truthy(given)) stanza.set(str(value), setting(given));
    else stanza.delete(str(value));
    return await replace(`^${escapeRegex(key)}.*?{.*?}`, stanzaText(key, stanza).replaceAll("\\", "\\\\"), {
      flags: MULTILINE_DOTALL,
      append_if_not_found: true,
    });
  },
});

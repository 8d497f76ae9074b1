/**
 * Execution module `locale`: the system's locale, and the available ones. Source: the functions of Salt 3008.3
 * `salt/modules/localemod.py` for Linux; it asks D-Bus where it has a library for it, here `localectl` is asked.
 * @module
 */

import { escapeRegex } from "#lib/regex/escape.ts";
import { callRunAll, runForText, runTool } from "./_file_host.ts";
import { CommandError, messageOf } from "#lib/errors.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { lexists } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { joinLocale, normalLocale, parseLocalectl, splitLocale } from "#lib/host/kernel/locales.ts";
import { map, str, toNumber, truthy } from "#lib/values/value.ts";

/** Whether systemd started this system. */
function isBooted(): boolean {
  return lexists("/run/systemd/system");
}

function grain(name: string, { grains }: JobContext): string {
  return str(grains.get(name) ?? "");
}

function release({ grains }: JobContext): number {
  return toNumber(grains.get("osmajorrelease") ?? null) ?? 0;
}

/** A locale's name, which becomes an argument and a line of files. */
function localeName(name: string): string {
  return checkedWord(/^[\w.@ -]+$/.test(name) ? name : "", "locale");
}

async function settings(context: JobContext): Promise<Map<string, string>> {
  if (which("localectl") === undefined) throw new CommandError('Unable to find "localectl"');
  const { stdout, stderr } = await runTool(context, ["localectl", "status"]);
  if (stderr.includes("Failed to connect to bus: No such file or directory")) {
    throw new CommandError('Command "localectl" is in a degraded state.');
  }
  return parseLocalectl(stdout);
}

export const list_avail: ModuleFunction<JobContext> = fn({
  doc: describe("Return the available locales.", "locale.list_avail"),
  permissions: "all",
  params: {},
  run: async (_bound, context) => (await runForText(context, ["locale", "-a"])).split("\n"),
});

/** The files that name the locale where systemd does not, by the family of the distribution, and the name in them. */
const FILES: Readonly<Record<string, { readonly path: string; readonly key: string; readonly quoted: boolean }>> = {
  Suse: { path: "/etc/sysconfig/language", key: "RC_LANG", quoted: true },
  RedHat: { path: "/etc/sysconfig/i18n", key: "LANG", quoted: true },
  Debian: { path: "/etc/default/locale", key: "LANG", quoted: true },
};

/** On SLES 12 other packages rewrite what localectl writes. */
function isOldSuse(context: JobContext): boolean {
  return grain("os_family", context) === "Suse" && release(context) === 12;
}

export const get_locale: ModuleFunction<JobContext> = fn({
  doc: describe("Return the system's locale.", "locale.get_locale"),
  permissions: "all",
  params: {},
  async run(_bound, context) {
    const family = grain("os_family", context);
    if (isBooted() && !isOldSuse(context)) return (await settings(context)).get("LANG") ?? "";
    if (family === "Gentoo") return (await runForText(context, ["eselect", "--brief", "locale", "show"])).trim();
    if (!Object.hasOwn(FILES, family)) {
      throw new CommandError(`Error: "${grain("oscodename", context)}" is unsupported!`);
    }
    const { path, key } = FILES[family];
    const line = new RegExp(`^${escapeRegex(key)}=(.*)$`, "m").exec(readTextFileIfExists(path) ?? "");
    return line?.[1].replaceAll('"', "") ?? "";
  },
});

async function replaceLine(path: string, key: string, line: string, { call }: JobContext): Promise<void> {
  if (await call("file.file_exists", [path]) !== true) await call("file.touch", [path]);
  await call("file.replace", [path, `^${key}=.*`, line], map({ append_if_not_found: true }));
}

async function setByLocalectl(locale: string, context: JobContext): Promise<boolean> {
  const wanted = new Map([...await settings(context), ["LANG", locale]]);
  const words = [...wanted].map(([key, value]) => `${key}=${value}`);
  if ((await runTool(context, ["localectl", "set-locale", ...words])).retcode === 0) return true;
  // In a container localectl may have no service to ask.
  await replaceLine("/etc/locale.conf", "LANG", `LANG=${locale}`, context);
  return true;
}

export const set_locale: ModuleFunction<JobContext> = fn({
  doc: describe("Set the system's locale. Return whether this succeeded.", "locale.set_locale 'en_US.UTF-8'"),
  permissions: "all",
  params: { locale: p.str() },
  async run({ locale }, context) {
    const name = localeName(locale);
    const family = grain("os_family", context);
    // From Debian 13 on update-locale is the way.
    const isNewDebian = family === "Debian" && release(context) >= 13;
    if (isBooted() && !isOldSuse(context) && !isNewDebian) return await setByLocalectl(name, context);
    if (family === "Gentoo") {
      return (await runTool(context, ["eselect", "--brief", "locale", "set", name])).retcode === 0;
    }
    if (!Object.hasOwn(FILES, family)) throw new CommandError("Error: Unsupported platform!");
    if (family === "Debian") {
      const update = which("update-locale");
      if (update === undefined) throw new CommandError('Cannot set locale: "update-locale" was not found.');
      await runTool(context, [update]);
    }
    const { path, key } = FILES[family];
    await replaceLine(path, key, `${key}="${name}"`, context);
    return true;
  },
});

export const avail: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a locale is available.", "locale.avail 'en_US.UTF-8'"),
  permissions: "all",
  params: { locale: p.str() },
  async run({ locale }, context) {
    const wanted = normalLocale(locale);
    return (await runForText(context, ["locale", "-a"])).split("\n").some((one) => normalLocale(one.trim()) === wanted);
  },
});

/**
 * Whether the system supports this locale.
 * @throws {CommandError} If that is not known.
 */
function isSupported(locale: string, place: string, context: JobContext): boolean {
  if (grain("os", context) === "Debian" || grain("os_family", context) === "Gentoo") {
    return (readTextFileIfExists("/usr/share/i18n/SUPPORTED") ?? "").split("\n").includes(locale);
  }
  const directory = grain("os_family", context) === "Suse" ? "/usr/share/locale" : "/usr/share/i18n/locales";
  try {
    return Array.from(Deno.readDirSync(directory), ({ name }) => name).includes(place);
  } catch (error) {
    context.log("error", messageOf(error));
    throw new CommandError(`Locale "${locale}" is not available.`);
  }
}

export const gen_locale: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Generate a locale. Return whether this succeeded, or, with verbose=True, the program's result.",
    "locale.gen_locale en_US.UTF-8",
    "locale.gen_locale 'en_IE.UTF-8 UTF-8'",
  ),
  permissions: "all",
  params: { locale: p.str() },
  varKwargs: "kwargs",
  async run({ locale }, context, { kwargs }) {
    const isUbuntu = grain("os", context) === "Ubuntu", isGentoo = grain("os_family", context) === "Gentoo";
    const given = splitLocale(localeName(locale));
    const parts = given.charmap === "" && !isUbuntu ? { ...given, charmap: given.codeset } : given;
    const name = joinLocale(parts);
    const place = `${parts.language}_${parts.territory}`;
    if (!isSupported(name, place, context)) {
      context.log("error", `The provided locale "${name}" is not found`);
      return false;
    }
    const append = map({ append_if_not_found: true });
    if (lexists("/etc/locale.gen")) {
      const pattern = `^\\s*#\\s*${escapeRegex(name)}\\s*$`;
      await context.call("file.replace", ["/etc/locale.gen", pattern, `${name}\n`], append);
    } else if (isUbuntu) {
      const file = `/var/lib/locales/supported.d/${parts.language}`;
      await context.call("file.touch", [file]);
      await context.call("file.replace", [file, name, name], append);
    }
    const verbose = truthy(kwargs.get("verbose") ?? null);
    const words = generateWords({ name, place, codeset: parts.codeset, isUbuntu, isGentoo, verbose });
    const result = await callRunAll(context, words);
    const isDone = result.get("retcode") === 0;
    if (!isDone) context.log("error", str(result.get("stderr") ?? ""));
    return verbose ? result : isDone;
  },
});

function generateWords({ name, place, codeset, isUbuntu, isGentoo, verbose }: {
  readonly name: string;
  readonly place: string;
  readonly codeset: string;
  readonly isUbuntu: boolean;
  readonly isGentoo: boolean;
  readonly verbose: boolean;
}): string[] {
  if (which("locale-gen") !== undefined) {
    return ["locale-gen", ...isGentoo ? ["--generate"] : [], isUbuntu ? normalLocale(name) : name];
  }
  if (which("localedef") === undefined) {
    throw new CommandError('Command "locale-gen" or "localedef" was not found on this system.');
  }
  const words = ["localedef", "--force", "-i", place, "-f", codeset, `${place}.${codeset}`];
  return [...words, verbose ? "--verbose" : "--quiet"];
}

/**
 * Execution module `ini`: files of sections and options.
 * Source: the functions of Salt 3008.3 `salt/modules/ini_manage.py`.
 * @module
 */

import { IniSection } from "#lib/host/etc_files/ini_file.ts";
import { replaceFile } from "#lib/host/filesystem/contents.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import { CommandError } from "#lib/errors.ts";
import { sameBytes } from "#lib/crypto/same_bytes.ts";
import { readFileIfExists } from "#lib/os/atomic_file.ts";
import { asCommandError } from "#lib/os/command_error.ts";
import { lexists } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { encodeText, textDecoder } from "#lib/text/encoding.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { str, type Value } from "#lib/values/value.ts";

const HOW = { separator: p.str("="), encoding: p.str(null) };

interface How {
  readonly file_name: string;
  readonly separator: string;
  readonly encoding: string | null;
  readonly no_spaces?: boolean;
}

function open({ file_name, separator, encoding, no_spaces: noSpaces }: How): IniSection {
  const path = realPath(file_name);
  if (!lexists(path)) return IniSection.parse("", { separator, noSpaces });
  try {
    const { text, exact } = textDecoder(encoding)(Deno.readFileSync(path));
    if (!exact) {
      throw new CommandError(`Unable to open file '${file_name}'. Exception: it is not valid ${encoding ?? "utf-8"}`);
    }
    return IniSection.parse(text, { separator, noSpaces });
  } catch (error) {
    throw asCommandError(error, file_name, `Unable to open file '${file_name}'. Exception: `);
  }
}

function save(file: IniSection, { file_name, encoding }: How): void {
  try {
    const path = realPath(file_name);
    const bytes = encodeText(file.text(), encoding);
    // Salt writes the same again; here what changes nothing leaves the file as it is, with its times.
    const before = readFileIfExists(path);
    if (before === undefined || !sameBytes(before, bytes)) replaceFile(path, bytes);
  } catch (error) {
    throw asCommandError(error, file_name, `Unable to write file '${file_name}'. Exception: `);
  }
}

/** The name of a section; empty for what is outside of sections. */
function sectionName(given: Value): string {
  return given === null ? "" : str(given);
}

function plain(value: string | IniSection | undefined): Value {
  if (value === undefined) return null;
  return typeof value === "string" ? value : value.values({ comments: true });
}

export const set_option: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set options, of sections (maps) or outside of them, and return what changed. With `no_spaces`, there are no spaces around the separator.",
    "ini.set_option /path/to/ini '{section_foo: {key: value}}'",
  ),
  permissions: "all",
  params: { file_name: p.str(), sections: p.any(null), ...HOW, no_spaces: p.bool(false) },
  run: ({ sections, ...how }) => {
    const file = open(how);
    const changes = file.update(mapOrEmpty(sections));
    save(file, how);
    return changes;
  },
});

export const get_option: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return an option of a section, or, with an empty section, an option outside of sections; None if there is none.",
    "ini.get_option /path/to/ini section_name option_name",
  ),
  permissions: { read: true },
  params: { file_name: p.str(), section: p.any(), option: p.str(), ...HOW },
  run: ({ section: given, option, ...how }) => {
    const file = open(how), section = sectionName(given);
    if (section === "") return plain(file.get(option));
    const content = file.get(section);
    return content instanceof IniSection ? plain(content.get(option)) : null;
  },
});

export const remove_option: ModuleFunction<JobContext> = fn({
  doc: describe("Remove an option, and return what it was.", "ini.remove_option /path/to/ini section_name option_name"),
  permissions: "all",
  params: { file_name: p.str(), section: p.any(), option: p.str(), ...HOW },
  run: ({ section, option, ...how }) => {
    const file = open(how);
    const content = file.get(sectionName(section));
    const removed = content instanceof IniSection ? content.remove(option) : file.remove(option);
    save(file, how);
    return plain(removed);
  },
});

export const get_section: ModuleFunction<JobContext> = fn({
  doc: describe("Return the options of a section.", "ini.get_section /path/to/ini section_name"),
  permissions: { read: true },
  params: { file_name: p.str(), section: p.str(), ...HOW },
  run: ({ section, ...how }) => {
    const content = open(how).get(section);
    return content instanceof IniSection ? content.values({ comments: false }) : new Map();
  },
});

export const remove_section: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove a section, and return its options; None if there is none.",
    "ini.remove_section /path/to/ini section_name",
  ),
  permissions: "all",
  params: { file_name: p.str(), section: p.str(), ...HOW },
  run: ({ section, ...how }) => {
    const file = open(how);
    const removed = file.get(section);
    if (!(removed instanceof IniSection)) return null;
    file.remove(section);
    save(file, how);
    return removed.values({ comments: false });
  },
});

export const get_ini: ModuleFunction<JobContext> = fn({
  doc: describe("Return all sections with their options, and the options outside of them.", "ini.get_ini /path/to/ini"),
  permissions: { read: true },
  params: { file_name: p.str(), ...HOW },
  run: (how) => open(how).values({ comments: false }),
});

/**
 * The functions of the module `mount` for tables of mounts: `/etc/fstab`, `/etc/vfstab`, maps of the automounter.
 * `filesystems` and its like are for AIX, and do nothing here. Source: the functions of Salt 3008.3
 * `salt/modules/mount.py`.
 * @module
 */

import { runTool } from "#modules/execution/_file_host.ts";
import { CommandError } from "#lib/errors.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p, type Rest } from "#lib/plugins/module.ts";
import { automounts, automountWords, removeAutomount, setAutomount } from "#lib/host/storage/automounts.ts";
import { FSTAB, removeEntry, setEntry, tableEntries, type TableForm, VFSTAB } from "#lib/host/storage/fstab.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { textOrNull } from "#lib/values/shape.ts";
import { str, truthy, type Value } from "#lib/values/value.ts";

function tableFunction(name: string, file: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Return the entries of ${file}, by where they are mounted.`, `mount.${name}`),
    permissions: { read: true },
    params: { config: p.str(file) },
    run: ({ config }) => tableEntries(config),
  });
}

export const fstab: ModuleFunction<JobContext> = tableFunction("fstab", "/etc/fstab");

export const vfstab: ModuleFunction<JobContext> = tableFunction("vfstab", "/etc/vfstab");

function removingFunction(name: string, file: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Remove the entries with that name and device from ${file}.`, `mount.${name} /mnt/foo /dev/sdg`),
    permissions: "all",
    params: { name: p.str(), device: p.any(), config: p.str(file) },
    run({ name, device, config }) {
      removeEntry(config, { name, device: textOrNull(device) });
      return true;
    },
  });
}

export const rm_fstab: ModuleFunction<JobContext> = removingFunction("rm_fstab", "/etc/fstab");

export const rm_vfstab: ModuleFunction<JobContext> = removingFunction("rm_vfstab", "/etc/vfstab");

/** Whether nothing is to be written: `test`, in whatever spelling. */
function isTest(test: boolean, { kwargs }: Rest): boolean {
  return test || [...kwargs].some(([key, value]) => str(key).toLowerCase() === "test" && isTrue(value));
}

function joinOptions(opts: Value): string {
  return Array.isArray(opts) ? opts.map(str).join(",") : str(opts);
}

interface Settings {
  readonly config: string;
  readonly test: boolean;
  readonly match_on: Value;
  readonly not_change: boolean;
}

function set(form: TableForm, entry: Record<string, string>, settings: Settings, rest: Rest): string {
  const { config, match_on, not_change } = settings;
  if (!Array.isArray(match_on) && typeof match_on !== "string") {
    throw new CommandError("match_on must be a string or list of strings");
  }
  return setEntry(config, {
    form,
    entry,
    matchOn: match_on === "auto" ? "auto" : Array.isArray(match_on) ? match_on.map(str) : [match_on],
    notChange: not_change,
    test: isTest(settings.test, rest),
  });
}

const SETTING_DOC =
  "Return new, change or present. match_on is a field, or a list of fields, that tell which line is meant; auto takes the\n" +
  "device, or the name of a file system that has none. With not_change=True a line that is there stays as it is, with test=True\n" +
  "nothing is written.";

const MATCHING = { test: p.bool(false), match_on: p.any("auto"), not_change: p.bool(false) };

export const set_fstab: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Set an entry of /etc/fstab; it replaces the entry that matches. ${SETTING_DOC}`,
    "mount.set_fstab /mnt/foo /dev/sdz1 ext4",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    device: p.str(),
    fstype: p.str(),
    opts: p.any("defaults"),
    dump: p.any(0),
    pass_num: p.any(0),
    config: p.str("/etc/fstab"),
    ...MATCHING,
  },
  varKwargs: "kwargs",
  run({ name, device, fstype, opts, dump, pass_num, ...settings }, _context, rest) {
    const unescapeSpaces = (given: string) => given.replaceAll("\\ ", "\\040");
    return set(
      FSTAB,
      {
        name,
        device: unescapeSpaces(device),
        fstype,
        opts: unescapeSpaces(joinOptions(opts)),
        dump: str(dump),
        pass_num: str(pass_num),
      },
      settings,
      rest,
    );
  },
});

export const set_vfstab: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Set an entry of /etc/vfstab, the table of Solaris; it replaces the entry that matches. ${SETTING_DOC}`,
    "mount.set_vfstab /mnt/foo /device/c0t0d0p0 ufs",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    device: p.str(),
    fstype: p.str(),
    opts: p.any("-"),
    device_fsck: p.str("-"),
    pass_fsck: p.any("-"),
    mount_at_boot: p.any("yes"),
    config: p.str("/etc/vfstab"),
    ...MATCHING,
  },
  varKwargs: "kwargs",
  run({ name, device, fstype, opts, device_fsck, pass_fsck, mount_at_boot, ...settings }, _context, rest) {
    const boot = mount_at_boot === "yes" ? "yes" : "no";
    const entry = {
      name,
      device,
      fstype,
      opts: joinOptions(opts),
      device_fsck,
      pass_fsck: str(pass_fsck),
      mount_at_boot: boot,
    };
    return set(VFSTAB, entry, settings, rest);
  },
});

export const automaster: ModuleFunction<JobContext> = fn({
  doc: describe("Return the entries of the automounter's map, by where they are mounted.", "mount.automaster"),
  permissions: { read: true },
  params: { config: p.str("/etc/auto_salt") },
  run: ({ config }) => automounts(config),
});

export const rm_automaster: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove an entry of the automounter's map, and reload the map.",
    "mount.rm_automaster /mnt/foo /dev/sdg",
  ),
  permissions: "all",
  params: { name: p.str(), device: p.any(), config: p.str("/etc/auto_salt") },
  async run({ name, device, config }, context) {
    const removed = removeAutomount(config, { name, device: truthy(device) ? str(device) : "" });
    if (removed) await runTool(context, ["automount", "-cv"], { joined: true });
    return true;
  },
});

export const set_automaster: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set an entry of the automounter's map, which is made, and named in /etc/auto_master, if it is not there. Return new,\n" +
      "change or present.",
    "mount.set_automaster /mnt/foo /dev/sdz1 ext4",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    device: p.str(),
    fstype: p.str(),
    opts: p.any(""),
    config: p.str("/etc/auto_salt"),
    test: p.bool(false),
    not_change: p.bool(false),
  },
  varKwargs: "kwargs",
  async run({ name, device, fstype, opts, config, test, not_change }, { call }, rest) {
    const isOnlyTest = isTest(test, rest);
    const words = automountWords({ name, device, fstype, opts: joinOptions(opts) });
    // Salt makes the file in a test, too.
    if (!isFile(config) && !isOnlyTest) {
      await call("file.touch", [config]);
      await call("file.append", ["/etc/auto_master", `/-\t\t\t${config}`]);
    }
    return setAutomount(config, words, { notChange: not_change, test: isOnlyTest });
  },
});

/** Of AIX alone. */
export const filesystems: ModuleFunction<JobContext> = fn({
  doc: describe("Return an empty map: /etc/filesystems is a file of AIX.", "mount.filesystems"),
  params: { config: p.str("/etc/filesystems") },
  run: () => new Map(),
});

export const set_filesystems: ModuleFunction<JobContext> = fn({
  doc: describe("Return None: /etc/filesystems is a file of AIX.", "mount.set_filesystems /mnt/foo /dev/sdz1 jfs2"),
  params: {
    name: p.str(),
    device: p.str(),
    vfstype: p.str(),
    opts: p.any("-"),
    mount: p.any("true"),
    config: p.str("/etc/filesystems"),
    ...MATCHING,
  },
  varKwargs: "kwargs",
  run: () => null,
});

export const rm_filesystems: ModuleFunction<JobContext> = fn({
  doc: describe("Return False: /etc/filesystems is a file of AIX.", "mount.rm_filesystems /mnt/foo /dev/sdg"),
  params: { name: p.str(), device: p.str(), config: p.str("/etc/filesystems") },
  run: () => false,
});

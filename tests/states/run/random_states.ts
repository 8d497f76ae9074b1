/**
 * Random states of every module that works in a scratch directory: files, settings, archives, repositories, keys,
 * commands. They need not make sense. A seed gives the same states each time. They change nothing outside of the
 * directory.
 * @module
 */

import type { Random } from "#tests/fuzz/mutate.ts";

/** A state: the function's full name, and its arguments. */
export interface RandomState {
  readonly fun: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The paths for the states. */
export interface Place {
  /** The directory that they change. */
  readonly host: string;
  /** A bare git repository with a commit on `main`. */
  readonly repository: string;
}

/** Names below the directory, shared by files, directories and missing paths. */
const NAMES = ["a", "b", "c.ini", "d", "d/e", "d/f", "g/h/i", "link", "dangling"];

const TEXTS = ["", "one\n", "one\ntwo\nthree\n", "no newline", "x = 1\ny = 2\n", "# begin\nold\n# end\n", "ünïcode\n"];

const INI = ["[one]\nx = 1\n", "top = 0\n[one]\nx = 1\ny = 2\n[two]\nz = 3\n"];

const KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIKmUoIK7GoCsZl6pWQjUdIeRkKyEUe2sHcGkJYWZdS8B";

type Make = (random: Random, place: Place) => Readonly<Record<string, unknown>>;

const name = (random: Random, { host }: Place) => `${host}/${random.pick(NAMES)}`;
const flag = (random: Random) => random.chance(0.5);
const text = (random: Random) => random.pick(TEXTS);
const mode = (random: Random) => random.pick(["0644", "0600", "755", "keep"]);

/** A random selection of the arguments, each with probability one half. */
function some(random: Random, all: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(all).filter(() => random.chance(0.4)));
}

/** Functions that run without other programs. */
const QUICK: Readonly<Record<string, Make>> = {
  "file.managed": (random, place) => ({
    name: name(random, place),
    ...random.pick([{ contents: text(random) }, { source: "salt://one.txt" }, { source: "salt://none.txt" }, {
      source: "salt://t.jinja",
      template: "jinja",
    }, {}]),
    ...some(random, {
      mode: random.pick(["0644", "0600"]),
      makedirs: true,
      backup: "minion",
      replace: flag(random),
      show_changes: flag(random),
      follow_symlinks: flag(random),
      create: flag(random),
      dir_mode: "0750",
    }),
  }),
  "file.directory": (random, place) => ({
    name: name(random, place),
    ...some(random, {
      makedirs: true,
      clean: true,
      force: true,
      dir_mode: "0711",
      file_mode: "0604",
      recurse: ["mode"],
      backupname: `${place.host}/old`,
    }),
  }),
  "file.symlink": (random, place) => ({
    name: name(random, place),
    target: name(random, place),
    ...some(random, { force: true, makedirs: true, backupname: `${place.host}/old`, atomic: true }),
  }),
  "file.hardlink": (random, place) => ({
    name: name(random, place),
    target: name(random, place),
    ...some(random, { force: true, makedirs: true }),
  }),
  "file.absent": (random, place) => ({ name: name(random, place) }),
  "file.exists": (random, place) => ({ name: name(random, place) }),
  "file.missing": (random, place) => ({ name: name(random, place) }),
  "file.pruned": (random, place) => ({ name: name(random, place), recurse: flag(random) }),
  "file.touch": (random, place) => ({ name: name(random, place), ...some(random, { makedirs: true }) }),
  "file.append": (random, place) => ({
    name: name(random, place),
    ...random.pick([{ text: text(random) }, { text: ["one", "four"] }, { source: "salt://one.txt" }]),
    ...some(random, { makedirs: true, ignore_whitespace: flag(random) }),
  }),
  "file.prepend": (random, place) => ({
    name: name(random, place),
    text: ["zero", "one"],
    ...some(random, { makedirs: true, header: true }),
  }),
  "file.replace": (random, place) => ({
    name: name(random, place),
    pattern: random.pick(["^one$", "t\\w+", "missing"]),
    repl: random.pick(["1", "other \\\\0"]),
    ...some(random, {
      append_if_not_found: true,
      prepend_if_not_found: true,
      backup: random.pick([false, ".bak"]),
      ignore_if_missing: true,
    }),
  }),
  "file.line": (random, place) => ({
    name: name(random, place),
    content: random.pick(["two", "five"]),
    mode: random.pick(["ensure", "delete", "insert", "replace"]),
    ...random.pick([{ after: "one" }, { before: "two" }, { location: "end" }, { match: "two" }]),
    ...some(random, { create: true, backup: true }),
  }),
  "file.blockreplace": (random, place) => ({
    name: name(random, place),
    marker_start: "# begin",
    marker_end: "# end",
    content: text(random),
    ...some(random, { append_if_not_found: true, backup: random.pick([false, ".bak"]) }),
  }),
  "file.comment": (random, place) => ({
    name: name(random, place),
    regex: "^one",
    ...some(random, { backup: ".bak" }),
  }),
  "file.uncomment": (random, place) => ({
    name: name(random, place),
    regex: "begin",
    ...some(random, { backup: ".b" }),
  }),
  "file.keyvalue": (random, place) => ({
    name: name(random, place),
    key_values: { x: "5", z: "6" },
    separator: " = ",
    ...some(random, { append_if_not_found: true, ignore_if_missing: true }),
  }),
  "file.copy": (random, place) => ({
    name: name(random, place),
    source: name(random, place),
    ...some(random, { force: true, makedirs: true, preserve: true, subdir: true }),
  }),
  "file.rename": (random, place) => ({
    name: name(random, place),
    source: name(random, place),
    ...some(random, { force: true, makedirs: true }),
  }),
  "file.recurse": (random, place) => ({
    name: name(random, place),
    source: random.pick(["salt://tree", "salt://none"]),
    ...some(random, {
      clean: true,
      file_mode: mode(random),
      dir_mode: "0750",
      include_empty: true,
      template: "jinja",
      force_symlinks: true,
      keep_symlinks: true,
    }),
  }),
  "file.serialize": (random, place) => ({
    name: name(random, place),
    dataset: { x: { y: [1, "2"] } },
    serializer: random.pick(["yaml", "json", "configparser"]),
    ...some(random, { merge_if_exists: true, makedirs: true, backup: "minion", create: flag(random) }),
  }),
  "file.tidied": (random, place) => ({
    name: name(random, place),
    age: 0,
    matches: [".*"],
    ...some(random, { rmdirs: true, size: 0 }),
  }),
  "file.retention_schedule": (random, place) => ({ name: name(random, place), retain: { most_recent: 1 } }),
  "file.decode": (random, place) => ({ name: name(random, place), encoded_data: "b25lCg==", encoding_type: "base64" }),
  "ini.options_present": (random, place) => ({
    name: name(random, place),
    sections: random.pick([{ one: { x: "1" } }, { one: { x: "2", n: "3" }, three: { q: "1" } }]),
    ...some(random, { strict: true, separator: "=" }),
  }),
  "ini.options_absent": (random, place) => ({ name: name(random, place), sections: { one: ["x", "none"] } }),
  "ini.sections_present": (random, place) => ({ name: name(random, place), sections: ["one", "nine"] }),
  "ini.sections_absent": (random, place) => ({ name: name(random, place), sections: ["one", "nine"] }),
  "host.present": (random) => ({
    name: "web1",
    ip: random.pick(["10.0.0.1", ["10.0.0.1", "10.0.0.2"]]),
    clean: flag(random),
  }),
  "host.absent": () => ({ name: "old", ip: "10.0.0.9" }),
  "host.only": () => ({ name: "10.0.0.9", hostnames: ["new"] }),
  "ssh_auth.present": (random, place) => ({ name: KEY, user: "root", enc: "ssh-ed25519", config: name(random, place) }),
  "ssh_auth.absent": (random, place) => ({ name: KEY, user: "root", config: name(random, place) }),
  "sysctl.present": (random, place) => ({ name: "vm.swappiness", value: 13, config: name(random, place) }),
  "logrotate.set": (random, place) => ({ name: "r", key: "rotate", value: "7", conf_file: name(random, place) }),
  "mount.fstab_present": (random, place) => ({
    name: "/dev/none",
    fs_file: "/none",
    fs_vfstype: "ext4",
    config: name(random, place),
    mount: false,
  }),
  "mount.fstab_absent": (random, place) => ({ name: "/dev/sda1", fs_file: "/", config: name(random, place) }),
  "grains.present": (random) => ({ name: "made", value: random.int(3), ...some(random, { force: true }) }),
  "grains.absent": (random) => ({ name: "made", ...some(random, { destructive: true }) }),
  "grains.append": () => ({ name: "list", value: "x" }),
  "environ.setenv": () => ({ name: "SALT_NOT_SET_BY_A_PLAN", value: "x" }),
  "cmd.run": (random, place) => ({
    name: `touch ${place.host}/made`,
    ...some(random, { creates: name(random, place), cwd: place.host }),
  }),
  "cmd.script": (random, place) => ({ name: "salt://script.sh", ...some(random, { creates: name(random, place) }) }),
  "cmd.wait": (_, place) => ({ name: `touch ${place.host}/made` }),
  "archive.extracted": (random, place) => ({
    name: name(random, place),
    source: random.pick(["salt://t.tar", `${place.host}/a`]),
    ...some(random, { clean: true, force: true, enforce_toplevel: false, overwrite: true, if_missing: place.host }),
  }),
};

/** Functions that run programs. */
const SLOW: Readonly<Record<string, Make>> = {
  "cmd.run": (random, place) => ({
    name: `touch ${place.host}/made`,
    ...random.pick([{ unless: `test -e ${name(random, place)}` }, { onlyif: "true" }]),
  }),
  "git.latest": (random, place) => ({
    name: place.repository,
    target: name(random, place),
    ...some(random, { branch: "main", force_clone: true, force_reset: true, bare: true }),
  }),
  "git.cloned": (random, place) => ({ name: place.repository, target: name(random, place) }),
  "git.present": (random, place) => ({
    name: name(random, place),
    bare: flag(random),
    ...some(random, { force: true }),
  }),
  "git.config_set": (random, place) => ({ name: "user.name", value: "x", repo: name(random, place) }),
};

/** Creates random files, directories and links. */
export async function randomHost(random: Random, host: string): Promise<void> {
  await Deno.mkdir(host, { recursive: true });
  for (const one of NAMES) {
    if (random.chance(0.3)) continue;
    const path = `${host}/${one}`;
    const parent = path.replace(/\/[^/]*$/, "");
    if (one === "link" || one === "dangling") {
      await Deno.symlink(one === "link" ? "a" : "none", path);
    } else if (one === "d" || random.chance(0.2)) {
      await Deno.mkdir(path, { recursive: true });
    } else if (await Deno.stat(parent).then(({ isDirectory }) => isDirectory, () => false)) {
      await Deno.writeTextFile(path, random.pick(one.endsWith(".ini") ? INI : TEXTS));
      if (random.chance(0.3)) await Deno.chmod(path, random.pick([0o600, 0o755, 0o4711, 0o444]));
    }
  }
}

/** A random state. */
export function randomState(random: Random, place: Place): RandomState {
  const from = random.chance(0.04) ? SLOW : QUICK;
  const fun = random.pick(Object.keys(from));
  return { fun, args: from[fun](random, place) };
}

import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import {
  appendFlag,
  type CommandLine,
  flag,
  intFlag,
  parseCommandLine,
  type Parsed,
  textFlag,
} from "#lib/commands/cli/command_line.ts";
import { CONFIG_CLI_OPTIONS, LOG_CLI_OPTIONS, timeoutCliOption } from "#lib/commands/cli/common_options.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import type { ProcessEnvironment } from "#lib/config/place.ts";
import { ConfigError, UsageError } from "#lib/errors.ts";
import { applySaltfile, findSaltfile } from "#lib/commands/cli/saltfile.ts";
import { startUp } from "#lib/commands/cli/start_up.ts";
import type { Value } from "#lib/values/value.ts";

const OPTIONS = {
  ...CONFIG_CLI_OPTIONS,
  ...LOG_CLI_OPTIONS,
  ...timeoutCliOption(5),
  quiet: flag(["-q", "--quiet"], ""),
  state_verbose: textFlag(["--state-verbose"], ""),
  keysize: intFlag(["--keysize"], ""),
  module_dirs: appendFlag(["-m"], ""),
};
const COMMAND: CommandLine<typeof OPTIONS> = { prog: "salt-key", usage: "", description: "", options: OPTIONS };

function parse(...argv: string[]): Parsed<typeof OPTIONS> {
  const request = parseCommandLine(COMMAND, argv);
  if (request.kind !== "run") throw new Error(request.kind);
  return request.parsed;
}

class Place {
  readonly root = Deno.makeTempDirSync({ prefix: "saltfile_" });
  readonly variables: Record<string, string> = { HOME: `${this.root}/home` };

  write(path: string, text: string): string {
    Deno.mkdirSync(`${this.root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(`${this.root}/${path}`, text);
    return `${this.root}/${path}`;
  }

  get environment(): ProcessEnvironment {
    return {
      env: (name) => this.variables[name],
      cwd: `${this.root}/cwd`,
      hostNames: () => ({ hostname: "box", hosts: "", hostnameFile: "", addresses: [] }),
      user: () => "tester",
    };
  }

  apply(parsed: Parsed<typeof OPTIONS>): Record<string, Value> {
    return applySaltfile(COMMAND, parsed, this.environment).rest;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

Deno.test("the order of Saltfiles: --saltfile, SALT_SALTFILE, the current directory, the home directory", () => {
  using place = new Place();
  const find = (typed: string | null = null) => findSaltfile(typed, place.environment).path;
  assertEquals(find(), undefined);
  const home = place.write("home/.salt/Saltfile", "");
  assertEquals(find(), home);
  const here = place.write("cwd/Saltfile", "");
  assertEquals(find(), here);
  place.variables.SALT_SALTFILE = place.write("variable", "");
  assertEquals(find(), place.variables.SALT_SALTFILE);
  assertEquals(find(place.write("cwd/mine", "")), `${place.root}/cwd/mine`);
  assertEquals(find("mine"), `${place.root}/cwd/mine`);
  assertThrows(() => find("/nowhere/x"), UsageError, "'/nowhere/x' file does not exist.");
});

const NOBODY = 65_534;

/** Who the file, the directory with it, and the target of its link belong to; and whether root uses it. */
const OWNERS: readonly (readonly [
  what: string,
  made: { file?: number; directory?: number; fileMode?: number; directoryMode?: number; link?: number },
  used: boolean,
])[] = [
  ["root uses a Saltfile in the current directory: root's file in root's directory", {}, true],
  ["root ignores, and says so, a Saltfile in the current directory: another user's file in root's directory", {
    file: NOBODY,
  }, false],
  ["root ignores, and says so, a Saltfile in the current directory: root's file in another user's directory", {
    directory: NOBODY,
  }, false],
  [
    "root ignores, and says so, a Saltfile in the current directory: a file that others may write",
    { fileMode: 0o646 },
    false,
  ],
  ["root ignores, and says so, a Saltfile in the current directory: a directory that others may write", {
    directoryMode: 0o777,
  }, false],
  ["root uses a Saltfile in the current directory: a directory such as /tmp, and root's file", {
    directoryMode: 0o1777,
  }, true],
  [
    "root ignores, and says so, a Saltfile in the current directory: a directory such as /tmp, and another user's file",
    { directoryMode: 0o1777, file: NOBODY },
    false,
  ],
  ["root uses a Saltfile in the current directory: a link of root's to root's file", { link: 0 }, true],
  ["root ignores, and says so, a Saltfile in the current directory: a link of root's to another user's file", {
    link: NOBODY,
  }, false],
  ["root ignores, and says so, a Saltfile in the current directory: another user's link to root's file", {
    link: 0,
    directory: NOBODY,
  }, false],
];

for (const [what, made, used] of OWNERS) {
  Deno.test({
    name: what,
    ignore: Deno.uid() !== 0,
    fn: () => {
      using place = new Place();
      const config = place.write("etc/master", `root_dir: ${place.root}\n`);
      const text = `salt-key:\n  ret_port: 7\n`;
      const file = place.write("cwd/Saltfile", text);
      if (made.link !== undefined) {
        Deno.removeSync(file);
        const target = place.write("target/Saltfile", text);
        Deno.chownSync(target, made.link, made.link);
        Deno.symlinkSync(target, file);
      } else {
        Deno.chownSync(file, made.file ?? 0, made.file ?? 0);
        Deno.chmodSync(file, made.fileMode ?? 0o644);
      }
      Deno.chownSync(`${place.root}/cwd`, made.directory ?? 0, made.directory ?? 0);
      Deno.chmodSync(`${place.root}/cwd`, made.directoryMode ?? 0o755);
      const parsed = parse("-c", config.replace("/master", ""));
      const { opts, warnings } = startUp(COMMAND, parsed, {
        role: "master",
        load: loadMasterConfig,
        environment: place.environment,
      });
      assertEquals(opts.ret_port, used ? 7 : 4506);
      const ignored = `${file} is ignored: other users than root may change it; name it with --saltfile to use it`;
      assertEquals(warnings.filter((warning) => warning.includes("Saltfile")), used ? [] : [ignored]);
      place.variables.SALT_SALTFILE = file;
      assertEquals(
        findSaltfile(null, place.environment),
        { path: file, warnings: [] },
        "a name is the caller's choice",
      );
      delete place.variables.SALT_SALTFILE;
      const home = place.write("home/.salt/Saltfile", "");
      assertEquals(findSaltfile(null, place.environment).path, used ? file : home);
    },
  });
}

Deno.test("a section sets options that are not on the command line; its other keys are configuration", () => {
  using place = new Place();
  place.write(
    "cwd/Saltfile",
    "salt-key:\n  quiet: true\n  timeout: 3\n  keysize: 4096\n  ret_port: 7\nsalt:\n  quiet: false\n",
  );
  const parsed = parse("-t", "9");
  assertEquals(place.apply(parsed), { ret_port: 7 });
  assertEquals([parsed.options.quiet, parsed.options.timeout, parsed.options.keysize], [true, 9, 4096]);
  assertEquals([...parsed.given].sort(), ["keysize", "quiet", "timeout"]);
});

Deno.test("a Saltfile without a section for the command changes nothing", () => {
  using place = new Place();
  place.write("cwd/Saltfile", "salt:\n  quiet: true\n");
  const parsed = parse();
  assertEquals(place.apply(parsed), {});
  assertEquals(parsed.given.size, 0);
});

const FITTING: [yaml: string, name: keyof typeof OPTIONS, value: unknown][] = [
  ["log_level: debug", "log_level", "debug"],
  ["module_dirs: [/a, /b]", "module_dirs", ["/a", "/b"]],
  ["module_dirs: /a", "module_dirs", ["/a"]],
  ["timeout: 2.5", "timeout", 2.5],
  ["config_dir: etc", "config_dir", "etc"],
];
for (const [yaml, name, value] of FITTING) {
  Deno.test(`a Saltfile may have ${yaml}`, () => {
    using place = new Place();
    place.write("cwd/Saltfile", `salt-key:\n  ${yaml}\n`);
    const parsed = parse();
    place.apply(parsed);
    assertEquals<unknown>(parsed.options[name], value);
  });
}

for (const yaml of ["quiet: maybe", "log_level: loud", "keysize: big", "timeout: true", "config_dir: {}"]) {
  Deno.test(`a Saltfile may not have ${yaml}`, () => {
    using place = new Place();
    place.write("cwd/Saltfile", `salt-key:\n  ${yaml}\n`);
    assertThrows(() => place.apply(parse()), UsageError, `Saltfile: ${yaml.split(":")[0]}: invalid value`);
  });
}

Deno.test("a Saltfile that is no YAML is an error with its path and line", () => {
  using place = new Place();
  const file = place.write("cwd/Saltfile", "salt-key:\n  yes: [\n");
  assertThrows(() => place.apply(parse()), ConfigError, `${file}:`);
});

Deno.test("the order of precedence is command line, Saltfile, configuration files, defaults", () => {
  using place = new Place();
  place.write("etc/master", `root_dir: ${place.root}\ntimeout: 1\nret_port: 1\nkeysize: 2049\npub_hwm: 7\n`);
  place.write("cwd/Saltfile", `salt-key:\n  config_dir: ${place.root}/etc\n  ret_port: 2\n  timeout: 2\n`);
  const parsed = parse("-t", "3", "--log-file", "my.log", "--state-verbose=False");
  const { opts } = startUp(COMMAND, parsed, {
    role: "master",
    load: loadMasterConfig,
    fixed: { worker_threads: 1 },
    environment: place.environment,
  });
  assertEquals([opts.timeout, opts.ret_port, opts.keysize, opts.pub_hwm, opts.publish_port], [3, 2, 2049, 7, 4505]);
  assertEquals([opts.log_file, opts.state_verbose, opts.worker_threads], [`${place.root}/cwd/my.log`, false, 1]);
  assertEquals(opts.conf_file, `${place.root}/etc/master`);
});

Deno.test({
  name: "root ignores, and says so, the Saltfile of a user whose HOME it has",
  ignore: Deno.uid() !== 0,
  fn: () => {
    using place = new Place();
    const own = place.write("theirs/.salt/Saltfile", "salt-key:\n  ret_port: 7\n");
    const environment = {
      ...place.environment,
      cwd: "/",
      env: (name: string) => name === "HOME" ? `${place.root}/theirs` : undefined,
    };
    assertEquals(findSaltfile(null, environment), { path: own, warnings: [] });
    Deno.chownSync(own, NOBODY, NOBODY);
    const why = `${own} is ignored: other users than root may change it; name it with --saltfile to use it`;
    assertEquals(findSaltfile(null, environment), { path: undefined, warnings: [why] });
    assertEquals(findSaltfile(own, environment).path, own);
  },
});

/**
 * The corpora: which program of tests/corpus writes each, with which Python Salt, and what the program needs.
 * @module
 */

import type { PYTHON_SALTS } from "#tests/interop/python_salt.ts";

/** A version of Python Salt, or the one that the field `salt` of the corpus names, or none: any Python 3. */
export type SaltVersion = typeof PYTHON_SALTS[number] | "named in the file" | "none";

/** How a program is run. */
export interface Recording {
  /** Default: 3008.3. */
  readonly salt?: SaltVersion;
  /** Where its result goes: it writes the file itself, or prints its text. */
  readonly to: "file" | "output";
  /**
   * Its arguments: `FILE` is the path of the file, `NAME` the file's name without `.json`, `DENO` the path of deno,
   * `ROOT` that of the tree, with a slash at the end.
   */
  readonly args?: readonly string[];
}

/** A corpus that a program writes. */
export interface Corpus {
  /** The name on the command line. */
  readonly name: string;
  /**
   * Its files, from the root of the tree. A name that ends with `/` stands for each file `*.json` in the folder; the
   * program is run for each of them, and may read its cases from it.
   */
  readonly files: readonly string[];
  /** The program, in tests/corpus. */
  readonly program: string;
  /** Its runs, one after the other. */
  readonly runs: readonly Recording[];
  /** What the host must have besides Python Salt: `root`, or programs of PATH. */
  readonly needs?: readonly string[];
  /** Why two runs write different values; then a check compares the shape: maps, their keys, and kinds of values. */
  readonly varies?: string;
}

type More = Pick<Corpus, "needs" | "varies"> & {
  readonly files?: readonly string[];
  readonly args?: readonly string[];
};

const HERE = "tests/corpus";
const KEYS = "the keys, and what is signed with them, are new";
const TIME = "archives and certificates contain the time";
const ORDER = "the order of a set or of a directory";

function corpus(name: string, to: Recording["to"], { files = [`${name}.json`], args, ...more }: More = {}): Corpus {
  const paths = files.map((file) => `${HERE}/${file}`);
  return { name, files: paths, program: `make_${name}.py`, runs: [{ to, ...args && { args } }], ...more };
}

/** A corpus whose program writes its file. */
const written = (name: string, more?: More) => corpus(name, "file", more);
/** A corpus whose program prints it. */
const printed = (name: string, more?: More) => corpus(name, "output", more);

/** A folder whose files hold cases, which the program completes with Salt's answers. */
function completed(
  name: string,
  program: string,
  more: Pick<Corpus, "needs"> & { readonly args?: string[] } = {},
): Corpus {
  const { args = ["FILE"], needs } = more;
  const runs: Recording[] = [{ salt: "named in the file", to: "file", args }];
  return { name, files: [`${HERE}/${name}/`], program: `make_${program}.py`, runs, ...needs && { needs } };
}

/** All corpora that can be made again, by name. */
export const CORPORA: readonly Corpus[] = [
  {
    ...printed("argspec"),
    // The second run adds the modules that later versions have moved to extensions.
    runs: [{ to: "output" }, { salt: "3006.28", to: "output", args: ["FILE"] }],
  },
  written("asymmetric", { varies: KEYS }),
  written("auth_rules"),
  written("cache_runner"),
  written("call_args"),
  printed("cp_calls", { needs: ["root"] }),
  printed("cron"),
  written("crypto", { args: ["FILE"], needs: ["openssl"], varies: KEYS }),
  written("decrypt_pillar"),
  written("default_options", { varies: "the default of ipc_write_buffer depends on the host's memory" }),
  written("dict_merge"),
  printed("file_calls", { needs: ["root", "patch", "ssh-keygen", "tar"], varies: TIME }),
  written("file_server", { files: ["file_server.json", "file_server_options.json"], needs: ["git"], varies: TIME }),
  printed("file_states", { needs: ["root", "patch"], varies: ORDER }),
  printed("fleet_state_functions"),
  written("gpg_calls", { needs: ["gpg"], varies: KEYS }),
  printed("gpg_status"),
  printed("grains_setting", { varies: "an error names the temporary directory" }),
  written("ip", { args: ["FILE"] }),
  printed("jinja_cases"),
  written("jinja_names"),
  written("jobs", { files: ["job_cache.json", "runners.json"] }),
  written("ldap_searches"),
  written("match"),
  printed("modules"),
  {
    ...written("mysql", { needs: ["mariadbd", "the Python packages mysqlclient and sqlparse beside Salt"] }),
    runs: [{ salt: "3006.28", to: "file" }],
  },
  {
    ...written("mongodb", { needs: ["the Python package pymongo 3.13.0 beside Salt"] }),
    runs: [{ salt: "3006.28", to: "file", args: ["DENO", "ROOT"] }],
  },
  { ...written("s3"), runs: [{ salt: "3006.28", to: "file" }] },
  {
    ...written("docker", {
      needs: ["root", "dockerd", "docker", "docker-registry", "busybox", "the Python package docker beside Salt"],
    }),
    runs: [{ salt: "3006.28", to: "file" }],
  },
  written("network_texts"),
  printed("os_release"),
  written("outputters"),
  {
    ...written("outputters", { files: ["outputters_3007.json"] }),
    name: "outputters_3007",
    runs: [{ salt: "3007.15", to: "file" }],
  },
  printed("packages", { needs: ["dpkg"] }),
  written("patterns", { files: ["glob.json", "regex.json"] }),
  {
    ...completed("pillar", "pillar", { args: ["NAME"], needs: ["git", "gpg"] }),
    runs: [{ to: "file", args: ["NAME"] }],
  },
  written("pillar_functions"),
  completed("program_calls", "program_calls", { needs: ["root"] }),
  written("psutil"),
  completed("python_rules", "python_rules", {
    args: ["NAME"],
    needs: ["the Python package mako beside Salt"],
  }),
  completed("python_programs", "python_programs", { args: ["NAME"] }),
  completed("python_calls", "python_calls", {
    args: ["NAME"],
    needs: ["the Python package mako beside Salt"],
  }),
  printed("relative_dates"),
  printed("requisite_runs", { varies: ORDER }),
  {
    ...printed("salt_functions"),
    files: ["lib/plugins/salt_functions.ts"],
  },
  written("schedule", { files: ["schedule_dates.json", "schedule_cron.json"] }),
  written("scripted_programs"),
  written("serializers", { needs: ["the Python package toml 0.10.2 beside Salt"] }),
  { ...printed("shell_words"), runs: [{ salt: "none", to: "output" }] },
  completed("state_answers", "state_answers"),
  written("state_argspec"),
  written("state_calls"),
  completed("state_program_calls", "program_calls", { needs: ["root"] }),
  completed("state_results", "state_results", { needs: ["root", "patch"] }),
  { ...completed("state_runs", "state_runs", { needs: ["root", "git"] }), runs: [{ to: "file", args: ["NAME"] }] },
  {
    ...completed("state_situations", "state_situations", { needs: ["root", "git"] }),
    runs: [{ to: "file", args: ["NAME"] }],
  },
  printed("states"),
  written("targets"),
  written("templates"),
  written("textfsm", { needs: ["the Python package textfsm 2.1.0 beside Salt"] }),
  printed("texts"),
  printed("tops"),
  written("unusual_trees"),
  written("values", { files: ["msgpack.json", "python_values.json", "cli_args.json"] }),
  written("wheel"),
  printed("x509", { varies: KEYS }),
  printed("x509_files", { varies: TIME }),
  printed("x509_refusals", { varies: TIME }),
  written("yaml_errors"),
];

const EARLY = "its program was not kept when it was recorded; its cases stay, and new ones go to the corpus beside it";

/** The recorded files that no program here writes again, with the reason. */
export const NOT_AGAIN: Readonly<Record<string, string>> = {
  "tests/corpus/api_requests.json":
    "recorded once on a live salt-api of Python's; tests/api/server/recorded_requests_test.ts says how",
  "tests/corpus/jinja.json": `${EARLY}: templates, jinja_cases`,
  "tests/corpus/mine_scenes.json":
    "recorded once on a live fleet of Salt 3008.3; tests/fleet/mine_scenes_test.ts says what each step is",
  "tests/corpus/output.json": `${EARLY}: outputters`,
  "tests/corpus/yaml.json": `${EARLY}: values, yaml_errors`,
  "tests/corpus/yaml_dump.json": `${EARLY}: serializers`,
  "tests/corpus/yaml_more.json": `${EARLY}: values, yaml_errors`,
  "tests/corpus/schedule_looks.json": "Salt's evaluation of a schedule, recorded once with the clock in hand",
  "tests/corpus/own_program_calls/":
    "written by hand: Salt does not load these modules on such hosts, or its sources alone show the calls",
  "tests/interop/salt_suite/tests.json":
    "deno run -A tests/interop/salt_suite_record.ts writes it, from a run of Salt's own tests",
  "tests/interop/salt_suite/integration_tests.json":
    "likewise, from Salt's integration tests: their reasons are written by hand",
  "tests/interop/recorded_host/":
    "programs that answer as those of a host with systemd, which a container does not have",
};

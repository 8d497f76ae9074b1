import { assert, assertEquals } from "#tests/support/assert.ts";
import { configReference } from "#scripts/reference/config_reference.ts";
import { sourceFiles } from "#scripts/source_files.ts";
import { editDistance, nearestName } from "#lib/text/nearest_name.ts";
import {
  anyOption,
  boolOption,
  checkOption,
  choiceOption,
  dictOption,
  floatOption,
  intOption,
  listOption,
  type Option,
  pathOption,
  portOption,
  strOption,
  strsOption,
} from "#lib/config/option_types.ts";
import { masterOptions, minionOptions, OPTION_TABLES } from "#lib/config/options.ts";
import { saltOptionNames } from "#lib/config/unbuilt_options.ts";
import { Float, isMap, type Value } from "#lib/values/value.ts";

const ACCEPTED: [name: string, option: Option, written: Value, value: Value][] = [
  ["str", strOption("", ""), 5, "5"],
  ["str", strOption("", ""), true, "True"],
  ["str or null", strOption(null, ""), null, null],
  ["path", pathOption("/a", ""), "/b", "/b"],
  ["int", intOption(0, ""), "-7", -7],
  ["int or null", intOption(null, ""), null, null],
  ["port", portOption(1, ""), 0, 0],
  ["float", floatOption(1, ""), 3, 3],
  ["float", floatOption(1, ""), new Float(3), 3],
  ["float", floatOption(1, ""), "2.5", 2.5],
  ["bool", boolOption(false, ""), true, true],
  ["choice", choiceOption("a", "", ["a", "OAEP-SHA1"]), "oaep-sha1", "OAEP-SHA1"],
  ["strs", strsOption([], ""), "one", ["one"]],
  ["strs", strsOption([], ""), ["one", 2], ["one", "2"]],
  ["strs", strsOption(["x"], ""), null, []],
  ["list", listOption([], ""), [1, "a"], [1, "a"]],
  ["list", listOption([], ""), null, []],
  ["dict", dictOption(new Map(), ""), null, new Map()],
  ["any", anyOption(1, ""), null, null],
  ["any", anyOption(1, ""), new Float(1), new Float(1)],
];
for (const [name, option, written, value] of ACCEPTED) {
  Deno.test(`an option of type ${name} accepts ${JSON.stringify(written)}`, () => {
    assertEquals(checkOption(option, written), { value });
  });
}

const REFUSED: [name: string, option: Option, written: Value, problem: string][] = [
  ["str", strOption("", ""), null, "must be a string, not None (NoneType)"],
  ["str", strOption("", ""), ["a"], "must be a string, not ['a'] (list)"],
  ["int", intOption(0, ""), new Float(3), "must be an integer, not 3.0 (float)"],
  ["int", intOption(0, ""), true, "must be an integer, not True (bool)"],
  ["int", intOption(0, "", { min: 1 }), 0, "must be at least 1, not 0"],
  ["int", intOption(0, "", { max: 3 }), 4, "must be at most 3, not 4"],
  ["port", portOption(1, ""), 65536, "must be between 0 and 65535, not 65536"],
  ["float", floatOption(0, ""), "1e", "must be a number, not '1e' (str)"],
  ["float", floatOption(0, "", { min: 0 }), "nan", "must be a number, not 'nan' (str)"],
  ["float", floatOption(0, "", { min: 0 }), NaN, "must be at least 0, not nan"],
  ["bool", boolOption(false, ""), "yes", "must be true or false, not 'yes' (str)"],
  ["bool", boolOption(false, ""), 1, "must be true or false, not 1 (int)"],
  ["choice", choiceOption("a", "", ["a", "b"]), "c", "must be one of a, b, not 'c'"],
  ["strs", strsOption([], ""), [["a"]], "must be a list of strings, not [['a']] (list)"],
  ["list", listOption([], ""), "a", "must be a list, not 'a' (str)"],
  ["dict", dictOption(new Map(), ""), ["a"], "must be a map, not ['a'] (list)"],
];
for (const [name, option, written, problem] of REFUSED) {
  Deno.test(`an option of type ${name} refuses ${String(written)}: ${problem}`, () => {
    assertEquals(checkOption(option, written), { problem });
  });
}

for (const [role, table] of Object.entries(OPTION_TABLES)) {
  Deno.test(`every default of the ${role} has its option's type, and every option has a description`, () => {
    for (const [name, option] of Object.entries(table)) {
      const result = checkOption(option, option.default);
      assert("value" in result, `${name}: ${JSON.stringify(result)}`);
      assert(/^[A-Z`a-z-].*\.$/.test(option.doc), `${name}: ${option.doc}`);
    }
  });
}

// Salt's defaults on the wire and on disk: these must not change.
const MASTER_DEFAULTS: Record<string, Value> = {
  interface: "0.0.0.0",
  publish_port: 4505,
  ret_port: 4506,
  zmq_backlog: 1000,
  pub_hwm: 1000,
  auth_mode: 1,
  worker_threads: 5,
  sock_dir: "/var/run/salt/master",
  timeout: 5,
  keep_jobs: 24,
  keep_jobs_seconds: 86400,
  pki_dir: "/etc/salt/pki/master",
  cachedir: "/var/cache/salt/master",
  file_buffer_size: 1048576,
  file_recv_max_size: 100,
  hash_type: "sha256",
  state_top: "top.sls",
  master_job_cache: "local_cache",
  log_file: "/var/log/salt/master",
  key_logfile: "/var/log/salt/key",
  log_level: "warning",
  pidfile: "/var/run/salt-master.pid",
  publish_session: 86400,
  loop_interval: 60,
  maintenance_interval: 3600,
  max_minions: 0,
  max_event_size: 1048576,
  max_open_files: 100000,
  token_expire: 43200,
  keysize: 2048,
  gather_job_timeout: 10,
  default_include: "master.d/*.conf",
  minimum_auth_version: 3,
  request_server_ttl: 0,
  open_mode: false,
  auto_accept: false,
  job_cache: true,
  rotate_aes_key: true,
  sign_pub_messages: true,
  zmq_filtering: false,
};
const MINION_DEFAULTS: Record<string, Value> = {
  master: ["salt"],
  master_port: 4506,
  publish_port: null,
  master_tries: -1,
  acceptance_wait_time: 10,
  acceptance_wait_time_max: 0,
  auth_timeout: 5,
  auth_tries: 7,
  random_reauth_delay: 10,
  request_channel_timeout: 60,
  request_channel_tries: 3,
  loop_interval: 1,
  retry_dns: 30,
  recon_default: 1000,
  recon_max: 10000,
  return_retry_timer: 5,
  return_retry_timer_max: 10,
  return_retry_tries: 3,
  ping_interval: 0,
  tcp_keepalive_idle: 300,
  minion_jid_queue_hwm: 100,
  process_count_max: -1,
  file_buffer_size: 262144,
  pidfile: "/var/run/salt-minion.pid",
  encryption_algorithm: "OAEP-SHA1",
  signing_algorithm: "PKCS1v15-SHA1",
  sign_pub_messages: false,
  rejected_retry: false,
  master_finger: "",
};
Deno.test("the defaults are Salt's", () => {
  for (const [name, value] of Object.entries(MASTER_DEFAULTS)) {
    assertEquals(OPTION_TABLES.master[name].default, value, name);
  }
  for (const [name, value] of Object.entries(MINION_DEFAULTS)) {
    assertEquals(OPTION_TABLES.minion[name].default, value, name);
  }
});

Deno.test("an option that a table lists is not also listed as one without effect", () => {
  for (const name of [...Object.keys(masterOptions()), ...Object.keys(minionOptions())]) {
    assert(!saltOptionNames().has(name), name);
  }
});

const DISTANCES: [a: string, b: string, distance: number][] = [
  ["", "abc", 3],
  ["same", "same", 0],
  ["timeot", "timeout", 1],
  ["tiemout", "timeout", 1],
  ["worker_thread", "worker_threads", 1],
];
for (const [a, b, distance] of DISTANCES) {
  Deno.test(`from ${a} to ${b} it is ${distance} edits`, () => {
    assertEquals(editDistance(a, b), distance);
    assertEquals(editDistance(b, a), distance);
  });
}

Deno.test("the nearest name is suggested only within a small edit distance", () => {
  assertEquals(nearestName("ret_prot", Object.keys(masterOptions())), "ret_port");
  assertEquals(nearestName("zzzzzzzz", Object.keys(masterOptions())), undefined);
});

Deno.test("docs/configuration.md is the output of scripts/reference/config_reference.ts", () => {
  const page = Deno.readTextFileSync(new URL("../../docs/configuration.md", import.meta.url));
  assertEquals(page, configReference(), "stale: run deno run -A scripts/reference/config_reference.ts");
});

Deno.test("defaults that are maps and lists have the types of our values", () => {
  assert(isMap(OPTION_TABLES.master.file_roots.default));
  assert(Array.isArray(OPTION_TABLES.master.event_return.default));
});

/** The text of every source file that may use an option, without the option tables. */
function sources(): string {
  const root = new URL("../..", import.meta.url);
  return sourceFiles(decodeURIComponent(root.pathname), ".ts", { below: ["lib", "modules"] })
    .filter((path) =>
      !/^lib\/config\/((common|display|file_server|master|minion)_options|unbuilt_options)\.ts$/.test(path)
    )
    .map((path) => Deno.readTextFileSync(new URL(path, root))).join("\n");
}

Deno.test("every option is used, or is described as one without effect", () => {
  const text = sources();
  const words = new Set([...text.match(/\w+/g) ?? [], ...text.match(/\w+(\.\w+)+/g) ?? []]);
  for (const [role, table] of Object.entries(OPTION_TABLES)) {
    for (const [name, { noEffect, doc }] of Object.entries(table)) {
      if (noEffect === undefined) assert(words.has(name), `nothing reads the ${role}'s ${name}`);
      if (noEffect === "not needed") {
        assert(/Accepted for compatibility with Salt|[Oo]nly/.test(doc), `${name}: ${doc}`);
      }
    }
  }
});

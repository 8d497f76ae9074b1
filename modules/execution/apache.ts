/**
 * Execution module `apache`: the Apache web server.
 * Source: the functions of Salt 3008.3 `salt/modules/apache.py`.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { HttpError, httpRequest } from "#lib/host/network/http_request.ts";
import { writeWithUmask } from "#lib/os/new_files.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { runProgram } from "#lib/programs/run_program.ts";
import { splitLines, splitWhitespace } from "#lib/text/split_lines.ts";
import { asList, mapUnder } from "#lib/values/shape.ts";
import { float, isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

const OTHERWISE = "The apache execution module cannot be loaded: apache is not installed.";

export const virtual: Virtual = {
  name: "apache",
  serves: [{ programs: ["apache2ctl", "apachectl"], otherwise: OTHERWISE }],
};

/** The program that controls the server: distributions have other names for it. */
function control({ grains }: JobContext): string {
  return ["Debian", "Suse"].includes(str(grains.get("os_family") ?? "")) ? "apache2ctl" : "apachectl";
}

/** What the program prints for an option. */
async function printed(option: string, context: JobContext): Promise<string> {
  return (await runProgram([control(context), option], context, { joined: true, setsRetcode: true })).stdout;
}

export const version: ModuleFunction<JobContext> = fn({
  doc: describe("Return the version of the server (`apachectl -v`).", "apache.version"),
  permissions: "all",
  params: {},
  async run(_bound, context) {
    const output = await printed("-v", context);
    const found = splitLines(output)[0]?.split(": ")[1];
    if (found === undefined) throw new CommandError(`apachectl tells no version: ${output}`);
    return found;
  },
});

export const fullversion: ModuleFunction<JobContext> = fn({
  doc: describe("Return the version of the server, and how it was built (`apachectl -V`).", "apache.fullversion"),
  permissions: "all",
  params: {},
  async run(_bound, context) {
    const compiled: string[] = [];
    const facts: ValueMap = new Map([["compiled_with", compiled]]);
    for (const line of splitLines(await printed("-V", context))) {
      const [name, value] = line.split(": ");
      if (value !== undefined) facts.set(name.trim().toLowerCase().replaceAll(" ", "_"), value.trim());
      else if (line.includes(" -D")) compiled.push(line.replace(/^\s+-D\s+/, ""));
    }
    return facts;
  },
});

export const modules: ModuleFunction<JobContext> = fn({
  doc: describe("Return the static and the shared modules (`apachectl -M`).", "apache.modules"),
  permissions: "all",
  params: {},
  async run(_bound, context) {
    const lines = splitLines(await printed("-M", context));
    const marked = (kind: string) =>
      lines.filter((line) => line.includes(`(${kind})`)).map((line) => splitWhitespace(line)[0]);
    return { static: marked("static"), shared: marked("shared") };
  },
});

export const servermods: ModuleFunction<JobContext> = fn({
  doc: describe("Return the modules that are compiled into the server (`apachectl -l`).", "apache.servermods"),
  permissions: "all",
  params: {},
  run: async (_bound, context) =>
    splitLines(await printed("-l", context)).filter((line) => line.includes(".c")).map((line) => line.trim()),
});

export const directives: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the directives, with their arguments and the places where each is valid (`apachectl -L`).",
    "apache.directives",
  ),
  permissions: "all",
  params: {},
  async run(_bound, context) {
    const lines = splitLines((await printed("-L", context)).replaceAll("\n\t", "\t")).filter((line) => line !== "");
    return new Map(lines.map((line): [Value, Value] => {
      const [name, ...texts] = line.split("\t");
      return [name, texts.join("\n")];
    }));
  },
});

/** A place in a file, without its parentheses. */
function place(word = ""): string {
  return word.replace(/[()]/g, "");
}

export const vhosts: ModuleFunction<JobContext> = fn({
  doc: describe("Return the settings of the virtual hosts (`apachectl -S`).", "apache.vhosts"),
  permissions: "all",
  params: {},
  async run(_bound, context) {
    const hosts: ValueMap = new Map();
    let address = "";
    for (const line of splitLines(await printed("-S", context))) {
      const words = splitWhitespace(line);
      if (line.includes("is a NameVirtualHost")) {
        address = words[0];
        hosts.set(address, new Map());
      } else if (words[0] === "default") {
        mapUnder(hosts, address).set("default", map({ vhost: words[2] ?? "", conf: place(words[3]) }));
      } else if (words[0] === "port") {
        const vhost = words[3] ?? "";
        mapUnder(hosts, address).set(vhost, map({ vhost, conf: place(words[4]), port: words[1] ?? "" }));
      }
    }
    return hosts;
  },
});

/** What the server can be told, and what it is told otherwise. */
const SIGNALS = ["start", "stop", "restart", "graceful", "graceful-stop"];
const COMMANDS = ["configtest", "status", "fullstatus"];

export const signal: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Start, stop or restart the server, or check its configuration: `start`, `stop`, `restart`, `graceful`, `graceful-stop`,\n" +
      "`configtest`, `status`, `fullstatus`. Return what it says.",
    "apache.signal restart",
  ),
  permissions: "all",
  params: { signal: p.str(null) },
  async run({ signal }, context) {
    if (signal === null || ![...SIGNALS, ...COMMANDS].includes(signal)) return null;
    const words = [control(context), ...SIGNALS.includes(signal) ? ["-k"] : [], signal];
    const { stdout, stderr } = await runProgram(words, context, { setsRetcode: true });
    return stderr.trim() || stdout.trim() || `Command: "${words.join(" ")}" completed successfully!`;
  },
});

export const useradd: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a user to a file of passwords, or change the password, with `htpasswd`. `opts` are letters of its options.",
    "apache.useradd /etc/httpd/htpasswd larry badpassword",
    "apache.useradd /etc/httpd/htpasswd larry badpass opts=ns",
  ),
  permissions: "all",
  params: { pwfile: p.str(), user: p.str(), password: p.str(), opts: p.str("") },
  run: ({ pwfile, user, password, opts }, context) => context.call("webutil.useradd", [pwfile, user, password, opts]),
});

export const userdel: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a user from a file of passwords.", "apache.userdel /etc/httpd/htpasswd larry"),
  permissions: "all",
  params: { pwfile: p.str(), user: p.str() },
  run: ({ pwfile, user }, context) => context.call("webutil.userdel", [pwfile, user]),
});

/** The letters of the scoreboard. */
const SCORES = ["_", "S", "R", "W", "K", "D", "C", "L", "G", "I", "."];

/** The lines `name: value` of the server's status. */
function parseStatus(text: string): ValueMap {
  const scores: ValueMap = new Map(SCORES.map((letter): [Value, Value] => [letter, 0]));
  const facts: ValueMap = new Map([["Scoreboard", scores]]);
  for (const line of splitLines(text)) {
    const colon = line.indexOf(":");
    if (colon < 0) continue;
    const [name, value] = [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    if (name === "Scoreboard") {
      for (const letter of value) scores.set(letter, Number(scores.get(letter) ?? 0) + 1);
    } else if (/^\d+$/.test(value)) facts.set(name, Number(value));
    else facts.set(name, value !== "" && Number.isFinite(Number(value)) ? float(Number(value)) : value);
  }
  return facts;
}

export const server_status: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return what the server's status page tells. The option or pillar `apache.server-status` has profiles with `url`, `user`, `pass`\n" +
      "and `timeout`.",
    "apache.server_status",
    "apache.server_status other-profile",
  ),
  permissions: "all",
  params: { profile: p.str("default") },
  async run({ profile }, context) {
    const setting = (key: string, other: Value) =>
      context.call("config.get", [`apache.server-status:${profile}:${key}`, other]);
    const user = str(await setting("user", ""));
    const password = str(await setting("pass", ""));
    const timeout = Number(await setting("timeout", 5));
    try {
      const response = await httpRequest({
        url: `${str(await setting("url", "http://localhost/server-status"))}?auto`,
        method: "GET",
        headers: new Map(),
        ...user !== "" && password !== "" && { auth: `${user}:${password}` },
        verify: true,
        timeoutMs: timeout * 1000,
        signal: context.signal,
      });
      return response.status < 400 ? parseStatus(new TextDecoder().decode(response.body)) : "error";
    } catch (error) {
      if (error instanceof HttpError) return "error";
      throw error;
    }
  },
});

/** A section of a configuration: lines between `<Name attribute>` and `</Name>`. */
function sectionText(name: string, entries: Iterable<readonly [Value, Value]>): string {
  const all = [...entries];
  const attribute = all.find(([key]) => key === "this");
  if (attribute === undefined) {
    throw new CommandError(
      `Apache section container "<${name}>" expects attribute. Specify it using key "this".`,
    );
  }
  const lines = all.filter(([key]) => key !== "this").map(([key, value]) => `${configText(value, str(key))}\n`);
  return `<${name} ${str(attribute[1])}>\n${lines.join("")}</${name}>\n`;
}

/** A part of a configuration as Salt writes it: `name` with a text, a list of either, or a section. */
function configText(config: Value, name: string): string {
  if (typeof config === "string") return `${name} ${config}`;
  if (isMap(config)) {
    // Salt leaves out what is neither text, list nor map.
    const known = [...config].filter(([key, value]) => key === "this" || isConfig(value));
    return sectionText(name, known);
  }
  if (!Array.isArray(config)) return "";
  if (config.some((item) => isMap(item) && item.has("this"))) {
    return sectionText(name, config.flatMap((item) => isMap(item) ? [...item] : []));
  }
  return config.map((item) => `${configText(item, name)}\n`).join("");
}

function isConfig(value: Value): boolean {
  return typeof value === "string" || Array.isArray(value) || isMap(value);
}

export const config: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the text of a configuration that is given as a list of maps; with edit=True (the default) also write it to a file. The\n" +
      "key `this` is the attribute of a section.",
    `apache.config /etc/httpd/conf.d/ports.conf config="[{'Listen': '22'}]"`,
  ),
  permissions: "all",
  params: { name: p.str(), config: p.any(), edit: p.bool(true) },
  run({ name, config, edit }) {
    const texts = asList(config).map((entry) => {
      const first = isMap(entry) ? [...entry][0] : undefined;
      if (first === undefined) throw new InvocationError("config is a list of maps");
      return configText(first[1], str(first[0]));
    });
    const text = texts.join("\n");
    if (edit) writeWithUmask(name, `# This file is managed by Salt.\n${text}`);
    return text;
  },
});

/**
 * Targets: the messages of custom modules to their minion, and the declarations in the text of their files.
 * @module
 */

import { declaredPermissions } from "#lib/plugins/declared_permissions.ts";
import { MsgpackError, WireError } from "#lib/errors.ts";
import { frame, FrameReader, type FrameSender } from "#lib/protocol/frames.ts";
import { packMessage, parseFromModule, unpackModuleOutcome } from "#lib/minion/worker/module_messages.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map } from "#lib/values/value.ts";
import { COSTLY } from "./codecs.ts";
import { costlyValue, ordinaryValue } from "./costly.ts";
import { mutateBytes, mutateText, NASTY_TEXTS, type Random, textOf } from "./mutate.ts";
import { type FuzzTarget, hold } from "./target.ts";
import { mutateMap, randomMsgpack, randomValue } from "./values.ts";

/** Maximum content of a frame here, in bytes: a sixteenth of a minion's limit. */
const MAX_BYTES = 1 << 22;

const bytes = new TextEncoder().encode("hidden");
/** One example of each message and each request. */
const MESSAGES = [
  { kind: "ready" },
  { kind: "begun" },
  { kind: "done", outcome: bytes },
  { kind: "log", level: 30, message: "a line" },
  { kind: "child", pid: 4711, state: "started" },
  { kind: "output", written: { command: 1, stream: "stdout", bytes, encoding: null } },
  { kind: "ask", id: 1, request: { what: "request", load: bytes } },
  { kind: "ask", id: 2, request: { what: "fire", data: bytes, tag: "a/tag" } },
  { kind: "ask", id: 9, request: { what: "ask", data: bytes, tag: "manage_x", answerTag: "/x/done", waitS: 30 } },
  { kind: "ask", id: 3, request: { what: "refresh", refresh: "grains" } },
  { kind: "ask", id: 4, request: { what: "running" } },
  { kind: "ask", id: 5, request: { what: "signal", jid: "20260101000000000000", signal: 15 } },
].map(map);

function content(random: Random): Uint8Array {
  if (random.chance(COSTLY)) return encode(costlyValue(random), "disk");
  if (random.chance(0.2)) return randomMsgpack(random);
  if (random.chance(0.1)) return encode(map({ kind: "done", outcome: encode(randomValue(random), "disk") }), "disk");
  const packed = encode(mutateMap(random, random.pick(MESSAGES)), "disk");
  return random.chance(0.5) ? mutateBytes(random, packed) : packed;
}

/**
 * Feeds a stream of frames, in pieces as from a pipe.
 * @returns The number of frames.
 */
function readStream(stream: Uint8Array, pieceBytes: number): number {
  const reader = new FrameReader(MAX_BYTES);
  let frames = 0;
  let received = 0;
  for (let at = 0; at < stream.length; at += pieceBytes) {
    const piece = stream.subarray(at, at + pieceBytes);
    received += piece.length;
    for (const { content } of reader.push(piece)) {
      frames++;
      received -= content.length;
      hold(received >= 0, "a frame is longer than what was sent");
      const message = parseFromModule(content);
      if (message.kind === "done") unpackModuleOutcome(message.outcome);
    }
  }
  return frames;
}

/** Frames from the pipe of a process that runs a custom module: each is a known message, or ends the process. */
export const moduleMessages: FuzzTarget = {
  name: "module_messages",
  share: 8,
  refusals: [WireError, MsgpackError, RangeError],
  open: () => ({
    feed(random, note) {
      const sender: FrameSender = random.chance(0.9) ? 1 : 0;
      const framed = [...Array(1 + random.int(3))].map(() => frame(sender, content(random)));
      const stream = new Uint8Array(framed.reduce((sum, { length }) => sum + length, 0));
      framed.reduce((at, part) => (stream.set(part, at), at + part.length), 0);
      const sent = random.chance(0.3) ? mutateBytes(random, stream) : stream;
      note(sent);
      // Only short streams come a few bytes at a time: on a real pipe each piece is a system call, which costs more.
      const pieceBytes = sent.length < 2_000 ? 1 + random.int(64) : 512 + random.int(65_536);
      return readStream(sent, pieceBytes) === framed.length ? "read" : "cut";
    },
    ordinary(size) {
      const message = packMessage({ kind: "done", outcome: encode(ordinaryValue(size), "disk") });
      const stream = frame(1, message);
      return () => readStream(stream, 65_536);
    },
    checkService: () => hold(parseFromModule(encode(MESSAGES[0], "disk")).kind === "ready", "no message"),
    close() {},
  }),
};

// No line of the text begins with "export": scripts/structure.ts would read it as an export of this file.
const SOURCE = `import { helper } from "./helper.js";
/** Reads. */  export const label = {
  doc: "permissions: 'all'",
  params: { name: { type: "str", pattern: /[/'"{]}/u } },
  permissions: { read: ["/dev/disk", "{cachedir}/mine"], run: true },
  run: ({ name }) => \`a \${helper({ permissions: "all" })} b\`,
};  export function usage() { return 1 / 2 / 3; }
usage.permissions = "none";
export { label as other };
`;

const TOKENS: readonly string[] = [
  ...[
    "permissions",
    "permissions: ",
    ".permissions = ",
    '"none"',
    "{ read: true }",
    "export ",
    "const f = ",
    "function ",
  ],
  ...["{", "}", "[", "]", "(", ")", ",", ";", ":", "=", "\n", "/", "//", "/*", "*/", "`", "${", "'", '"', "\\", "=>"],
  ...["usage", "label", "as const", "...", "?.", "<T>", "\\u0061", "#!", "true", "1e3", "return /"],
];

/** The text of a module's file: its declarations are read from literals, whatever else the text contains. */
export const declarations: FuzzTarget = {
  name: "declarations",
  share: 6,
  refusals: [SyntaxError],
  open: () => ({
    feed(random, note) {
      // Without the word in the text: then nothing may be read from it.
      const source = SOURCE.replaceAll("'all'", "'none'").replaceAll('"all"', '"none"');
      const text = random.chance(0.8)
        ? mutateText(random, source, TOKENS)
        : textOf(random, random.chance(0.9) ? TOKENS : NASTY_TEXTS, 400);
      note(text);
      const { functions } = declaredPermissions(text);
      for (const [name, declared] of functions) {
        if (!("permissions" in declared)) continue;
        hold(declared.permissions !== "all", `${name} may do all, which the text does not say`);
        if (declared.permissions === "none") continue;
        for (const [kind, what] of Object.entries(declared.permissions)) {
          hold(text.includes(kind), `${name} may ${kind}, which the text does not say`);
          hold(what !== true || text.includes("true"), `${name} may ${kind} anything, which the text does not say`);
        }
      }
      return functions.size > 0 ? "declares" : "declares nothing";
    },
    ordinary(size) {
      const text = SOURCE.repeat(Math.ceil(size / SOURCE.length)).slice(0, 1 << 20);
      return () => {
        try {
          return declaredPermissions(text);
        } catch (error) {
          if (!(error instanceof SyntaxError)) throw error; // it may be cut in the middle of a text
        }
      };
    },
    checkService() {
      const declared = declaredPermissions(SOURCE).functions.get("label");
      hold(declared !== undefined && "permissions" in declared, "no declaration");
    },
    close() {},
  }),
};

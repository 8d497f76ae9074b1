/**
 * What `http_yaml` and `http_json` share: a page of a web server, asked for a minion.
 * Source: Salt 3007.15 `salt/pillar/http_json.py`.
 * @module
 */

import { p } from "#lib/plugins/module.ts";
import { messageOf } from "#lib/errors.ts";
import { type PillarContext, type PillarSource, pillarSource } from "#lib/plugins/pillar_source.ts";
import { fillUrl } from "#lib/text/url_parts.ts";
import { traverse } from "#lib/yaml/traverse.ts";
import { isMap, str, truthy, type Value } from "#lib/values/value.ts";

/** Longest wait for a page, in milliseconds, and most of its bytes. */
const WAIT_MS = 30_000, MAX_BYTES = 64 * 2 ** 20;

/**
 * A source that gives a page.
 * @param parse Reads it.
 * @throws {Error} If it cannot be read.
 */
export function httpPillar(
  kind: string,
  parse: (page: string, url: string, context: PillarContext) => Value | Promise<Value>,
): PillarSource {
  return pillarSource({
    doc:
      `Fetch \`url\` and parse it as ${kind}; \`%s\` in it is the minion's id. With \`with_grains\`, \`<os>\` is the value of that grain.\n` +
      "`header_dict` are more headers, `username` and `password` those of basic authentication, `namespace` a key to put all under.\n" +
      "Errors are logged, and the result is then empty. The result is never cached.",
    params: {
      url: p.str(),
      with_grains: p.bool(false),
      header_dict: p.dict(null),
      auth: p.any(null),
      username: p.str(null),
      password: p.str(null),
      namespace: p.str(null),
    },
    async run({ url: pattern, with_grains, header_dict, username, password, namespace }, context) {
      const { minionId, log, notes, signal } = context;
      // Not the whole address in a log: it may hold a password.
      notes.changing(`http_${kind.toLowerCase()}`);
      const headers = new Headers();
      for (const [name, value] of header_dict ?? []) headers.set(str(name), str(value));
      if (username !== null) {
        const pair = new TextEncoder().encode(`${username}:${password ?? ""}`);
        headers.set("authorization", `Basic ${pair.toBase64()}`);
      }
      let url: string | undefined;
      try {
        url = addressOf(pattern, with_grains, context);
        if (url === undefined) return new Map();
        const answer = await fetch(url, { headers, signal: AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]) });
        const page = await readPage(answer);
        if (!answer.ok) throw new Error(`it answered ${answer.status}`);
        const pillar = await parse(page, url, context);
        return namespace ? new Map([[namespace, pillar]]) : pillar;
      } catch (error) {
        log(
          "error",
          `Error on minion '${minionId}' http query: ${withoutLogin(url ?? pattern)}: ${messageOf(error)}`,
        );
        return new Map();
      }
    },
  });
}

/**
 * The address for a minion; `undefined` if a grain is missing.
 * @throws {InvocationError} If a value would change its path.
 */
function addressOf(url: string, withGrains: boolean, { minionId, grains, log }: PillarContext): string | undefined {
  let missing = false;
  const filled = fillUrl(url, withGrains ? /%s|<.*?>/g : /%s/g, (field) => {
    if (field === "%s") return minionId;
    const name = field.slice(1, -1), value = traverse(grains, name);
    if (truthy(value)) return str(value ?? null);
    log("error", `Unable to get minion '${minionId}' grain: ${name}`);
    missing = true;
    return "x";
  });
  return missing ? undefined : filled;
}

async function readPage(answer: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of answer.body ?? []) {
    length += piece.length;
    if (length > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    pieces.push(piece);
  }
  const decoder = new TextDecoder();
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
}

function withoutLogin(url: string): string {
  return url.replace(/\/\/[^/@]*@/, "//");
}

/** A page that is to be a map. */
export function asMap(value: Value): Value {
  if (!isMap(value)) throw new Error("it is no map");
  return value;
}

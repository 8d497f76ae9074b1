/**
 * An LDAP server with the operations that `lib/auth/ldap_directory.ts` needs: bind, and search by equality and presence
 * filters combined by `&`. It has the entries of the test, and records its requests. Source: RFC 4511; X.690 (BER).
 * @module
 */

/** One entry: its DN, its password if it may bind, and its attributes. */
export interface DirectoryEntry {
  readonly dn: string;
  readonly password?: string;
  readonly attributes: Readonly<Record<string, readonly string[]>>;
}

interface Node {
  readonly tag: number;
  readonly content: Uint8Array;
}

const SEQUENCE = 0x30, OCTETS = 0x04, INTEGER = 0x02, ENUMERATED = 0x0a, SET = 0x31;
const BIND = 0x60, BIND_ANSWER = 0x61, UNBIND = 0x42, SEARCH_ENTRY = 0x64, SEARCH_DONE = 0x65;
const FILTER_AND = 0xa0, FILTER_EQUAL = 0xa3, FILTER_PRESENT = 0x87;
const SUCCESS = 0, INVALID_CREDENTIALS = 49, INSUFFICIENT_RIGHTS = 50;

/** An LDAP server on a free port; `close` stops it. */
export class LdapDirectory {
  /** The DNs of binds, and the bases and filters of searches, in order. */
  readonly operations: string[] = [];
  /** The maximum number of entries that each search wants. */
  readonly sizeLimits: number[] = [];
  readonly #entries: readonly DirectoryEntry[];
  readonly #listener: Deno.Listener<Deno.Conn, Deno.NetAddr>;
  readonly #connections: Promise<void>[] = [];
  readonly #serving: Promise<void>;

  /** @param tls A certificate and its key in PEM: the server uses TLS from the start. */
  constructor(entries: readonly DirectoryEntry[], tls?: { readonly cert: string; readonly key: string }) {
    this.#entries = entries;
    const place = { hostname: "127.0.0.1", port: 0 };
    this.#listener = tls === undefined ? Deno.listen(place) : Deno.listenTls({ ...place, ...tls });
    this.#serving = this.#accept();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  async #accept(): Promise<void> {
    for await (const connection of this.#listener) {
      const served = this.#serve(connection).catch((error) => void this.operations.push(`failed: ${error}`));
      this.#connections.push(served.finally(() => connection.close()));
    }
  }

  async #serve(connection: Deno.Conn): Promise<void> {
    let bound = false;
    let rest = new Uint8Array();
    const piece = new Uint8Array(16_384);
    for (let read = await connection.read(piece); read !== null; read = await connection.read(piece)) {
      rest = Uint8Array.from([...rest, ...piece.subarray(0, read)]);
      for (let node = first(rest); node !== undefined; node = first(rest)) {
        rest = rest.slice(node.length);
        const [id, operation] = children(node.content);
        if (operation.tag === UNBIND) return;
        if (operation.tag === BIND) bound = await this.#bind(connection, id, operation);
        else await this.#search(connection, id, { operation, bound });
      }
    }
  }

  async #bind(connection: Deno.Conn, id: Node, operation: Node): Promise<boolean> {
    const [, name, password] = children(operation.content);
    const dn = text(name);
    this.operations.push(`bind ${dn}`);
    // A bind without a password is one of nobody in particular, and succeeds (RFC 4513, 5.1.1 and 5.1.2).
    const known = text(password) === "" || dn === "" ||
      this.#entries.some((entry) => entry.dn === dn && entry.password === text(password));
    await write(connection, id, ber(BIND_ANSWER, result(known ? SUCCESS : INVALID_CREDENTIALS)));
    return known;
  }

  async #search(
    connection: Deno.Conn,
    id: Node,
    { operation, bound }: { operation: Node; bound: boolean },
  ): Promise<void> {
    const [base, , , limit, , , filter] = children(operation.content);
    this.sizeLimits.push(limit.content.reduce((number, byte) => number << 8 | byte, 0));
    this.operations.push(`search ${text(base)} ${describe(filter)}`);
    for (const entry of bound ? this.#entries : []) {
      if (!entry.dn.endsWith(text(base)) || !holds(filter, entry)) continue;
      const attributes = Object.entries(entry.attributes).map(([name, values]) =>
        ber(SEQUENCE, ber(OCTETS, utf8(name)), ber(SET, ...values.map((value) => ber(OCTETS, utf8(value)))))
      );
      await write(connection, id, ber(SEARCH_ENTRY, ber(OCTETS, utf8(entry.dn)), ber(SEQUENCE, ...attributes)));
    }
    await write(connection, id, ber(SEARCH_DONE, result(bound ? SUCCESS : INSUFFICIENT_RIGHTS)));
  }

  async close(): Promise<void> {
    this.#listener.close();
    await this.#serving;
    await Promise.all(this.#connections);
  }
}

function holds(filter: Node, { attributes }: DirectoryEntry): boolean {
  if (filter.tag === FILTER_AND) return children(filter.content).every((part) => holds(part, { dn: "", attributes }));
  if (filter.tag === FILTER_PRESENT) return text(filter) in attributes;
  const [name, value] = children(filter.content);
  return filter.tag === FILTER_EQUAL && (attributes[text(name)] ?? []).includes(text(value));
}

function describe(filter: Node): string {
  if (filter.tag === FILTER_AND) return `(&${children(filter.content).map(describe).join("")})`;
  if (filter.tag === FILTER_PRESENT) return `(${text(filter)}=*)`;
  if (filter.tag !== FILTER_EQUAL) return `(tag ${filter.tag})`;
  const [name, value] = children(filter.content);
  return `(${text(name)}=${text(value).replaceAll(/[\\*()\0]/g, escaped)})`;
}

/** Escapes a character for a filter. Source: RFC 4515. */
function escaped(char: string): string {
  return `\\${char.charCodeAt(0).toString(16).padStart(2, "0")}`;
}

function result(code: number): Uint8Array {
  return Uint8Array.from([...ber(ENUMERATED, Uint8Array.of(code)), ...ber(OCTETS), ...ber(OCTETS)]);
}

async function write(connection: Deno.Conn, id: Node, operation: Uint8Array): Promise<void> {
  const message = ber(SEQUENCE, ber(INTEGER, id.content), operation);
  for (let at = 0; at < message.length;) at += await connection.write(message.subarray(at));
}

function ber(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const content = parts.flatMap((part) => [...part]);
  const { length } = content;
  return Uint8Array.from([tag, ...length < 128 ? [length] : [0x82, length >> 8, length & 0xff], ...content]);
}

/** The BER element at the beginning, and its total size in bytes; `undefined` if it is not complete. */
function first(bytes: Uint8Array): Node & { readonly length: number } | undefined {
  if (bytes.length < 2) return undefined;
  const more = bytes[1] & 0x80 ? bytes[1] & 0x7f : 0;
  let size = more === 0 ? bytes[1] : 0;
  for (let i = 0; i < more; i++) size = size * 256 + (bytes[2 + i] ?? 0);
  const start = 2 + more;
  if (bytes.length < start + size) return undefined;
  return { tag: bytes[0], content: bytes.slice(start, start + size), length: start + size };
}

function children(content: Uint8Array): Node[] {
  const nodes: Node[] = [];
  for (let rest = content, node = first(rest); node !== undefined; node = first(rest)) {
    nodes.push(node);
    rest = rest.slice(node.length);
  }
  return nodes;
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function text(node: Node): string {
  return new TextDecoder().decode(node.content);
}

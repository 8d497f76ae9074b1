/**
 * Normalizes a PEM block of a text that is on one line, has other text around it, or has `\n` as two characters.
 * Source: Salt 3008.3 `salt/modules/x509_v2.py` get_pem_entry.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";

function blocks(kind: string): RegExp {
  return new RegExp(
    String.raw`\s*(?<header>-----BEGIN ${kind}-----)\s+(?:(?<proc>Proc-Type: 4,ENCRYPTED)\s*)?` +
      String.raw`(?:(?<dek>DEK-Info: (?:DES-[3A-Z\-]+,[0-9A-F]{16}|[0-9A-Z\-]+,[0-9A-F]{32}))\s*)?` +
      String.raw`(?<body>[^]+?)\s+(?<footer>-----END ${kind}-----)\s*`,
  );
}

/** Restores the lines of a PEM text on one line, as the mine has it. */
function unfold(text: string): string {
  const pieces: string[] = [];
  let rest = text;
  while (rest !== "") {
    const dashes = rest.startsWith("-----") ? rest.indexOf("-----", 5) : -1;
    const piece = dashes >= 0
      ? rest.slice(0, dashes + 5)
      : rest.slice(0, 64).includes("-")
      ? rest.slice(0, rest.indexOf("-"))
      : rest.slice(0, 64);
    // A single dash at the start would give empty pieces forever.
    if (piece === "") return text;
    pieces.push(piece);
    rest = rest.slice(piece.length);
  }
  return pieces.join("\n");
}

/**
 * The first block.
 * @param kind A regular expression for its label. Default: any.
 * @throws {InvocationError} If there is none.
 */
export function pemEntry(given: string, kind: string | null = null): string {
  const lines = given.replaceAll("\\n", "\n");
  const single = !/[\n\r]./.test(lines) && lines.startsWith("-----") && lines.endsWith("-----");
  const text = single ? unfold(lines) : lines;
  const groups = blocks(kind || "[0-9A-Z ]+").exec(text)?.groups;
  if (groups === undefined) {
    throw new InvocationError(
      kind ? `PEM does not contain a single entry of type ${kind}:\n${text}` : `PEM text not valid:\n${text}`,
    );
  }
  const heads = [groups.header, ...groups.proc ? [groups.proc] : [], ...groups.dek ? [groups.dek, ""] : []];
  const body = groups.body.replace(/\s/g, "").match(/.{1,64}/g) ?? [];
  return `${[...heads, ...body, groups.footer].join("\n")}\n`;
}

/**
 * Compresses and decompresses bytes in memory with gzip. Source: RFC 1952; the web's Compression Streams.
 * @module
 */

/** Compresses `bytes`. */
export function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return through(bytes, new CompressionStream("gzip"));
}

/**
 * Decompresses `bytes`.
 * @param options.max Bytes of the largest result. Default: no limit.
 * @throws {TypeError} If `bytes` are not gzip data.
 * @throws {RangeError} If the result is larger than `max`.
 */
export function gunzip(
  bytes: Uint8Array<ArrayBuffer>,
  { max }: { readonly max?: number } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  return through(bytes, new DecompressionStream("gzip"), max);
}

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
  max = Infinity,
): Promise<Uint8Array<ArrayBuffer>> {
  let size = 0;
  const bound = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(piece, controller) {
      size += piece.length;
      if (size > max) controller.error(new RangeError(`more than ${max} bytes when decompressed`));
      else controller.enqueue(piece);
    },
  });
  const source = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(max === Infinity ? source : source.pipeThrough(bound)).arrayBuffer());
}

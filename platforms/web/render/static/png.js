// Writes PNG files (RFC 2083) from straight pixels. A canvas can't: it multiplies colours by alpha and loses those that it hides.

// encode gives the file of width times height pixels of four bytes: red, green, blue, alpha.
export async function encode(pixels, width, height) {
  const rows = new Uint8Array(height * (4 * width + 1)); // each row begins with its filter: none
  for (let y = 0; y < height; y++) rows.set(pixels.subarray(4 * width * y, 4 * width * (y + 1)), y * (4 * width + 1) + 1);
  const packed = new Blob([rows]).stream().pipeThrough(new CompressionStream("deflate"));
  const head = new DataView(new ArrayBuffer(13));
  head.setUint32(0, width);
  head.setUint32(4, height);
  head.setUint16(8, 0x0806); // eight bits, colours with alpha
  const parts = [["IHDR", new Uint8Array(head.buffer)], ["IDAT", new Uint8Array(await new Response(packed).arrayBuffer())], ["IEND", new Uint8Array()]];
  return new Blob([new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]), ...parts.map(([name, data]) => chunk(name, data))], { type: "image/png" });
}

function chunk(name, data) {
  const out = new Uint8Array(data.length + 12), view = new DataView(out.buffer);
  view.setUint32(0, data.length);
  out.set([...name].map((letter) => letter.charCodeAt(0)), 4);
  out.set(data, 8);
  view.setUint32(data.length + 8, checksum(out.subarray(4, data.length + 8)));
  return out;
}

const table = new Uint32Array(256).map((_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

// checksum is the CRC-32 that ends each chunk.
function checksum(bytes) {
  let sum = ~0;
  for (const byte of bytes) sum = table[(sum ^ byte) & 255] ^ (sum >>> 8);
  return ~sum >>> 0;
}

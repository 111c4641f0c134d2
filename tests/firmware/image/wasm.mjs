// node wasm.mjs MODULE: runs the image and shows what it shows. Exit status 0 when the model's run says so.
import { readFileSync } from "node:fs";

let memory;
const show = (at) => {
  const bytes = new Uint8Array(memory.buffer, at);
  process.stdout.write(new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0))));
};
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), { host: { show } });
memory = instance.exports.memory;
process.exitCode = instance.exports.measure();

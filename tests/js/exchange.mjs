// What a script is asked, and how it tells what it found: one JSON document each way.
import { readFileSync } from "node:fs";

export const asked = JSON.parse(readFileSync(0, "utf8"));

export function tell(found) {
  process.stdout.write(JSON.stringify(found));
}

// All that an iterable gives, in order.
export async function gather(iterable) {
  const found = [];
  for await (const item of iterable) found.push(item);
  return found;
}

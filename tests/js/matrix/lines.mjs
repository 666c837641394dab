// Jobs come in as lines of JSON, and what became of each goes out as one; many may be under way at once.
import { createInterface } from "node:readline";

// Some clients leave promises behind that nobody waits for; a program would see a note in its log at most.
process.on("unhandledRejection", () => undefined);
process.on("uncaughtException", () => undefined);

// All that an iterable gives, in order.
export async function gather(iterable) {
  const found = [];
  for await (const item of iterable) found.push(item);
  return found;
}

// `ask` makes a call of a job, and gives what the program is told or throws; `isOwn` knows the client's own errors.
export function serve(ask, isOwn) {
  createInterface({ input: process.stdin }).on("line", async (line) => {
    const job = JSON.parse(line);
    tell(job.id, await outcome(ask, isOwn, job));
  });
  tell(0, {});
}

async function outcome(ask, isOwn, job) {
  try {
    return { said: await ask(job) };
  } catch (error) {
    return { error: named(error), isOwn: isOwn(error), says: String(error?.message ?? error), status: status(error) };
  }
}

// The AI SDK keeps what the last attempt met inside the error that tells of all of them.
function status(error) {
  return error?.status ?? error?.statusCode ?? error?.lastError?.statusCode;
}

// Bundlers put underscores before the names of some classes.
function named(error) {
  return String(error?.constructor?.name ?? typeof error).replace(/^_+/, "");
}

function tell(id, told) {
  process.stdout.write(`${JSON.stringify({ id, ...told })}\n`);
}

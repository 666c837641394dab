// Numbers and times as people read them.

const NUMBER = new Intl.NumberFormat("en");

export const whole = (count) => NUMBER.format(count);

// A count with its noun.
export const counted = (count, noun) => `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;

// Seconds, in the unit that suits them.
export function span(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 0.0995) return `${(seconds * 1000).toFixed(1)} ms`;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  return seconds < 100 ? `${seconds.toFixed(2)} s` : `${Math.round(seconds)} s`;
}

// Micro-USD as dollars, with all digits that count.
export function money(micro) {
  const sign = micro < 0 ? "−" : "";
  const text = (Math.abs(micro) / 1e6).toFixed(6).replace(/(\.\d\d\d*?)0+$/, "$1");
  const [before, after] = text.split(".");
  return `${sign}$${NUMBER.format(Number(before))}.${after}`;
}

// Unix seconds as date and time in UTC.
export const moment = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ");

export const hour = (seconds) => moment(seconds).slice(11);

// A log probability as a share.
export function share(logprob) {
  const percent = Math.exp(logprob) * 100;
  if (percent < 0.01) return "< 0.01 %";
  return `${percent.toFixed(percent < 10 ? 2 : 1)} %`;
}

// A token so that its blanks and breaks can be seen.
export const visible = (token) =>
  token.replaceAll(" ", "␣").replaceAll("\n", "⏎").replaceAll("\t", "⇥") || "(empty)";

// A value as JSON that is laid out.
export const laidOut = (value) => JSON.stringify(value, null, 2);

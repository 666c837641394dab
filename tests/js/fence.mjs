// Loaded before a script: ends the process as soon as something in it reaches for another machine.
import net from "node:net";

const OURS = /^(127(\.\d+){3}|::1|localhost)$/;
const connect = net.Socket.prototype.connect;

net.Socket.prototype.connect = function (...args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  const host = typeof first === "object" ? first.host : second;
  if (typeof host === "string" && !OURS.test(host)) {
    // Clients catch what is thrown and try again; nobody survives an exit.
    process.stderr.write(`a script wanted to reach ${host}: only this machine may be reached\n`);
    process.exit(1);
  }
  return connect.apply(this, args);
};

// Portkey listens on every interface and has no option for another; a benchmark's server is for this machine only.
const { Server } = require("node:net");

const listen = Server.prototype.listen;
Server.prototype.listen = function (port, ...rest) {
  const callback = rest.find((argument) => typeof argument === "function");
  return listen.call(this, { port: Number(port.port ?? port), host: "127.0.0.1" }, callback);
};

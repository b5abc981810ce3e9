// The connection to the server: the newest request is sent when the last one is answered, or takes
// long and is to be given up for it; a connection that is lost is made again.
const LONG = 400; // from which on an answer is not waited for [ms]
const FIRST_WAIT = 300; // [ms]
const LONGEST_WAIT = 5000;

export function connect({ take, lost, found }) {
  const address = new URL("live", location.href);
  address.protocol = "ws:";
  let socket = null;
  let wait = FIRST_WAIT;
  let waiting = null; // the newest request that is not sent yet
  let asked = 0; // number of the request that is being answered; 0 for none
  let timer = 0;
  let ended = false;

  const ready = () => socket?.readyState === WebSocket.OPEN;
  const flush = () => {
    if (!waiting || asked || !ready()) return;
    asked = waiting.id;
    clearTimeout(timer);
    timer = setTimeout(() => {
      asked = 0;
      flush();
    }, LONG);
    socket.send(JSON.stringify(waiting));
    waiting = null;
  };
  const answered = (id) => {
    if (id < asked) return;
    asked = 0;
    flush();
  };
  const begin = () => {
    socket = new WebSocket(address);
    socket.addEventListener("open", () => {
      wait = FIRST_WAIT;
      asked = 0;
      found();
      flush();
    });
    socket.addEventListener("message", ({ data }) => {
      const message = JSON.parse(data);
      ended ||= Boolean(message.is_final);
      take(message);
      if (message.front !== undefined || message.error !== undefined) answered(message.id);
    });
    socket.addEventListener("close", () => {
      if (ended) return;
      lost();
      setTimeout(begin, wait);
      wait = Math.min(LONGEST_WAIT, 2 * wait);
    });
  };
  begin();
  return {
    ask: (request) => {
      waiting = request;
      flush();
    },
    send: (message) => ready() && socket.send(JSON.stringify(message)),
    end: () => {
      ended = true;
      socket.close();
    },
  };
}

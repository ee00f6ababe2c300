/* Sends files to the server as they are read from the disk, one after the other, and says how far
   it is. `data` has the address, the ticket of the page, and the sentences; \x01 in one stands for
   the file's name, \x02 for how much was sent. The answer is the list of numbers under `sent`. */
const NAME = "\x01";
const SHARE = "\x02";

const element = (kind, parent, properties) =>
  parent.appendChild(Object.assign(document.createElement(kind), properties));

const told = (sentence, file, share = "") =>
  sentence.replace(NAME, file.name).replace(SHARE, share);

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;

/* The parts of the component, made once. */
function partsIn(box) {
  if (box.fusescope) return box.fusescope;
  const input = element("input", box, { type: "file", multiple: true, hidden: true });
  const button = element("button", box, { type: "button", className: "open" });
  const row = element("div", box, { className: "row", hidden: true });
  const text = element("div", row, { className: "text" });
  text.setAttribute("role", "status");
  const bar = element("progress", row, { max: 1, value: 0 });
  const cancel = element("button", row, { type: "button", className: "cancel" });
  box.fusescope = { input, button, row, text, bar, cancel, request: null, unsent: [], sent: [] };
  return box.fusescope;
}

/* Sends one file: its number, or null where it was cancelled. Throws the sentence that says why it
   was not taken. */
function send(file, parts, data) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    parts.request = request;
    request.open("PUT", data.address);
    request.setRequestHeader("X-FuseScope-Ticket", data.ticket);
    request.setRequestHeader("X-FuseScope-Name", encodeURIComponent(file.name));
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.onprogress = ({ loaded }) => {
      const share = file.size ? loaded / file.size : 1;
      parts.bar.value = share;
      const amount = `${Math.floor(100 * share)} % (${megabytes(loaded)})`;
      parts.text.textContent = told(data.sending, file, amount);
    };
    request.onload = () => {
      if (request.status === 200) return resolve(JSON.parse(request.responseText).number);
      return reject(new Error(told(data.refused[request.status] ?? data.failed, file)));
    };
    request.onerror = () => reject(new Error(told(data.failed, file)));
    request.onabort = () => resolve(null);
    request.send(file);
  });
}

/* A closed or reloaded tab loses what is being sent: the browser asks before. */
const ask = (event) => event.preventDefault();

/* Gives the places of files that nobody will read back to the server, also while the tab closes;
   how many there were. */
async function giveBack(data) {
  const headers = { "X-FuseScope-Ticket": data.ticket };
  const answer = await fetch(data.address, { method: "DELETE", headers, keepalive: true });
  return answer.ok ? (await answer.json()).dropped : 0;
}

/* Says on whatever page is shown by now that these files were lost. */
function sayLost(files, data) {
  const box = element("div", document.body, { className: "fusescope-lost" });
  box.setAttribute("role", "alert");
  Object.assign(box.style, {
    position: "fixed",
    insetInlineEnd: "1rem",
    insetBlockEnd: "1rem",
    zIndex: 1000000,
    maxInlineSize: "28rem",
    padding: "0.75rem 1rem",
    borderRadius: "0.5rem",
    background: "#7d1128",
    color: "#fff",
    font: "0.875rem/1.4 sans-serif",
    overflowWrap: "anywhere",
    display: "flex",
    gap: "1rem",
    alignItems: "start",
  });
  const names = files.map(({ name }) => name).join(", ");
  element("div", box, { textContent: told(data.left, { name: names }) });
  const close = element("button", box, { type: "button", textContent: data.hide });
  Object.assign(close.style, { font: "inherit", color: "inherit", background: "transparent" });
  close.onclick = () => box.remove();
}

/* The page of the button is left: nothing goes on unseen. */
async function leave(parts, data) {
  const { unsent, sent } = parts;
  parts.unsent = parts.sent = [];
  removeEventListener("beforeunload", ask);
  parts.request?.abort();
  if (unsent.length) sayLost(unsent, data);
  if (sent.length && (await giveBack(data).catch(() => 0))) sayLost(sent, data);
}

async function sendAll(files, parts, data, done) {
  const sent = [];
  parts.unsent = [...files];
  parts.sent = [];
  addEventListener("beforeunload", ask);
  parts.button.disabled = true;
  parts.row.hidden = false;
  parts.bar.hidden = parts.cancel.hidden = false;
  let problem = "";
  for (const file of files) {
    parts.bar.value = 0;
    parts.text.textContent = told(data.sending, file, "0 %");
    try {
      const number = await send(file, parts, data);
      if (number === null) break;
      sent.push(number);
      parts.unsent.shift();
      parts.sent.push(file);
      parts.text.textContent = told(data.reading, file);
    } catch (error) {
      problem = error.message;
      break;
    }
  }
  parts.request = null;
  parts.unsent = [];
  removeEventListener("beforeunload", ask);
  parts.button.disabled = false;
  parts.bar.hidden = parts.cancel.hidden = true;
  if (problem) parts.text.textContent = problem;
  else if (!sent.length) parts.row.hidden = true;
  if (sent.length) done(sent);
}

export default function ({ data, parentElement, setTriggerValue }) {
  if (!data) return;
  const parts = partsIn(parentElement.querySelector(".large"));
  const { input, button, cancel } = parts;
  for (const word of ["choose", "limit"]) { // of the place to drop files, in first_style.css
    document.documentElement.style.setProperty(`--fusescope-${word}`, JSON.stringify(data[word]));
  }
  button.textContent = data.button;
  cancel.textContent = data.cancel;
  button.onclick = () => input.click();
  cancel.onclick = () => parts.request?.abort();
  input.onchange = () => {
    const files = Array.from(input.files).slice(0, data.maximum);
    input.value = "";
    if (files.length) {
      sendAll(files, parts, data, (sent) => setTriggerValue("sent", sent));
    }
  };
  globalThis.onpagehide = () => {
    parts.request?.abort();
    if (parts.unsent.length || parts.sent.length) giveBack(data).catch(() => 0);
  };
  return () => leave(parts, data);
}

// The plugin's window: it is paired by a code, and carries messages between the house and the plugin.
"use strict";

const form = document.getElementById("form");
const code = document.getElementById("code");
const state = document.getElementById("state");

function connect(pairing) {
  const address = new URL("socket", location.href);
  address.protocol = address.protocol.replace("http", "ws");
  address.search = new URLSearchParams({ code: pairing }).toString();
  const socket = new WebSocket(address);
  const relay = (event) => {
    const answer = event.data;
    if (answer && answer.source === "penpotWizardPlugin" && socket.readyState === WebSocket.OPEN) {
      socket.send(JSON.stringify(answer));
    }
  };
  socket.onopen = () => {
    form.hidden = true;
    state.textContent = "Connected. Leave this window open.";
    window.addEventListener("message", relay);
  };
  socket.onmessage = (event) => window.parent.postMessage(JSON.parse(event.data), "*");
  socket.onclose = () => {
    window.removeEventListener("message", relay);
    form.hidden = false;
    state.textContent = "Not connected. A code is good once: get one with /link.";
  };
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  connect(code.value);
});

const given = new URLSearchParams(location.search).get("code");
if (given) {
  connect(given);
}

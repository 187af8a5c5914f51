// Passkeys: asks the browser for one, and sends what it responds with the form around the button.

function decoded(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));
}

function encoded(buffer) {
  const signs = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join("");
  return btoa(signs).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

// What the server asks for, with bytes in place of base64url.
function withBytes(options) {
  const all = { ...options };
  all.challenge = decoded(all.challenge);
  if (all.user) all.user = { ...all.user, id: decoded(all.user.id) };
  for (const name of ["allowCredentials", "excludeCredentials"]) {
    if (all[name]) all[name] = all[name].map((one) => ({ ...one, id: decoded(one.id) }));
  }
  return all;
}

// What the browser responds, as JSON.
function asJson({ rawId, type, response }) {
  const fields = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (response[name]) fields[name] = encoded(response[name]);
  }
  return JSON.stringify({ id: encoded(rawId), rawId: encoded(rawId), type, response: fields });
}

// The options of a page, or those of the server at this moment.
async function optionsFor(box, form) {
  if (box.dataset.options) return JSON.parse(box.dataset.options);
  const body = new URLSearchParams({ purpose: box.dataset.passkey });
  const token = form.querySelector("input[name=csrf_token]");
  if (token) body.set("csrf_token", token.value);
  const answer = await fetch(box.dataset.address, { method: "POST", body, headers: { Accept: "application/json" } });
  const data = await answer.json();
  if (!answer.ok) throw new Refusal(data.sentence);
  return data;
}

class Refusal extends Error {}

// What went wrong, as a sentence of the page.
function sentenceOf(error, words) {
  if (error instanceof Refusal) return error.message || words.failed;
  if (error.name === "NotAllowedError" || error.name === "AbortError") return words.cancelled;
  if (error.name === "InvalidStateError") return words.known;
  return words.failed;
}

function install(box) {
  const [button, status, field] = ["button", "[role=status]", "input[name=passkey]"].map((one) => box.querySelector(one));
  const form = box.closest("form");
  const words = box.dataset;
  if (!globalThis.PublicKeyCredential || !navigator.credentials) {
    status.textContent = words.unsupported;
    return;
  }
  status.textContent = "";
  button.closest("[hidden]").hidden = false;
  button.addEventListener("click", async () => {
    button.disabled = true;
    status.textContent = words.waiting;
    try {
      const publicKey = withBytes(await optionsFor(box, form));
      const isNew = box.dataset.passkey === "new";
      const made = isNew ? await navigator.credentials.create({ publicKey }) : await navigator.credentials.get({ publicKey });
      field.value = asJson(made);
      status.textContent = words.done ?? "";
      if (box.dataset.sends !== undefined) HTMLFormElement.prototype.submit.call(form);
      else for (const code of form.querySelectorAll("input[name=code]")) code.required = false;
    } catch (error) {
      status.textContent = sentenceOf(error, words);
    }
    button.disabled = false;
  });
}

for (const box of document.querySelectorAll("[data-passkey]")) install(box);
